// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/sample_reader.hpp"
#include "tests/archive/spool_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::archive
{
namespace
{

using test::SamplesBuilder;
using testing::ElementsAre;

constexpr std::uint64_t user = SamplesBuilder::user;
constexpr std::uint64_t kernel = SamplesBuilder::kernel;

std::vector<std::uint64_t> chain_of(const std::vector<std::uint64_t>& raw, std::uint64_t ip)
{
    SamplesBuilder builder;
    builder.sample(7, 9, raw, ip);
    SampleReader reader(builder.bytes());
    const auto sample = reader.next();
    EXPECT_TRUE(sample.has_value());
    EXPECT_EQ(sample->time, 7U);
    EXPECT_EQ(sample->period, 9U);
    EXPECT_FALSE(reader.next().has_value());
    return {sample->chain.begin(), sample->chain.end()};
}

TEST(SampleReader, KeepsTheUserPartOfTheChain)
{
    EXPECT_THAT(chain_of({user, 1, 2, 3}, 1), ElementsAre(1, 2, 3));
    EXPECT_THAT(chain_of({kernel, ~0xfffffULL, user, 1, 2}, ~0xfffffULL), ElementsAre(1, 2));
    EXPECT_THAT(chain_of({user, 1, 2, kernel, 5}, 1), ElementsAre(1, 2));
}

TEST(SampleReader, TakesTheInstructionWhereThereIsNoChain)
{
    EXPECT_THAT(chain_of({}, 0x1234), ElementsAre(0x1234));
    EXPECT_THAT(chain_of({kernel, ~0xfffffULL}, ~0xfffffULL), ElementsAre());
}

TEST(SampleReader, SkipsOtherRecordsAndCountsWhatWasLost)
{
    SamplesBuilder builder;
    builder.lost(5);
    builder.record(PERF_RECORD_THROTTLE, {1, 2, 3});
    builder.sample(1, 1, {user, 1});
    builder.record(PERF_RECORD_LOST_SAMPLES, {2});
    builder.sample(2, 1, {user, 1});
    SampleReader reader(builder.bytes());
    EXPECT_EQ(reader.next()->time, 1U);
    EXPECT_EQ(reader.next()->time, 2U);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_EQ(reader.lost(), 7U);
}

TEST(SampleReader, StopsAtZerosAndAtDamage)
{
    SamplesBuilder builder;
    builder.sample(1, 1, {user, 1});
    const std::size_t good = builder.bytes().size();
    const char zeros[64] = {};
    builder.add(zeros, sizeof zeros);
    builder.sample(2, 1, {user, 1});
    SampleReader reader(builder.bytes());
    EXPECT_TRUE(reader.next().has_value());
    EXPECT_FALSE(reader.next().has_value());

    // Every shorter piece of a file with one sample has no sample, and is not read beyond its end.
    for (std::size_t size = 0; size < good; ++size) {
        const std::vector<std::byte> piece(builder.bytes().begin(), builder.bytes().begin() + size);
        EXPECT_FALSE(SampleReader(piece).next().has_value()) << size;
    }
}

TEST(SampleReader, AChainLongerThanItsRecordIsLost)
{
    SamplesBuilder builder;
    builder.record(PERF_RECORD_SAMPLE, {0, 0, 1, 1, 1'000'000, user, 1});
    builder.record(PERF_RECORD_SAMPLE, {0, 0});
    builder.sample(3, 1, {user, 1});
    SampleReader reader(builder.bytes());
    EXPECT_EQ(reader.next()->time, 3U);
    EXPECT_EQ(reader.lost(), 2U);
}

}  // namespace
}  // namespace critpath::archive
