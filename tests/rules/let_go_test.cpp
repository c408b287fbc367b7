// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Members of blocking collectives that are held up by somebody who is outside of MPI, and let go when that one comes
// back, in whatever call (docs/ALGORITHM, "Collectives", the release rule). Times are in us.
#include "replayer/rules/member_query.hpp"
#include "tests/builder/replayed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

using testing::EndsWith;
using testing::HasSubstr;

constexpr FunctionId bcast = FunctionId::MPI_Bcast;

/// Two headers and a body: the root is gone from the headers when rank 1 comes to the first of them, after so much
/// work, and waits in the body until then. Rank 1 comes to that later.
std::string headers_and_body(std::int64_t work, std::int64_t until)
{
    Program p(2);
    p[0].rooted(bcast, {20, 21}, 0);
    p[0].rooted(bcast, {22, 23}, 0);
    p[0].rooted(bcast, {24, until}, 0, 4000);
    p[1].rooted(bcast, {work, work + 4}, 0);
    p[1].rooted(bcast, {work + 5, work + 6}, 0);
    p[1].rooted(bcast, {work + 100, work + 102}, 0, 4000);
    p[0].finish(until + 300);
    p.finish(until + 200);
    return path(p);
}

TEST(LetGo, RootIsLetGoWhenAMemberComesToAnEarlierCollective)
{
    EXPECT_EQ(headers_and_body(1000, 1003), "compute 1: 0-1000 | collective? 1>0: 1000-1003 | compute 0: 1003-1303");
    EXPECT_EQ(headers_and_body(80'000, 80'095),  // no core is free
              "compute 1: 0-80000 | collective? 1>0: 80000-80095 | compute 0: 80095-80395");
}

/// Who has come back long ago has not let go anybody; so the root was delayed.
TEST(LetGo, NobodyIsLetGoLongAfterAReturn)
{
    EXPECT_EQ(headers_and_body(600, 1003), "compute 0: 0-20 | mpi 0: 20-21 | compute 0: 21-22 | mpi 0: 22-23 | "
                                           "compute 0: 23-24 | delay? 0: 24-1003 | compute 0: 1003-1303");
}

/// Who has no processor until the end needs nobody to be late.
TEST(LetGo, WhoLacksAProcessorIsHeldUpByNobody)
{
    Program p(2);
    p[0].rooted(bcast, {24, 1003}, 0, 4000);
    p[0].off({26, 1002}, true);
    p[1].collective(FunctionId::MPI_Barrier, {1000, 1001}, Program::self());
    p[1].rooted(bcast, {1100, 1102}, 0, 4000);
    p[0].finish(1300);
    p.finish(1200);
    EXPECT_EQ(path(p), "compute 0: 0-24 | delay 0: 24-1003 | compute 0: 1003-1300");
}

/// Nor by who was in MPI most of the time.
TEST(LetGo, WhoWasInMpiHeldUpNobody)
{
    Program p(2);
    p[0].rooted(bcast, {24, 1003}, 0, 4000);
    for (int t = 10; t < 1000; t += 110)
        p[1].collective(FunctionId::MPI_Barrier, {t, t + 99}, Program::self());
    p[1].rooted(bcast, {1100, 1102}, 0, 4000);
    p[0].finish(1300);
    p.finish(1200);
    EXPECT_THAT(path(p), HasSubstr("delay? 0: 24-1003"));
}

/// Any call looks what there is to do, but those that only post.
TEST(LetGo, WhoComesBackMayDoSoInAnyCallThatDoesMoreThanPost)
{
    Program p(2);
    p[0].rooted(bcast, {24, 1003}, 0, 4000);
    p[1].call(FunctionId::MPI_Request_get_status, {1000, 1001});
    p[1].rooted(bcast, {1100, 1102}, 0, 4000);
    p[0].finish(1300);
    p.finish(1200);
    EXPECT_EQ(path(p), "compute 1: 0-1000 | collective? 1>0: 1000-1003 | compute 0: 1003-1300");
    Program q(2);
    q[0].rooted(bcast, {24, 1003}, 0, 4000);
    q[0].send({1010, 1011}, 1);
    const Request request = q[1].irecv({600, 601}, 0);
    q[1].call(FunctionId::MPI_Request_get_status, {1000, 1001});
    q[1].rooted(bcast, {1100, 1102}, 0, 4000);
    q[1].wait({1110, 1111}, request);
    q[0].finish(1300);
    q.finish(1200);
    EXPECT_EQ(path(q), "compute 1: 0-600 | mpi 1: 600-601 | compute 1: 601-1000 | collective? 1>0: 1000-1003 | "
                       "compute 0: 1003-1010 | mpi 0: 1010-1011 | compute 0: 1011-1300");
}

/// Nor do those look that do their own work, as what is collective on a communicator of one process does.
TEST(LetGo, NobodyIsLetGoInCallsThatDoTheirOwnWork)
{
    Program p(2);
    p[0].rooted(bcast, {24, 1003}, 0, 4000);
    p[1].call(FunctionId::MPI_Pack, {600, 601});
    p[1].collective(FunctionId::MPI_Barrier, {700, 701}, Program::self());
    p[1].call(FunctionId::MPI_Request_get_status, {1000, 1001});
    p[1].rooted(bcast, {1100, 1102}, 0, 4000);
    p[0].finish(1300);
    p.finish(1200);
    EXPECT_EQ(path(p),
              "compute 1: 0-600 | mpi 1: 600-601 | compute 1: 601-700 | mpi 1: 700-701 | compute 1: 701-1000 | "
              "collective? 1>0: 1000-1003 | compute 0: 1003-1300");
}

/// What a member of a reduction gives is taken when the root is back.
TEST(LetGo, WhoGivesToARootIsLetGoWhenThatComesBack)
{
    for (const FunctionId function : {FunctionId::MPI_Reduce, FunctionId::MPI_Gather}) {
        Program p(3);
        p[0].rooted(function, {1000, 1001}, 0);
        p[1].rooted(function, {10, 11}, 0);
        p[2].rooted(function, {10, 11}, 0);
        p[0].rooted(function, {1050, 1053}, 0, 4000);
        p[1].rooted(function, {20, 1004}, 0, 4000);
        p[2].rooted(function, {600, 1005}, 0, 4000);
        p[2].finish(1300);
        p.finish(1200);
        EXPECT_EQ(path(p), "compute 0: 0-1000 | collective? 0>2: 1000-1005 | compute 2: 1005-1300");
    }
}

/// Between the root and a member that is late.
TEST(LetGo, InteriorMemberIsLetGoWhenTheOneBehindItComesBack)
{
    Program p(3);
    for (int r = 0; r < 3; ++r)
        p[r].rooted(bcast, {r == 2 ? 1000 : 10, r == 2 ? 1001 : 12}, 0);
    p[0].rooted(bcast, {100, 102}, 0, 4000);
    p[1].rooted(bcast, {50, 1005}, 0, 4000);
    p[2].rooted(bcast, {1100, 1101}, 0, 4000);
    p[1].finish(1300);
    p.finish(1200);
    EXPECT_EQ(path(p), "compute 2: 0-1000 | collective? 2>1: 1000-1005 | compute 1: 1005-1300");
}

/// Who comes to the operation itself explains less of the call than who comes back after that.
TEST(LetGo, TheLaterOfThoseWhoComeCounts)
{
    for (const std::int64_t came : {900, 700}) {
        Program p(3);
        for (int r = 0; r < 3; ++r)
            p[r].rooted(bcast, {r == 1 ? 1000 : 10, r == 1 ? 1001 : 11}, 0);
        p[0].rooted(bcast, {20, 1003}, 0, 4000);
        p[1].rooted(bcast, {1100, 1101}, 0, 4000);
        p[2].rooted(bcast, {came, 1002}, 0, 4000);
        p[0].finish(1300);
        p.finish(1200);
        EXPECT_EQ(path(p), "compute 1: 0-1000 | collective? 1>0: 1000-1003 | compute 0: 1003-1300") << came;
    }
}

/// Whoever was outside may have held up the call, and the last one of them did.
TEST(LetGo, OfSeveralTheLastOneCounts)
{
    Program p(4);
    for (int r = 0; r < 4; ++r)
        p[r].rooted(bcast, {r == 0 ? 10 : 900 + 33 * r, r == 0 ? 11 : 902 + 33 * r}, 0);
    p[0].rooted(bcast, {20, 1003}, 0, 4000);
    for (int r = 1; r < 4; ++r)
        p[r].rooted(bcast, {1100, 1101}, 0, 4000);
    p[0].finish(1300);
    p.finish(1200);
    EXPECT_EQ(path(p), "compute 3: 0-999 | collective? 3>0: 999-1003 | compute 0: 1003-1300");
}

using replayer::rules::MemberInfo;
using replayer::rules::MemberQuery;

/// Who let go a call from 0 to 1000 that may wait for `limit` after that, or -1; each member is outside in [from, to).
int who_let_go(int limit, const std::vector<Span>& outside)
{
    MemberQuery query{};
    query.call = {{0}, {0}};
    query.enter = query.since = from_us(0);
    query.leave = from_us(1000);
    query.returns = query.may_release = true;
    query.limit = from_us(limit);
    std::vector<MemberInfo> members;
    for (std::uint32_t rank = 0; rank < outside.size(); ++rank)
        members.push_back(
            {{{{rank + 1}, {7}}, from_us(outside[rank].leave)}, from_us(outside[rank].enter), rank, false, true});
    const auto found = replayer::rules::answer(query, replayer::rules::InstanceMembers(members), {});
    return found.is_jump() ? static_cast<int>(found.from.call.location.value) : -1;
}

TEST(LetGo, WhoReturnsLongBeforeTheEndMustStandOut)
{
    EXPECT_EQ(who_let_go(20, {{-50, 981}}), 1);
    EXPECT_EQ(who_let_go(20, {{-50, 876}}), 1);
    EXPECT_EQ(who_let_go(20, {{-50, 874}}), -1);
    EXPECT_EQ(who_let_go(20, {{-50, 936}, {300, 938}}), 2);  // of two, in a sixteenth
    EXPECT_EQ(who_let_go(20, {{-50, 936}, {300, 937}}), -1);
    EXPECT_EQ(who_let_go(20, {{-50, 936}, {500, 937}}), 1);  // the later one was in MPI for more than half of it
}

TEST(LetGo, NobodyWhoWasInMpiForMoreThanHalfOfTheTimeLetsGo)
{
    EXPECT_EQ(who_let_go(20, {{500, 1000 - 1}}), -1);
    EXPECT_EQ(who_let_go(20, {{499, 1000 - 1}}), 1);
    EXPECT_EQ(who_let_go(20, {{-50, 1000}}), -1);  // at the end itself, nothing can have come from there
}

}  // namespace
}  // namespace critpath::tests
