// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the benches of sampling share: the calling thread, sampled as the collector does it, and medians in print.
#pragma once

#include "collector/sampling/perf_event.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <linux/perf_event.h>
#include <time.h>

namespace critpath::bench
{

/// Of the clock that the kernel keeps for a thread: in ns.
inline std::uint64_t period_of(unsigned hz)
{
    return 1'000'000'000U / hz;
}

/// Ends the program where the kernel refuses.
inline sampling::PerfEvent sample_this_thread(unsigned hz,
                                              const sampling::Callers& callers = {spool::CallGraph::FramePointers})
{
    constexpr std::uint32_t pages = 1U << 13;  // for samples with a copy of the stack
    sampling::EventChoice choice{};
    choice.name = "cpu-clock";
    choice.type = PERF_TYPE_SOFTWARE;
    choice.config = PERF_COUNT_SW_CPU_CLOCK;
    choice.period = period_of(hz);
    choice.kernel = true;
    choice.clock_id = CLOCK_MONOTONIC_RAW;
    sampling::choose_contents(hz, callers, choice);
    choice.ring_pages = pages;
    sampling::choose_followers("", choice);
    sampling::PerfEvent event = sampling::no_event;
    if (const int error = sampling::open_event(choice, event); error != 0) {
        fmt::print(stderr, "perf_event_open: {}\n", std::strerror(error));
        std::exit(1);
    }
    sampling::enable_event(event);
    return event;
}

/// Median and quartiles.
inline void print_quartiles(const char* what, std::vector<double> values, const char* unit)
{
    std::ranges::sort(values);
    const auto quartile = [&](std::size_t n) { return values[n * (values.size() - 1) / 4]; };
    fmt::print("{:<12} {:6.2f} {} [{:.2f}, {:.2f}]\n", what, quartile(2), unit, quartile(1), quartile(3));
}

}  // namespace critpath::bench
