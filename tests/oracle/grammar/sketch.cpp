// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/grammar/sketch.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

namespace critpath::oracle
{

namespace
{

/// As square as it can be.
Grid plane_of(int ranks)
{
    int rows = 1;
    for (int i = 1; i * i <= ranks; ++i)
        rows = ranks % i == 0 ? i : rows;
    return {{rows, false}, {ranks / rows, true}};
}

/// Of different degrees, and with arrows that have none back: by member, whom it gets something from.
std::vector<std::vector<int>> some_graph(int ranks)
{
    std::vector<std::vector<int>> result;
    for (int r = 0; r < ranks; ++r) {
        std::set<int> sources;
        for (int i = 0; i < r % 4; ++i)
            sources.insert((2 * r + 3 * i + 1) % ranks);
        result.emplace_back(sources.begin(), sources.end());
    }
    return result;
}

}  // namespace

Sketch::Sketch(int ranks) : requests_(at(ranks), 0)
{
    program_.ranks = ranks;
    program_.steps.resize(at(ranks));
    const std::vector<int> everybody = all();
    std::vector<int> backwards(everybody.rbegin(), everybody.rend());
    std::vector<int> evens, odds;
    for (const int r : everybody)
        (r % 2 == 0 ? evens : odds).push_back(r);
    std::vector<int> both = evens;
    both.insert(both.end(), odds.begin(), odds.end());
    program_.comms = {everybody, evens, backwards, both, backwards, everybody, everybody, everybody};
    program_.first_groups[inter] = evens.size();
    program_.grids[ring] = {{ranks, true}};
    program_.grids[plane] = plane_of(ranks);
    program_.graphs[graph] = some_graph(ranks);
    each([&](int r) { add(r, {.kind = Kind::Collective, .function = FunctionId::MPI_Init}); });
}

std::vector<int> Sketch::all() const
{
    std::vector<int> result(at(ranks()));
    std::iota(result.begin(), result.end(), 0);
    return result;
}

std::size_t Sketch::copy_of(std::size_t comm)
{
    const std::vector<int> members = program_.comms[comm];
    program_.comms.push_back(members);
    return program_.comms.size() - 1;
}

void Sketch::compute(int r, int most)
{
    int ticks = draw(0, 100 * most);
    if (times_)
        ticks = static_cast<int>((*times_)() % static_cast<std::uint32_t>(100 * most + 1));
    add(r, {.kind = Kind::Compute, .ticks = ticks});
}

std::uint64_t Sketch::size()
{
    return one_of<std::uint64_t>({0, 8, 1000, 4096, 5000, 60'000, 400'000});
}

std::uint64_t Sketch::collective_size()
{
    return chance(2) ? usual_bytes : collective_sizes[at(draw(0, static_cast<int>(collective_sizes.size()) - 1))];
}

int Sketch::post(int r, Step step)
{
    step.request = requests_[at(r)]++;
    add(r, step);
    return step.request;
}

int Sketch::fork(int r)
{
    const Step any_call{.kind = Kind::Waitall, .function = FunctionId::MPI_Waitall};
    const int thread = program_.threads();
    program_.forked.push_back(r);
    program_.steps.push_back({any_call});
    requests_.push_back(0);
    add(r, any_call);
    add(r, {.kind = Kind::Fork, .thread = thread});
    return thread;
}

std::int64_t Sketch::between_polls()
{
    return one_of<std::int64_t>({0, 0, 1, 3, 20, 300});
}

void Sketch::poll(int r, FunctionId function, const std::vector<int>& requests)
{
    add(r, {.kind = Kind::PollLoop, .ticks = between_polls(), .function = function, .requests = requests});
}

int Sketch::probe_loop(int r, FunctionId function, int from, int tag)
{
    return post(r, {.kind = Kind::ProbeLoop, .ticks = between_polls(), .function = function, .peer = from, .tag = tag});
}

void Sketch::poll_status(int r, int request)
{
    poll(r, FunctionId::MPI_Request_get_status, {request});
    add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {request}});
}

int Sketch::irecv(int r, int from, int tag, std::size_t comm)
{
    const bool persistent = chance(4);
    return post(r, {.kind = Kind::Irecv,
                    .function = persistent ? FunctionId::MPI_Start : FunctionId::MPI_Irecv,
                    .peer = from,
                    .tag = tag,
                    .comm = comm,
                    .persistent = persistent});
}

int Sketch::isend(int r, int to, int tag, std::uint64_t bytes, std::size_t comm)
{
    const auto [function, mode] =
        one_of<std::pair<FunctionId, SendMode>>({{FunctionId::MPI_Isend, SendMode::Standard},
                                                 {FunctionId::MPI_Isend, SendMode::Standard},
                                                 {FunctionId::MPI_Issend, SendMode::Synchronous},
                                                 {FunctionId::MPI_Ibsend, SendMode::Buffered},
                                                 {FunctionId::MPI_Start, SendMode::Standard},
                                                 {FunctionId::MPI_Start, SendMode::Synchronous},
                                                 {FunctionId::MPI_Start, SendMode::Buffered}});
    return post(r, {.kind = Kind::Isend,
                    .function = function,
                    .mode = mode,
                    .peer = to,
                    .tag = tag,
                    .comm = comm,
                    .bytes = bytes,
                    .persistent = function == FunctionId::MPI_Start});
}

Step Sketch::start_of_receive(int r, int from, int tag, std::size_t comm)
{
    return {.kind = Kind::Irecv,
            .function = FunctionId::MPI_Startall,
            .peer = from,
            .tag = tag,
            .comm = comm,
            .request = requests_[at(r)]++,
            .persistent = true};
}

Step Sketch::start_of_send(int r, int to, int tag, std::uint64_t bytes, std::size_t comm)
{
    const SendMode mode = one_of({SendMode::Standard, SendMode::Standard, SendMode::Synchronous, SendMode::Buffered});
    return {.kind = Kind::Isend,
            .function = FunctionId::MPI_Startall,
            .mode = mode,
            .peer = to,
            .tag = tag,
            .comm = comm,
            .bytes = bytes,
            .request = requests_[at(r)]++,
            .persistent = true};
}

std::vector<int> Sketch::start_all(int r, std::vector<Step> starts)
{
    std::ranges::shuffle(starts, random_);
    std::vector<int> requests;
    for (const Step& start : starts)
        requests.push_back(start.request);
    add(r, {.kind = Kind::Startall, .function = FunctionId::MPI_Startall, .starts = std::move(starts)});
    return requests;
}

std::optional<int> Sketch::take(int r, int message)
{
    if (!chance(2)) {
        add(r, {.kind = Kind::Mrecv, .function = FunctionId::MPI_Mrecv, .message = message});
        return std::nullopt;
    }
    return post(r, {.kind = Kind::Imrecv, .function = FunctionId::MPI_Imrecv, .message = message});
}

void Sketch::send(int r, int to, int tag, std::uint64_t bytes, std::size_t comm)
{
    const auto [function, mode] =
        one_of<std::pair<FunctionId, SendMode>>({{FunctionId::MPI_Send, SendMode::Standard},
                                                 {FunctionId::MPI_Send, SendMode::Standard},
                                                 {FunctionId::MPI_Ssend, SendMode::Synchronous},
                                                 {FunctionId::MPI_Bsend, SendMode::Buffered}});
    add(r,
        {.kind = Kind::Send, .function = function, .mode = mode, .peer = to, .tag = tag, .comm = comm, .bytes = bytes});
}

void Sketch::recv(int r, int from, int tag, std::size_t comm)
{
    add(r, {.kind = Kind::Recv, .function = FunctionId::MPI_Recv, .peer = from, .tag = tag, .comm = comm});
}

void Sketch::complete(int r, std::vector<int> requests)
{
    switch (draw(0, 8)) {
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
    case 3:
        for (std::size_t i = 0; i < requests.size(); ++i)
            poll(r, FunctionId::MPI_Testany, requests);
        break;
    case 4:
        if (chance(2))
            poll(r, FunctionId::MPI_Testall, requests);
        else
            for (std::size_t i = 0; i < requests.size(); ++i)
                poll(r, FunctionId::MPI_Testsome, requests);
        break;
    case 5:
        for (const int request : requests)
            poll_status(r, request);
        break;
    default:
        add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Waitall, .requests = std::move(requests)});
        break;
    }
}

}  // namespace critpath::oracle
