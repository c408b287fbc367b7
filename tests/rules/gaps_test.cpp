// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What gaps say of themselves must not depend on what they were asked before.
#include "analysis/model/trace.hpp"
#include "replayer/peers/gaps.hpp"
#include "replayer/peers/same_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

namespace critpath::tests
{

namespace
{

using model::Ns;

class Random
{
public:
    explicit Random(std::uint32_t seed) : random_(seed) {}

    /// In [low, high].
    std::int64_t operator()(std::int64_t low, std::int64_t high)
    {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }

private:
    std::mt19937 random_;
};

/// Calls, and what disturbs them: each begins and ends anywhere.
model::LocationTrace disturbed(Random& random)
{
    constexpr std::int64_t end = 20'000;
    model::LocationTrace trace;
    trace.end = Ns{end};
    for (std::int64_t time = random(0, 90); time < end - 200; time += random(0, 90)) {
        const std::int64_t leave = time + random(0, 60);
        trace.calls.add(Ns{time}, Ns{leave}, {0});
        time = leave;
    }
    const auto for_each_interval = [&](std::int64_t apart, auto add) {
        for (std::int64_t time = random(0, apart); time < end - 200;) {
            const std::int64_t until = time + random(0, 100);
            add(Ns{time}, Ns{until});
            time = until + random(0, apart);
        }
    };
    for_each_interval(400, [&](Ns begin, Ns until) {
        trace.off.push_back({begin, until, random(0, 1) == 0, false, model::WaitsFor::Unknown, random(0, 1) == 0});
    });
    for_each_interval(900, [&](Ns begin, Ns until) { trace.tool.push_back({begin, until}); });
    for_each_interval(3000, [&](Ns begin, Ns until) { trace.unrecorded.push_back({begin, until}); });
    for (std::int64_t time = random(0, 500); time < end; time += random(0, 500))
        trace.samples.push_back(
            {Ns{time}, {0}, static_cast<std::uint32_t>(std::max<std::int64_t>(random(-6, 9), 0)), 10, 0});
    return trace;
}

/// How long intervals last within others: counted once, nanosecond by nanosecond, since thousands of questions follow.
class Covered
{
public:
    Covered(const model::LocationTrace& trace) : before_(static_cast<std::size_t>(trace.end.count()) + 1) {}

    template <class Interval>
    void add(const Interval& interval)
    {
        for (auto time = interval.begin.count(); time < interval.end.count(); ++time)
            ++before_.at(static_cast<std::size_t>(time) + 1);
    }

    void sum() { std::partial_sum(before_.begin(), before_.end(), before_.begin()); }

    std::int64_t within(Ns begin, Ns end) const
    {
        return before_.at(static_cast<std::size_t>(end.count())) - before_.at(static_cast<std::size_t>(begin.count()));
    }

private:
    std::vector<std::int64_t> before_;
};

}  // namespace

TEST(Gaps, SayTheSameInAnyOrder)
{
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const model::LocationTrace trace = disturbed(random);
        Covered preempted(trace), blocked(trace), left_out(trace);
        for (const model::OffProcessor& off : trace.off)
            (off.preempted ? preempted : blocked).add(off);
        for (const auto& interval : trace.tool)
            left_out.add(interval);
        for (const auto& interval : trace.unrecorded)
            left_out.add(interval);
        for (Covered* covered : {&preempted, &blocked, &left_out})
            covered->sum();
        const replayer::SameCalls same;
        replayer::Gaps gaps(trace, same);
        // What each gap is found to be by who was asked nothing before. That takes a look at all calls: once a gap.
        std::vector<std::optional<replayer::Gap>> alone(gaps.end());
        std::size_t gap = 0;
        for (int question = 0; question < 2000; ++question) {
            // Mostly the next one, as passes have it.
            gap = random(0, 9) > 0 ? (gap + 1) % gaps.end()
                                   : static_cast<std::size_t>(random(0, static_cast<std::int64_t>(gaps.end()) - 1));
            const Ns begin = gaps.begin_of(gap), end = gaps.end_of(gap);
            const std::int64_t length = (end - begin).count();
            if (random(0, 2) == 0) {
                const Ns from = begin + Ns{random(0, length)}, until = from + Ns{random(0, (end - from).count())};
                const std::int64_t part = (until - from).count();
                const std::int64_t off = preempted.within(from, until) + blocked.within(from, until);
                const std::int64_t missing = left_out.within(from, until);
                EXPECT_EQ(gaps.recorded(from, until), std::max<std::int64_t>(part - missing, 0));
                EXPECT_EQ(gaps.on_processor(from, until), part - off);
                EXPECT_TRUE(off + missing == 0 || !gaps.is_quiet(from, until));
                continue;
            }
            const replayer::Gap found = gaps.measure(gap);
            if (!alone[gap])
                alone[gap] = replayer::Gaps(trace, same).measure(gap);
            const replayer::Gap& expected = *alone[gap];
            EXPECT_EQ(found.ns, std::max<std::int64_t>(length - left_out.within(begin, end), 0));
            EXPECT_EQ(found.preempted, preempted.within(begin, end));
            EXPECT_EQ(found.blocked, blocked.within(begin, end));
            EXPECT_EQ(found.migrations, expected.migrations);
            EXPECT_EQ(found.page_faults, expected.page_faults);
        }
    }
}

}  // namespace critpath::tests
