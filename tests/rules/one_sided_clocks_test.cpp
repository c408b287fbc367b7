// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the error of clocks does to the choices among epochs, writes and targets that come back (docs/ALGORITHM,
// "Uncertainty"). Times are us, as the clocks show them.
#include "tests/builder/replayed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

using testing::HasSubstr;

std::int64_t decided(const Replayed& replayed)
{
    return replayed.fact("clock_decided_ns") / 1000;
}
std::int64_t doubted(const Replayed& replayed)
{
    return replayed.fact("clock_doubted_ns") / 1000;
}

/// Four ranks, of which 0 and 3 share a clock; that of rank 1 is known to 1 us, that of rank 2 to `error`. They meet in
/// the end. A message of 8 bytes takes 2.
struct FourRanks {
    Program p{4};
    model::WindowId window;

    explicit FourRanks(std::int64_t error)
    {
        p.clocks({0, 1, 2, 0}, {0, 1, error});
        for (const int other : {1, 2}) {
            p[other].send({20 * other, 20 * other + 1}, 0);
            p[0].recv({20 * other - 15, 20 * other + 2}, other);
        }
        window = p.window({0, 1, 2, 3});
    }

    Replayed end()
    {
        p[0].collective(FunctionId::MPI_Barrier, {4000, 4003});
        for (const int r : {1, 2, 3})
            p[r].collective(FunctionId::MPI_Barrier, {2500, 4003});
        p[0].finish(9000);
        p.finish(5000);
        return replay(p);
    }
};

/// Rank 0 waits for the lock on rank 3. Rank 1 gives it back at 1400, rank 2 seems to have done so before: at
/// `released`.
Replayed lock_of_two(std::int64_t error, std::int64_t released)
{
    FourRanks ranks(error);
    auto& [p, window] = ranks;
    p[2].lock({released - 23, released - 22}, window, 3);
    p[2].put({released - 21, released - 20}, window, 3);
    p[2].unlock({released, released + 1}, window, 3);
    p[1].lock({1360, 1361}, window, 3);
    p[1].put({1362, 1363}, window, 3);
    p[1].unlock({1400, 1401}, window, 3);
    p[0].lock({1150, 1428}, window, 3);
    p[0].put({1430, 1431}, window, 3);
    p[0].unlock({1648, 1649}, window, 3);
    return ranks.end();
}

TEST(OneSidedClocks, OfTwoThatHeldTheLockTheOtherOneMayHaveHeldItLast)
{
    constexpr std::int64_t late = 1425, seems = late - 70;
    const Replayed sure = lock_of_two(1, seems);
    EXPECT_THAT(sure.path(), HasSubstr("transfer 1>0: 1400-1428"));
    EXPECT_EQ(decided(sure), 0);
    const Replayed unsure = lock_of_two(100, seems);
    EXPECT_THAT(unsure.path(), HasSubstr("transfer? 1>0: 1400-1428"));
    EXPECT_GT(decided(unsure), 1300);
    EXPECT_GE(doubted(unsure), decided(unsure));
    // Both are seen right, and it is known.
    EXPECT_THAT(lock_of_two(1, late).path(), HasSubstr("transfer 2>0: 1425-1428"));
    // Long before, even if its clock is off as far as it may be.
    EXPECT_EQ(decided(lock_of_two(100, 1100)), 0);
}

/// By its clock, rank 2 gave the lock back when rank 0 had got it already.
TEST(OneSidedClocks, WhoSeemsToHaveHeldTheLockLaterMayHaveHeldItBefore)
{
    const auto lock = [](std::int64_t error) {
        FourRanks ranks(error);
        auto& [p, window] = ranks;
        p[2].lock({1300, 1301}, window, 3);
        p[2].unlock({1495, 1496}, window, 3);
        p[0].lock({1150, 1428}, window, 3);
        p[0].unlock({1440, 1441}, window, 3);
        return ranks.end();
    };
    EXPECT_EQ(decided(lock(1)), 0);
    EXPECT_GT(decided(lock(100)), 1000);
}

/// The lock of rank 2 is the only one that was held, but rank 0 may have had it before: then it did not wait for that.
TEST(OneSidedClocks, WhoSeemsToHaveHeldTheLockBeforeMayHaveHeldItLater)
{
    const auto lock = [](std::int64_t error, std::int64_t given_back) {
        FourRanks ranks(error);
        auto& [p, window] = ranks;
        p[2].lock({1300, 1301}, window, 3);
        p[2].unlock({1425, 1426}, window, 3);
        p[0].lock({1150, 1428}, window, 3);
        p[0].unlock({given_back, given_back + 1}, window, 3);
        return ranks.end();
    };
    EXPECT_EQ(decided(lock(1, 1440)), 0);
    EXPECT_GT(decided(lock(100, 1440)), 1000);
    EXPECT_EQ(decided(lock(100, 1600)), 0);
}

/// The epochs belong together by their numbers: where one seems to begin too late, only the clock can be wrong.
TEST(OneSidedClocks, APostThatSeemsToComeAfterTheStartIsTheOneThatIsWaitedFor)
{
    const auto start = [](std::int64_t error) {
        FourRanks ranks(error);
        auto& [p, window] = ranks;
        p[2].post({1350, 1351}, window, {0});
        p[2].wait_exposed({2000, 2001}, window);
        p[0].start({1000, 1302}, window, {2});
        p[0].complete({1310, 1311}, window);
        return ranks.end();
    };
    EXPECT_THAT(start(1).path(), HasSubstr("delay? 0: 1000-1302"));
    const Replayed off = start(100);
    EXPECT_THAT(off.path(), HasSubstr("compute 2: 41-1302 | compute 0: 1302-1310"));
    EXPECT_EQ(decided(off), 0);
}

TEST(OneSidedClocks, TheOtherOriginMayHaveCompletedLast)
{
    const auto wait = [](std::int64_t error) {
        FourRanks ranks(error);
        auto& [p, window] = ranks;
        p[0].post({1000, 1001}, window, {1, 2});
        p[0].wait_exposed({1010, 1402}, window);
        for (const int origin : {1, 2}) {
            const std::int64_t late = origin == 1 ? 1400 : 1350;
            p[origin].start({1020, 1021}, window, {0});
            p[origin].complete({late, late + 1}, window);
        }
        return ranks.end();
    };
    EXPECT_THAT(wait(1).path(), HasSubstr("transfer 1>0: 1400-1402"));
    EXPECT_EQ(decided(wait(1)), 0);
    EXPECT_GT(decided(wait(100)), 1000);
}

/// Rank 0 looks at the memory of rank 3 each 3 us, the last time at 1400; rank 1 writes at 1397. Rank 2 seems to have
/// written before, at `written`.
Replayed looking_for_two(std::int64_t error, std::int64_t written)
{
    FourRanks ranks(error);
    auto& [p, window] = ranks;
    for (std::int64_t t = 1100; t < 1403; t += 3) {
        p[0].get({t, t + 1}, window, 3);
        p[0].flush({t + 1, t + 2}, window, 3);
    }
    p[1].put({1397, 1398}, window, 3);
    p[1].flush({1398, 1399}, window, 3);
    p[2].put({written, written + 1}, window, 3);
    p[2].flush({written + 1, written + 2}, window, 3);
    return ranks.end();
}

TEST(OneSidedClocks, OfTwoThatWroteTheOtherOneMayHaveEndedALoop)
{
    EXPECT_THAT(looking_for_two(1, 1350).path(), HasSubstr("transfer? 1>0: 1397-1402"));
    EXPECT_EQ(decided(looking_for_two(1, 1350)), 0);
    EXPECT_GT(decided(looking_for_two(100, 1350)), 1000);
    EXPECT_GT(decided(looking_for_two(100, 1450)), 1000) << "or seems to have written after the end";
    EXPECT_EQ(decided(looking_for_two(100, 1200)), 0);
}

/// Rank 2 came back to MPI at 1400, and that may have moved a transfer on; or it did so before, or later.
TEST(OneSidedClocks, ATargetMayHaveComeBackAtAnotherTime)
{
    const auto flush = [](std::int64_t error, std::int64_t back) {
        FourRanks ranks(error);
        auto& [p, window] = ranks;
        p[0].lock({50, 51}, window, 2);
        p[0].put({52, 53}, window, 2);
        p[0].flush({54, 55}, window, 2);
        p[0].unlock({56, 57}, window, 2);
        p[0].lock({1100, 1101}, window, 2);
        p[0].put({1110, 1111}, window, 2);
        p[0].flush({1120, 1404}, window, 2);
        p[0].unlock({1410, 1411}, window, 2);
        p[2].call(FunctionId::MPI_Wait, {back, back + 1});
        return ranks.end();
    };
    EXPECT_THAT(flush(1, 1400).path(), HasSubstr("transfer? 2>0: 1400-1404"));
    EXPECT_EQ(decided(flush(1, 1300)), 0);
    EXPECT_GT(decided(flush(150, 1400)), 1000);
    EXPECT_THAT(flush(150, 1300).path(), HasSubstr("delay? 0: 1120-1404"));
    EXPECT_GT(decided(flush(150, 1300)), 200) << "it may have come back just before the end";
}

}  // namespace
}  // namespace critpath::tests
