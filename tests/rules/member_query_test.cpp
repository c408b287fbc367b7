// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who held up a non-blocking collective, of those who came back to MPI (docs/ALGORITHM, "Late progress"). Times are in
// us; the asking call waits from 0 to 1000.
#include "replayer/rules/member_query.hpp"
#include "tests/builder/program.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace critpath::tests
{
namespace
{

using replayer::rules::MemberInfo;
using replayer::rules::MemberQuery;
using replayer::rules::Predecessor;
using replayer::rules::Route;

/// Of an operation that takes `completion`, and no longer than `limit`.
MemberQuery question(int completion, int limit)
{
    MemberQuery query{};
    query.call = {{0}, {0}};
    query.enter = query.since = from_us(0);
    query.leave = from_us(1000);
    query.returns = true;
    query.completion = from_us(completion);
    query.limit = from_us(limit);
    query.tolerance = from_us(1);
    return query;
}

/// Outside of MPI in [from, to).
MemberInfo outside(std::uint32_t rank, int from, int to)
{
    return {{{{rank}, {7}}, from_us(to)}, from_us(from), rank, false, true};
}

/// The rank, or -1.
int mover(const MemberQuery& query, const std::vector<MemberInfo>& members)
{
    const Predecessor found = replayer::rules::answer(query, replayer::rules::InstanceMembers(members), {});
    return found.is_jump() ? static_cast<int>(found.from.call.location.value) : -1;
}

TEST(MemberQuery, WhoCameBackAsLongBeforeTheEndAsTheOperationTakesMovedItOn)
{
    EXPECT_EQ(mover(question(20, 80), {outside(1, 10, 500), outside(2, 100, 980)}), 2);
    EXPECT_EQ(mover(question(20, 80), {outside(1, 10, 500), outside(2, 100, 930)}), 2);  // within the limit
}

TEST(MemberQuery, WhoAloneWasOutsideMayHaveComeBackLongBeforeTheEnd)
{
    EXPECT_EQ(mover(question(0, 80), {outside(1, -500, -1), outside(2, 10, 800), outside(3, 1, 2)}), 2);
    EXPECT_EQ(mover(question(0, 80), {outside(1, 10, 800), outside(2, 10, 800)}), -1);
    EXPECT_EQ(mover(question(0, 80), {outside(1, 10, 400)}), -1);  // not for half of the wait
}

TEST(MemberQuery, ManyShortTimesOutsideSayNothing)
{
    std::mt19937 random(1);
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<MemberInfo> members;
        for (std::uint32_t rank = 1; rank < 1000; ++rank) {
            const int from = static_cast<int>(random() % 890);
            members.push_back(outside(rank, from, from + 100));
        }
        EXPECT_EQ(mover(question(0, 80), members), -1) << "trial " << trial;
    }
}

TEST(MemberQuery, NobodyHoldsUpWhatIsOverBeforeItUsuallyIs)
{
    EXPECT_EQ(mover(question(10'000, 40'000), {outside(1, 699, 700)}), -1);
    EXPECT_EQ(mover(question(10'000, 40'000), {outside(1, -600, -1)}), -1);
}

}  // namespace
}  // namespace critpath::tests
