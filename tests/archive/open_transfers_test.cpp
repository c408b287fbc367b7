// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/open_transfers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::archive
{
namespace
{

using testing::ElementsAre;
using Ids = std::vector<std::uint64_t>;

Ids end_here(OpenTransfers& open, std::int32_t target)
{
    Ids ids;
    open.end_here(target, [&](std::uint64_t id) { ids.push_back(id); });
    return ids;
}

Ids end_there(OpenTransfers& open, std::int32_t target)
{
    Ids ids;
    open.end_there(target, [&](std::uint64_t id) { ids.push_back(id); });
    return ids;
}

TEST(OpenTransfers, AreDoneHereOnceAndLaterThere)
{
    OpenTransfers open;
    open.begin(1, 11, false);
    EXPECT_THAT(end_here(open, 1), ElementsAre(11));
    open.begin(1, 13, false);
    EXPECT_THAT(end_here(open, 1), ElementsAre(13));
    EXPECT_THAT(end_here(open, 1), ElementsAre());
    EXPECT_THAT(end_there(open, 1), ElementsAre(11, 13));
    EXPECT_THAT(end_there(open, 1), ElementsAre());
}

TEST(OpenTransfers, ThatAreDoneThereAreDoneHere)
{
    OpenTransfers open;
    open.begin(1, 11, false);
    EXPECT_THAT(end_there(open, 1), ElementsAre(11));
    EXPECT_THAT(end_here(open, -1), ElementsAre());
}

TEST(OpenTransfers, ToOneTargetOrToAllInTheOrderOfTargets)
{
    OpenTransfers open;
    for (const std::uint64_t id : {1U, 3U, 5U, 7U}) {
        open.begin(id % 4 == 1 ? 2 : 0, id, false);  // 1 and 5 to 2
    }
    EXPECT_THAT(end_here(open, 1), ElementsAre());
    EXPECT_THAT(end_here(open, 2), ElementsAre(1, 5));
    open.begin(2, 9, false);
    EXPECT_THAT(end_here(open, -1), ElementsAre(3, 7, 9));
    EXPECT_THAT(end_there(open, 0), ElementsAre(3, 7));
    EXPECT_THAT(end_there(open, -1), ElementsAre(1, 5, 9));
}

TEST(OpenTransfers, WithARequestAreDoneHereWhenThatIs)
{
    OpenTransfers open;
    open.begin(1, 2, true);
    open.begin(1, 11, false);
    EXPECT_THAT(end_here(open, -1), ElementsAre(11));
    EXPECT_THAT(end_there(open, -1), ElementsAre(2, 11));
}

/// Whoever looked at all of them each time would be at it for hours.
TEST(OpenTransfers, EachEndsByACallOfItsOwnInAnEpochThatLastsForTheRun)
{
    constexpr std::uint64_t many = 1 << 19;
    OpenTransfers open;
    std::uint64_t done = 0;
    for (std::uint64_t id = 0; id < many; ++id) {
        open.begin(1, id, false);
        open.end_here(id % 2 == 0 ? 1 : -1, [&](std::uint64_t ended) { done += ended == id ? 1 : many; });
    }
    EXPECT_EQ(done, many);
    EXPECT_THAT(end_there(open, 1), testing::SizeIs(many));
}

}  // namespace
}  // namespace critpath::archive
