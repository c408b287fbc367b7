// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/grammar/blocks.hpp"

#include <algorithm>
#include <utility>

namespace critpath::oracle::blocks
{

void halo(Sketch& s)
{
    const std::size_t comm = s.one_of({Sketch::world, Sketch::even, Sketch::reversed});
    const std::uint64_t bytes = s.size();
    const int members = static_cast<int>(s.members(comm).size());
    for (int round = s.draw(1, 3); round > 0; --round)
        for (int place = 0; place < members; ++place) {
            const int r = s.members(comm)[at(place)];
            std::vector<int> requests;
            for (const int side : {-1, 1})
                if (const int other = place + side; other >= 0 && other < members)
                    requests.push_back(s.irecv(r, other, 1, comm));
            s.compute(r, 10);
            for (const int side : {-1, 1})
                if (const int other = place + side; other >= 0 && other < members)
                    requests.push_back(s.isend(r, other, 1, bytes, comm));
            s.compute(r);
            if (!requests.empty())
                s.complete(r, requests);
        }
}

/// Persistent requests that one call starts, some of which are for the same messages: with the next ranks, of another
/// size each.
void started_together(Sketch& s)
{
    const int farthest = s.draw(1, std::min(3, s.ranks() - 1)), each = s.draw(1, 2);
    const int tag = s.unique();
    const bool is_from_any = s.chance(3), is_split = s.chance(2);
    for (int round = s.draw(1, 3); round > 0; --round)
        s.each([&](int r) {
            std::vector<Step> starts;
            std::vector<int> requests;
            for (int i = 0; i < farthest * each; ++i) {
                const int source = (r + s.ranks() - 1 - i / each) % s.ranks();
                starts.push_back(s.start_of_receive(r, is_from_any ? any_source : source, tag));
            }
            if (is_split) {
                requests = s.start_all(r, std::exchange(starts, {}));
                s.compute(r, 10);
            }
            for (int i = 0; i < farthest * each; ++i)
                starts.push_back(s.start_of_send(r, (r + 1 + i / each) % s.ranks(), tag, s.size()));
            const std::vector<int> others = s.start_all(r, std::move(starts));
            requests.insert(requests.end(), others.begin(), others.end());
            s.compute(r);
            s.complete(r, requests);
        });
}

void sweep(Sketch& s)
{
    const std::uint64_t bytes = s.size();
    for (int round = s.draw(1, 3); round > 0; --round)
        s.each([&](int r) {
            if (r > 0)
                s.recv(r, r - 1, 2);
            s.compute(r, 30);
            if (r + 1 < s.ranks())
                s.send(r, r + 1, 2, bytes);
        });
}

void pairs(Sketch& s)
{
    std::vector<int> order = s.all();
    std::ranges::shuffle(order, s.random());
    for (int i = 0; i + 1 < s.ranks(); i += 2) {
        const int a = order[at(i)], b = order[at(i + 1)];
        if (s.chance(3)) {
            const std::uint64_t bytes = s.size();
            const FunctionId function = s.one_of({FunctionId::MPI_Sendrecv, FunctionId::MPI_Sendrecv_replace});
            for (const auto& [me, other] : {std::pair(a, b), std::pair(b, a)})
                s.add(me, {.kind = Kind::Sendrecv,
                           .function = function,
                           .peer = other,
                           .source = other,
                           .tag = 3,
                           .bytes = bytes});
            continue;
        }
        for (int k = s.draw(1, 3); k > 0; --k) {
            s.send(a, b, 3, s.size());
            s.recv(b, a, 3);
            s.compute(s.one_of({a, b}), 20);
        }
    }
}

void farm(Sketch& s)
{
    if (s.ranks() < 2)
        return;
    const int tasks = s.draw(1, 2);
    const int tag = s.unique();  // so that nobody takes what belongs to the next farm
    for (int r = 1; r < s.ranks(); ++r)
        for (int i = 0; i < tasks; ++i) {
            s.send(r, 0, tag, 8);
            s.compute(r);
        }
    for (int i = 0; i < tasks * (s.ranks() - 1); ++i) {
        s.recv(0, any_source, tag);
        s.compute(0, 10);
    }
}

void probes(Sketch& s)
{
    const bool matched = s.chance(2);
    const std::uint64_t bytes = s.size();
    for (int r = 0; r + 1 < s.ranks(); r += 2) {
        const int request = s.isend(r, r + 1, 6, bytes);
        s.compute(r, 20);
        s.add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {request}});
        if (matched) {
            const int message =
                s.post(r + 1, {.kind = Kind::Mprobe, .function = FunctionId::MPI_Mprobe, .peer = any_source, .tag = 6});
            s.compute(r + 1, 10);
            const auto taking = s.take(r + 1, message);
            s.compute(r + 1, 20);
            if (taking)
                s.complete(r + 1, {*taking});
        } else {
            s.add(r + 1, {.kind = Kind::Probe, .function = FunctionId::MPI_Probe, .peer = r, .tag = any_tag});
            s.compute(r + 1, 10);
            s.recv(r + 1, r, 6);
        }
    }
}

/// Loops that look for a message: of a neighbour, or, on one rank, of whoever has sent something.
void probe_loops(Sketch& s)
{
    const bool matched = s.chance(2);
    const int tag = s.unique();
    const std::uint64_t bytes = s.size();
    std::vector<std::vector<int>> requests(at(s.ranks()));  // of what has been found and is not there yet
    const auto take = [&](int r, int from) {
        const int message = s.probe_loop(r, matched ? FunctionId::MPI_Improbe : FunctionId::MPI_Iprobe, from, tag);
        s.compute(r, 10);
        if (!matched)
            return s.recv(r, from, tag);
        if (const auto taking = s.take(r, message))
            requests[at(r)].push_back(*taking);
    };
    const auto complete = [&](int r) {
        if (!requests[at(r)].empty())
            s.complete(r, requests[at(r)]);
    };
    if (s.chance(2)) {
        for (int r = 0; r + 1 < s.ranks(); ++r) {
            s.compute(r);
            s.send(r, r + 1, tag, bytes);
            take(r + 1, r);
        }
        return s.each(complete);
    }
    const int server = s.draw(0, s.ranks() - 1);
    s.each([&](int r) {
        if (r == server)
            return;
        s.compute(r);
        s.send(r, server, tag, bytes);
    });
    for (int i = 1; i < s.ranks(); ++i) {
        take(server, any_source);
        s.compute(server, 10);
    }
    complete(server);
}

/// Only one rank fills its buffer, so that nobody waits for somebody who waits.
void buffers(Sketch& s)
{
    if (s.ranks() < 2)
        return;
    const int from = s.draw(0, s.ranks() - 1);
    std::vector<int> to;
    for (int k = s.draw(1, 4); k > 0; --k) {
        to.push_back((from + s.draw(1, s.ranks() - 1)) % s.ranks());
        s.add(from, {.kind = Kind::Send,
                     .function = FunctionId::MPI_Bsend,
                     .mode = SendMode::Buffered,
                     .peer = to.back(),
                     .tag = 7,
                     .bytes = s.size()});
    }
    s.compute(from, 20);
    s.add(from, {.kind = Kind::Detach, .function = FunctionId::MPI_Buffer_detach});
    s.compute(from);
    for (const int r : to) {
        s.compute(r);
        s.recv(r, from, 7);
    }
}

/// Somebody sends there afterwards, or has done before, so that it is too late to cancel the receive.
void cancelled(Sketch& s)
{
    const int r = s.draw(0, s.ranks() - 1);
    const int other = (r + s.draw(1, std::max(1, s.ranks() - 1))) % s.ranks();
    const bool is_used = other != r && s.chance(2), is_late = other != r && s.chance(3);
    const int source = s.one_of({any_source, other});
    const int tag = is_used || is_late ? s.unique() : 99;
    const int request = s.post(r, {.kind = Kind::Irecv, .function = FunctionId::MPI_Irecv, .peer = source, .tag = tag});
    if (is_late) {
        s.send(other, r, tag, s.size());
        s.send(other, r, tag + 1'000'000, 8);  // does not overtake
        s.recv(r, other, tag + 1'000'000);
    }
    s.compute(r);
    s.add(r, {.kind = Kind::Cancel, .function = FunctionId::MPI_Cancel, .request = request});
    s.add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {request}});
    if (!is_used)
        return;
    s.send(r, other, tag, 8);
    s.recv(other, r, tag);
    s.compute(other, 20);
    s.send(other, r, tag, s.size());
    s.compute(r, 20);
    s.recv(r, source, tag);
}

/// The receiver says that it has posted.
void ready(Sketch& s)
{
    const auto [function, mode] = s.one_of<std::pair<FunctionId, Kind>>({{FunctionId::MPI_Rsend, Kind::Send},
                                                                         {FunctionId::MPI_Irsend, Kind::Isend},
                                                                         {FunctionId::MPI_Start, Kind::Isend}});
    const std::uint64_t bytes = s.size();
    for (int r = 0; r + 1 < s.ranks(); r += 2) {
        const int receive = s.irecv(r + 1, r, 10);
        s.compute(r + 1, 20);
        s.send(r + 1, r, 11, 8);
        s.compute(r);
        s.recv(r, r + 1, 11);
        s.compute(r, 20);
        const Step send{.kind = mode,
                        .function = function,
                        .mode = SendMode::Ready,
                        .peer = r + 1,
                        .tag = 10,
                        .bytes = bytes,
                        .persistent = function == FunctionId::MPI_Start};
        if (mode == Kind::Send) {
            s.add(r, send);
        } else {
            const int request = s.post(r, send);
            s.compute(r, 20);
            s.complete(r, {request});
        }
        s.compute(r + 1);
        s.complete(r + 1, {receive});
    }
}

/// Each member of the first group with one of the second.
void across_groups(Sketch& s)
{
    const std::uint64_t bytes = s.size();
    const auto& members = s.members(Sketch::inter);
    const auto first = static_cast<int>(s.program().first_groups.at(Sketch::inter));
    const int second = static_cast<int>(members.size()) - first;
    const bool is_blocking = s.chance(2);
    for (int one = 0; one < first && second > 0; ++one) {
        const int other = first + (one + s.draw(0, second - 1)) % second;
        const int a = members[at(one)], b = members[at(other)];
        if (is_blocking) {
            s.send(a, other, 12, bytes, Sketch::inter);
            s.recv(b, one, 12, Sketch::inter);
            s.compute(b, 20);
            continue;
        }
        for (const auto& [me, partner] : {std::pair(a, other), std::pair(b, one)}) {
            std::vector<int> requests{s.irecv(me, partner, 13, Sketch::inter)};
            s.compute(me, 20);
            requests.push_back(s.isend(me, partner, 13, bytes, Sketch::inter));
            s.compute(me);
            s.complete(me, requests);
        }
    }
}

void threads(Sketch& s)
{
    struct Member {
        int thread, rank;
    };
    std::vector<Member> members;
    std::vector<Member> forked;
    s.each([&](int r) {
        members.push_back({r, r});
        if (s.chance(3))
            return;
        forked.push_back({s.fork(r), r});
        members.push_back(forked.back());
    });
    for (int i = s.draw(1, 3 * s.ranks()); i > 0; --i) {
        std::ranges::shuffle(members, s.random());
        const Member &from = members[0], &to = members[1];
        if (from.rank == to.rank)
            continue;
        const int tag = s.unique();  // so that it is clear which thread it is for
        s.send(from.thread, to.rank, tag, s.size(), Sketch::of_threads);
        s.recv(to.thread, from.rank, tag, Sketch::of_threads);
        s.compute(from.thread, 20);
        s.compute(to.thread, 20);
    }
    for (const Member& member : forked) {  // the main thread is to see its end
        const int tag = s.unique();
        s.send(member.thread, member.rank, tag, 8, Sketch::of_threads);
        s.recv(member.rank, member.rank, tag, Sketch::of_threads);
    }
}

void tool(Sketch& s)
{
    const std::uint64_t bytes = s.size();
    s.each([&](int r) {
        s.compute(r, 20);
        s.add(r, {.kind = Kind::Tool, .ticks = s.draw(1, 500)});
        s.compute(r, 20);
        if (r > 0)
            s.recv(r, r - 1, 7);
        if (s.chance(2))
            s.add(r, {.kind = Kind::Tool, .ticks = s.draw(1, 3000)});
        if (r + 1 < s.ranks())
            s.send(r, r + 1, 7, bytes);
    });
}

/// One rank computes for longer than all others and any message; in between, it is in MPI for the moment of a post
/// alone. It receives or sends what the others send or receive in blocking calls, or all of them overlap the same
/// exchange.
void standing(Sketch& s)
{
    const auto bytes = s.one_of<std::uint64_t>({70'000, 400'000, 4'000'000});
    const int busy = s.draw(0, s.ranks() - 1);
    const auto shape = s.one_of({1, 2, 3});
    const auto work = [&](int r) {
        if (r == busy)
            s.add(r, {.kind = Kind::Compute, .ticks = 12'000});
        s.compute(r, 20);
    };
    std::vector<std::vector<int>> requests(at(s.ranks()));
    const auto exchange = [&](int from, int to) {
        if (shape != 1 || to == busy)
            requests[at(to)].push_back(s.irecv(to, from, 8));
        if (shape != 1 || from == busy)
            requests[at(from)].push_back(s.isend(from, to, 8, bytes));
    };
    s.each([&](int r) {
        if (shape == 3)
            exchange(r, (r + 1) % s.ranks());
        else if (r != busy && (r + busy) % 2 == 0)
            exchange(r, busy);
        else if (r != busy)
            exchange(busy, r);
    });
    s.each(work);
    s.each([&](int r) {
        if (shape == 1 && r != busy) {
            if ((r + busy) % 2 == 0)
                s.send(r, busy, 8, bytes);
            else
                s.recv(r, busy, 8);
        }
        s.compute(r, 20);
        if (!requests[at(r)].empty())
            s.complete(r, requests[at(r)]);
    });
}

/// All send to somebody and receive from somebody, once or both ways, and compute before, between and behind their
/// posts, for as long as the messages take at most. They complete all of it in the same way each time.
void exchange(Sketch& s)
{
    const auto bytes = s.one_of<std::uint64_t>({100'000, 400'000, 1'000'000, 4'000'000});
    const int most = std::max(1, static_cast<int>(bytes / 100'000) / s.one_of({1, 2, 4}));
    const int distance = s.draw(1, s.ranks() - 1);
    std::vector<int> partners{distance};
    if (s.chance(2))
        partners.push_back(s.ranks() - distance);
    std::vector<std::vector<int>> requests(at(s.ranks()));
    s.each([&](int r) {
        s.compute(r, most);
        for (const int d : partners)
            requests[at(r)].push_back(s.irecv(r, (r + d) % s.ranks(), 9 + (d == distance ? 0 : 1)));
        s.compute(r, most);
        for (const int d : partners)
            requests[at(r)].push_back(s.isend(r, (r + s.ranks() - d) % s.ranks(), 9 + (d == distance ? 0 : 1), bytes));
        s.compute(r, most);
    });
    const bool at_once = !s.chance(3);
    s.each([&](int r) {
        if (at_once)
            s.add(r, {.kind = Kind::Waitall, .function = FunctionId::MPI_Waitall, .requests = requests[at(r)]});
        else
            s.complete(r, requests[at(r)]);
    });
}

}  // namespace critpath::oracle::blocks
