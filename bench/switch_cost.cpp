// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what it costs that a sampled thread gives way: two processes on one processor that do nothing but yield to each
// other: both without the collector's events, with them disabled (as where a thread switches too often), and enabled,
// in turn. And what it costs to disable and enable them.
#include "bench/sampled.hpp"

#include <cerrno>
#include <chrono>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace critpath;

namespace
{

constexpr int rounds = 15;
constexpr int switches = 100'000;
constexpr unsigned hz = 199;

enum class Events { None, Disabled, Enabled };

/// us a switch, of the calling process and one that it makes.
double yields(Events events)
{
    const pid_t other = fork();
    if (events != Events::None) {
        const sampling::PerfEvent event = bench::sample_this_thread(hz);
        if (events == Events::Disabled) {
            sampling::disable_event(event);
        }
    }
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < switches; ++i) {
        sched_yield();
    }
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
    if (other == 0) {
        _exit(0);
    }
    waitpid(other, nullptr, 0);
    return elapsed.count() / (2.0 * switches);
}

/// In a process of its own, whose events end with it.
double yields_in_child(Events events)
{
    int ends[2];
    double result = -1;
    if (pipe(ends) != 0) {
        fmt::print(stderr, "switch_cost: pipe: {}\n", std::strerror(errno));
        std::exit(1);
    }
    const pid_t child = fork();
    if (child == 0) {
        result = yields(events);
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    close(ends[1]);
    const bool is_read = read(ends[0], &result, sizeof result) == sizeof result;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    if (!is_read) {
        std::exit(1);  // it has said why
    }
    return result;
}

/// us to disable and enable the events.
double respites(const sampling::PerfEvent& event)
{
    constexpr int times = 100'000;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) {
        sampling::disable_event(event);
        sampling::enable_event(event);
    }
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
    return elapsed.count() / times;
}

}  // namespace

int main()
{
    cpu_set_t processor;
    CPU_ZERO(&processor);
    CPU_SET(0, &processor);
    if (sched_setaffinity(0, sizeof processor, &processor) != 0) {
        fmt::print(stderr, "switch_cost: processor 0 may not be used: {}\n", std::strerror(errno));
        return 1;
    }
    std::vector<double> plain, resting, sampled;
    for (int i = 0; i < rounds; ++i) {
        plain.push_back(yields_in_child(Events::None));
        resting.push_back(yields_in_child(Events::Disabled));
        sampled.push_back(yields_in_child(Events::Enabled));
    }
    bench::print_quartiles("not sampled", plain, "us a switch");
    bench::print_quartiles("resting", resting, "us a switch");
    bench::print_quartiles("sampled", sampled, "us a switch");
    const sampling::PerfEvent event = bench::sample_this_thread(hz);
    std::vector<double> rests;
    for (int i = 0; i < rounds; ++i) {
        rests.push_back(respites(event));
    }
    bench::print_quartiles("off and on", rests, "us");
    return 0;
}
