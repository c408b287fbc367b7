// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names of the events that can be counted beside the sampled one: the generic ones of perf (perf-list(1)), as
// far as they are one number of the kernel's interface (perf_event_open(2)). For the preload library and the launcher:
// no C++ runtime.
#pragma once

#include <cstdint>
#include <cstring>

#include <linux/perf_event.h>

namespace critpath::sampling
{

struct EventName {
    const char* name;
    const char* alias;  // another one that perf knows; nullptr: none
    std::uint32_t type;
    std::uint64_t config;
    bool only_in_kernel;  // it happens there: a count of user code alone is 0, whatever happens
};

inline constexpr EventName event_names[] = {
    {"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    {"minor-faults", nullptr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false},
    {"major-faults", nullptr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false},
    {"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    {"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
    {"task-clock", nullptr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
    {"alignment-faults", nullptr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false},
    {"emulation-faults", nullptr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, false},
    {"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
    {"instructions", nullptr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
    {"cache-references", nullptr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false},
    {"cache-misses", nullptr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
    {"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
    {"branch-misses", nullptr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
    {"bus-cycles", nullptr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false},
    {"stalled-cycles-frontend", nullptr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false},
    {"stalled-cycles-backend", nullptr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false},
    {"ref-cycles", nullptr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false},
};

inline constexpr std::uint32_t event_name_count = sizeof event_names / sizeof event_names[0];

/// The event of these `size` characters; `event_name_count` if it is none.
inline std::uint32_t find_event_name(const char* text, std::size_t size)
{
    const auto is = [&](const char* name) {
        return name != nullptr && std::strlen(name) == size && std::strncmp(name, text, size) == 0;
    };
    std::uint32_t i = 0;
    while (i < event_name_count && !is(event_names[i].name) && !is(event_names[i].alias)) {
        ++i;
    }
    return i;
}

}  // namespace critpath::sampling
