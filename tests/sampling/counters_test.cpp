// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How precise samples of hardware events are, and what is counted beside them, on processors that can more or less.
#include "tests/sampling/played.hpp"

namespace critpath::test
{
namespace
{

/// Names of the events that are counted beside the sampled one.
std::vector<std::string> counted(const spool::SampleFormat& format)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < spool::max_events && format.events[i][0] != '\0'; ++i) {
        if ((format.counted_events >> i & 1) != 0) {
            names.emplace_back(format.events[i]);
        }
    }
    return names;
}

class CountersTest : public Sampling
{
protected:
    void expect(std::uint32_t precise_ip, const std::vector<std::string>& beside)
    {
        const File& file = files["7.0.samples"];
        EXPECT_STREQ(file.header.samples.event, "cycles");
        EXPECT_EQ(file.header.samples.precise_ip, precise_ip);
        EXPECT_EQ(counted(file.header.samples), beside);
        EXPECT_GT(file.samples.size(), 10U);
    }
};

const std::vector<std::string> all = {"page-faults", "instructions", "cache-misses"};

TEST_F(CountersTest, AreAskedForTheVeryInstruction)
{
    PLAY_OR_SKIP("counters_precise");
    expect(2, all);
}

TEST_F(CountersTest, AreAsPreciseAsTheProcessorCan)
{
    PLAY_OR_SKIP("counters_nearly_precise");
    expect(1, all);
}

TEST_F(CountersTest, MayNotBePrecise)
{
    PLAY_OR_SKIP("counters_not_precise");
    expect(0, all);
}

// The callers would be those of a later instruction.
TEST_F(CountersTest, AreNotPreciseWhereCallersAreSought)
{
    PLAY_OR_SKIP("counters_with_callers");
    expect(0, all);
}

// What a sample has counted is worth more than the very instruction.
TEST_F(CountersTest, AreNotPreciseWhereNothingCouldBeCountedBeside)
{
    PLAY_OR_SKIP("counters_not_beside_precise");
    expect(0, all);
}

TEST_F(CountersTest, ArePreciseWhereNothingIsLostByIt)
{
    PLAY_OR_SKIP("counters_alone");
    expect(2, {"page-faults"});
}

}  // namespace
}  // namespace critpath::test
