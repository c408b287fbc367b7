// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which calls are one place of the program, where all of MPI is called by wrappers.
#include "tests/builder/replayed.hpp"
#include "tests/rules/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

using Path = std::vector<std::pair<std::string, std::uint64_t>>;

/// What a rank does before it meets the others in MPI_Allreduce, us, and which functions call that.
struct Phase {
    std::int64_t us;
    Path path;
};

constexpr std::uint64_t in_dot = 0x500;  // where dot() calls MPI_Allreduce

/// All ranks, `comms` by comms, go through `phases` phases of each step.
Replayed run_phases(Program& p, int steps, int phases, const std::function<Phase(int rank, int step, int phase)>& phase,
                    const std::vector<std::vector<int>>& comms)
{
    std::vector<model::CommId> ids;
    for (const std::vector<int>& ranks : comms)
        ids.push_back(
            ranks.size() == static_cast<std::size_t>(p.ranks())
                ? Program::world()
                : p.comm({static_cast<std::uint32_t>(ranks.front()), static_cast<std::uint32_t>(ranks.back())}));
    std::vector<std::int64_t> time(comms.size(), 10);
    for (int rank = 0; rank < p.ranks(); ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
    for (int step = 0; step < steps; ++step)
        for (int i = 0; i < phases; ++i)
            for (std::size_t comm = 0; comm < comms.size(); ++comm) {
                std::int64_t longest = 0;
                for (const int rank : comms[comm])
                    longest = std::max(longest, phase(rank, step, i).us);
                const std::int64_t leave = time[comm] + longest + 2;
                for (const int rank : comms[comm]) {
                    const Phase here = phase(rank, step, i);
                    p[rank].called_along(here.path, in_dot);
                    p[rank].collective(FunctionId::MPI_Allreduce, {time[comm] + here.us, leave}, ids[comm]);
                }
                time[comm] = leave;
            }
    p.finish(*std::ranges::max_element(time) + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    return r;
}

Replayed run_phases(Program& p, int steps, int phases, const std::function<Phase(int rank, int step, int phase)>& phase)
{
    std::vector<int> all;
    for (int rank = 0; rank < p.ranks(); ++rank)
        all.push_back(rank);
    return run_phases(p, steps, phases, phase, {all});
}

/// Between calls of MPI_Allreduce, those with the most time first.
std::vector<model::Stretch> steps_of(const Replayed& r)
{
    std::vector<model::Stretch> steps;
    for (const model::Stretch& s : r.profile.stretches)
        if (function(r, s.before) == "MPI_Allreduce" && function(r, s.after) == "MPI_Allreduce")
            steps.push_back(s);
    return steps;
}

/// Where the function that calls MPI is called itself, in front of a stretch, and behind it.
std::array<std::uint64_t, 2> sites_of_callers(const Replayed& r, const model::Stretch& s)
{
    const auto site = [&](model::CallPathId call) {
        return r.profile.call_paths[r.profile.call_paths[call.value].parent.value].site;
    };
    return {site(s.before), site(s.after)};
}

using Sites = std::array<std::uint64_t, 2>;

// A solver with a dot product: each time another piece of work is in front of it.
TEST(Places, AWrapperThatIsCalledAtSeveralSitesIsSeveralPlaces)
{
    Program p(3);
    const Replayed r = run_phases(p, 20, 3, [](int rank, int, int phase) {
        const std::int64_t us = phase == 0 ? (rank == 0 ? 900 : 300) : phase == 1 ? (rank == 1 ? 800 : 200) : 200;
        const std::uint64_t site = 0x10 * static_cast<std::uint64_t>(phase + 1);
        return Phase{us, {{"main", 0}, {"cg", 0x1}, {"dot", site}}};
    });
    const std::vector<model::Stretch> steps = steps_of(r);
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_EQ(sites_of_callers(r, steps[0]), (Sites{0x30, 0x10}));
    EXPECT_EQ(steps[0].slowest_rank, 0);
    EXPECT_GT(rank_share(steps[0]), 0.99);
    EXPECT_NEAR(static_cast<double>(steps[0].fastest_time), 1e9 / 3, 1e6);
    EXPECT_EQ(sites_of_callers(r, steps[1]), (Sites{0x10, 0x20}));
    EXPECT_EQ(steps[1].slowest_rank, 1);
    EXPECT_GT(rank_share(steps[1]), 0.99);
    EXPECT_NEAR(static_cast<double>(steps[1].fastest_time), 1e9 / 4, 1e6);
    EXPECT_EQ(sites_of_callers(r, steps[2]), (Sites{0x20, 0x30}));
    EXPECT_EQ(steps[2].compared_ns, steps[2].peers_ns);
    for (const model::Stretch& s : steps) {
        EXPECT_EQ(s.before_site, static_cast<std::int64_t>(in_dot));
        EXPECT_EQ(s.after_site, static_cast<std::int64_t>(in_dot));
    }
}

// norm() calls dot(), which calls the wrapper: the sites that tell are those of none of these.
TEST(Places, SitesAreToldApartHoweverFarFromMpi)
{
    Program p(3);
    const Replayed r = run_phases(p, 20, 2, [](int rank, int, int phase) {
        const std::uint64_t site = phase == 0 ? 0x10 : 0x20;
        return Phase{rank == phase ? 300 : 100,
                     {{"main", 0}, {"step", 0x1}, {"norm", site}, {"sum", 0x2}, {"reduce", 0x3}}};
    });
    const std::vector<model::Stretch> steps = steps_of(r);
    ASSERT_EQ(steps.size(), 2U);
    for (const model::Stretch& s : steps) {
        EXPECT_GT(rank_share(s), 0.99);
        EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e9 / 3, 1e6);
    }
    EXPECT_NE(steps[0].slowest_rank, steps[1].slowest_rank);
}

// A compiler has made two calls of the first one, one for rank 0. All ranks make the second one.
TEST(Places, CallsOfAWrapperThatMeetAreOnePlace)
{
    Program p(3);
    const Replayed r = run_phases(p, 20, 2, [](int rank, int, int phase) {
        const std::uint64_t site = phase == 1 ? 0x20 : rank == 0 ? 0x18 : 0x10;
        return Phase{rank == phase ? 300 : 100, {{"main", 0}, {"cg", 0x1}, {"dot", site}}};
    });
    const std::vector<model::Stretch> steps = steps_of(r);
    ASSERT_EQ(steps.size(), 2U);
    for (const model::Stretch& s : steps) {
        EXPECT_EQ(s.ranks, 3);
        EXPECT_EQ(s.compared_by, static_cast<std::int64_t>(model::ComparedBy::BothCalls));
        EXPECT_GT(rank_share(s), 0.99);
        const Sites expected = s.slowest_rank == 0 ? Sites{0x20, 0} : Sites{0, 0x20};
        EXPECT_EQ(sites_of_callers(r, s), expected) << "one of them is made at two sites";
        EXPECT_EQ(s.before_site, static_cast<std::int64_t>(in_dot));
    }
}

// `if (rank < 2) solve(a, comm_a); else solve(b, comm_b);`: they never meet, but do the same, at the same sites of
// solve().
TEST(Places, WhatTwoBranchesCallIsOnePlaceForEachOfItsSites)
{
    Program p(4);
    const Replayed r =
        run_phases(p, 20, 2,
                   [](int rank, int, int phase) {
                       const std::uint64_t branch = rank < 2 ? 0x100 : 0x200, site = phase == 0 ? 0x10 : 0x20;
                       const bool is_slow = rank == (phase == 0 ? 1 : 2);
                       return Phase{is_slow ? 300 : 100, {{"main", 0}, {"solve", branch}, {"dot", site}}};
                   },
                   {{0, 1}, {2, 3}});
    for (const model::Stretch& s : steps_of(r)) {
        EXPECT_EQ(s.ranks, 4);
        EXPECT_EQ(s.slowest_rank, sites_of_callers(r, s)[1] == 0x10 ? 1 : 2);
        EXPECT_GT(rank_share(s), 0.99);
        const model::CallPathId dot = r.profile.call_paths[s.after.value].parent;
        const model::CallPathId solve = r.profile.call_paths[dot.value].parent;
        EXPECT_EQ(r.profile.row(solve).name, "solve");
        EXPECT_EQ(r.profile.call_paths[solve.value].site, 0U) << "it is called in both branches";
    }
}

// `if (rank == 0) send(...); else send(...);`, by a wrapper.
TEST(Places, BranchesThatCallAWrapperAreOnePlace)
{
    Program p(3);
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        for (int rank = 0; rank < 3; ++rank) {
            p[rank].called_along(Path{{"main", 0}, {"put", rank == 0 ? 0x10U : 0x20U}}, 0x1);
            const std::int64_t enter = time + (rank == 2 ? 200 : 100);
            p[rank].send({enter, enter + 1}, (rank + 1) % 3);
            p[rank].called_along(Path{{"main", 0}, {"get", 0x30}}, 0x2);
            p[rank].recv({enter + 1, std::max(time + (rank == 0 ? 200 : 100), enter) + 3}, (rank + 2) % 3);
        }
        time += 203;
        for (int rank = 0; rank < 3; ++rank) {
            p[rank].called_along(Path{{"main", 0}}, 0x40);
            p[rank].collective(FunctionId::MPI_Barrier, {time + 1, time + 2});
        }
        time += 2;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Barrier", "MPI_Send");
    EXPECT_EQ(s.ranks, 3);
    EXPECT_EQ(s.slowest_rank, 2);
    EXPECT_EQ(sites_of_callers(r, s)[1], 0U);
}

// Generated code, or ways through a recursion: there are as many places as there are sites, until these are too many.
TEST(Places, ManySitesOfCallersAreOnePlace)
{
    for (const int lines : {20, 200}) {
        Program p(2);
        const Replayed r = run_phases(p, 3, lines, [](int rank, int, int phase) {
            return Phase{rank == 1 ? 200 : 100,
                         {{"main", 0}, {"all", 0x1}, {"dot", 0x10 * static_cast<std::uint64_t>(phase + 1)}}};
        });
        EXPECT_EQ(steps_of(r).size(), lines == 20 ? 20U : 1U);
        EXPECT_EQ(steps_of(r)[0].slowest_rank, 1);
        EXPECT_EQ(sites_of_callers(r, steps_of(r)[0])[0] == 0, lines == 200);
    }
}

}  // namespace
}  // namespace critpath::tests
