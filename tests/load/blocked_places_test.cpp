// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/blocked_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::replayer::load
{
namespace
{

using model::ContextId;
using model::Ns;
using model::WaitsFor;

// All times are in tenths of ms.
Ns tenths(std::int64_t time)
{
    return Ns{100'000 * time};
}

/// A thread that calls context 0 at 0, 1000, 2000, ..., and 1 at 500, 1500, ..., for 10 each.
class BlockedPlaces : public testing::Test
{
protected:
    BlockedPlaces()
    {
        for (std::int64_t time = 0; time < 10'000; time += 500)
            thread_.calls.add(tenths(time), tenths(time + 10), {static_cast<std::uint32_t>(time / 500 % 2)});
    }

    void blocked(std::int64_t begin, std::int64_t length)
    {
        thread_.off.push_back({tenths(begin), tenths(begin + length), false});
    }
    void found(std::int64_t begin, std::int64_t length, std::uint32_t context, WaitsFor what = WaitsFor::Other)
    {
        thread_.off.push_back({tenths(begin), tenths(begin + length), false, true, what, false, {context}});
    }
    /// "7 other, -, ...": where each interval is, and what it is for.
    std::string placed(bool is_alone = false)
    {
        place_blocked(thread_, is_alone);
        std::vector<std::string> words;
        for (const model::OffProcessor& off : thread_.off) {
            const char* what = off.waits_for == WaitsFor::Thread ? " thread" : "";
            const char* nowhere = off.waits_for == WaitsFor::Other  ? "- other"
                                  : off.waits_for == WaitsFor::Time ? "- time"
                                                                    : "-";
            words.push_back(off.found_in.valid() ? fmt::format("{}{}", off.found_in.value, what) : nowhere);
        }
        return fmt::format("{}", fmt::join(words, ", "));
    }

    model::LocationTrace thread_;
};

TEST_F(BlockedPlaces, AreThoseOfOthersBetweenTheSameTwoCalls)
{
    blocked(100, 100);
    found(1100, 120, 7, WaitsFor::Thread);
    blocked(1600, 100);  // behind another call
    blocked(2100, 90);
    EXPECT_EQ(placed(), "7 thread, 7 thread, -, 7 thread");
    EXPECT_FALSE(thread_.off.front().is_found);
}

TEST_F(BlockedPlaces, AreThoseOfTheWaitForAProcessorBehindThem)
{
    const auto without_processor = [this](std::int64_t begin, std::int64_t length, bool is_woken) {
        thread_.off.push_back({tenths(begin), tenths(begin + length), true});
        thread_.off.back().is_woken = is_woken;
    };
    found(100, 20, 7, WaitsFor::Thread);
    without_processor(120, 10, true);
    without_processor(140, 10, false);
    blocked(1100, 22);
    without_processor(1122, 300, true);
    EXPECT_EQ(placed(), "7 thread, 7, -, 7 thread, 7");
}

TEST_F(BlockedPlaces, AreThoseOfTheOneThatWasMostNearlyAsLong)
{
    found(100, 20, 7);
    found(200, 160, 8);
    blocked(1100, 60);
    blocked(1200, 50);
    blocked(2100, 300);
    blocked(2450, 11);
    EXPECT_EQ(placed(), "7, 8, 8, 7, 8, 7");
}

TEST_F(BlockedPlaces, OfOneThatWasMuchLongerOrShorterAreNotKnown)
{
    found(100, 20, 7);
    blocked(1100, 4);
    blocked(1200, 90);
    EXPECT_EQ(placed(), "7, -, -");
}

// Of less than 20 us: at these nobody looks, so that they are not known to be anywhere else.
TEST_F(BlockedPlaces, OfShortOnesAreThoseOfNearlyEqualOnes)
{
    const auto us = [](std::int64_t time) { return Ns{1'000 * time}; };
    thread_.off.push_back({us(10'000), us(10'024), false, true, WaitsFor::Time, false, {7}});
    thread_.off.push_back({us(11'000), us(11'018), false});
    thread_.off.push_back({us(12'000), us(12'014), false});
    EXPECT_EQ(placed(), "7, 7, -");
}

TEST_F(BlockedPlaces, InMpiAndWithoutAProcessorAreNotSought)
{
    found(100, 100, 7);
    blocked(1000, 9);
    thread_.off.push_back({tenths(1100), tenths(1200), true});
    EXPECT_EQ(placed(), "7, -, -");
}

// It is not known where, but what for, if all are: another thread might be waited for here, and nowhere else.
TEST_F(BlockedPlaces, OfAThreadAloneTellWhatOthersLikeThemWereFor)
{
    for (const bool is_alone : {false, true}) {
        thread_.off.clear();
        found(100, 100, 7);
        found(300, 10, 8, WaitsFor::Time);
        blocked(1600, 90);
        blocked(1800, 12);
        blocked(1900, 35);  // like both
        EXPECT_EQ(placed(is_alone), is_alone ? "7, 8, - other, - time, -" : "7, 8, -, -, -");
    }
}

// A barrier that nobody has looked at is not what the one sleep is that somebody has.
/// To ask each of those that are known about each of the others would take longer than a test has.
TEST_F(BlockedPlaces, OfAThreadAloneMayBeMany)
{
    constexpr std::int64_t many = 500'000;
    model::LocationTrace thread;
    thread.calls.add(Ns{0}, Ns{1}, {0});
    thread.calls.add(Ns{100'000 * many}, Ns{100'000 * many + 1}, {0});
    for (std::int64_t i = 0; i < 2 * many; ++i) {
        const Ns begin{100'000 * i + 10};
        const bool is_found = i < many;
        thread.off.push_back({begin, begin + Ns{50'000}, false, is_found, is_found ? WaitsFor::Time : WaitsFor::Unknown,
                              false, is_found ? ContextId{7} : ContextId::none()});
    }
    place_blocked(thread, true);
    EXPECT_EQ(thread.off.back().waits_for, WaitsFor::Time);
    EXPECT_FALSE(thread.off.back().found_in.valid());
}

TEST_F(BlockedPlaces, OfAThreadWithSiblingsMayBeForOneUntilEnoughTellOtherwise)
{
    for (std::int64_t n = 1; n <= 5; ++n) {
        found(1000 * n + 100, 20 + n, 7, WaitsFor::Time);
        blocked(1000 * n + 200, 25);
    }
    const auto all = thread_.off;
    for (std::size_t n = 1; n <= 5; ++n) {
        thread_.off.assign(all.begin(), all.begin() + 2 * static_cast<std::ptrdiff_t>(n));
        EXPECT_THAT(placed(), testing::EndsWith("7"));
        EXPECT_EQ(thread_.off.back().waits_for, n < 5 ? WaitsFor::Unknown : WaitsFor::Time) << n;
    }
    thread_.off.assign(all.begin(), all.begin() + 2);
    EXPECT_EQ(placed(true), "7, 7");
    EXPECT_EQ(thread_.off.back().waits_for, WaitsFor::Time) << "it has nobody to wait for";
}

TEST_F(BlockedPlaces, OfAThreadWithSiblingsMayBeForOneWhereSomeLikeThemAre)
{
    for (std::int64_t n = 1; n <= 6; ++n) {
        found(1000 * n + 100, 20, 7, WaitsFor::Time);
        found(1000 * n + 200, 30, 8, WaitsFor::Thread);
    }
    blocked(7100, 20);
    blocked(7200, 24);
    blocked(7300, 31);
    EXPECT_EQ(placed().substr(0, 4), "7, 8");
    EXPECT_EQ(thread_.off[12].waits_for, WaitsFor::Time) << "all that are nearest to it are";
    EXPECT_EQ(thread_.off[14].waits_for, WaitsFor::Thread);
    thread_.off[10].waits_for = WaitsFor::Thread;
    placed();
    EXPECT_EQ(thread_.off[13].waits_for, WaitsFor::Unknown);
}

TEST_F(BlockedPlaces, OfAThreadWithoutCallsAreAllBetweenTheSame)
{
    thread_.calls = {};
    blocked(100, 100);
    found(1100, 120, 7);
    EXPECT_EQ(placed(), "7, 7");
}

}  // namespace
}  // namespace critpath::replayer::load
