// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/windows/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

namespace critpath::oracle::windows
{

namespace
{

constexpr const char* names[block_kinds] = {"fences", "ring", "star", "notice", "locks"};

class Expansion
{
public:
    explicit Expansion(const Recipe& recipe) : random_(recipe.seed)
    {
        program_.ranks = recipe.ranks;
        program_.windows = draw(1, 2) + 1;
        program_.deferral = static_cast<Deferral>(draw(0, 2));
        program_.fencing = static_cast<Fencing>(draw(0, 1));
        program_.opening = static_cast<Opening>(draw(0, 1));
        program_.steps.resize(at(program_.ranks));
        program_.members.resize(at(program_.windows));
        for (int w = 0; w < shared_window(); ++w)
            if (chance(3) && program_.ranks > 2)
                program_.members[at(w)] = some_ranks();
    }

    void add(const Block& block)
    {
        random_.seed(block.seed);
        for (int r = 0; r < program_.ranks; ++r)
            compute(r);
        const int window = draw(0, shared_window() - 1);
        members_ = program_.members_of(window);
        switch (block.kind) {
        case BlockKind::Fences:
            return fences(window);
        case BlockKind::Ring:
            return ring(window);
        case BlockKind::Star:
            return star(window);
        case BlockKind::Notice:
            return notice();
        case BlockKind::Locks:
            return locks(window);
        }
    }

    Program finish()
    {
        for (int r = 0; r < program_.ranks; ++r)
            compute(r);
        return std::move(program_);
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    int draw(int from, int to)
    {
        return from + static_cast<int>(random_() % static_cast<std::uint32_t>(to - from + 1));
    }
    bool chance(int one_of) { return draw(1, one_of) == 1; }
    std::uint64_t size()
    {
        constexpr std::uint64_t sizes[] = {8, 8, 1000, 60'000, 400'000};
        return sizes[draw(0, 4)];
    }
    void add(int r, const Step& step) { program_.steps[at(r)].push_back(step); }
    void compute(int r, int most = 3000) { add(r, {.kind = Kind::Compute, .ticks = draw(0, most)}); }

    /// In any order, at least two, not all.
    std::vector<int> some_ranks()
    {
        std::vector<int> ranks(at(program_.ranks));
        std::iota(ranks.begin(), ranks.end(), 0);
        std::ranges::shuffle(ranks, random_);
        ranks.resize(at(draw(2, program_.ranks - 1)));
        return ranks;
    }

    /// Members of the window in hand.
    [[nodiscard]] int count() const { return static_cast<int>(members_.size()); }
    [[nodiscard]] int member(int index) const { return members_[at(index % count())]; }

    /// Nobody locks it for itself alone: who looks for something there keeps it locked for long.
    [[nodiscard]] int shared_window() const { return program_.windows - 1; }

    void transfer(int r, int window, int target)
    {
        constexpr FunctionId functions[] = {FunctionId::MPI_Put, FunctionId::MPI_Get, FunctionId::MPI_Accumulate};
        add(r, {.kind = Kind::Transfer,
                .window = window,
                .target = target,
                .bytes = size(),
                .function = functions[draw(0, 2)]});
    }

    /// Some epochs one behind the other. Nothing was done before the first, which may say so: where that may pass, one
    /// that may not separates it from other epochs.
    void fences(int window)
    {
        const bool precedes = chance(2);
        for (const int r : members_) {
            if (!precedes && program_.opening == Opening::Passes) {
                add(r, {.kind = Kind::Fence, .window = window});
                compute(r, 1500);
            }
            add(r, {.kind = Kind::Fence, .window = window, .precedes = precedes});
        }
        for (int epochs = draw(0, 2); epochs > 0; --epochs)
            for (int i = 0; i < count(); ++i) {
                const int r = member(i);
                if (!chance(3)) {  // else it is only target
                    compute(r, 500);
                    for (int k = draw(0, 3); k > 0; --k) {
                        transfer(r, window, member(i + draw(1, count() - 1)));
                        compute(r, 300);
                    }
                    compute(r, 300);
                }
                add(r, {.kind = Kind::Fence, .window = window});
            }
    }

    void access(int r, int window, const std::vector<int>& targets)
    {
        add(r, {.kind = Kind::Start, .window = window, .peers = targets});
        compute(r, 500);
        for (int i = draw(0, 3); i > 0; --i) {
            transfer(r, window, targets[at(draw(0, static_cast<int>(targets.size()) - 1))]);
            compute(r, 500);
        }
        add(r, {.kind = Kind::Complete, .window = window});
    }

    void expose(int r, int window, const std::vector<int>& origins)
    {
        add(r, {.kind = Kind::Post, .window = window, .peers = origins});
        compute(r, 500);
    }

    void end_exposure(int r, int window)
    {
        constexpr int between_tests[] = {0, 1, 20, 100};
        Step step{.kind = Kind::Wait, .window = window};
        if (chance(3)) {
            step.function = FunctionId::MPI_Win_test;
            step.ticks = between_tests[draw(0, 3)];
        }
        add(r, step);
    }

    /// Everybody is origin of the next and target of the one before.
    void ring(int window)
    {
        const int n = count();
        for (int i = 0; i < n; ++i) {
            const int r = member(i);
            expose(r, window, {member(i + n - 1)});
            access(r, window, {member(i + 1)});
            compute(r, 500);
            end_exposure(r, window);
        }
    }

    /// Some are origins, the others are targets of all of them.
    void star(int window)
    {
        std::vector<int> order = members_;
        std::ranges::shuffle(order, random_);
        const auto middle = order.begin() + draw(1, count() - 1);
        const std::vector<int> origins(order.begin(), middle), targets(middle, order.end());
        for (const int r : origins)
            access(r, window, targets);
        for (const int r : targets) {
            expose(r, window, origins);
            end_exposure(r, window);
        }
    }

    void flush(int r, int window, int target)
    {
        const bool is_local = chance(2);
        if (target == Step::all || chance(2))
            add(r, {.kind = Kind::Flush,
                    .window = window,
                    .function = is_local ? FunctionId::MPI_Win_flush_local_all : FunctionId::MPI_Win_flush_all});
        else
            add(r, {.kind = Kind::Flush,
                    .window = window,
                    .target = target,
                    .function = is_local ? FunctionId::MPI_Win_flush_local : FunctionId::MPI_Win_flush});
    }

    void locks(int window)
    {
        for (int i = 0; i < count(); ++i)
            for (int epochs = draw(1, 3); epochs > 0; --epochs) {
                const int r = member(i);
                const int other = member(i + draw(1, count() - 1));
                const int target = chance(6) ? Step::all : chance(2) && i != 0 ? member(0) : other;
                const bool exclusive = target != Step::all && !chance(3);
                add(r, {.kind = Kind::Lock, .window = window, .target = target, .exclusive = exclusive});
                compute(r, 800);
                for (int k = draw(0, 2); k > 0; --k) {
                    transfer(r, window, target == Step::all ? other : target);
                    compute(r, 300);
                }
                if (chance(3))
                    flush(r, window, target);
                compute(r, 300);
                add(r, {.kind = Kind::Unlock, .window = window, .target = target});
                compute(r, 500);
            }
    }

    /// Some look for what one of the others puts somewhere.
    void notice()
    {
        const int window = shared_window(), writer = draw(0, program_.ranks - 1);
        const int target = draw(0, program_.ranks - 1);
        const std::size_t number = puts_[{writer, target}]++;
        for (int r = 0; r < program_.ranks; ++r) {
            if (r != writer && chance(3))
                continue;
            add(r, {.kind = Kind::Lock, .window = window, .target = r == writer ? target : Step::all});
            if (r == writer)
                add(r, {.kind = Kind::Transfer, .window = window, .target = target, .bytes = size()});
            else
                add(r, {.kind = Kind::Look, .window = window, .target = target, .peers = {writer}, .number = number});
            add(r, {.kind = Kind::Unlock, .window = window, .target = r == writer ? target : Step::all});
        }
    }

    Program program_;
    std::mt19937 random_;
    std::vector<int> members_;                         // of the window in hand
    std::map<std::pair<int, int>, std::size_t> puts_;  // by writer and target
};

}  // namespace

const char* name(BlockKind kind)
{
    return names[static_cast<std::size_t>(kind)];
}

Recipe random_recipe(std::uint32_t seed)
{
    std::mt19937 random(seed);
    Recipe recipe{2 + static_cast<int>(random() % 5), static_cast<std::uint32_t>(random()), {}};
    for (auto i = 3 + random() % 6; i > 0; --i)
        recipe.blocks.push_back({static_cast<BlockKind>(random() % block_kinds), static_cast<std::uint32_t>(random())});
    return recipe;
}

Program expand(const Recipe& recipe)
{
    Expansion expansion(recipe);
    for (const Block& block : recipe.blocks)
        expansion.add(block);
    return expansion.finish();
}

Program random_program(std::uint32_t seed)
{
    return expand(random_recipe(seed));
}

std::string text(const Recipe& recipe)
{
    std::string words = fmt::format("{} ranks, windows({}):", recipe.ranks, recipe.seed);
    for (const Block& block : recipe.blocks)
        words += fmt::format(" {}({})", name(block.kind), block.seed);
    return words;
}

}  // namespace critpath::oracle::windows
