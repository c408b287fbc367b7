// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The arithmetic of a comparison with peers: factors, rates of samples and variances, against the formulas.
#include "replayer/peers/gaps.hpp"
#include "replayer/peers/pace.hpp"
#include "replayer/peers/split.hpp"
#include "replayer/peers/spread.hpp"
#include "replayer/peers/variance.hpp"
#include "tests/builder/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace critpath::tests
{
namespace
{

using replayer::CountedTime;
using replayer::Gap;
using replayer::PeerSums;
using replayer::Split;

std::int64_t sum_of_split(const Split& s)
{
    return s.instructions + s.cycles + s.frequency + s.instruction_time + s.all_cycles + s.processor + s.preempted +
           s.blocked;
}

/// Compared with two that are equal.
Split split_from(const Gap& own, const Gap& peer)
{
    PeerSums others;
    others.add(peer, own.ns);
    others.add(peer, own.ns);
    return split(own, others, own.ns);
}

/// Of times of any size, up to those of years, which damaged traces have.
TEST(Spread, IsThatOfASumOfAsManyTimes)
{
    for (int bits = 4; bits < 60; ++bits) {
        const std::int64_t ns = std::int64_t{1} << bits;
        replayer::Spread spread;
        replayer::Spread more;
        spread.add({.processor = ns, .preempted = 3 * ns / 4, .blocked = 1}, 1);
        more.add({.processor = -ns, .preempted = ns / 4, .blocked = 1}, 1);
        spread.add(more);
        model::Difference difference;
        spread.write_to(difference);
        // Of two that differ by d, the variance is d^2 / 2, and that of their sum twice as much.
        const auto of_two = [](std::int64_t d) { return 1.96 * static_cast<double>(d); };
        const double rounding = of_two(ns) * 1e-15 + 0.5;
        EXPECT_NEAR(static_cast<double>(difference.work_spread_ns), of_two(2 * ns), rounding) << bits;
        EXPECT_NEAR(static_cast<double>(difference.preempted_spread_ns), of_two(ns / 2), rounding) << bits;
        EXPECT_EQ(difference.blocked_spread_ns, 0) << bits;
    }
}

TEST(Split, TheLogarithmIsExact)
{
    std::mt19937_64 random(23);
    for (int round = 0; round < 100'000; ++round) {
        const auto x = static_cast<std::int64_t>(random() >> (random() % 63 + 1));
        const std::int64_t expected = x <= 1 ? 0 : std::llround(std::log(static_cast<double>(x)) * replayer::fixed_one);
        ASSERT_NEAR(static_cast<double>(replayer::fixed_log(x)), static_cast<double>(expected), 1) << x;
    }
}

TEST(Split, FollowsTheLogarithmsAndLeavesNoRest)
{
    // t = I * CPI / f * (t / t_on): 1.5 times the instructions, 1.2 times the cycles for each, 0.9 of the frequency,
    // and a fifth of the time preempted.
    const Gap peer{1'000'000, 0, 0, 0, {1'000'000, 2'000'000}};
    const double on = 1'000'000 * 1.5 * 1.2 / 0.9;
    const Gap own{std::llround(on / 0.8), std::llround(on / 0.8 - on), 0, 0, {1'500'000, 3'600'000}};
    PeerSums others;
    others.add(peer, own.ns);
    others.add(peer, own.ns);
    const Split s = split(own, others, own.ns);
    const double excess = static_cast<double>(own.ns - peer.ns);
    const double mean = excess / std::log(static_cast<double>(own.ns) / 1e6);
    EXPECT_TRUE(s.has_instructions && s.has_cycles);
    EXPECT_NEAR(static_cast<double>(s.peers), 1e6, 1);
    EXPECT_NEAR(static_cast<double>(s.instructions), mean * std::log(1.5), 3);
    EXPECT_NEAR(static_cast<double>(s.cycles), mean * std::log(1.2), 3);
    EXPECT_NEAR(static_cast<double>(s.frequency), mean * -std::log(0.9), 3);
    EXPECT_NEAR(static_cast<double>(s.preempted), mean * -std::log(0.8), 3);
    EXPECT_EQ(s.blocked, 0);
    EXPECT_EQ(s.peers + s.instructions + s.cycles + s.frequency + s.preempted, own.ns);
    // Of what is on the path in part, that part.
    const Split half = split(own, others, own.ns / 2);
    EXPECT_NEAR(static_cast<double>(half.cycles), static_cast<double>(s.cycles) / 2, 2);
    EXPECT_EQ(half.peers + half.instructions + half.cycles + half.frequency + half.preempted, own.ns / 2);
}

TEST(Split, ToldApartAsFarAsItIsCounted)
{
    constexpr std::int64_t unknown = model::Counted::unknown;
    const auto gap = [](std::int64_t ns, std::int64_t instructions, std::int64_t cycles) {
        return Gap{ns, 0, 0, 0, {instructions, cycles}};
    };
    // Three times the time: 1.5 times the instructions, 1.6 times the cycles for each, 0.8 of the frequency.
    constexpr std::int64_t ns = 3'000'000, peers = 1'000'000;
    const double mean = static_cast<double>(ns - peers) / std::log(3.0);
    const Gap peer = gap(peers, 1'000'000, 2'000'000);

    const Split instructions = split_from(gap(ns, 1'500'000, unknown), peer);
    EXPECT_TRUE(instructions.has_instructions && !instructions.has_cycles);
    EXPECT_NEAR(static_cast<double>(instructions.instructions), mean * std::log(1.5), 2);
    EXPECT_NEAR(static_cast<double>(instructions.instruction_time), mean * std::log(1.6 / 0.8), 2);
    EXPECT_EQ(instructions.instructions + instructions.instruction_time, ns - peers);

    const Split cycles = split_from(gap(ns, unknown, 4'800'000), peer);
    EXPECT_TRUE(!cycles.has_instructions && cycles.has_cycles);
    EXPECT_NEAR(static_cast<double>(cycles.all_cycles), mean * std::log(1.5 * 1.6), 2);
    EXPECT_NEAR(static_cast<double>(cycles.frequency), mean * -std::log(0.8), 2);
    EXPECT_EQ(cycles.all_cycles + cycles.frequency, ns - peers);

    const Split nothing = split_from(gap(ns, unknown, unknown), peer);
    EXPECT_EQ(nothing.processor, ns - peers);
    const Split one_each = split_from(gap(ns, 1'500'000, unknown), gap(peers, unknown, 2'000'000));
    EXPECT_EQ(one_each.processor, ns - peers);
    EXPECT_FALSE(one_each.has_instructions || one_each.has_cycles);
}

TEST(Split, WhoIsBlockedAsLongLeavesTheDifferenceToPreempted)
{
    constexpr std::int64_t ms = 1'000'000;
    const Gap peer{150 * ms, 0, 50 * ms, 0, {}};
    const Gap own{250 * ms, 100 * ms, 50 * ms, 0, {}};
    const Split s = split_from(own, peer);
    EXPECT_NEAR(static_cast<double>(s.preempted), 100 * ms, 1000);
    EXPECT_NEAR(static_cast<double>(s.blocked), 0, 1000);
    EXPECT_NEAR(static_cast<double>(s.processor), 0, 1000);
    const Split back = split_from(peer, own);
    EXPECT_NEAR(static_cast<double>(back.preempted), -100 * ms, 1000);
    EXPECT_NEAR(static_cast<double>(back.blocked), 0, 1000);
}

TEST(Split, BlockedIsTimeByItselfAndPreemptedIsAFactorOfTheRest)
{
    constexpr std::int64_t ms = 1'000'000;
    const Gap peer{100 * ms + 20 * ms + 40 * ms, 20 * ms, 40 * ms, 0, {}};
    const Gap own{200 * ms + 160 * ms + 20 * ms, 160 * ms, 20 * ms, 0, {}};
    const Split s = split_from(own, peer);
    const double mean = 240 * ms / std::log(360.0 / 120);
    EXPECT_NEAR(static_cast<double>(s.processor), mean * std::log(2.0), 10);
    EXPECT_NEAR(static_cast<double>(s.preempted), mean * std::log(1.8 / 1.2), 10);
    EXPECT_NEAR(static_cast<double>(s.blocked), -20 * ms, 10);
    EXPECT_EQ(sum_of_split(s), own.ns - peer.ns);
    const Split other = split_from({150 * ms, 50 * ms, 0, 0, {}}, {150 * ms, 0, 50 * ms, 0, {}});
    EXPECT_NEAR(static_cast<double>(other.preempted), 50 * ms, 10);
    EXPECT_EQ(other.preempted, -other.blocked);
}

// Twice the work is preempted for twice as long where two share a processor: all of that is the work. But to be blocked
// for longer is time of its own, however little else there is.
TEST(Split, MoreWorkIsPreemptedForLongerButNotBlocked)
{
    constexpr std::int64_t ms = 1'000'000;
    const Split shared = split_from({400 * ms, 200 * ms, 0, 0, {}}, {200 * ms, 100 * ms, 0, 0, {}});
    EXPECT_NEAR(static_cast<double>(shared.processor), 200 * ms, 1000);
    EXPECT_NEAR(static_cast<double>(shared.preempted), 0, 1000);
    const Split naps = split_from({20 * ms, 0, 19 * ms, 0, {}}, {ms / 10, 0, 0, 0, {}});
    EXPECT_NEAR(static_cast<double>(naps.processor), ms - ms / 10, 1000);
    EXPECT_NEAR(static_cast<double>(naps.blocked), 19 * ms, 1000);
}

TEST(Split, IsFiniteAndExactWhateverTheGaps)
{
    std::mt19937_64 random(11);
    const auto draw = [&](std::int64_t most) {
        const auto limit = static_cast<std::uint64_t>(most) >> (random() % 40);
        return static_cast<std::int64_t>(random() % (limit + 1));
    };
    for (int round = 0; round < 2000; ++round) {
        const auto gap = [&] {
            Gap g;
            g.ns = draw(100'000'000'000);
            g.preempted = random() % 3 == 0 ? draw(g.ns) : 0;
            g.blocked = random() % 3 == 0 ? g.ns - g.preempted : 0;  // no time on the processor
            if (random() % 4 != 0)
                g.counted.instructions = draw(1'000'000'000'000);
            if (random() % 4 != 0)
                g.counted.cycles = draw(1'000'000'000'000);
            return g;
        };
        const Gap own = gap();
        PeerSums others;
        for (std::uint64_t n = random() % 4 + 1; n > 0; --n)
            others.add(gap(), own.ns);
        const std::int64_t path_ns = draw(own.ns);
        const Split s = split(own, others, path_ns);
        EXPECT_EQ(s.peers + sum_of_split(s), path_ns);
        EXPECT_GE(s.peers, 0);
    }
}

TEST(Paces, IntervalsHoldTheTruthAsOftenAsTheySay)
{
    std::mt19937 random(17);
    std::lognormal_distribution<double> rate(std::log(2.0), 0.3);
    std::uniform_real_distribution<double> length(0.5, 1.5);
    const double truth = std::log(2.0) + 0.3 * 0.3 / 2;  // of the mean rate
    constexpr int runs = 2000;
    int held = 0;
    for (int run = 0; run < runs; ++run) {
        std::vector<CountedTime> parts(40);
        for (CountedTime& part : parts) {
            part.ns = length(random) * 5e6;
            part.cycles = part.ns * rate(random);
        }
        const replayer::Ratio found = ratio(parts, &CountedTime::cycles, &CountedTime::ns);
        const double error = 1.96 * std::sqrt(static_cast<double>(found.variance) / replayer::fixed_one);
        held += std::abs(static_cast<double>(found.log) / replayer::fixed_one - truth) < error ? 1 : 0;
    }
    EXPECT_NEAR(held, 0.94 * runs, 0.03 * runs);  // of few samples, a little less than of many
}

TEST(Paces, OnlySamplesCountThatTellOfThePlace)
{
    const auto time = [](std::int64_t t) { return model::Ns{t * us}; };
    model::LocationTrace trace;
    trace.end = time(1000);
    trace.calls.add(time(0), time(10), {0});
    trace.calls.add(time(500), time(505), {1});
    trace.calls.add(time(900), time(905), {0});
    trace.off = {{time(110), time(190), true}};
    const auto sample = [&](std::int64_t at, std::int64_t instructions) {
        trace.samples.push_back({time(at), {2}, 0, 0, 0});
        trace.sample_counts.push_back(std::array{instructions}, false);
    };
    sample(8, 1);          // nobody knows since when
    sample(108, 2);        // nearly all in the first gap
    sample(195, 30);       // 7 us on the processor
    sample(400, -1);       // not known
    sample(498, 400);      //
    sample(600, 5000);     // mostly behind the call
    sample(700, 60'000);   // in the second gap
    sample(950, 700'000);  // and behind it
    const replayer::PaceEvents events{0, {}, {}, {}};
    const replayer::SameCalls same;
    replayer::Gaps gaps(trace, same);
    EXPECT_EQ(replayer::pace(gaps, std::vector<std::uint32_t>{1}, events).samples, 3);
    EXPECT_EQ(replayer::pace(gaps, std::vector<std::uint32_t>{2}, events).samples, 2);
    EXPECT_EQ(replayer::pace(gaps, std::vector<std::uint32_t>{1, 2}, events).samples, 5);
}

/// A process that does two things in turn, for so long and with so many page faults each time, which come evenly.
struct Turns {
    std::int64_t first_us, second_us, first_faults, second_faults;
};

/// The page faults of both in all, as gaps have them of what samples count each 6711 us.
std::array<double, 2> faults_of(const Turns& turns, int rounds)
{
    constexpr std::int64_t call_us = 10, period_us = 6711;
    model::LocationTrace trace;
    std::int64_t begin = 0, end = 0;  // of the interval between two samples, us
    double counted = 0, reported = 0;
    const auto does = [&](std::int64_t for_us, std::int64_t faults) {
        for (std::int64_t left = for_us; left > 0;) {
            const std::int64_t part = std::min(left, begin + period_us - end);
            counted += static_cast<double>(faults * part) / static_cast<double>(for_us);
            end += part;
            left -= part;
            if (end - begin < period_us)
                continue;
            const auto number = static_cast<std::uint32_t>(std::llround(counted - reported));
            trace.samples.push_back({model::Ns{end * us}, {2}, number, 0, 0});
            reported += number;
            begin = end;
        }
    };
    const auto calls = [&](std::uint32_t context) {
        const model::Ns enter{end * us};
        does(call_us, 0);
        trace.calls.add(enter, model::Ns{end * us}, {context});
    };
    calls(0);
    for (int round = 0; round < rounds; ++round) {
        does(turns.first_us, turns.first_faults);
        calls(1);
        does(turns.second_us, turns.second_faults);
        calls(0);
    }
    does(period_us, 0);
    trace.end = model::Ns{end * us};
    const replayer::SameCalls same;
    replayer::Gaps gaps(trace, same);
    std::array<double, 2> sums{};
    for (std::size_t i = 1; i < gaps.end(); ++i)
        sums[(i - 1) % 2] +=
            static_cast<double>(gaps.measure(i).page_faults) / static_cast<double>(replayer::parts_of_a_fault);
    return sums;
}

TEST(PageFaults, AreOfWhatHadThem)
{
    constexpr int rounds = 60;
    const auto expect = [&](const Turns& turns, double error) {
        const std::array<double, 2> sums = faults_of(turns, rounds);
        const double all = rounds * static_cast<double>(turns.first_faults + turns.second_faults);
        EXPECT_NEAR(sums[0] / all, rounds * static_cast<double>(turns.first_faults) / all, error) << turns.first_us;
        EXPECT_NEAR(sums[1] / all, rounds * static_cast<double>(turns.second_faults) / all, error) << turns.second_us;
    };
    expect({9'100, 18'300, 3000, 0}, 0.01);  // both longer than the time between two samples
    expect({9'100, 18'300, 3000, 1500}, 0.02);
    expect({600, 12'300, 200, 0}, 0.01);  // one of them shorter, so that no sample tells of it alone
    expect({12'300, 600, 0, 200}, 0.01);
    expect({900, 2'300, 1000, 0}, 0.05);  // both
    expect({5'000, 5'000, 700, 700}, 0.02);
}

TEST(Variances, AreUnbiased)
{
    // y = node + rank + chance, of known variances; the mean estimate of many runs is the truth.
    constexpr int nodes = 4, per_node = 5, ranks = nodes * per_node, occurrences = 12, runs = 400;
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    double noise = 0, node = 0, rest = 0, rank = 0;
    for (int run = 0; run < runs; ++run) {
        std::vector<std::vector<std::int64_t>> y(ranks);
        std::vector<double> of_node(nodes);
        for (double& n : of_node)
            n = 0.3 * normal(random);
        for (int r = 0; r < ranks; ++r) {
            const double of_rank = of_node[static_cast<std::size_t>(r / per_node)] + 0.2 * normal(random);
            for (int k = 0; k < occurrences; ++k)
                y[static_cast<std::size_t>(r)].push_back(
                    std::llround((of_rank + 0.5 * normal(random)) * replayer::fixed_one));
        }
        replayer::EffectSums sums;
        sums.ranks = ranks;
        sums.occurrences = occurrences;
        sums.nodes.resize(nodes);
        for (std::size_t k = 0; k < occurrences; ++k) {
            std::int64_t mean = 0;
            for (const auto& row : y)
                mean += row[k] / ranks;
            for (auto& row : y)
                row[k] -= mean;
        }
        for (std::size_t r = 0; r < ranks; ++r) {
            const replayer::Effect effect = replayer::effect_of(y[r]);
            sums.squared += effect.squared;
            sums.rest += effect.rest;
            sums.nodes[r / per_node].ranks += 1;
            sums.nodes[r / per_node].mean += effect.mean;
        }
        const replayer::Variances found = replayer::variances(sums);
        noise += found.noise / runs;
        rank += found.rank / runs;
        node += found.node / runs;
        rest += found.node_rest / runs;
    }
    EXPECT_NEAR(noise, 0.25, 0.005);
    EXPECT_NEAR(rest, 0.04, 0.004);
    EXPECT_NEAR(node, 0.09, 0.015);
    EXPECT_NEAR(rank, 0.11, 0.02);  // that between nodes in the ranks of a sample of nodes
}

}  // namespace
}  // namespace critpath::tests
