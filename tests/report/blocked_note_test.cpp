// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How it is said where threads were blocked.
#include "analysis/report/blocked_note.hpp"
#include "tests/report/one_rank.hpp"
#include "tests/report/stretches.hpp"

#include <gtest/gtest.h>

namespace critpath::report
{
namespace
{

using model::CallPathId;

using tests::ms;

/// `[blocked]` below `function`, whose code is that of `module`; found there for `found_ns` of `ns`.
void add_blocked(OneRank& run, const std::string& function, const std::string& module, CallPathId caller,
                 std::int64_t ns, std::int64_t found_ns)
{
    const CallPathId at = run.add(function, caller, 0);
    run.profile().rows[run.profile().call_paths[at.value].row.value].module = module;
    const CallPathId blocked = run.pseudo("[blocked]", at, ns);
    run.profile().path.back().found_ns = found_ns;
    ASSERT_EQ(run.profile().path.back().call_path, blocked);
}

TEST(BlockedNote, NamesTheFunctionAndWhoCallsItsBinary)
{
    OneRank run;
    const CallPathId main = run.add("main", CallPathId::none(), 500 * ms);
    const CallPathId writer = run.add("write_checkpoint", main, 0);
    add_blocked(run, "clock_nanosleep", "/lib/libc.so.6", writer, 300 * ms, 200 * ms);
    add_blocked(run, "read", "/lib/libc.so.6", main, 100 * ms, 95 * ms);
    EXPECT_EQ(
        blocked_note(run.profile()),
        "[blocked]: 100 ms in read, called by main; seen for 200 ms in clock_nanosleep, called by write_checkpoint; "
        "where the other 100 ms were, nobody looked: threads are looked at now and then, seldom in short waits.");
}

TEST(BlockedNote, NamesNobodyWhereTheApplicationItselfIsBlocked)
{
    OneRank run;
    const CallPathId start = run.add("__libc_start_call_main", CallPathId::none(), 0);
    run.profile().rows[run.profile().call_paths[start.value].row.value].module = "/lib/libc.so.6";
    const CallPathId main = run.add("main", start, 500 * ms);
    const std::string application = run.profile().row(main).module;
    add_blocked(run, "touch_pages", application, main, 100 * ms, 95 * ms);
    EXPECT_EQ(blocked_note(run.profile()), "[blocked]: 100 ms in touch_pages.");
}

// Two waits take turns: that it was found in one of them a few times more often says nothing.
TEST(BlockedNote, SaysNoMoreThanWhatWasSeen)
{
    OneRank run;
    const CallPathId main = run.add("main", CallPathId::none(), 500 * ms);
    add_blocked(run, "open", "/lib/libc.so.6", main, 1600 * ms, 2 * ms);
    add_blocked(run, "fsync", "/lib/libc.so.6", main, 65 * ms, 1 * ms);
    add_blocked(run, "write", "/lib/libc.so.6", main, 38 * ms, 0);
    EXPECT_EQ(blocked_note(run.profile()),
              "[blocked]: seen for 2 ms in open, called by main; for 1 ms in fsync, called by main; where the other "
              "1.700 s were, nobody looked: threads are looked at now and then, seldom in short waits.");
}

TEST(BlockedNote, SaysWhereNobodyLookedAndNothingOfLittle)
{
    OneRank run;
    const CallPathId main = run.add("main", CallPathId::none(), 960 * ms);
    add_blocked(run, "poll", "/lib/libc.so.6", main, 1 * ms, 1 * ms);
    add_blocked(run, "read", "/lib/libc.so.6", main, 39 * ms, 0);
    EXPECT_EQ(blocked_note(run.profile()), std::nullopt);
    add_blocked(run, "fsync", "/lib/libc.so.6", main, 300 * ms, 0);
    EXPECT_EQ(blocked_note(run.profile()), "[blocked]: where it was for 339 ms, nobody looked: threads are looked at "
                                           "now and then, seldom in short waits.");
    add_blocked(run, "write", "/lib/libc.so.6", main, 100 * ms, 100 * ms);
    EXPECT_EQ(blocked_note(run.profile()),
              "[blocked]: 100 ms in write, called by main; where it was for 339 ms, nobody looked: threads are looked "
              "at now and then, seldom in short waits.");
}

// Nobody looks at threads in calls of MPI, whose borders are exact.
TEST(BlockedNote, KnowsInWhichCallOfMpiItWas)
{
    OneRank run;
    const CallPathId main = run.add("main", CallPathId::none(), 500 * ms);
    const CallPathId init = run.add("MPI_Init", main, 50 * ms, model::RowKind::Mpi);
    run.profile().rows.back().module = "MPI";
    run.pseudo("[blocked]", init, 129 * ms);
    EXPECT_EQ(blocked_note(run.profile()), "[blocked]: 129 ms in MPI_Init, called by main.");
    add_blocked(run, "fsync", "/lib/libc.so.6", main, 300 * ms, 0);
    EXPECT_EQ(blocked_note(run.profile()),
              "[blocked]: 129 ms in MPI_Init, called by main; where it was for 300 ms, nobody looked: threads are "
              "looked at now and then, seldom in short waits.");
}

TEST(BlockedNote, AddsUpWhatIsOfOnePlace)
{
    OneRank run;
    const CallPathId main = run.add("main", CallPathId::none(), 500 * ms);
    add_blocked(run, "read", "/lib/libc.so.6", run.add("load", main, 0), 100 * ms, 100 * ms);
    add_blocked(run, "read", "/lib/libc.so.6", run.add("load", run.add("restart", main, 0), 0), 50 * ms, 50 * ms);
    EXPECT_EQ(blocked_note(run.profile()), "[blocked]: 150 ms in read, called by load.");
}

TEST(BlockedNote, IsOfTheSelectedRanks)
{
    OneRank run;
    const CallPathId main = run.add("main", CallPathId::none(), 500 * ms);
    add_blocked(run, "read", "/lib/libc.so.6", main, 100 * ms, 100 * ms);
    run.profile().processes.push_back({"rank 1", "node", 1, 0, 0, 0, 0, 0});
    run.profile().path.push_back({main, {1}, 500 * ms, 100});
    EXPECT_NE(blocked_note(run.profile(), {{0}, ""}), std::nullopt);
    EXPECT_EQ(blocked_note(run.profile(), {{1}, ""}), std::nullopt);
}

}  // namespace
}  // namespace critpath::report
