// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Non-blocking collectives that stand still while a member is outside of MPI (docs/ALGORITHM, "Late progress"). Times
// are in us.
#include "tests/builder/replayed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

/// On three ranks, of which rank 0 is the last one.
std::vector<Request> all_post(Program& p, std::int64_t last)
{
    std::vector<Request> posted;
    for (int r = 0; r < 3; ++r) {
        const std::int64_t time = r == 0 ? last : 50;
        posted.push_back(p[r].icollective(FunctionId::MPI_Iallreduce, {time, time + 1}));
    }
    return posted;
}

/// Rank 0 posts last, and is outside of MPI until 500: the others wait for that, not for the post.
TEST(LateCollectives, NonBlockingCollectivesWaitUntilAllAreBackInMpi)
{
    Program p(3);
    const std::vector<Request> posted = all_post(p, 100);
    p[0].wait_collective({500, 503}, posted[0]);
    p[1].wait_collective({60, 504}, posted[1]);
    p[2].wait_collective({400, 504}, posted[2]);
    p[1].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 0: 0-100 | mpi 0: 100-101 | compute 0: 101-500 | collective? 0>1: 500-504 | "
                       "compute 1: 504-700");
}

/// Likewise, but rank 0 comes back at once. Rank 1 comes to its wait meanwhile, and the operation is over 9 us after
/// the last post, which is what blocking ones take.
TEST(LateCollectives, WhatTheBlockingFormTakesExplainsAWait)
{
    const auto of_path = [](bool is_persistent) {
        Program p(3);
        for (int i = 0; i < 3; ++i)
            for (int r = 0; r < 3; ++r)
                p[r].collective(FunctionId::MPI_Allreduce, {100 * i + (i == r ? 40 : 10), 100 * i + 49});
        std::vector<Request> posted;
        for (int r = 0; r < 3; ++r) {
            const std::int64_t time = r == 0 ? 5000 : 4000;
            posted.push_back(is_persistent ? p[r].start_collective(FunctionId::MPI_Iallreduce, {time, time + 1})
                                           : p[r].icollective(FunctionId::MPI_Iallreduce, {time, time + 1}));
        }
        p[0].wait_collective({5002, 5009}, posted[0]);
        p[1].wait_collective({5006, 5009}, posted[1]);
        p[2].wait_collective({4002, 5009}, posted[2]);
        p[2].finish(9000);
        p.finish(6000);
        const std::string all = path(p);
        return all.substr(all.rfind(" | ", all.rfind(" | ") - 1) + 3);
    };
    for (const bool is_persistent : {false, true})
        EXPECT_EQ(of_path(is_persistent), "collective 0>2: 5000-5009 | compute 2: 5009-9000");
}

/// Without a blocking form, those tell it who were in a wait for nothing else when the last one posted: 9 us.
TEST(LateCollectives, WaitsThatBeganBeforeTheLastPostTellHowLongItTakes)
{
    Program p(3);
    for (const std::int64_t begin : {0, 4900}) {
        const std::vector<Request> posted = [&] {
            std::vector<Request> result;
            for (int r = 0; r < 3; ++r) {
                const std::int64_t time = begin + (r == 0 ? 100 : 50);
                result.push_back(p[r].icollective(FunctionId::MPI_Iallreduce, {time, time + 1}));
            }
            return result;
        }();
        p[0].wait_collective({begin + 102, begin + 109}, posted[0]);
        p[1].wait_collective({begin + 106, begin + 109}, posted[1]);
        p[2].wait_collective({begin + 60, begin + 109}, posted[2]);
    }
    p[2].finish(9000);
    p.finish(6000);
    EXPECT_THAT(path(p), testing::EndsWith("collective 0>2: 5000-5009 | compute 2: 5009-9000"));
}

/// So do those who wait for several together, if not shorter than these take; and who comes to a wait later, if it
/// waits for half of the time and more. Else each of the last ones would be said to wait for who came back to MPI.
TEST(LateCollectives, WaitsForSeveralTellHowLongTheyTakeAtMost)
{
    for (const std::int64_t enters : {60, 103}) {
        Program p(3);
        for (const std::int64_t begin : {0, 4900}) {
            std::vector<std::vector<Request>> posted(3);
            for (int r = 0; r < 3; ++r)
                for (const std::int64_t k : {0, 2})
                    posted[static_cast<std::size_t>(r)].push_back(
                        p[r].icollective(k == 0 ? FunctionId::MPI_Ibarrier : FunctionId::MPI_Iallreduce,
                                         {begin + (r == 0 ? 98 : 50) + k, begin + (r == 0 ? 98 : 50) + k + 1}));
            p[0].waitall_collectives({begin + 102, begin + 109}, posted[0]);
            p[1].waitall_collectives({begin + 106, begin + 109}, posted[1]);
            p[2].waitall_collectives({begin + enters, begin + 109}, posted[2]);
        }
        p[2].finish(9000);
        p.finish(6000);
        EXPECT_THAT(path(p), testing::EndsWith("collective 0>2: 5000-5009 | compute 2: 5009-9000")) << enters;
    }
}

/// A call that does its own work looks at nothing else: it is as good as computation.
TEST(LateCollectives, NobodyIsBackInMpiInCallsThatDoTheirOwnWork)
{
    Program p(3);
    const std::vector<Request> posted = all_post(p, 100);
    p[0].call(FunctionId::MPI_Pack, {300, 301});
    p[0].wait_collective({500, 503}, posted[0]);
    p[1].wait_collective({60, 504}, posted[1]);
    p[2].wait_collective({400, 504}, posted[2]);
    p[1].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 0: 0-100 | mpi 0: 100-101 | compute 0: 101-300 | mpi 0: 300-301 | compute 0: 301-500 | "
                       "collective? 0>1: 500-504 | compute 1: 504-700");
}

/// Rank 0 looks now and then while it computes, and each time moves the operation on a little.
TEST(LateCollectives, WhoComesBackSeveralTimesMayBeWaitedForEachTime)
{
    Program p(3);
    const std::vector<Request> posted = all_post(p, 100);
    p[0].call(FunctionId::MPI_Request_get_status, {700, 701});
    p[0].call(FunctionId::MPI_Request_get_status, {1150, 1151});
    p[0].call(FunctionId::MPI_Request_get_status, {1600, 1601});
    p[0].wait_collective({2500, 2501}, posted[0]);
    p[1].wait_collective({60, 1604}, posted[1]);
    p[2].wait_collective({400, 1604}, posted[2]);
    p[1].finish(2900);
    p.finish(2600);
    EXPECT_EQ(path(p),
              "compute 0: 0-100 | mpi 0: 100-101 | compute 0: 101-700 | mpi 0: 700-701 | compute 0: 701-1150 | "
              "mpi 0: 1150-1151 | compute 0: 1151-1600 | collective? 0>1: 1600-1604 | compute 1: 1604-2900");
}

/// Between groups, it is the other group that an operation waits for, to post and to come back.
TEST(LateCollectives, NonBlockingCollectivesBetweenGroupsWaitUntilTheOthersAreBackInMpi)
{
    Program p(3);
    const model::CommId inter = p.intercomm({0, 1}, {2});
    std::vector<Request> posted;
    for (int r = 0; r < 3; ++r)
        posted.push_back(p[r].icollective(FunctionId::MPI_Iallgather, {r == 2 ? 100 : 50, r == 2 ? 101 : 51}));
    p[0].wait_collective({60, 504}, posted[0], -1, 8, inter);
    p[1].wait_collective({400, 504}, posted[1], -1, 8, inter);
    p[2].wait_collective({500, 503}, posted[2], -1, 8, inter);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 2: 0-100 | mpi 2: 100-101 | compute 2: 101-500 | collective? 2>0: 500-504 | "
                       "compute 0: 504-700");
}

/// Who gives something to the root of the other group may wait for it.
TEST(LateCollectives, WhoGivesToARootOfTheOtherGroupMayWaitForIt)
{
    Program p(2);
    const model::CommId inter = p.intercomm({0}, {1});
    const Request given = p[0].icollective(FunctionId::MPI_Ireduce, {50, 51});
    const Request gathered = p[1].icollective(FunctionId::MPI_Ireduce, {60, 61});
    p[0].wait_collective({70, 504}, given, 0, 8, inter);
    p[1].wait_collective({500, 503}, gathered, model::CollectiveCall::this_rank, 8, inter);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 1: 0-60 | mpi 1: 60-61 | compute 1: 61-500 | collective? 1>0: 500-504 | "
                       "compute 0: 504-700");
}

/// Who was outside of MPI for long before the last one posted, and after all was over, was outside for less time in
/// between; but that is when it held up the others.
TEST(LateCollectives, OnlyTheTimeOutsideCountsInWhichACollectiveCouldGoOn)
{
    Program p(3);
    const std::vector<Request> posted = all_post(p, 600);
    p[0].wait_collective({602, 804}, posted[0]);
    p[1].wait_collective({60, 804}, posted[1]);
    p[2].call(FunctionId::MPI_Request_get_status, {500, 501});
    p[2].call(FunctionId::MPI_Request_get_status, {800, 801});
    p[2].wait_collective({1300, 1301}, posted[2]);
    p[1].finish(1900);
    p.finish(1500);
    EXPECT_EQ(path(p), "compute 2: 0-50 | mpi 2: 50-51 | compute 2: 51-500 | mpi 2: 500-501 | compute 2: 501-800 | "
                       "collective? 2>1: 800-804 | compute 1: 804-1900");
}

/// Rank 2 has what it needs at 60, and leaves; but rank 0 gets it through the hands of rank 1, which is back at 400.
TEST(LateCollectives, WhoPassesOnHoldsUpACollectiveThatOthersHaveLeft)
{
    Program p(3);
    std::vector<Request> posted;
    for (int r = 0; r < 3; ++r)
        posted.push_back(p[r].icollective(FunctionId::MPI_Iallreduce, {50, 51}));
    p[2].wait_collective({52, 60}, posted[2]);
    p[1].wait_collective({400, 402}, posted[1]);
    p[0].wait_collective({52, 404}, posted[0]);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 1: 0-50 | mpi 1: 50-51 | compute 1: 51-400 | collective? 1>0: 400-404 | "
                       "compute 0: 404-700");
}

/// The same, but nobody was outside after others had left: rank 0 was late for want of a processor, and before that it
/// was held up by whom the others were held up by.
TEST(LateCollectives, WhoHeldUpTheOthersHeldUpWhoLeavesLate)
{
    Program p(3);
    const std::vector<Request> posted = all_post(p, 80);
    p[2].wait_collective({400, 403}, posted[2]);
    p[1].wait_collective({60, 404}, posted[1]);
    p[0].wait_collective({90, 480}, posted[0]);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 2: 0-50 | mpi 2: 50-51 | compute 2: 51-400 | collective? 2>0: 400-480 | "
                       "compute 0: 480-700");
}

/// Rank 0 was back at 300, rank 2 left MPI then, and held up the others after that.
TEST(LateCollectives, OfSeveralWhoHoldUpACollectiveTheLastOneDid)
{
    Program p(3);
    std::vector<Request> posted;
    for (int r = 0; r < 3; ++r)
        posted.push_back(p[r].icollective(FunctionId::MPI_Iallreduce, {50, 51}));
    p[0].call(FunctionId::MPI_Request_get_status, {300, 301});
    p[0].wait_collective({302, 404}, posted[0]);
    p[1].wait_collective({60, 404}, posted[1]);
    p[2].call(FunctionId::MPI_Probe, {52, 300});
    p[2].wait_collective({400, 403}, posted[2]);
    p[1].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 2: 0-50 | mpi 2: 50-51 | compute 2: 51-52 | delay? 2: 52-300 | compute 2: 300-400 | "
                       "collective? 2>1: 400-404 | compute 1: 404-700");
}

/// Rank 1 looks at 400 while it computes, and moves on what rank 0 waits for; then it computes for longer, which held
/// up nobody.
TEST(LateCollectives, WhatIsComputedBehindALookHeldUpNobodyBeforeIt)
{
    for (const FunctionId function : {FunctionId::MPI_Iallreduce, FunctionId::MPI_Ireduce}) {
        Program p(3);
        std::vector<Request> posted;
        for (int r = 0; r < 3; ++r)
            posted.push_back(p[r].icollective(function, {50, 51}));
        const std::int32_t of = function == FunctionId::MPI_Ireduce ? 0 : -1;
        p[2].wait_collective({52, 60}, posted[2], of);
        p[1].call(FunctionId::MPI_Request_get_status, {400, 401});
        p[1].wait_collective({900, 901}, posted[1], of);
        p[0].wait_collective({52, 404}, posted[0], of);
        p[0].finish(1500);
        p.finish(950);
        EXPECT_EQ(path(p), "compute 1: 0-50 | mpi 1: 50-51 | compute 1: 51-400 | collective? 1>0: 400-404 | "
                           "compute 0: 404-1500");
    }
}

/// Rank 1 posts something while it computes: it is one member all the same.
TEST(LateCollectives, WhoPostsWhileItIsOutsideIsOneMember)
{
    Program p(3);
    std::vector<Request> posted;
    for (int r = 0; r < 3; ++r)
        posted.push_back(p[r].icollective(FunctionId::MPI_Iallreduce, {50, 51}));
    p[2].wait_collective({60, 480}, posted[2]);
    const Request received = p[1].irecv({200, 201}, 2, 8);
    p[1].wait_collective({400, 480}, posted[1]);
    p[0].wait_collective({52, 480}, posted[0]);
    p[2].send({490, 491}, 1, 8);
    p[1].wait({520, 521}, received);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 1: 0-50 | mpi 1: 50-51 | compute 1: 51-200 | mpi 1: 200-201 | compute 1: 201-400 | "
                       "collective? 1>0: 400-480 | compute 0: 480-700");
}

/// All are in MPI: what takes so long is not known.
TEST(LateCollectives, ACollectiveThatNobodyHeldUpIsOfLowConfidence)
{
    Program p(2);
    const Request first = p[0].icollective(FunctionId::MPI_Iallreduce, {100, 101});
    const Request second = p[1].icollective(FunctionId::MPI_Iallreduce, {50, 51});
    p[0].wait_collective({102, 503}, first);
    p[1].wait_collective({52, 504}, second);
    p[1].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 0: 0-100 | collective? 0>1: 100-504 | compute 1: 504-700");
}

/// On a busy machine, an operation goes on for long after the one who held it up has come back. If nobody else was
/// outside, it was that one.
TEST(LateCollectives, WhoAloneWasOutsideHeldUpTheOthers)
{
    const auto program = [](int second_is_back) {
        Program p(3);
        std::vector<Request> posted;
        for (int r = 0; r < 3; ++r)
            posted.push_back(p[r].icollective(FunctionId::MPI_Iallreduce, {50, 51}));
        p[0].wait_collective({52, 480}, posted[0]);
        p[1].wait_collective({second_is_back, 480}, posted[1]);
        p[2].wait_collective({400, 480}, posted[2]);
        p[0].finish(700);
        p.finish(650);
        return path(p);
    };
    EXPECT_EQ(program(60), "compute 2: 0-50 | mpi 2: 50-51 | compute 2: 51-400 | collective? 2>0: 400-480 | "
                           "compute 0: 480-700");
    EXPECT_EQ(program(390),
              "compute 0: 0-50 | mpi 0: 50-51 | compute 0: 51-52 | delay? 0: 52-480 | compute 0: 480-700");
}

constexpr int root = 0;

/// By the standard a root waits for nobody, but its data may find no place before the others are there.
TEST(LateCollectives, ARootMayWaitUntilAllHavePosted)
{
    Program p(3);
    const Request sent = p[0].icollective(FunctionId::MPI_Ibcast, {50, 51});
    p[0].wait_collective({52, 403}, sent, root);
    const Request late = p[1].icollective(FunctionId::MPI_Ibcast, {400, 401});
    p[1].wait_collective({402, 404}, late, root);
    const Request early = p[2].icollective(FunctionId::MPI_Ibcast, {50, 51});
    p[2].wait_collective({52, 70}, early, root);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 1: 0-400 | collective? 1>0: 400-403 | compute 0: 403-700");
}

TEST(LateCollectives, ARootMayWaitUntilAllAreBackInMpi)
{
    Program p(3);
    const Request sent = p[0].icollective(FunctionId::MPI_Ibcast, {50, 51});
    p[0].wait_collective({52, 403}, sent, root);
    const Request late = p[1].icollective(FunctionId::MPI_Ibcast, {40, 41});
    p[1].wait_collective({400, 404}, late, root);
    const Request early = p[2].icollective(FunctionId::MPI_Ibcast, {50, 51});
    p[2].wait_collective({52, 70}, early, root);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 1: 0-40 | mpi 1: 40-41 | compute 1: 41-400 | collective? 1>0: 400-403 | "
                       "compute 0: 403-700");
}

TEST(LateCollectives, WhoGivesToARootMayWaitForIt)
{
    Program p(2);
    const Request taken = p[0].icollective(FunctionId::MPI_Ireduce, {400, 401});
    p[0].wait_collective({402, 404}, taken, root);
    const Request given = p[1].icollective(FunctionId::MPI_Ireduce, {50, 51});
    p[1].wait_collective({52, 403}, given, root);
    p[1].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 0: 0-400 | collective? 0>1: 400-403 | compute 1: 403-700");
}

/// On a busy machine, it may take long after the root has come. If nobody else was outside, it was the root.
TEST(LateCollectives, WhoAlonePostsLateHeldUpTheOthers)
{
    const auto program = [](int other_is_back) {
        Program p(3);
        const Request given = p[1].icollective(FunctionId::MPI_Ireduce, {50, 51});
        p[1].wait_collective({52, 480}, given, root);
        const Request other = p[2].icollective(FunctionId::MPI_Ireduce, {50, 51});
        p[2].wait_collective({other_is_back, 490}, other, root);
        const Request taken = p[0].icollective(FunctionId::MPI_Ireduce, {400, 401});
        p[0].wait_collective({402, 490}, taken, root);
        p[1].finish(700);
        p.finish(650);
        return path(p);
    };
    EXPECT_EQ(program(60), "compute 0: 0-400 | collective? 0>1: 400-480 | compute 1: 480-700");
    EXPECT_EQ(program(390),
              "compute 1: 0-50 | mpi 1: 50-51 | compute 1: 51-52 | delay? 1: 52-480 | compute 1: 480-700");
}

/// Nothing comes to rank 0 of a prefix that leaves its own part out; but what it gives may have to wait.
TEST(LateCollectives, TheFirstOfAnExclusivePrefixMayWaitForTheNext)
{
    Program p(2);
    const Request given = p[0].icollective(FunctionId::MPI_Iexscan, {50, 51});
    p[0].wait_collective({52, 403}, given);
    const Request taken = p[1].icollective(FunctionId::MPI_Iexscan, {400, 401});
    p[1].wait_collective({402, 404}, taken);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 1: 0-400 | collective? 1>0: 400-403 | compute 0: 403-700");
}

/// In a tree, the one in between has to be there as well.
TEST(LateCollectives, WhatARootGivesMayComeByOneWhoPostsItLate)
{
    Program p(3);
    const Request sent = p[0].icollective(FunctionId::MPI_Ibcast, {10, 11});
    p[0].wait_collective({12, 14}, sent, root);
    const Request between = p[1].icollective(FunctionId::MPI_Ibcast, {400, 401});
    p[1].wait_collective({402, 404}, between, root);
    const Request last = p[2].icollective(FunctionId::MPI_Ibcast, {50, 51});
    p[2].wait_collective({52, 403}, last, root);
    p[2].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 1: 0-400 | collective? 1>2: 400-403 | compute 2: 403-700");
}

/// What a root has to do takes its time.
TEST(LateCollectives, ARootThatNobodyHeldUpWorks)
{
    Program p(2);
    const Request sent = p[0].icollective(FunctionId::MPI_Ibcast, {50, 51});
    p[0].wait_collective({52, 403}, sent, root);
    const Request taken = p[1].icollective(FunctionId::MPI_Ibcast, {10, 11});
    p[1].wait_collective({12, 404}, taken, root);
    p[0].finish(700);
    p.finish(650);
    EXPECT_EQ(path(p), "compute 0: 0-50 | mpi 0: 50-51 | compute 0: 51-52 | delay? 0: 52-403 | compute 0: 403-700");
}

}  // namespace
}  // namespace critpath::tests
