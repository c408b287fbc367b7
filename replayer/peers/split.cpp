// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

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

std::int64_t Gap::time() const
{
    return std::max<std::int64_t>(ns, 1);
}

std::int64_t Gap::on_processor() const
{
    return std::clamp(ns - preempted - blocked, std::min(time(), least_on_processor), time());
}

std::int64_t fixed_log(std::int64_t x)
{
    return x <= 1 ? 0 : rounded(std::log(static_cast<double>(x)) * fixed_one);
}

void PeerSums::add(const Gap& gap, std::int64_t ns)
{
    ++processes;
    slower += gap.ns > ns ? 1 : 0;
    const std::int64_t log = fixed_log(gap.time());
    time += log;
    if (gap.is_off())
        off_factor += log - fixed_log(gap.on_processor());
    if (gap.is_counted()) {
        ++counted;
        instructions += fixed_log(gap.counted.instructions);
        cycles += fixed_log(gap.counted.cycles);
    }
    preempted += gap.preempted;
    blocked += gap.blocked;
    page_faults += gap.page_faults;
}

Split split(const Gap& own, const PeerSums& others, std::int64_t path_ns)
{
    const std::int64_t n = others.processes;
    const auto time = static_cast<double>(own.time());
    const double part = static_cast<double>(path_ns) / time;
    const double peers = std::exp(static_cast<double>(others.time) / static_cast<double>(n) / fixed_one);
    Split result;
    result.is_counted = own.is_counted() && others.counted == n;
    result.peers = rounded(peers * part);
    if (!result.is_counted && !own.is_off() && others.off_factor == 0) {
        result.processor = path_ns - result.peers;
        return result;
    }

    const std::int64_t log = fixed_log(own.time());
    const std::int64_t off_factor = own.is_off() ? log - fixed_log(own.on_processor()) : 0;
    const double all = above(log, others.time, n);
    const double off = above(off_factor, others.off_factor, n);
    constexpr double equal = 1e-9;
    const double mean = (std::abs(all) < equal ? time : (time - peers) / all) * part;  // the logarithmic one
    std::array<double, 6> exact{};
    if (result.is_counted) {
        const double instructions = above(fixed_log(own.counted.instructions), others.instructions, n);
        const double cycles = above(fixed_log(own.counted.cycles), others.cycles, n);
        exact[0] = mean * instructions;
        exact[1] = mean * (cycles - instructions);
        exact[2] = mean * (all - off - cycles);
    } else {
        exact[3] = mean * (all - off);
    }
    // Whoever is off the processor for longer says how.
    const std::int64_t preempted = off > 0 ? own.preempted : others.preempted;
    const std::int64_t blocked = off > 0 ? own.blocked : others.blocked;
    if (preempted + blocked > 0)
        exact[4] = mean * off * static_cast<double>(preempted) / static_cast<double>(preempted + blocked);
    exact[5] = mean * off - exact[4];

    std::array<std::int64_t, 6> parts{};
    std::int64_t rest = path_ns - result.peers;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        parts[i] = rounded(exact[i]);
        rest -= parts[i];
        largest = std::abs(exact[i]) > std::abs(exact[largest]) ? i : largest;
    }
    parts[largest] += rest;  // a few ns
    result.instructions = parts[0];
    result.cycles = parts[1];
    result.frequency = parts[2];
    result.processor = parts[3];
    result.preempted = parts[4];
    result.blocked = parts[5];
    return result;
}

}  // namespace critpath::replayer
