// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>

namespace critpath::oracle
{

namespace
{

constexpr const char* names[block_kinds] = {"halo",    "sweep",    "pairs",  "farm",     "collectives",
                                            "overlap", "crossing", "probes", "cancelled"};

class Expansion
{
public:
    explicit Expansion(const Recipe& recipe) : recipe_(recipe)
    {
        program_.ranks = recipe.ranks;
        program_.steps.resize(at(recipe.ranks));
        requests_.resize(at(recipe.ranks), 0);
        std::vector<int> all(at(recipe.ranks));
        std::iota(all.begin(), all.end(), 0);
        program_.comms.push_back(all);
        std::vector<int> even;
        std::ranges::copy_if(all, std::back_inserter(even), [](int rank) { return rank % 2 == 0; });
        program_.comms.push_back(even);
        std::ranges::reverse(all);
        program_.comms.push_back(all);
    }

    Program run()
    {
        each([&](int r) { add(r, {.kind = Kind::Collective, .function = FunctionId::MPI_Init}); });
        for (const Block& block : recipe_.blocks) {
            random_.seed(block.seed);
            each([&](int r) { compute(r); });
            add(block.kind);
        }
        each([&](int r) { compute(r); });
        return std::move(program_);
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    [[nodiscard]] int ranks() const { return recipe_.ranks; }

    int draw(int from, int to)
    {
        return from + static_cast<int>(random_() % static_cast<std::uint32_t>(to - from + 1));
    }
    bool chance(int one_of) { return draw(1, one_of) == 1; }
    template <class T>
    T one_of(std::initializer_list<T> all)
    {
        return all.begin()[draw(0, static_cast<int>(all.size()) - 1)];
    }

    template <class Visit>
    void each(Visit visit)
    {
        for (int r = 0; r < ranks(); ++r)
            visit(r);
    }

    void add(int r, Step step) { program_.steps[at(r)].push_back(std::move(step)); }
    void compute(int r, int most = 60) { add(r, {.kind = Kind::Compute, .ticks = draw(0, 100 * most)}); }
    std::uint64_t size() { return one_of<std::uint64_t>({0, 8, 1000, 4096, 5000, 60'000, 400'000}); }

    int post(int r, Step step)
    {
        step.request = requests_[at(r)]++;
        add(r, step);
        return step.request;
    }

    int irecv(int r, int from, int tag, std::size_t comm = 0)
    {
        const bool persistent = chance(4);
        return post(r, {.kind = Kind::Irecv,
                        .function = persistent ? FunctionId::MPI_Start : FunctionId::MPI_Irecv,
                        .peer = from,
                        .tag = tag,
                        .comm = comm,
                        .persistent = persistent});
    }

    int isend(int r, int to, int tag, std::uint64_t bytes, std::size_t comm = 0)
    {
        const auto [function, mode] =
            one_of<std::pair<FunctionId, SendMode>>({{FunctionId::MPI_Isend, SendMode::Standard},
                                                     {FunctionId::MPI_Isend, SendMode::Standard},
                                                     {FunctionId::MPI_Issend, SendMode::Synchronous},
                                                     {FunctionId::MPI_Ibsend, SendMode::Buffered},
                                                     {FunctionId::MPI_Start, SendMode::Standard}});
        return post(r, {.kind = Kind::Isend,
                        .function = function,
                        .mode = mode,
                        .peer = to,
                        .tag = tag,
                        .comm = comm,
                        .bytes = bytes,
                        .persistent = function == FunctionId::MPI_Start});
    }

    void send(int r, int to, int tag, std::uint64_t bytes)
    {
        const auto [function, mode] =
            one_of<std::pair<FunctionId, SendMode>>({{FunctionId::MPI_Send, SendMode::Standard},
                                                     {FunctionId::MPI_Send, SendMode::Standard},
                                                     {FunctionId::MPI_Ssend, SendMode::Synchronous},
                                                     {FunctionId::MPI_Bsend, SendMode::Buffered}});
        add(r, {.kind = Kind::Send, .function = function, .mode = mode, .peer = to, .tag = tag, .bytes = bytes});
    }

    void recv(int r, int from, int tag)
    {
        add(r, {.kind = Kind::Recv, .function = FunctionId::MPI_Recv, .peer = from, .tag = tag});
    }

    /// Completes all of `requests` in one of all ways.
    void complete(int r, std::vector<int> requests)
    {
        switch (draw(0, 4)) {
        case 0:
            for (const int request : requests) {
                add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {request}});
                if (chance(3))
                    compute(r, 20);
            }
            break;
        case 1:
            for (std::size_t i = 0; i < requests.size(); ++i) {
                add(r, {.kind = Kind::Waitany, .function = FunctionId::MPI_Waitany, .requests = requests});
                if (chance(3))
                    compute(r, 20);
            }
            break;
        case 2:
            // As often as it may have to be called; where nothing is open any more it returns at once.
            for (std::size_t i = 0; i < requests.size(); ++i)
                add(r, {.kind = Kind::Waitsome, .function = FunctionId::MPI_Waitsome, .requests = requests});
            break;
        default:
            add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Waitall, .requests = std::move(requests)});
            break;
        }
    }

    void add(BlockKind kind)
    {
        switch (kind) {
        case BlockKind::Halo:
            halo();
            break;
        case BlockKind::Sweep:
            sweep();
            break;
        case BlockKind::Pairs:
            pairs();
            break;
        case BlockKind::Farm:
            farm();
            break;
        case BlockKind::Collectives:
            for (int i = draw(1, 4); i > 0; --i)
                collective();
            break;
        case BlockKind::Overlap:
            overlap();
            break;
        case BlockKind::Crossing:
            crossing();
            break;
        case BlockKind::Probes:
            probes();
            break;
        case BlockKind::Cancelled:
            cancelled();
            break;
        }
    }

    void halo()
    {
        const std::size_t comm = chance(2) ? 0 : 2;
        const std::uint64_t bytes = size();
        for (int round = draw(1, 3); round > 0; --round)
            for (int place = 0; place < ranks(); ++place) {
                const int r = program_.comms[comm][at(place)];
                std::vector<int> requests;
                for (const int side : {-1, 1})
                    if (const int other = place + side; other >= 0 && other < ranks())
                        requests.push_back(irecv(r, other, 1, comm));
                compute(r, 10);
                for (const int side : {-1, 1})
                    if (const int other = place + side; other >= 0 && other < ranks())
                        requests.push_back(isend(r, other, 1, bytes, comm));
                compute(r);
                complete(r, requests);
            }
    }

    void sweep()
    {
        const std::uint64_t bytes = size();
        for (int round = draw(1, 3); round > 0; --round)
            each([&](int r) {
                if (r > 0)
                    recv(r, r - 1, 2);
                compute(r, 30);
                if (r + 1 < ranks())
                    send(r, r + 1, 2, bytes);
            });
    }

    void pairs()
    {
        std::vector<int> order(at(ranks()));
        std::iota(order.begin(), order.end(), 0);
        std::ranges::shuffle(order, random_);
        for (int i = 0; i + 1 < ranks(); i += 2) {
            const int a = order[at(i)], b = order[at(i + 1)];
            if (chance(3)) {
                const std::uint64_t bytes = size();
                for (const auto& [me, other] : {std::pair(a, b), std::pair(b, a)})
                    add(me, {.kind = Kind::Sendrecv,
                             .function = FunctionId::MPI_Sendrecv,
                             .peer = other,
                             .source = other,
                             .tag = 3,
                             .bytes = bytes});
                continue;
            }
            for (int k = draw(1, 3); k > 0; --k) {
                send(a, b, 3, size());
                recv(b, a, 3);
                compute(one_of({a, b}), 20);
            }
        }
    }

    void farm()
    {
        if (ranks() < 2)
            return;
        const int tasks = draw(1, 2);
        const int tag = next_farm_++;  // so that nobody takes what belongs to the next farm
        for (int r = 1; r < ranks(); ++r)
            for (int i = 0; i < tasks; ++i) {
                send(r, 0, tag, 8);
                compute(r);
            }
        for (int i = 0; i < tasks * (ranks() - 1); ++i) {
            recv(0, any_source, tag);
            compute(0, 10);
        }
    }

    int draw_root(FunctionId function, std::size_t comm)
    {
        const auto shape = functions::info(function).shape;
        const bool rooted =
            shape == functions::CollectiveShape::OneToAll || shape == functions::CollectiveShape::AllToOne;
        return rooted ? draw(0, static_cast<int>(program_.comms[comm].size()) - 1) : -1;
    }

    void collective()
    {
        using enum FunctionId;
        const std::size_t comm = one_of<std::size_t>({0, 0, 1, 2});
        const FunctionId function = one_of({MPI_Barrier, MPI_Allreduce, MPI_Alltoall, MPI_Allgather, MPI_Bcast,
                                            MPI_Scatter, MPI_Reduce, MPI_Gather, MPI_Scan, MPI_Exscan});
        collective(function, comm);
    }

    void collective(FunctionId function, std::size_t comm)
    {
        const auto& members = program_.comms[comm];
        const int root = draw_root(function, comm);
        for (const int r : members) {
            add(r, {.kind = Kind::Collective, .function = function, .comm = comm, .bytes = 8, .root = root});
            compute(r, 30);
        }
    }

    void overlap()
    {
        using enum FunctionId;
        const FunctionId function =
            one_of({MPI_Ibarrier, MPI_Iallreduce, MPI_Ialltoall, MPI_Ibcast, MPI_Ireduce, MPI_Iscan, MPI_Iexscan});
        const std::size_t comm = one_of<std::size_t>({0, 1, 2});
        const auto& members = program_.comms[comm];
        const int root = draw_root(function, comm);
        for (const int r : members) {
            const int request =
                post(r, {.kind = Kind::Icollective, .function = function, .comm = comm, .bytes = 8, .root = root});
            compute(r);
            if (chance(3))
                add(r, {.kind = Kind::PollLoop, .ticks = 0, .function = MPI_Test, .request = request});
            else
                add(r, {.kind = Kind::Waitall, .function = MPI_Wait, .requests = {request}});
        }
    }

    void crossing()
    {
        const std::uint64_t bytes = size();
        std::vector<std::vector<int>> requests(at(ranks()));
        each([&](int r) {
            requests[at(r)].push_back(irecv(r, (r + ranks() - 1) % ranks(), 5));
            requests[at(r)].push_back(isend(r, (r + 1) % ranks(), 5, bytes));
        });
        each([&](int r) { compute(r); });
        collective(FunctionId::MPI_Allreduce, 0);
        each([&](int r) { complete(r, requests[at(r)]); });
    }

    void probes()
    {
        const bool matched = chance(2);
        const std::uint64_t bytes = size();
        for (int r = 0; r + 1 < ranks(); r += 2) {
            const int request = isend(r, r + 1, 6, bytes);
            compute(r, 20);
            add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {request}});
            if (matched) {
                const int message = post(
                    r + 1, {.kind = Kind::Mprobe, .function = FunctionId::MPI_Mprobe, .peer = any_source, .tag = 6});
                compute(r + 1, 10);
                add(r + 1, {.kind = Kind::Mrecv, .function = FunctionId::MPI_Mrecv, .request = message});
            } else {
                add(r + 1, {.kind = Kind::Probe, .function = FunctionId::MPI_Probe, .peer = r, .tag = any_tag});
                compute(r + 1, 10);
                recv(r + 1, r, 6);
            }
        }
    }

    void cancelled()
    {
        const int r = draw(0, ranks() - 1);
        const int request =
            post(r, {.kind = Kind::Irecv, .function = FunctionId::MPI_Irecv, .peer = any_source, .tag = 99});
        compute(r);
        add(r, {.kind = Kind::Cancel, .function = FunctionId::MPI_Cancel, .request = request});
        add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {request}});
    }

    const Recipe& recipe_;
    Program program_;
    std::vector<int> requests_;
    int next_farm_ = 1000;
    std::mt19937 random_;
};

}  // namespace

const char* name(BlockKind kind)
{
    return names[static_cast<std::size_t>(kind)];
}

Recipe random_recipe(std::uint32_t seed)
{
    std::mt19937 random(seed);
    Recipe recipe{2 + static_cast<int>(random() % 7), {}};
    for (auto i = 3 + random() % 10; i > 0; --i)
        recipe.blocks.push_back({static_cast<BlockKind>(random() % block_kinds), static_cast<std::uint32_t>(random())});
    return recipe;
}

Program expand(const Recipe& recipe)
{
    return Expansion(recipe).run();
}

std::string text(const Recipe& recipe)
{
    std::string words = fmt::format("{} ranks:", recipe.ranks);
    for (const Block& block : recipe.blocks)
        words += fmt::format(" {}({})", name(block.kind), block.seed);
    return words;
}

Recipe shrink(Recipe recipe, const std::function<bool(const Recipe&)>& fails)
{
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (std::size_t i = 0; i < recipe.blocks.size() && !smaller; ++i) {
            Recipe without = recipe;
            without.blocks.erase(without.blocks.begin() + static_cast<std::ptrdiff_t>(i));
            smaller = fails(without);
            recipe = smaller ? without : recipe;
        }
        if (Recipe without = recipe; !smaller && recipe.ranks > 2) {
            --without.ranks;
            smaller = fails(without);
            recipe = smaller ? without : recipe;
        }
    }
    return recipe;
}

}  // namespace critpath::oracle
