// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided communication: who is waited for in each kind of epoch. Times are us.
#include "tests/builder/replayed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace critpath::tests
{
namespace
{

using replayer::Rules;
using testing::HasSubstr;

/// What calls cost that wait for nobody, and a message and a put of 8 bytes that take 2: what a trace would teach. All
/// of it is over long before the cases begin, at 100.
void teach(Program& p, int a, int b)
{
    p[a].send({2, 3}, b);
    p[b].recv({1, 4}, a);
    for (int i = 0; i < 2; ++i) {
        Rank& rank = p[i == 0 ? a : b];
        const auto window = p.window({0});
        rank.start({10, 11}, window, {});
        rank.put({12, 13}, window, 5);
        rank.complete({14, 15}, window);
        rank.post({16, 17}, window, {});
        rank.wait_exposed({18, 19}, window);
        rank.lock({20, 21}, window, 5);
        rank.flush({22, 23}, window, 5);
        rank.unlock({24, 25}, window, 5);
        rank.lock_all({26, 27}, window);
        rank.unlock_all({28, 29}, window);
        rank.call(FunctionId::MPI_Wait, {30, 31});
    }
    const auto both = p.window({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
    p[a].lock({32, 33}, both, 1);
    p[a].put({34, 35}, both, 1);
    p[a].flush({35, 36}, both, 1);
    p[a].unlock({37, 38}, both, 1);
}

TEST(OneSided, FenceWaitsForTheLastArriver)
{
    Program p(3);
    const auto window = p.window({0, 1, 2});
    const std::int64_t enter[] = {100, 300, 200};
    for (int r = 0; r < 3; ++r) {
        p[r].window_collective(FunctionId::MPI_Win_create, {10, 12}, window);
        p[r].fence({enter[r], 304 + r}, window);
        p[r].finish(r == 0 ? 500 : 400);
    }
    EXPECT_EQ(path(p), "compute 2: 0-10 | collective 2>1: 10-12 | compute 1: 12-300 | collective 1>0: 300-304 | "
                       "compute 0: 304-500");
    EXPECT_EQ(replay(p).fact("collectives"), 2);
}

/// Nothing obliges a fence without a preceding epoch to wait. Where it waited all the same, it did so for the last.
TEST(OneSided, FenceWithoutPrecedingEpoch)
{
    for (const bool waits : {false, true}) {
        Program p(2);
        const auto window = p.window({0, 1});
        p[0].fence({10, 11}, window, false);
        p[1].fence({10, 11}, window, false);
        p[0].fence({100, waits ? 303 : 101}, window, false);
        p[1].fence({300, 303}, window, false);
        p[0].finish(500);
        p[1].finish(400);
        EXPECT_THAT(path(p), HasSubstr(waits ? "compute 1: 11-300 | collective 1>0: 300-303 | compute 0: 303-500"
                                             : "compute 0: 11-100 | mpi 0: 100-101 | compute 0: 101-500"));
    }
}

constexpr std::uint64_t large = 100'000;

/// A put of `large` takes 100 us, a fence 4 after the last member. The next one of the window, 0 to 2, ends at 214.
model::WindowId teach_fences(Program& p)
{
    teach(p, 0, 1);
    const auto pair = p.window({0, 1});
    p[0].lock({40, 41}, pair, 1);
    p[0].put({42, 43}, pair, 1, large);
    p[0].unlock({44, 142}, pair, 1, large);
    const auto window = p.window({0, 1, 2});
    for (int r = 0; r < 3; ++r)
        p[r].fence({200 + 5 * r, 214}, window);
    return window;
}

/// Implementations have all transfers done before the members meet.
TEST(OneSided, FenceWaitsForTheTransfersBeforeIt)
{
    for (const std::int64_t last : {350, 402}) {
        Program p(3);
        const auto window = teach_fences(p);
        const std::int64_t leave = std::max<std::int64_t>(300 + 100, last) + 4;
        p[0].put({300, 301}, window, 1, large);
        p[0].fence({310, leave}, window, true, large);
        p[1].fence({320, leave}, window);
        p[2].fence({last, leave}, window);
        for (int r = 0; r < 3; ++r)
            p[r].finish(r == 1 ? 500 : 450);
        EXPECT_THAT(path(p),
                    HasSubstr(last == 402 ? "compute 2: 214-402 | collective 2>1: 402-406 | compute 1: 406-500"
                                          : "compute 0: 214-300 | transfer 0>1: 300-404 | compute 1: 404-500"));
    }
}

/// Or each waits for its own, and for those to its own memory.
TEST(OneSided, FenceOfWhoIsNoSideOfATransfer)
{
    for (const int longest : {0, 1, 2}) {
        Program p(3);
        const auto window = teach_fences(p);
        p[0].put({300, 301}, window, 1, large);
        p[0].fence({310, 400}, window, true, large);
        p[1].fence({350, 400}, window);
        p[2].fence({320, 354}, window);
        for (int r = 0; r < 3; ++r)
            p[r].finish(r == longest ? 500 : 450);
        const char* expected[] = {"compute 0: 214-300 | transfer 0: 300-400 | compute 0: 400-500",
                                  "compute 0: 214-300 | transfer 0>1: 300-400 | compute 1: 400-500",
                                  "compute 1: 214-350 | collective 1>2: 350-354 | compute 2: 354-500"};
        EXPECT_THAT(path(p), HasSubstr(expected[longest]));
    }
}

/// A fence without a preceding epoch may pass at once: what is transferred behind it begins when its target has come,
/// too. Of several to one target, that is the largest.
TEST(OneSided, FenceWaitsForTransfersThatTheirTargetLetBegin)
{
    for (const std::int64_t opened : {400, 260}) {
        Program p(3);
        const auto window = teach_fences(p);
        const std::int64_t begin = std::max<std::int64_t>(opened, 310), leave = begin + 100 + 4;
        p[0].fence({250, 251}, window, false);
        p[1].fence({opened, opened + 1}, window, false);
        p[2].fence({255, 256}, window, false);
        p[0].put({310, 311}, window, 1, large);
        p[0].put({320, 321}, window, 1, 8);
        p[0].fence({330, leave}, window, true, large + 8);
        p[1].fence({opened + 10, leave}, window);
        p[2].fence({300, leave}, window);
        for (int r = 0; r < 3; ++r)
            p[r].finish(r == 2 ? 600 : 550);
        EXPECT_THAT(path(p), HasSubstr(opened == 400 ? "compute 1: 214-400 | transfer 1>2: 400-504"
                                                     : "compute 0: 251-310 | transfer 0>2: 310-414"));
    }
}

/// What is over before its origin comes to the fence holds up nobody, however long that takes.
TEST(OneSided, FenceBehindATransferThatIsOver)
{
    Program p(3);
    const auto window = teach_fences(p);
    p[0].put({300, 301}, window, 1, large);
    p[0].fence({700, 708}, window, true, large);
    p[1].fence({690, 708}, window);
    p[2].fence({320, 708}, window);
    for (int r = 0; r < 3; ++r)
        p[r].finish(r == 2 ? 900 : 800);
    EXPECT_THAT(path(p), HasSubstr("compute 0: 301-700 | collective 0>2: 700-708 | compute 2: 708-900"));
}

/// A late post holds up whichever call of the access epoch the implementation lets wait for it.
TEST(OneSided, LatePost)
{
    for (const int waits : {0, 1, 2}) {
        Program p(2);
        teach(p, 0, 1);
        const auto window = p.window({0, 1});
        std::int64_t t = 100;
        const auto span = [&](int call) {
            const Span s{t, call == waits ? 302 : t + 1};
            t = s.leave + 4;
            return s;
        };
        p[0].start(span(0), window, {1});
        p[0].put(span(1), window, 1);
        p[0].complete(span(2), window);
        p[1].post({300, 301}, window, {0});
        p[1].wait_exposed({400, 401}, window);
        p[0].finish(600);
        p[1].finish(500);
        EXPECT_THAT(path(p), HasSubstr("compute 1: 31-300 | transfer 1>0: 300-302 | compute 0: 302-")) << waits;
    }
}

TEST(OneSided, OfSeveralPostsTheLatestAndOnlyThatOfTheTarget)
{
    Program p(3);
    teach(p, 0, 1);
    const auto window = p.window({0, 1, 2});
    p[1].post({300, 301}, window, {0});
    p[2].post({200, 201}, window, {0});
    p[0].start({100, 101}, window, {1, 2});
    p[0].put({110, 202}, window, 2);
    p[0].complete({210, 302}, window);
    p[1].wait_exposed({310, 311}, window);
    p[2].wait_exposed({310, 311}, window);
    p[0].finish(600);
    p[1].finish(400);
    p[2].finish(400);
    // Through Complete to rank 1; the put to rank 2, which waited too, does not matter.
    EXPECT_THAT(path(p), HasSubstr("compute 1: 31-300 | transfer 1>0: 300-302 | compute 0: 302-600"));

    Program q(3);
    teach(q, 0, 1);
    const auto other = q.window({0, 1, 2});
    q[1].post({90, 91}, other, {0});
    q[2].post({200, 201}, other, {0});
    q[0].start({100, 101}, other, {1, 2});
    q[0].put({110, 202}, other, 2);
    q[0].complete({210, 211}, other);
    q[0].finish(600);
    q[1].finish(400);
    q[2].finish(400);
    EXPECT_THAT(path(q), HasSubstr("compute 2: 0-200 | transfer 2>0: 200-202 | compute 0: 202-210"));
}

TEST(OneSided, NoCheckWaitsForNoPost)
{
    Program p(2);
    teach(p, 0, 1);
    const auto window = p.window({0, 1});
    p[1].post({150, 151}, window, {0});
    p[0].start({100, 200}, window, {1}, true);
    p[0].complete({210, 211}, window);
    p[0].finish(600);
    p[1].finish(400);
    EXPECT_THAT(path(p), HasSubstr("delay? 0: 100-200"));
}

TEST(OneSided, EarlyWait)
{
    Program p(3);
    teach(p, 0, 1);
    const auto window = p.window({0, 1, 2});
    p[0].post({100, 101}, window, {1, 2});
    p[0].wait_exposed({110, 402}, window);
    for (const int origin : {1, 2}) {
        const std::int64_t late = origin == 1 ? 400 : 200;
        p[origin].start({120, 121}, window, {0});
        p[origin].put({130, 131}, window, 0);
        p[origin].complete({late, late + 1}, window);
        p[origin].finish(500);
    }
    p[0].finish(600);
    EXPECT_THAT(path(p), HasSubstr("compute 1: 131-400 | transfer 1>0: 400-402 | compute 0: 402-600"));
}

/// The k-th epoch of one pair, whatever other pairs do on the window in between.
TEST(OneSided, EpochsAreCountedByPair)
{
    Program p(3);
    teach(p, 0, 1);
    const auto window = p.window({0, 1, 2});
    // Rank 0: epochs with 1, with 2, with 1.
    p[0].start({100, 101}, window, {1});
    p[0].complete({102, 103}, window);
    p[0].start({104, 105}, window, {2});
    p[0].complete({106, 107}, window);
    p[0].start({110, 302}, window, {1});
    p[0].complete({310, 311}, window);
    p[1].post({90, 91}, window, {0});
    p[1].wait_exposed({120, 121}, window);
    p[1].post({300, 301}, window, {0});
    p[1].wait_exposed({320, 321}, window);
    p[2].post({90, 91}, window, {0});
    p[2].wait_exposed({420, 421}, window);
    p[0].finish(600);
    p[1].finish(500);
    p[2].finish(500);
    EXPECT_THAT(path(p), HasSubstr("compute 1: 121-300 | transfer 1>0: 300-302 | compute 0: 302-310"));
}

TEST(OneSided, PolledWait)
{
    Program p(2);
    teach(p, 0, 1);
    const auto window = p.window({0, 1});
    p[0].post({100, 101}, window, {1});
    for (std::int64_t t = 110; t < 400; t += 2)
        p[0].call(FunctionId::MPI_Win_test, {t, t + 1});
    p[0].wait_exposed({400, 403}, window, FunctionId::MPI_Win_test);
    p[1].start({120, 121}, window, {0});
    p[1].complete({400, 401}, window);
    p[0].finish(600);
    p[1].finish(500);
    EXPECT_THAT(path(p), HasSubstr("compute 1: 121-400 | transfer 1>0: 400-403 | compute 0: 403-600"));
}

TEST(OneSided, LockCompetition)
{
    Program p(3);
    teach(p, 0, 1);
    const auto window = p.window({0, 1, 2});
    // Rank 1 holds the lock of rank 2 from 100 to 400; rank 0 gets it then. Rank 0's own lock is another one.
    p[1].lock({100, 101}, window, 2);
    p[1].put({110, 111}, window, 2);
    p[1].unlock({400, 401}, window, 2);
    p[0].lock({150, 402}, window, 2);
    p[0].put({410, 411}, window, 2);
    p[0].unlock({420, 421}, window, 2);
    p[2].lock({380, 381}, window, 0);
    p[2].unlock({390, 391}, window, 0);
    p[0].finish(600);
    p[1].finish(500);
    p[2].finish(500);
    EXPECT_THAT(path(p), HasSubstr("compute 1: 111-400 | transfer 1>0: 400-402 | compute 0: 402-410"));
}

/// A transfer of `slow` bytes takes 300.
constexpr std::uint64_t slow_bytes = 1 << 20;
void teach_slow_transfer(Program& p, model::WindowId window)
{
    p[0].lock({400, 401}, window, 1);
    p[0].rput({410, 411}, window, 1, slow_bytes, {500, 710});
    p[0].unlock({720, 721}, window, 1);
}

/// Rank 1 has a lock, puts so much at 1010, and gives the lock back from 1400 to 1510; rank 0 gets it at 1512.
std::string path_of_lock(std::uint64_t bytes, bool flushes, std::int64_t asks)
{
    Program p(3);
    teach(p, 0, 1);
    const auto window = p.window({0, 1, 2});
    if (bytes == slow_bytes)
        teach_slow_transfer(p, window);
    p[1].lock({1000, 1001}, window, 2);
    p[1].put({1010, 1011}, window, 2, bytes);
    if (flushes)
        p[1].flush({1011, 1012}, window, 2);
    p[1].unlock({1400, 1510}, window, 2);
    p[0].lock({asks, 1512}, window, 2);
    p[0].unlock({1520, 1521}, window, 2);
    p[0].finish(2000);
    p[1].finish(1600);
    p[2].finish(1600);
    return path(p);
}

/// Likewise, of an exposure epoch of rank 0, which rank 1 completes from 1400 to 1510.
std::string path_of_exposure(std::uint64_t bytes)
{
    Program p(2);
    teach(p, 0, 1);
    const auto window = p.window({0, 1});
    if (bytes == slow_bytes)
        teach_slow_transfer(p, window);
    p[0].post({1000, 1001}, window, {1});
    p[0].wait_exposed({1100, 1512}, window);
    p[1].start({1002, 1003}, window, {0});
    p[1].put({1010, 1011}, window, 0, bytes);
    p[1].complete({1400, 1510}, window);
    p[0].finish(2000);
    p[1].finish(1600);
    return path(p);
}

/// The transfer took longer than it should, and the unlock waited for it, as rank 0 did: not for the unlock.
TEST(OneSided, LockThatIsHeldByASlowTransfer)
{
    EXPECT_THAT(path_of_lock(slow_bytes, false, 1200),
                HasSubstr("compute 1: 1001-1010 | transfer 1>0: 1010-1512 | compute 0: 1512-1520"));
}

TEST(OneSided, WaitForASlowTransfer)
{
    EXPECT_THAT(path_of_exposure(slow_bytes),
                HasSubstr("compute 1: 1003-1010 | transfer 1>0: 1010-1512 | compute 0: 1512-2000"));
}

/// An unlock that takes its time (no core is free) has nothing to wait for where the transfers were over long before:
/// what the holder did in between is waited for.
TEST(OneSided, LockThatIsHeldByWork)
{
    EXPECT_THAT(path_of_lock(8, false, 1200), HasSubstr("compute 1: 1011-1400 | transfer 1>0: 1400-1512"));
    EXPECT_THAT(path_of_lock(8, true, 1200), HasSubstr("compute 1: 1012-1400 | transfer 1>0: 1400-1512"));
}

TEST(OneSided, WaitForWork)
{
    EXPECT_THAT(path_of_exposure(8), HasSubstr("compute 1: 1011-1400 | transfer 1>0: 1400-1512"));
}

/// The lock is given back in the unlock, at any time until its end: also for who comes while it lasts.
TEST(OneSided, LockThatIsAskedForWhileItIsGivenBack)
{
    EXPECT_THAT(path_of_lock(8, false, 1450), HasSubstr("compute 1: 1011-1400 | transfer 1>0: 1400-1512"));
}

/// Where MPI grants the lock only when it is needed, the unlock waits for it.
TEST(OneSided, LockThatIsTakenLate)
{
    Program p(3);
    teach(p, 0, 1);
    const auto window = p.window({0, 1, 2});
    p[1].lock({100, 101}, window, 2);
    p[1].unlock({400, 401}, window, 2);
    p[0].lock({150, 151}, window, 2);
    p[0].put({160, 161}, window, 2);
    p[0].unlock({200, 404}, window, 2);
    // Came later, so that it gets the lock later, although it asks for it (at 390) before rank 0 has it.
    p[2].lock({380, 381}, window, 2);
    p[2].unlock({390, 410}, window, 2);
    p[0].finish(600);
    p[1].finish(500);
    p[2].finish(500);
    EXPECT_THAT(path(p), HasSubstr("compute 1: 101-400 | transfer 1>0: 400-404 | compute 0: 404-600"));
}

TEST(OneSided, SharedLocksDoNotCompete)
{
    for (const bool exclusive : {false, true}) {
        Program p(3);
        teach(p, 0, 1);
        const auto window = p.window({0, 1, 2});
        p[1].lock({100, 101}, window, 2, false);
        p[1].unlock({400, 401}, window, 2);
        p[0].lock({150, 402}, window, 2, exclusive);
        p[0].unlock({420, 421}, window, 2);
        p[0].finish(600);
        p[1].finish(500);
        p[2].finish(500);
        EXPECT_THAT(path(p), HasSubstr(exclusive ? "compute 1: 101-400 | transfer 1>0: 400-402 | compute 0: 402-420"
                                                 : "delay? 0: 150-402"));
    }
}

TEST(OneSided, LockOfAllTargetsCompetesWithExclusiveOnes)
{
    Program p(3);
    teach(p, 0, 1);
    const auto window = p.window({0, 1, 2});
    p[1].lock({100, 101}, window, 2);
    p[1].unlock({400, 401}, window, 2);
    p[0].lock_all({150, 402}, window);
    p[0].unlock_all({420, 421}, window);
    p[0].finish(600);
    p[1].finish(500);
    p[2].finish(500);
    EXPECT_THAT(path(p), HasSubstr("compute 1: 101-400 | transfer 1>0: 400-402 | compute 0: 402-420"));

    Program q(3);
    teach(q, 0, 1);
    const auto other = q.window({0, 1, 2});
    q[1].lock_all({100, 101}, other);
    q[1].unlock_all({400, 401}, other);
    q[0].lock({150, 402}, other, 2);
    q[0].unlock({420, 421}, other, 2);
    q[0].finish(600);
    q[1].finish(500);
    q[2].finish(500);
    EXPECT_THAT(path(q), HasSubstr("compute 1: 101-400 | transfer 1>0: 400-402 | compute 0: 402-420"));
}

/// Nobody else held the lock. The target was outside of MPI all the time, and the flush ended when it came back.
TEST(OneSided, ProgressOfTheTarget)
{
    for (const bool comes_back : {true, false}) {
        Program p(2);
        teach(p, 0, 1);
        const auto window = p.window({0, 1});
        p[0].lock({100, 101}, window, 1);
        p[0].put({110, 111}, window, 1);
        p[0].flush({120, 404}, window, 1);
        p[0].unlock({410, 411}, window, 1);
        p[1].call(FunctionId::MPI_Wait, {comes_back ? 400 : 300, comes_back ? 401 : 301});
        p[0].finish(600);
        p[1].finish(500);
        EXPECT_THAT(path(p), HasSubstr(comes_back ? "compute 1: 31-400 | transfer? 1>0: 400-404 | compute 0: 404-410"
                                                  : "delay? 0: 120-404"));
    }
}

/// A transfer itself may wait, also if its target was about to leave MPI as it began, and was outside mostly.
TEST(OneSided, TransfersWaitForProgressOfTheTarget)
{
    for (const bool comes_back : {true, false}) {
        Program p(2);
        teach(p, 0, 1);
        const auto window = p.window({0, 1});
        p[0].lock({100, 101}, window, 1);
        p[0].put({110, 404}, window, 1);
        p[0].flush({410, 411}, window, 1);
        p[0].unlock({412, 413}, window, 1);
        p[1].call(FunctionId::MPI_Wait, {60, 120});
        p[1].call(FunctionId::MPI_Wait, {comes_back ? 400 : 300, comes_back ? 401 : 301});
        p[0].finish(600);
        p[1].finish(500);
        EXPECT_THAT(path(p), HasSubstr(comes_back ? "compute 1: 120-400 | transfer? 1>0: 400-404 | compute 0: 404-410"
                                                  : "delay? 0: 110-404"));
    }
}

/// Copying takes its time: so long as a transfer of that size takes, it is work.
TEST(OneSided, TransfersThatCopyAreWork)
{
    Program p(2);
    teach(p, 0, 1);
    const auto window = p.window({0, 1});
    p[0].lock({100, 101}, window, 1);
    p[0].put({110, 510}, window, 1, 100'000);
    p[0].flush({510, 511}, window, 1, 100'000);
    p[0].put({520, 1020}, window, 1, 100'000);
    p[0].flush({1020, 1021}, window, 1, 100'000);
    p[0].unlock({1022, 1023}, window, 1);
    p[0].finish(1100);
    p[1].finish(500);
    EXPECT_THAT(path(p), HasSubstr("mpi 0: 110-511 | compute 0: 511-520 | mpi 0: 520-1021"));
}

/// What was over sooner than it is copied, just when the target can have answered, waited for that one.
TEST(OneSided, TransfersThatAreOverTooSoonForACopyMayWaitForTheTarget)
{
    for (const bool answers : {true, false}) {
        Program p(2);
        teach(p, 0, 1);
        const auto window = p.window({0, 1});
        p[0].lock({100, 101}, window, 1);
        p[0].put({110, 510}, window, 1, 100'000);
        p[0].flush({510, 511}, window, 1, 100'000);
        p[0].put({1110, 1304}, window, 1, 100'000);
        p[0].flush({1304, 1305}, window, 1, 100'000);
        p[0].unlock({1312, 1313}, window, 1);
        p[1].call(FunctionId::MPI_Wait, {answers ? 1302 : 1292, 1310});
        p[0].finish(1500);
        p[1].finish(1400);
        EXPECT_THAT(path(p), HasSubstr(answers ? "compute 1: 31-1302 | transfer? 1>0: 1302-1304 | mpi 0: 1304-1305 | "
                                               : "compute 0: 511-1110 | mpi 0: 1110-1305"));
    }
}

/// Another epoch was over long ago, however large its transfer was: what takes long now stands still.
TEST(OneSided, ALargeTransferOfLongAgoDoesNotExplainAWait)
{
    Program p(3);
    teach(p, 0, 1);
    const auto window = p.window({0, 1, 2});
    p[2].lock({100, 101}, window, 1, true);
    p[2].put({110, 510}, window, 1, 100'000);
    p[2].unlock({511, 512}, window, 1);
    p[0].lock({1100, 1101}, window, 1);
    p[0].put({1110, 2404}, window, 1);
    p[0].unlock({2410, 2411}, window, 1);
    p[1].call(FunctionId::MPI_Wait, {2400, 2401});
    p[0].finish(2600);
    p[1].finish(2500);
    p[2].finish(2500);
    EXPECT_THAT(path(p), HasSubstr("compute 1: 31-2400 | transfer? 1>0: 2400-2404 | compute 0: 2404-2410"));
}

/// Two ranks complete what rank 0 exposes: rank 1's transfer is there at 1104, and rank 2 is in its call until 1105 for
/// the sake of rank 3. `wait`: how rank 0 waits, from 610 on.
std::string path_to_exposed(const std::function<void(Rank&, model::WindowId)>& wait)
{
    Program p(4);
    teach(p, 1, 0);
    const auto window = p.window({0, 1, 2, 3});
    p[1].lock({100, 101}, window, 0);
    p[1].put({110, 510}, window, 0, 100'000);
    p[1].flush({510, 511}, window, 0);
    p[1].unlock({512, 513}, window, 0);
    p[0].post({600, 601}, window, {1, 2});
    wait(p[0], window);
    p[3].post({600, 601}, window, {2});
    p[3].wait_exposed({610, 1107}, window);
    p[1].start({700, 701}, window, {0});
    p[1].put({704, 705}, window, 0, 100'000);
    p[1].complete({740, 1104}, window);
    p[2].start({620, 621}, window, {0, 3});
    p[2].put({705, 706}, window, 3, 100'000);
    p[2].complete({750, 1105}, window);
    p[0].finish(2000);
    for (int r = 1; r < 4; ++r)
        p[r].finish(1500);
    return path(p);
}

/// A transfer explains when the wait was over, so that it did not wait for a Complete that was late with it.
TEST(OneSided, WhatIsOnTimeComesBeforeWhatMayBeLate)
{
    EXPECT_THAT(path_to_exposed([](Rank& rank, model::WindowId window) {
                    rank.wait_exposed({610, 1104}, window);
                }),
                HasSubstr("compute 1: 701-704 | transfer 1>0: 704-1104 | compute 0: 1104-2000"));
}

/// A loop of tests sees it with the next one.
TEST(OneSided, WhatIsOnTimeForALoopOfTestsComesBeforeWhatMayBeLate)
{
    EXPECT_THAT(path_to_exposed([](Rank& rank, model::WindowId window) {
                    for (int t = 610; t < 1104; t += 4)
                        rank.call(FunctionId::MPI_Win_test, {t, t + 3});
                    rank.wait_exposed({1106, 1107}, window, FunctionId::MPI_Win_test);
                }),
                HasSubstr("compute 1: 701-704 | transfer 1>0: 704-1107 | compute 0: 1107-2000"));
}

TEST(OneSided, RequestWaitsForItsOwnTransfer)
{
    Program p(2);
    teach(p, 0, 1);
    // A large message takes 300.
    p[0].send({50, 52}, 1, 1 << 20);
    p[1].recv({49, 350}, 0, 1 << 20);
    const auto window = p.window({0, 1});
    p[0].lock({400, 401}, window, 1);
    p[0].rput({410, 411}, window, 1, 1 << 20, {500, 710});
    p[0].unlock({720, 721}, window, 1);
    p[0].finish(900);
    p[1].finish(500);
    // Its own computation from 411 to 500 did not hold up the transfer.
    EXPECT_THAT(path(p), HasSubstr("compute 0: 401-410 | transfer 0: 410-710 | compute 0: 710-720"));
}

/// The call waited 40 ms for a message: the transfer to the window, which it completed as well, did not take that long,
/// and the unlock behind other work does not wait for it.
TEST(OneSided, WhatACallCompletesBesideAMessageDoesNotTellWhatATransferTakes)
{
    Program p(2);
    const auto window = p.window({0, 1});
    p[0].lock({1, 2}, window, 1);
    const Request message = p[0].irecv({5, 6}, 1, 8);
    p[0].rput_and({10, 11}, window, 1, 8, message, {20, 40'003});
    p[0].unlock({60'000, 60'010}, window, 1);
    p[0].finish(61'000);
    p[1].send({40'000, 40'001}, 0, 8);
    p[1].finish(50'000);
    EXPECT_THAT(path(p),
                testing::StartsWith("compute 1: 0-40000 | transfer 1>0: 40000-40003 | compute 0: 40003-60000 | "));
}

/// Enter by enter, as other analyzers do.
TEST(OneSided, TheEnterRuleKnowsLatePostsToo)
{
    Program p(2);
    const auto window = p.window({0, 1});
    p[0].start({100, 302}, window, {1});
    p[0].complete({310, 311}, window);
    p[1].post({300, 301}, window, {0});
    p[1].wait_exposed({400, 401}, window);
    p[0].finish(600);
    p[1].finish(500);
    EXPECT_THAT(path(p, Rules::Enter), HasSubstr("compute 1: 0-300 | transfer 1>0: 300-302 | compute 0: 302-310"));
}

}  // namespace
}  // namespace critpath::tests
