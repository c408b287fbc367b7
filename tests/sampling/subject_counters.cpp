// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scenarios on processors with hardware counters, which few machines that run tests have: cpu-clock in their place.
#include "tests/sampling/subject.hpp"

#include <array>
#include <cerrno>
#include <cstdarg>

#include <linux/perf_event.h>
#include <sys/syscall.h>

namespace
{

using namespace critpath::test;

/// What the processor can.
struct Counters {
    std::uint32_t precise_ip = 0;            // at most
    bool beside_precise = true;              // others can be in the group of an event that is precise
    bool beside_any = true;                  // or in any
    std::uint32_t precise_ip_of_leader = 0;  // that was opened last
};
Counters* counters = nullptr;  // there are none

/// 0, with a software event in the place of one that the processor can count; else an errno.
int play_counter(perf_event_attr& attr, bool leads)
{
    if (leads && attr.precise_ip > counters->precise_ip) {
        return EOPNOTSUPP;
    }
    if (!leads && (!counters->beside_any || (counters->precise_ip_of_leader > 0 && !counters->beside_precise))) {
        return EINVAL;
    }
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = leads ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK;
    if (leads) {
        counters->precise_ip_of_leader = attr.precise_ip;
    }
    attr.precise_ip = 0;
    return 0;
}

}  // namespace

extern "C" {
// By the linker, in place of syscall.
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/// Looks at six arguments, however many there are: what is behind them is passed on, and ignored.
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
    std::array<long, 6> values{};
    va_list rest;
    va_start(rest, number);
    for (long& value : values) {
        value = va_arg(rest, long);
    }
    va_end(rest);
    perf_event_attr attr;
    if (number == SYS_perf_event_open && counters != nullptr) {
        constexpr std::size_t leader = 3;  // among the arguments
        std::memcpy(&attr, reinterpret_cast<const void*>(values[0]), sizeof attr);
        if (attr.type == PERF_TYPE_HARDWARE) {
            errno = play_counter(attr, static_cast<int>(values[leader]) == -1);
            if (errno != 0) {
                return -1;
            }
            values[0] = reinterpret_cast<long>(&attr);
        }
    }
    return __real_syscall(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
}

Scenarios critpath::test::counter_scenarios()
{
    const auto on = [](Counters of_processor, spool::CallGraph call_graph = spool::CallGraph::None) {
        return [=](Subject& subject) {
            Counters own = of_processor;
            counters = &own;
            subject.call_graph = call_graph;
            subject.start();
            subject.open();
            subject.facts["cpu"] = burn(0.3);
            subject.finish();
            counters = nullptr;
        };
    };
    return {
        {"counters_precise", on({2})},
        {"counters_nearly_precise", on({1})},
        {"counters_not_precise", on({0})},
        {"counters_not_beside_precise", on({2, false})},
        {"counters_alone", on({2, true, false})},
        {"counters_with_callers", on({2}, spool::CallGraph::Dwarf)},
    };
}
