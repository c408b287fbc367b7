// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/deep_caller.hpp"
#include "collector/archive/deep_stacks.hpp"
#include "tests/archive/deep_builder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace critpath::archive
{
namespace
{

using spool::DeepStackRecord;
using test::DeepBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

// What stands at the address around that time, in words.
std::string around(const DeepStacks& stacks, std::uint64_t address, std::uint64_t time)
{
    std::string text;
    for (const DeepStacks::Run& run : stacks.runs_around(address, time)) {
        text += fmt::format("{}[{}-{}]", run.word, run.first, run.last);
    }
    return text;
}

TEST(DeepStacks, AWordIsKnownBetweenTwoImagesThatHaveIt)
{
    DeepBuilder builder;
    builder.image(10, 20, {{800, 7}, {792, 5}}, DeepStackRecord::Whole);
    builder.image(30, 40, {{792, 6}});
    builder.image(50, 60, {{800, 0}});
    const DeepStacks stacks(builder.bytes(), 1000);
    EXPECT_EQ(stacks.images(), 3U);
    EXPECT_EQ(around(stacks, 800, 1020), "7[0-1]");
    EXPECT_EQ(around(stacks, 800, 1030), "7[0-1]");
    EXPECT_EQ(around(stacks, 800, 1025), "7[0-1]");
    EXPECT_EQ(around(stacks, 792, 1025), "5[0-0]6[1-2]") << "whether they lead to the same, others know";
    EXPECT_EQ(around(stacks, 792, 1045), "6[1-2]");
    EXPECT_EQ(around(stacks, 800, 1045), "") << "the second of them has nothing there";
    EXPECT_EQ(around(stacks, 800, 1019), "") << "before the first one was ready";
    EXPECT_EQ(around(stacks, 792, 1051), "") << "behind the beginning of the last one";
    EXPECT_EQ(around(stacks, 784, 1025), "");
}

TEST(DeepStacks, WhileAnImageIsReadItMayHaveOneOrTheOther)
{
    DeepBuilder builder;
    builder.image(10, 20, {{800, 7}, {792, 7}}, DeepStackRecord::Whole);
    builder.image(30, 40, {{792, 8}});
    builder.image(50, 60, {{792, 7}});
    const DeepStacks stacks(builder.bytes(), 0);
    EXPECT_EQ(around(stacks, 800, 35), "7[0-2]");
    EXPECT_EQ(around(stacks, 792, 35), "7[0-0]8[1-1]7[2-2]");
}

TEST(DeepStacks, AWholeImageHasNothingOfTheOneBefore)
{
    DeepBuilder builder;
    builder.image(10, 20, {{800, 7}, {792, 5}}, DeepStackRecord::Whole);
    builder.image(30, 40, {{800, 7}}, DeepStackRecord::Whole);
    builder.image(50, 60, {});
    const DeepStacks stacks(builder.bytes(), 0);
    EXPECT_EQ(around(stacks, 800, 25), "7[0-0]7[1-2]");
    EXPECT_EQ(around(stacks, 792, 25), "");
    EXPECT_EQ(around(stacks, 792, 45), "");
    EXPECT_EQ(stacks.runs(800).size(), 2U);
}

TEST(DeepStacks, AnImageMayHaveSeveralRecords)
{
    DeepBuilder builder;
    builder.image(10, 20, {{800, 7}}, DeepStackRecord::Whole | DeepStackRecord::More);
    builder.image(10, 20, {{792, 5}}, DeepStackRecord::More);
    builder.image(10, 20, {{784, 3}});
    builder.image(30, 40, {{784, 4}});
    const DeepStacks stacks(builder.bytes(), 0);
    EXPECT_EQ(stacks.images(), 2U);
    EXPECT_EQ(around(stacks, 792, 25), "5[0-1]");
    EXPECT_EQ(around(stacks, 784, 25), "3[0-0]4[1-1]");
}

TEST(DeepStacks, AnImageWithoutAnEndIsNone)
{
    DeepBuilder builder;
    builder.image(10, 20, {{800, 7}, {792, 5}}, DeepStackRecord::Whole);
    builder.image(30, 40, {});
    builder.image(50, 60, {{792, 6}, {784, 6}}, DeepStackRecord::More);
    const DeepStacks stacks(builder.bytes(), 0);
    EXPECT_EQ(stacks.images(), 2U);
    EXPECT_EQ(around(stacks, 800, 25), "7[0-1]");
    EXPECT_EQ(around(stacks, 800, 45), "");
    EXPECT_THAT(stacks.runs(784), IsEmpty());
    EXPECT_EQ(around(stacks, 792, 25), "5[0-1]");
}

TEST(DeepStacks, AfterAnImageThatCouldNotBeWrittenComesAWholeOne)
{
    DeepBuilder builder;
    builder.image(10, 20, {{800, 7}}, DeepStackRecord::Whole);
    builder.image(30, 40, {{800, 8}, {792, 8}}, DeepStackRecord::More);
    builder.image(50, 60, {{800, 9}}, DeepStackRecord::Whole);
    builder.image(70, 80, {});
    const DeepStacks stacks(builder.bytes(), 0);
    EXPECT_EQ(stacks.images(), 3U);
    EXPECT_EQ(around(stacks, 800, 45), "7[0-0]9[1-2]");
    EXPECT_THAT(stacks.runs(792), IsEmpty());
    EXPECT_EQ(around(stacks, 800, 65), "9[1-2]");
}

TEST(DeepStacks, EndWhereARecordMakesNoSense)
{
    const auto images = [](std::uint64_t since, std::uint64_t until, unsigned part,
                           const std::vector<std::byte>& more) {
        DeepBuilder builder;
        builder.image(10, 20, {{800, 7}}, DeepStackRecord::Whole);
        builder.image(since, until, {{800, 8}}, part);
        builder.image(100, 110, {});
        std::vector<std::byte> bytes = builder.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
        return DeepStacks(bytes, 0).images();
    };
    EXPECT_EQ(images(30, 40, 0, {}), 3U);
    EXPECT_EQ(images(15, 40, 0, {}), 1U) << "begins before the last one was ready";
    EXPECT_EQ(images(40, 30, 0, {}), 1U);
    EXPECT_EQ(images(30, 40, 0x80, {}), 1U) << "whatever that may be";
    EXPECT_EQ(images(30, 40, DeepStackRecord::More, {}), 1U) << "the next record is of another one";
    EXPECT_EQ(images(30, 40, 0, std::vector<std::byte>(5)), 3U);
    DeepBuilder without_beginning;
    without_beginning.image(10, 20, {{800, 7}});
    EXPECT_EQ(DeepStacks(without_beginning.bytes(), 0).images(), 0U);
    DeepBuilder odd;
    odd.record(DeepStackRecord::number, {10, 20, 800}, DeepStackRecord::Whole);
    EXPECT_EQ(DeepStacks(odd.bytes(), 0).images(), 0U);
    DeepBuilder shorter;
    shorter.record(DeepStackRecord::number, {10}, DeepStackRecord::Whole);
    EXPECT_EQ(DeepStacks(shorter.bytes(), 0).images(), 0U);
}

TEST(DeepStacks, OtherRecordsAreLeftToOthers)
{
    DeepBuilder builder;
    builder.record(PERF_RECORD_LOST, {1, 2});
    builder.image(10, 20, {{800, 7}}, DeepStackRecord::Whole);
    builder.record(spool::RunDelayRecord::number, {1, 2, 3});
    builder.image(30, 40, {});
    EXPECT_EQ(around(DeepStacks(builder.bytes(), 0), 800, 25), "7[0-1]");
}

TEST(DeepStacks, WhateverTheRecordsHold)
{
    std::mt19937_64 random(5);  // NOLINT: the same each time
    for (int i = 0; i < 2000; ++i) {
        DeepBuilder builder;
        std::uint64_t time = 0;
        for (std::uint64_t records = random() % 12; records > 0; --records) {
            std::vector<std::pair<std::uint64_t, std::uint64_t>> changes(random() % 4);
            for (auto& [address, word] : changes) {
                address = 800 + 8 * (random() % 3);
                word = random() % 3;
            }
            const std::uint64_t since = random() % 8 == 0 ? time : time + random() % 5;
            time = since + random() % 3;
            const bool is_odd = random() % 16 == 0;
            builder.image(since, is_odd ? since - 1 : time, changes,
                          static_cast<unsigned>(random() % 4 == 0 ? random() % 5 : 0));
        }
        std::vector<std::byte> bytes = builder.bytes();
        if (!bytes.empty() && random() % 4 == 0) {
            bytes[random() % bytes.size()] = std::byte(random() % 256);
        }
        const DeepStacks stacks(bytes, 0);
        for (std::uint64_t address = 800; address < 824; address += 8) {
            std::size_t end = 0;
            for (const DeepStacks::Run& run : stacks.runs(address)) {
                ASSERT_GE(run.first, end) << i;
                ASSERT_GE(run.last, run.first) << i;
                end = run.last + std::size_t{1};
            }
            ASSERT_LE(end, stacks.images()) << i;
            for (std::uint64_t at = 0; at < time + 2; ++at) {
                const auto runs = stacks.runs_around(address, at);
                for (std::size_t j = 1; j < runs.size(); ++j) {
                    ASSERT_EQ(runs[j].first, runs[j - 1].last + 1) << i;
                }
            }
        }
    }
}

// The caller in question is 1, another one 2; 3 calls what nobody knows, and 0 nobody. The sample is in the middle of
// run `at`.
bool is_certain(const std::vector<DeepStacks::Run>& runs, std::size_t at)
{
    const CallerEvidence evidence(runs, [](std::uint64_t word) {
        static constexpr Seen seen[] = {Seen::Nobody, Seen::This, Seen::Other, Seen::Perhaps};
        return seen[word];
    });
    return evidence.is_certain(std::span(runs).subspan(at, 1));
}

TEST(DeepCaller, IsWhoIsSeenAgainAndAgain)
{
    EXPECT_TRUE(is_certain({{0, 15, 1}}, 0));
    EXPECT_FALSE(is_certain({{0, 14, 1}}, 0)) << "there may be another one";
    EXPECT_TRUE(is_certain({{0, 7, 1}, {11, 18, 1}}, 0)) << "the frame was not there for a while";
    EXPECT_TRUE(is_certain({{0, 7, 1}, {8, 10, 0}, {11, 18, 1}}, 2)) << "or something else stood there";
    EXPECT_FALSE(CallerEvidence().is_certain({}));
}

TEST(DeepCaller, MayChangeIfItsTimesAreLong)
{
    EXPECT_TRUE(is_certain({{0, 15, 1}, {16, 23, 2}}, 0));
    EXPECT_TRUE(is_certain({{0, 9, 1}, {10, 19, 2}, {20, 29, 1}}, 2));
    // Who is seen for a moment is there at other moments, too.
    EXPECT_FALSE(is_certain({{0, 19, 1}, {20, 20, 2}, {21, 40, 1}}, 0));
    EXPECT_TRUE(is_certain({{0, 49, 1}, {50, 50, 2}, {51, 110, 1}}, 0)) << "for less than a hundredth of the time";
    // So is the caller itself.
    EXPECT_FALSE(is_certain({{0, 19, 1}, {20, 29, 2}, {30, 31, 1}, {32, 41, 2}}, 2));
}

TEST(DeepCaller, IsNotWhoTakesTurns)
{
    std::vector<DeepStacks::Run> runs;
    for (std::uint32_t i = 0; i < 100; ++i) {
        runs.push_back({2 * i, 2 * i + 1, 1 + i % 2});
    }
    for (std::size_t i = 0; i < runs.size(); i += 2) {
        EXPECT_FALSE(is_certain(runs, i));
    }
}

TEST(DeepCaller, WordsThatMayBeAnythingWeighLess)
{
    EXPECT_TRUE(is_certain({{0, 15, 1}, {16, 16, 3}}, 0));
    EXPECT_FALSE(is_certain({{0, 15, 1}, {16, 17, 3}}, 0));
    EXPECT_FALSE(is_certain({{0, 15, 1}, {16, 16, 2}}, 0));
}

}  // namespace
}  // namespace critpath::archive
