// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how far the collector's time stamps are from the kernel's clock that they stand for, and what both cost. Each
// stamp is taken between two readings of that clock, and compared with the middle of them; where an interrupt came in
// between, nothing can be said.
#include "collector/mpi/clock.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace critpath::preload;

namespace
{

constexpr std::uint64_t duration = 5'000'000'000;
constexpr std::uint64_t doubt = 80;  // ns between the two readings

std::vector<double> errors()
{
    std::vector<double> result;
    const std::uint64_t end = nanoseconds(clock_id) + duration;
    for (std::uint64_t before = 0; before < end;) {
        before = nanoseconds(clock_id);
        const std::uint64_t stamp = now();
        const std::uint64_t after = nanoseconds(clock_id);
        if (after - before <= doubt) {
            result.push_back(static_cast<double>(stamp) - static_cast<double>(before + after) / 2);
        }
        for (int i = 0; i < 300; ++i) {
            asm volatile("");
        }
    }
    std::ranges::sort(result);
    return result;
}

template <class Clock>
double cost(Clock&& clock)
{
    constexpr int calls = 10'000'000;
    std::uint64_t sum = 0;
    const std::uint64_t begin = nanoseconds(clock_id);
    for (int i = 0; i < calls; ++i) {
        sum += clock();
    }
    asm volatile("" : : "r"(sum));
    return static_cast<double>(nanoseconds(clock_id) - begin) / calls;
}

}  // namespace

int main()
{
    start_ticks();
    const std::vector<double> sorted = errors();
    if (sorted.empty()) {
        fmt::print(stderr, "clock_error: the kernel's clock takes more than {} ns here\n", doubt / 2);
        return 1;
    }
    fmt::print("{} time stamps {}, in ns from the kernel's clock (to {}):\n", sorted.size(),
               ticks_are_used ? "from the counter" : "of the kernel's clock", doubt / 2);
    for (const double part : {0.0, 0.001, 0.01, 0.5, 0.99, 0.999, 1.0}) {
        const auto index = static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1));
        fmt::print("{:6.1f} % are below {:6.1f}\n", 100 * part, sorted[index]);
    }
    fmt::print("ns a time stamp: before a call {:.1f}, after it {:.1f}; the kernel's {:.1f}\n", cost(now_before),
               cost(now), cost([] { return nanoseconds(clock_id); }));
    return 0;
}
