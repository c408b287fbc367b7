// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Waits that are spelled as polls (docs/ALGORITHM, "Polling"). Times are in us.
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace critpath::tests
{
namespace
{

// while (!flag) MPI_Test(...) waits as MPI_Wait does, although each call returns at once.
TEST(Polls, PollsInCloseSuccessionAreAWait)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    p[1].call(FunctionId::MPI_Test, {10, 40});  // one record stands for many polls
    p[1].call(FunctionId::MPI_Test, {41, 51});
    p[1].test({52, 53}, r);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-100");
}

TEST(Polls, PollsOfSeveralFunctionsInTurnAreAWait)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    for (int t = 10; t < 52; t += 4) {
        p[1].call(FunctionId::MPI_Testany, {t, t + 1});
        p[1].call(FunctionId::MPI_Iprobe, {t + 2, t + 3});
    }
    p[1].test({54, 55}, r);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-50 | transfer 0>1: 50-55 | compute 1: 55-100");
}

/// Of a loop that is mostly outside of MPI, nobody knows whether it works there: it may be that of a computation that
/// looks now and then.
TEST(Polls, PollsThatAreMostlyOutsideOfMpiAreADoubtfulWait)
{
    for (const int length : {1, 2}) {
        Program p(2);
        p[0].send({50, 51}, 1);
        const Request r = p[1].irecv({1, 2}, 0);
        for (int t = 10; t < 50; t += 4)
            p[1].call(FunctionId::MPI_Test, {t, t + length});
        p[1].test({51, 53}, r);
        p.finish(100);
        EXPECT_EQ(path(p), length == 1 ? "compute 0: 0-50 | transfer? 0>1: 50-53 | compute 1: 53-100"
                                       : "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-100");
    }
}

/// One record stands for many of them, and says what is between.
TEST(Polls, OneRecordMayBeMostlyOutsideOfMpi)
{
    for (const int between : {19, 21}) {
        Program p(2);
        p[0].send({50, 51}, 1);
        const Request r = p[1].irecv({1, 2}, 0);
        p[1].call(FunctionId::MPI_Test, {10, 50});
        p[1].between_polls(between);
        p[1].test({51, 52}, r);
        p.finish(100);
        EXPECT_EQ(path(p), between == 19 ? "compute 0: 0-50 | transfer 0>1: 50-52 | compute 1: 52-100"
                                         : "compute 0: 0-50 | transfer? 0>1: 50-52 | compute 1: 52-100");
    }
}

// while (!flag) MPI_Request_get_status(...); then MPI_Wait returns at once. Or MPI_Parrived.
TEST(Polls, PollsThatCompleteNothingAreAWaitToo)
{
    for (const FunctionId poll : {FunctionId::MPI_Request_get_status, FunctionId::MPI_Parrived}) {
        Program p(2);
        p[0].send({50, 51}, 1);
        const Request r = p[1].irecv({1, 2}, 0);
        p[1].call(poll, {10, 52});
        p[1].call(poll, {52, 53});
        p[1].wait({80, 81}, r);
        p.finish(100);
        EXPECT_EQ(path(p),
                  "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-80 | mpi 1: 80-81 | compute 1: 81-100");
    }
}

// The same where MPI_Wait takes somewhat longer than another one: a poll has found what it completes.
TEST(Polls, AWaitForWhatAPollHasFoundReturnsAtOnceEvenIfItTakesSomewhatLonger)
{
    Program p(2);
    p[0].send({0, 1}, 1);
    const Request first = p[1].irecv({0, 1}, 0);
    const Request second = p[1].irecv({1, 2}, 0);
    p[1].wait({8, 9}, first);
    p[0].send({50, 51}, 1);
    p[1].call(FunctionId::MPI_Request_get_status, {10, 52});
    p[1].call(FunctionId::MPI_Request_get_status, {52, 53});
    p[1].wait({80, 84}, second);
    p.finish(100);
    EXPECT_EQ(path(p), "mpi 0: 0-1 | compute 0: 1-50 | transfer 0>1: 50-53 | compute 1: 53-80 | delay? 1: 80-84 | "
                       "compute 1: 84-100");
}

// The same where the request is not waited for, but freed.
TEST(Polls, PollsThatCompleteNothingAreAWaitForWhatIsFreed)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    p[1].call(FunctionId::MPI_Request_get_status, {10, 52});
    p[1].call(FunctionId::MPI_Request_get_status, {52, 53});
    p[1].free_finished({80, 81}, r);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-80 | mpi 1: 80-81 | compute 1: 81-100");
}

// What a blocking call receives, the polls before it did not ask about.
TEST(Polls, PollsBeforeABlockingReceiveAreOfSomethingElse)
{
    Program p(2);
    p[0].send({30, 31}, 1, 8, 2);
    p[0].send({50, 51}, 1, 8, 1);
    const Request r = p[1].irecv({1, 2}, 0, 8, 1);
    p[1].call(FunctionId::MPI_Request_get_status, {10, 52});
    p[1].call(FunctionId::MPI_Request_get_status, {52, 53});
    p[1].recv({53, 54}, 0, 8, 2);
    p[1].wait({55, 56}, r);
    p.finish(100);
    EXPECT_EQ(path(p).find("transfer"), std::string::npos) << path(p);
}

// One look in vain, and then a wait that waits by itself.
TEST(Polls, WhatIsNotKnownIsNoPoll)
{
    Program p(2);
    p[0].send({50, 51}, 1, 8);
    const Request received = p[1].irecv({0, 1}, 0, 8);
    p[1].call(FunctionId::none, {8, 9});
    p[1].wait({10, 53}, received);
    p[0].finish(80);
    p[1].finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-100");
}

TEST(Polls, AWaitBehindALookIsAWait)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    p[1].call(FunctionId::MPI_Request_get_status, {10, 11});
    p[1].wait({20, 54}, r);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-50 | transfer 0>1: 50-54 | compute 1: 54-100");
}

TEST(Polls, WorkBetweenPollsIsWork)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    for (int t = 10; t < 60; t += 10)
        p[1].call(FunctionId::MPI_Test, {t, t + 1});
    p[1].test({60, 61}, r);
    p.finish(100);
    const std::string found = path(p);
    EXPECT_THAT(found, testing::HasSubstr("compute 1: 0-1 "));
    EXPECT_THAT(found, testing::Not(testing::HasSubstr("transfer")));
}

// A gap in the loop is time without a processor, if there was much polling before it.
TEST(Polls, PreemptedPollsAreStillAWait)
{
    Program p(2);
    p[0].send({150, 151}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    p[1].call(FunctionId::MPI_Test, {10, 110});
    p[1].test({155, 156}, r);
    p.finish(200);
    const Replayed replayed = replay(p);
    EXPECT_EQ(replayed.path(), "compute 0: 0-150 | transfer? 0>1: 150-156 | compute 1: 156-200");
    EXPECT_EQ(replayed.fact("low_confidence_ns"), 6'000);
}

/// So it is if it polled for a short time before another gap, too; but not long before.
TEST(Polls, PollsThatArePreemptedTwiceAreStillAWait)
{
    for (const bool is_long_ago : {false, true}) {
        Program p(2);
        p[0].send({190, 191}, 1);
        const Request r = p[1].irecv({1, 2}, 0);
        p[1].call(FunctionId::MPI_Test, is_long_ago ? Span{90, 110} : Span{50, 110});
        p[1].call(FunctionId::MPI_Test, {150, 151});
        p[1].test({195, 196}, r);
        p.finish(200);
        if (is_long_ago)
            EXPECT_THAT(path(p), testing::Not(testing::HasSubstr("transfer")));
        else
            EXPECT_EQ(path(p), "compute 0: 0-190 | transfer? 0>1: 190-196 | compute 1: 196-200");
    }
}

/// while (!flag) { MPI_Test(...); usleep(...); } waits, too; not so if it computes in between.
TEST(Polls, PollsWithSleepInBetweenAreAWait)
{
    for (const bool works : {false, true}) {
        Program p(2);
        p[0].send({450, 451}, 1);
        const Request r = p[1].irecv({1, 2}, 0);
        for (int t = 10; t < 500; t += 100) {
            p[1].call(FunctionId::MPI_Test, {t, t + 1});
            p[1].off({t + 5, works ? t + 50 : t + 97}, false);
        }
        p[1].test({510, 511}, r);
        p.finish(600);
        if (works)
            EXPECT_THAT(path(p), testing::Not(testing::HasSubstr("transfer")));
        else
            EXPECT_EQ(path(p), "compute 0: 0-450 | transfer? 0>1: 450-511 | compute 1: 511-600");
    }
}

/// The same with usleep(1), which lasts some 50 us, and costs some more.
TEST(Polls, PollsWithShortSleepsInBetweenAreAWait)
{
    Program p(2);
    p[0].send({450, 451}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    for (int t = 10; t < 460; t += 50) {
        p[1].call(FunctionId::MPI_Test, {t, t + 1});
        p[1].off({t + 6, t + 46}, false);
    }
    p[1].test({460, 461}, r);
    p.finish(600);
    EXPECT_EQ(path(p), "compute 0: 0-450 | transfer? 0>1: 450-461 | compute 1: 461-600");
}

/// Five polls, 1 us each, `gap` us apart, in which the rank is blocked for `what`, but for 8 us; the message comes 10
/// us before it ends the last sleep. Returns the path, which ends in that poll, or `goes_on` for another gap.
std::string path_of_blocked(model::WaitsFor what, std::int64_t gap, bool goes_on = false)
{
    Program p(2);
    const std::int64_t found = 10 + 5 * (gap + 1);
    p[0].send({found - 10, found - 9}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    for (std::int64_t t = 10; t < found; t += gap + 1) {
        p[1].call(FunctionId::MPI_Test, {t, t + 1});
        p[1].blocked({t + 5, t + gap - 3}, what);
    }
    p[1].test({found, found + 1}, r);
    if (goes_on)
        p[1].blocked({found + 5, found + gap - 3}, what);
    p[0].finish(found + 1);
    p[1].finish(goes_on ? found + gap + 1 : found + 1);
    return path(p);
}

/// A loop that sleeps for a while sleeps while it waits. What is blocked until something is done has that done: it is
/// slow if that is, whether a poll stands behind it or not. If nothing more is done when the message is there, it may
/// have been a way to let time pass, as the reading of a timer.
TEST(Polls, BetweenThemWhatIsBlockedUntilSomethingIsDoneIsWork)
{
    for (const auto what : {model::WaitsFor::Time, model::WaitsFor::ThreadOrTime})
        EXPECT_EQ(path_of_blocked(what, 99), "compute 0: 0-500 | transfer 0>1: 500-511");
    for (const auto what : {model::WaitsFor::Other, model::WaitsFor::Thread}) {
        EXPECT_EQ(path_of_blocked(what, 99), "compute 0: 0-500 | transfer? 0>1: 500-511");
        const std::string works = path_of_blocked(what, 99, true);
        EXPECT_THAT(works, testing::EndsWith("compute 1: 411-510 | mpi 1: 510-511 | compute 1: 511-610"));
        EXPECT_THAT(works, testing::Not(testing::HasSubstr("?")));
    }
    EXPECT_EQ(path_of_blocked(model::WaitsFor::Unknown, 99), "compute 0: 0-500 | transfer? 0>1: 500-511");
}

/// Nobody holds up what is sent at once.
TEST(Polls, ShortWorkBetweenThoseOfASendIsWork)
{
    Program p(2);
    const Request sent = p[0].isend({1, 2}, 1);
    p[1].recv({1, 3}, 0);
    for (std::int64_t t = 10; t < 250; t += 50)
        p[0].call(FunctionId::MPI_Test, {t, t + 1});
    p[0].test({260, 261}, sent);
    p[0].finish(270);
    p[1].finish(200);
    EXPECT_THAT(path(p), testing::Not(testing::HasSubstr("?")));
}

/// Ten polls, 100 us apart, between which the rank sleeps, and one that finds what was sent 20 us behind one of them,
/// so many polls before. Returns how the wait begins.
std::string found_late(FunctionId function, std::int64_t polls)
{
    Program p(2);
    const std::int64_t found = 1010;
    const bool is_test = function == FunctionId::MPI_Test;
    p[0].send({found - 100 * polls + 20, found - 100 * polls + 21}, 1);
    const Request r = is_test ? p[1].irecv({1, 2}, 0) : Request{};
    for (std::int64_t t = 10; t < found; t += 100) {
        p[1].call(function, {t, t + 1});
        p[1].blocked({t + 2, t + 99}, model::WaitsFor::Time);
    }
    if (is_test) {
        p[1].test({found, found + 1}, r);
    } else {
        p[1].iprobe({found, found + 1}, 0);
        p[1].recv({found + 1, found + 2}, 0);
    }
    p.finish(found + 2);
    const std::string all = path(p);
    return all.substr(0, all.find(':', all.find('|')));
}

/// Who computes for some microseconds between polls works, or lets time pass. Nobody does so for longer than a
/// millisecond.
TEST(Polls, ShortWorkBetweenThemIsInDoubt)
{
    for (const std::int64_t gap : {50, 900, 1200}) {
        Program p(2);
        const std::int64_t found = 10 + 5 * (gap + 1);
        p[0].send({found - 10, found - 9}, 1);
        const Request r = p[1].irecv({1, 2}, 0);
        for (std::int64_t t = 10; t < found; t += gap + 1)
            p[1].call(FunctionId::MPI_Test, {t, t + 1});
        p[1].test({found, found + 1}, r);
        p[0].finish(found);
        p[1].finish(found + 10);
        EXPECT_THAT(path(p),
                    testing::EndsWith(fmt::format("| {} 1: {}-{} | compute 1: {}-{}", gap < 1000 ? "mpi?" : "mpi",
                                                  found, found + 1, found + 1, found + 10)));
    }
}

/// What comes while they sleep is found when they wake or, by a probe that only moves it on, by the next one. Behind
/// that, something else has taken that time.
TEST(Polls, WhatComesWhileTheySleepIsFoundByTheNextOrByTheProbeBehindThat)
{
    EXPECT_EQ(found_late(FunctionId::MPI_Test, 1), "compute 0: 0-930 | transfer 0>1");
    EXPECT_EQ(found_late(FunctionId::MPI_Test, 3), "compute 0: 0-730 | transfer? 0>1");
    EXPECT_EQ(found_late(FunctionId::MPI_Iprobe, 2), "compute 0: 0-830 | transfer 0>1");
    EXPECT_EQ(found_late(FunctionId::MPI_Iprobe, 5), "compute 0: 0-530 | transfer? 0>1");
}

/// Nobody who waits sleeps for so long between two looks; who stands in for something that takes 3 ms does.
TEST(Polls, LongSleepsBetweenThemAreInDoubt)
{
    EXPECT_EQ(path_of_blocked(model::WaitsFor::Time, 2'999), "compute 0: 0-15000 | transfer? 0>1: 15000-15011");
}

/// while (!flag) { MPI_Test(...); usleep(...); } that sleeps for 30 us of 40. Of 20 gaps, one is longer, by a time in
/// which the thread runs; `each`: so are all of them.
std::string path_of_short_sleeps(int longer, bool each)
{
    Program p(2);
    const Request r = p[1].irecv({1, 2}, 0);
    int t = 10;
    for (int i = 0; i < 20; ++i) {
        p[1].call(FunctionId::MPI_Test, {t, t + 1});
        p[1].off({t + 9, t + 39}, false);
        t += each || i == 18 ? 40 + longer : 40;
    }
    p[0].send({t - 5, t - 4}, 1);
    p[1].test({t, t + 1}, r);
    p.finish(t + 500);
    return path(p);
}

/// An interrupt may make one of the gaps longer, by as much as the others are; of all of them, that is work.
TEST(Polls, PollsWithShortSleepsInBetweenMayBeDisturbed)
{
    EXPECT_EQ(path_of_short_sleeps(0, false), "compute 0: 0-805 | transfer? 0>1: 805-811 | compute 1: 811-1310");
    EXPECT_EQ(path_of_short_sleeps(40, false), "compute 0: 0-845 | transfer? 0>1: 845-851 | compute 1: 851-1350");
    const auto is_work = testing::Not(testing::HasSubstr("transfer"));
    EXPECT_THAT(path_of_short_sleeps(80, false), is_work);
    EXPECT_THAT(path_of_short_sleeps(40, true), is_work);
}

// Polls return at once: a successful test does not wait, however long it took.
TEST(Polls, OneTestIsNoWait)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    const Request r = p[1].irecv({1, 2}, 0);
    p[1].test({10, 53}, r);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 1: 0-1 | mpi 1: 1-2 | compute 1: 2-10 | mpi 1: 10-53 | compute 1: 53-80");
}

}  // namespace
}  // namespace critpath::tests
