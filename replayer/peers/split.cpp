// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/split.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace critpath::replayer
{

namespace
{

constexpr std::int64_t least_on_processor = 1000;  // ns

/// By how much a logarithm is above the mean of those of `processes` others.
double above(std::int64_t log, std::int64_t sum, std::int64_t processes)
{
    return (static_cast<double>(log) - static_cast<double>(sum) / static_cast<double>(processes)) / fixed_one;
}

}  // namespace

std::int64_t Gap::on_processor() const
{
    return std::clamp(ns - preempted - blocked, std::min(time(), least_on_processor), time());
}

std::int64_t Gap::runnable() const
{
    return std::clamp(ns - blocked, on_processor(), time());
}

namespace
{

/// Of the intervals of [1, 2) that begin with a multiple of 1/128: the logarithm of their middle, and its reciprocal.
struct Middle {
    double log, reciprocal;
};
const std::array<Middle, 128> middles = [] {
    std::array<Middle, 128> result{};
    for (std::size_t i = 0; i < result.size(); ++i) {
        const double middle = 1 + (static_cast<double>(i) + 0.5) / 128;
        result[i] = {std::log(middle), 1 / middle};
    }
    return result;
}();

}  // namespace

// Takes half the time of std::log, which is most of what it costs to compare gaps of thousands of ranks.
std::int64_t fixed_log(std::int64_t x)
{
    if (x <= 1)
        return 0;
    constexpr int mantissa = 52, bias = 1023;
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
    const auto exponent = static_cast<double>(static_cast<int>(bits >> mantissa) - bias);
    const Middle& middle = middles[bits >> (mantissa - 7) & 127];
    const auto one = std::uint64_t{bias} << mantissa;
    const double y = std::bit_cast<double>((bits & ((std::uint64_t{1} << mantissa) - 1)) | one) * middle.reciprocal - 1;
    // ln(1 + y) with |y| < 1/256: what is left out is less than 2^-48.
    const double log = y * (1 + y * (-1.0 / 2 + y * (1.0 / 3 + y * (-1.0 / 4 + y * (1.0 / 5)))));
    return rounded((exponent * std::numbers::ln2 + middle.log + log) * fixed_one);
}

void PeerSums::add(const Gap& gap, std::int64_t ns)
{
    ++processes;
    slower += gap.ns > ns ? 1 : 0;
    const std::int64_t log = fixed_log(gap.time());
    time += log;
    if (gap.is_off()) {
        const std::int64_t runnable = fixed_log(gap.runnable());
        blocked_factor += log - runnable;
        preempted_factor += runnable - fixed_log(gap.on_processor());
    }
    if (gap.has_instructions()) {
        ++counted_instructions;
        instructions += fixed_log(gap.counted.instructions);
    }
    if (gap.has_cycles()) {
        ++counted_cycles;
        cycles += fixed_log(gap.counted.cycles);
    }
    page_faults += gap.page_faults;
    migrations += gap.migrations;
}

namespace
{

/// The difference of `a` and `b` for each unit of the difference of their logarithms.
double logarithmic_mean(double a, double b, double log_ratio)
{
    constexpr double equal = 1e-9;
    return std::abs(log_ratio) < equal ? a : (a - b) / log_ratio;
}

/// The geometric mean of a product of the others, of whose logarithms `sum` is.
double mean_of(std::int64_t sum, std::int64_t processes)
{
    return std::exp(static_cast<double>(sum) / static_cast<double>(processes) / fixed_one);
}

}  // namespace

double per_log(const Gap& own, const PeerSums& others, std::int64_t path_ns)
{
    const auto runnable = static_cast<double>(own.runnable());
    const std::int64_t sum = others.time - others.blocked_factor;
    const double all = above(fixed_log(own.runnable()), sum, others.processes);
    return logarithmic_mean(runnable, mean_of(sum, others.processes), all) * static_cast<double>(path_ns) /
           static_cast<double>(own.time());
}

Split split(const Gap& own, const PeerSums& others, std::int64_t path_ns)
{
    const std::int64_t n = others.processes;
    const double part = static_cast<double>(path_ns) / static_cast<double>(own.time());
    Split result;
    result.has_instructions = own.has_instructions() && others.counted_instructions == n;
    result.has_cycles = own.has_cycles() && others.counted_cycles == n;
    result.peers = rounded(mean_of(others.time, n) * part);
    if (!result.has_instructions && !result.has_cycles && !own.is_off() && others.blocked_factor == 0 &&
        others.preempted_factor == 0) {
        result.processor = path_ns - result.peers;
        return result;
    }

    const std::int64_t log_on = fixed_log(own.on_processor());
    const double on = above(log_on, others.time - others.blocked_factor - others.preempted_factor, n);
    const double preempted = above(fixed_log(own.runnable()) - log_on, others.preempted_factor, n);
    const double mean = per_log(own, others, path_ns);
    const double instructions =
        result.has_instructions ? above(fixed_log(own.counted.instructions), others.instructions, n) : 0;
    const double cycles = result.has_cycles ? above(fixed_log(own.counted.cycles), others.cycles, n) : 0;
    const double blocked = static_cast<double>(own.time() - own.runnable()) -
                           (mean_of(others.time, n) - mean_of(others.time - others.blocked_factor, n));

    struct FactorPart {
        std::int64_t Split::*of;
        bool is_known;
        double exact;
    };
    const auto [has_instructions, has_cycles] = std::pair(result.has_instructions, result.has_cycles);
    const std::array<FactorPart, 8> parts = {{
        {&Split::processor, !has_instructions && !has_cycles, mean * on},
        {&Split::instructions, has_instructions, mean * instructions},
        {&Split::cycles, has_instructions && has_cycles, mean * (cycles - instructions)},
        {&Split::frequency, has_cycles, mean * (on - cycles)},
        {&Split::instruction_time, has_instructions && !has_cycles, mean * (on - instructions)},
        {&Split::all_cycles, !has_instructions && has_cycles, mean * cycles},
        {&Split::preempted, true, mean * preempted},
        {&Split::blocked, true, blocked * part},
    }};
    std::int64_t rest = path_ns - result.peers;
    const FactorPart* largest = &parts.back();
    for (const FactorPart& part_of : parts) {
        if (!part_of.is_known)
            continue;
        result.*part_of.of = rounded(part_of.exact);
        rest -= rounded(part_of.exact);
        largest = std::abs(part_of.exact) > std::abs(largest->exact) ? &part_of : largest;
    }
    result.*largest->of += rest;  // a few ns
    return result;
}

}  // namespace critpath::replayer
