// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Why a list is empty.
#include "analysis/report/empty_note.hpp"
#include "tests/report/one_rank.hpp"
#include "tests/report/stretches.hpp"

#include <gtest/gtest.h>

namespace critpath::report
{
namespace
{

using model::CallPathId;

/// `main` is on the path, `poll` off it only, and `idle` nowhere.
OneRank run_with_poll()
{
    OneRank run;
    run.add("main", CallPathId::none(), 5 * tests::ms);
    const CallPathId poll = run.add("poll", CallPathId::none(), 0);
    run.add("idle", CallPathId::none(), 0);
    run.profile().totals.push_back({poll, model::ProcessId::none(), 12 * tests::ms, 12});
    run.profile().processes.push_back({"rank 1", "node", 1, 0, 0, 0, 0, 0});
    return run;
}

TEST(EmptyNote, SaysThatNothingOnThePathIsMeant)
{
    OneRank run = run_with_poll();
    const auto note = [&](Asked asked) {
        asked.all_ranks_ns = all_ranks_time(run.profile(), asked.selection);
        return empty_note(run.profile(), asked, "a run").value_or("none");
    };
    EXPECT_EQ(note({{{}, "poll"}}),
              "Nothing in binaries with 'poll' in their path is on the critical path; of the "
              "time on all ranks, they have 12 ms: cpreport hotspots --sort all --module poll 'a run'");
    EXPECT_EQ(note({{{}, "idle"}}), "Nothing in binaries with 'idle' in their path is on the critical path, nor off "
                                    "it.");
    EXPECT_EQ(note({{{}, "idle"}, false, true}), "Nothing in binaries with 'idle' in their path is on the critical "
                                                 "path in this part of the run.");
    EXPECT_EQ(note({{{1}, ""}}), "Nothing of these ranks is on the critical path.");
    EXPECT_EQ(note({{{1}, "main"}}),
              "Nothing in binaries with 'main' in their path of these ranks is on the critical path.");
    EXPECT_EQ(note({{}, true}), "No transfer is on the critical path.");
    EXPECT_EQ(note({{{1}, ""}, true, true}),
              "No transfer of these ranks is on the critical path in this part of the run.");
}

// In the order of all ranks, functions of MPI have no time.
TEST(EmptyNote, SaysNothingOfCallsThatTheOtherListHasNot)
{
    OneRank run = run_with_poll();
    const CallPathId call = run.add("MPI_Recv", CallPathId::none(), 0, model::RowKind::Mpi);
    run.profile().rows.back().module = "MPI";
    run.profile().totals.push_back({call, model::ProcessId::none(), 7 * tests::ms, 0});
    EXPECT_EQ(all_ranks_time(run.profile(), {{}, "MPI"}), std::nullopt);
    EXPECT_EQ(all_ranks_time(run.profile(), {}), 17 * tests::ms);
    EXPECT_EQ(empty_note(run.profile(), {{{}, "MPI"}}, "a run"),
              "Nothing in binaries with 'MPI' in their path is on the critical path.");
}

TEST(EmptyNote, SaysNothingWhereItIsThere)
{
    OneRank run = run_with_poll();
    EXPECT_EQ(empty_note(run.profile(), {{{}, "main"}}, "a run"), std::nullopt);
    EXPECT_EQ(empty_note(run.profile(), {{{0}, ""}}, "a run"), std::nullopt);
    EXPECT_EQ(empty_note(run.profile(), {}, "a run"), std::nullopt);
}

}  // namespace
}  // namespace critpath::report
