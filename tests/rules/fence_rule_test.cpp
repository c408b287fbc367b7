// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which transfer holds up a fence, if not the last member. Times are us.
#include "replayer/rules/fence_rule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>

namespace critpath::tests
{
namespace
{

using replayer::rules::FencedTransfer;
using replayer::rules::FenceWait;
using replayer::rules::Predecessor;
using replayer::rules::Route;
using Us = std::chrono::microseconds;

FencedTransfer transfer(std::uint32_t origin, Us enter, Us takes)
{
    return {{{model::LocationId{origin}, {0}}, enter},
            takes,
            8,
            model::ProcessId{origin},
            model::ProcessId{9},
            model::LocationId{origin},
            model::LocationId{9},
            true};
}

FenceWait wait(Us leave, Us last, Us completion, Us error)
{
    return {{model::LocationId{9}, {1}}, model::ProcessId{9}, leave, last, completion, true, error};
}

TEST(FenceRule, ATransferThatExplainsTheEndBetterThanTheLastMember)
{
    const std::array transfers = {transfer(0, Us{100}, Us{100}), transfer(1, Us{120}, Us{20})};
    const Predecessor found = fence_predecessor(wait(Us{200}, Us{130}, Us{10}, Us{0}), transfers);
    EXPECT_EQ(found.route, Route::Message);
    EXPECT_EQ(found.from.call.location, model::LocationId{0});
    EXPECT_FALSE(found.low_confidence);
    // The last member explains it.
    EXPECT_EQ(fence_predecessor(wait(Us{290}, Us{280}, Us{10}, Us{0}), transfers).route, Route::Work);
}

TEST(FenceRule, ATransferThatMustHaveTakenMuchLongerIsDoubtful)
{
    const std::array transfers = {transfer(0, Us{100}, Us{100})};
    EXPECT_TRUE(fence_predecessor(wait(Us{500}, Us{130}, Us{10}, Us{0}), transfers).low_confidence);
}

TEST(FenceRule, WhatClocksCannotTellIsDoubted)
{
    const std::array transfers = {transfer(0, Us{100}, Us{100})};
    const auto at = [&](Us error) { return fence_predecessor(wait(Us{200}, Us{190}, Us{9}, error), transfers); };
    EXPECT_EQ(at(Us{0}).route, Route::Message);
    EXPECT_FALSE(at(Us{0}).within_clocks);
    EXPECT_TRUE(at(Us{5}).within_clocks) << "5 us earlier, it would have been the last member";
}

/// The clock of the last member may be off, and those of the origin and the call right.
TEST(FenceRule, TheLastMemberMayHaveComeLater)
{
    const std::array transfers = {transfer(0, Us{1000}, Us{400})};
    const auto at = [&](Us error) { return fence_predecessor(wait(Us{1500}, Us{1450}, Us{10}, error), transfers); };
    EXPECT_EQ(at(Us{0}).route, Route::Message);
    EXPECT_FALSE(at(Us{15}).within_clocks);
    EXPECT_TRUE(at(Us{60}).within_clocks) << "at 1490, it explains the end better";
}

TEST(FenceRule, WhatTheTargetLetBeginIsWithItsOrigin)
{
    FencedTransfer begun = transfer(3, Us{100}, Us{90});
    begun.enter = {{model::LocationId{9}, {0}}, Us{100}};
    begun.begun_by_target = true;
    const Predecessor found = fence_predecessor(wait(Us{200}, Us{120}, Us{9}, Us{0}), std::span(&begun, 1));
    EXPECT_EQ(found.route, Route::Message);
    EXPECT_EQ(found.from.call, begun.enter.call);
    EXPECT_EQ(found.peer, model::LocationId{3}) << "not with itself";
    EXPECT_FALSE(found.sends) << "the data come to it";
}

TEST(FenceRule, WhoBeganLaterAndTakesLongerLeavesNothingToOthers)
{
    const FencedTransfer a = transfer(0, Us{100}, Us{20}), b = transfer(1, Us{110}, Us{20}),
                         c = transfer(2, Us{105}, Us{30}), same = transfer(3, Us{110}, Us{20});
    EXPECT_TRUE(is_dominated(a, b));
    EXPECT_FALSE(is_dominated(b, a));
    EXPECT_FALSE(is_dominated(b, c));
    EXPECT_FALSE(is_dominated(c, b));
    EXPECT_NE(is_dominated(b, same), is_dominated(same, b)) << "one of equal ones stays";
    FencedTransfer begun = transfer(4, Us{110}, Us{20}), begun_too = transfer(5, Us{110}, Us{20});
    begun.enter = begun_too.enter = {{model::LocationId{9}, {0}}, Us{110}};  // by their target
    EXPECT_NE(is_dominated(begun, begun_too), is_dominated(begun_too, begun)) << "of those of one call, too";
    // And never is the answer.
    for (const Us leave : {Us{115}, Us{125}, Us{140}, Us{200}}) {
        const std::array all = {a, b, c}, without = {b, c, c};
        const FenceWait w = wait(leave, Us{114}, Us{1}, Us{0});
        EXPECT_EQ(fence_predecessor(w, all).from.call, fence_predecessor(w, without).from.call) << leave.count();
    }
}

}  // namespace
}  // namespace critpath::tests
