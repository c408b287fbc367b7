// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gaps that are measured together, many of them by sums that were made before.
#include "analysis/model/trace.hpp"
#include "formats/functions/functions.hpp"
#include "replayer/peers/gaps.hpp"
#include "replayer/peers/same_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <tuple>
#include <utility>

namespace critpath::tests
{

namespace
{

using functions::FunctionId;

/// Contexts 0 and 1: a poll, and a call that waits.
model::Definitions poll_and_barrier()
{
    model::Definitions definitions;
    for (const FunctionId function : {FunctionId::MPI_Test, FunctionId::MPI_Barrier}) {
        const auto region = static_cast<std::uint32_t>(definitions.regions.size());
        definitions.regions.push_back({});
        definitions.regions.back().function = function;
        definitions.contexts.push_back({{region}, model::ContextId::none(), 0});
    }
    return definitions;
}

/// Gaps of 100 ns to 10 us, some of which lack a processor; and of all but the last 100, what they counted.
model::LocationTrace many_gaps(std::size_t gaps)
{
    std::mt19937 random(20261130);
    const auto draw = [&](std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    model::LocationTrace trace;
    std::int64_t time = 0;
    for (std::size_t i = 0; i < gaps; ++i) {
        const std::int64_t length = draw(100, 10'000);
        if (const std::int64_t off = draw(0, length / 2); draw(0, 3) == 0 && off > 0)
            trace.off.push_back({model::Ns{time + 1}, model::Ns{time + 1 + off}, draw(0, 1) == 0, false,
                                 model::WaitsFor::Unknown, draw(0, 1) == 0});
        if (i + 100 < gaps)
            trace.counted.push_back({draw(0, 1000), draw(0, 1000)});
        time += length;
        trace.calls.add(model::Ns{time}, model::Ns{time + 50}, {draw(0, 9) == 0 ? 1U : 0U});
        time += 50;
    }
    trace.end = model::Ns{time};
    return trace;
}

void expect_equal(const replayer::Gap& found, const replayer::Gap& expected)
{
    EXPECT_EQ(found.ns, expected.ns);
    EXPECT_EQ(found.preempted, expected.preempted);
    EXPECT_EQ(found.blocked, expected.blocked);
    EXPECT_EQ(found.migrations, expected.migrations);
    EXPECT_EQ(found.counted.instructions, expected.counted.instructions);
    EXPECT_EQ(found.counted.cycles, expected.counted.cycles);
}

}  // namespace

TEST(Spans, TakeWhatTheirGapsTake)
{
    constexpr std::size_t all = 3 * 64 * 64 + 77;
    const model::LocationTrace trace = many_gaps(all);
    const model::Definitions definitions = poll_and_barrier();
    const replayer::BetweenPolls is_between_polls(definitions);
    const replayer::SameCalls same;
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
        std::size_t first = random() % all, end = random() % all;
        if (round % 3 == 0)  // from one border of what may be summed to another
            std::tie(first, end) = std::pair(first / 64 * 64, (end + 63) / 64 * 64);
        if (round == 1)
            std::tie(first, end) = std::pair(std::size_t{0}, all);
        if (first > end)
            std::swap(first, end);
        end = std::clamp(end, first + 1, all);
        SCOPED_TRACE(testing::Message() << "gaps " << first << " to " << end);
        replayer::Gaps one_by_one(trace, same), together(trace, same);
        replayer::Gap sum = one_by_one.measure(first);
        for (std::size_t i = first + 1; i < end; ++i) {
            replayer::Gap gap = one_by_one.measure(i);
            if (is_between_polls(one_by_one.place(i)))
                gap.ns -= std::exchange(gap.blocked, 0);
            sum.add(gap);
        }
        for (int twice = 0; twice < 2; ++twice)
            expect_equal(together.measure_span(first, end, is_between_polls), sum);
    }
}

}  // namespace critpath::tests
