// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what it costs that a sampled thread gives way: two processes on one processor that do nothing but yield to each
// other, neither or both with the collector's events, in turn.
#include "collector/sampling/perf_event.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

using namespace critpath::sampling;

namespace
{

constexpr int rounds = 15;
constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr unsigned hz = 199;

void sample()
{
    const EventChoice choice = {
        "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, ns_per_second / hz, true, CLOCK_MONOTONIC_RAW,
        1U << 8,
    };
    PerfEvent event = no_event;
    if (const int error = open_event(choice, event); error != 0) {
        fmt::print(stderr, "switch_cost: perf_event_open: {}\n", std::strerror(error));
        std::exit(1);
    }
    enable_event(event);
}

/// us a switch.
double yields(bool sampled)
{
    using Clock = std::chrono::steady_clock;
    constexpr int switches = 100'000;
    const pid_t other = fork();
    if (sampled) {
        sample();
    }
    const auto begin = Clock::now();
    for (int i = 0; i < switches; ++i) {
        sched_yield();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (other == 0) {
        _exit(0);
    }
    int status;
    waitpid(other, &status, 0);
    return 1e6 * seconds / (2.0 * switches);
}

void print(const char* what, std::vector<double> values)
{
    std::ranges::sort(values);
    const auto quartile = [&](std::size_t n) { return values[n * (values.size() - 1) / 4]; };
    fmt::print("{:<12} {:6.2f} us a switch [{:.2f}, {:.2f}]\n", what, quartile(2), quartile(1), quartile(3));
}

}  // namespace

int main()
{
    cpu_set_t processor;
    CPU_ZERO(&processor);
    CPU_SET(0, &processor);
    sched_setaffinity(0, sizeof processor, &processor);
    std::vector<double> plain, sampled;
    for (int i = 0; i < rounds; ++i) {
        plain.push_back(yields(false));
        // In a process of its own, whose events end with it.
        int ends[2];
        double result = 0;
        if (pipe(ends) != 0) {
            return 1;
        }
        const pid_t child = fork();
        if (child == 0) {
            result = yields(true);
            _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
        }
        const bool is_read = read(ends[0], &result, sizeof result) == sizeof result;
        int status;
        waitpid(child, &status, 0);
        close(ends[0]);
        close(ends[1]);
        if (!is_read || status != 0) {
            return 1;
        }
        sampled.push_back(result);
    }
    print("not sampled", plain);
    print("sampled", sampled);
    return 0;
}
