// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of a row of MPI: they sum to it, whatever was found in it.
#include "analysis/report/inside.hpp"
#include "analysis/report/statistics.hpp"
#include "tests/report/stretches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::report
{
namespace
{

using division::InsideTime;
using division::Side;

using tests::ms;

/// A run of one rank, 10 s long, with a sample each 10 ms; its functions are a, b, c ...
model::Profile sampled_run()
{
    model::Profile p;
    p.facts["path_ns"] = 10'000 * ms;
    p.processes.push_back({});
    p.processes.back().sampled_ns = 10'000 * ms;
    p.processes.back().samples = 1000;
    for (char name = 'a'; name <= 'f'; ++name)
        p.rows.push_back({model::RowKind::Sampled, std::string(1, name), "/lib/libc.so", "", 0});
    return p;
}

InsideTime time(Side side, std::uint32_t function, std::int64_t ns, std::uint64_t samples)
{
    return {{side != Side::Call, {}, {0}, {0}, {0}}, side, {function}, ns, samples};
}

/// "from: a 20 | [in flight] 80", in ms.
std::string words(const std::vector<InsidePart>& parts)
{
    std::vector<std::string> words;
    for (const InsidePart& part : parts)
        words.push_back(fmt::format("{}{}{} {}", part.side, *part.side != 0 ? ": " : "", part.item.name,
                                    static_cast<double>(part.item.path_ns) / ms));
    return fmt::format("{}", fmt::join(words, " | "));
}

constexpr std::uint32_t spinning = model::RowId::none().value;

TEST(InsideParts, SumToTheRow)
{
    const model::Profile p = sampled_run();
    EXPECT_EQ(words(parts_of(p, {time(Side::From, 0, 300 * ms, 30), time(Side::To, 0, 200 * ms, 20)}, 1000 * ms, true)),
              "[in flight] 500 | from: a 300 | to: a 200");
    EXPECT_EQ(words(parts_of(p, {time(Side::Call, 1, 300 * ms, 30), time(Side::Call, spinning, 600 * ms, 60)},
                             1000 * ms, false)),
              "[spinning] 600 | b 300 | [blocked, not sampled] 100");
    EXPECT_EQ(words(parts_of(p, {}, 1000 * ms, true)), "[in flight] 1000");
    EXPECT_TRUE(parts_of(p, {}, 0, true).empty());
}

TEST(InsideParts, ThatExceedTheRowAreScaledToIt)
{
    const model::Profile p = sampled_run();
    EXPECT_EQ(
        words(parts_of(p, {time(Side::Call, 0, 900 * ms, 90), time(Side::Call, 1, 300 * ms, 30)}, 1000 * ms, false)),
        "a 750 | b 250");
    EXPECT_EQ(words(parts_of(p, {time(Side::Call, 0, 10 * ms, 1)}, ms / 1000, false)), "a 0.001");
}

TEST(InsideParts, OfSeveralCallPathsAreOne)
{
    EXPECT_EQ(words(parts_of(sampled_run(), {time(Side::Call, 0, 500 * ms, 50), time(Side::Call, 0, 500 * ms, 50)},
                             1000 * ms, false)),
              "a 1000");
}

TEST(InsideParts, HaveTheIntervalOfAShare)
{
    const auto parts = parts_of(sampled_run(), {time(Side::To, 0, 600 * ms, 60)}, 1000 * ms, true);
    ASSERT_EQ(words(parts), "to: a 600 | [in flight] 400");
    EXPECT_DOUBLE_EQ(parts[0].item.share.value, 0.06);
    // 100 periods in the row, whether it was sampled in all of them or not; the row is a tenth of the path.
    const Interval of_row = score_interval(0.6, 100);
    EXPECT_DOUBLE_EQ(parts[0].item.share.low, 0.1 * of_row.low);
    EXPECT_DOUBLE_EQ(parts[0].item.share.high, 0.1 * of_row.high);
    EXPECT_DOUBLE_EQ(parts[1].item.share.high, 0.1 * (1 - of_row.low));
}

TEST(InsideParts, ThatCouldBeNothingArePutTogether)
{
    std::vector<InsideTime> times{time(Side::Call, 0, 900 * ms, 90)};
    for (std::uint32_t function = 1; function <= 3; ++function)
        times.push_back(time(Side::Call, function, 20 * ms, 2));
    EXPECT_EQ(words(parts_of(sampled_run(), times, 1000 * ms, false)),
              "a 900 | [others] 60 | [blocked, not sampled] 40");
    times.resize(2);  // one keeps its name
    EXPECT_EQ(words(parts_of(sampled_run(), times, 1000 * ms, false)), "a 900 | [blocked, not sampled] 80 | b 20");
}

}  // namespace
}  // namespace critpath::report
