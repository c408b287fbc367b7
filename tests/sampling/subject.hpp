// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the scenarios of sampling_subject have in common.
#pragma once

#include "collector/sampling/sampling.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include <time.h>

namespace critpath::test
{

using Json = nlohmann::json;

inline constexpr std::uint32_t frequency = 997;

inline std::uint64_t clock_ns(clockid_t clock)
{
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Ends the process as one whose scenario this machine does not permit.
[[noreturn]] inline void not_possible(const char* why)
{
    std::puts(why);
    std::exit(77);
}

/// Burns `seconds` of processor time; returns what it took.
std::uint64_t burn(double seconds);

/// The same, in a function of its own.
std::uint64_t burn_elsewhere(double seconds);

/// How often the other thread of this process, the helper, has gone to sleep.
long sleeps_of_helper();

class Subject
{
public:
    explicit Subject(const char* directory) : directory_(directory) {}

    void start()
    {
        start_alone();
        sampling::start_helper();
    }

    /// Without the helper thread.
    void start_alone()
    {
        facts["start"] = clock_ns(CLOCK_MONOTONIC_RAW);
        sampling::start_process({frequency, CLOCK_MONOTONIC_RAW, {call_graph}, sampler, ""});
        sampling::start_thread(0);
    }

    void open()
    {
        spool::SpoolHeader header{};
        header.magic = spool::magic;
        header.version = spool::version;
        header.record_size = 64;
        header.rank = 7;
        header.size = 8;
        header.clock_id = CLOCK_MONOTONIC_RAW;
        std::strcpy(header.host, "somewhere");
        sampling::open_files(directory_, header);
    }

    void finish()
    {
        sampling::finish();
        facts["end"] = clock_ns(CLOCK_MONOTONIC_RAW);
        tell_refusal();
    }

    void tell_refusal()
    {
        sampling::Text explanation;
        facts["refused"] = sampling::refused();
        sampling::explain_refusal(explanation, sampling::refused());
        facts["explanation"] = explanation.c_str();
    }

    [[nodiscard]] std::string directory() const { return directory_; }

    Json facts;
    spool::CallGraph call_graph = spool::CallGraph::FramePointers;
    sampling::Sampler sampler = sampling::Sampler::Perf;

private:
    const char* directory_;
};

using Scenarios = std::map<std::string, std::function<void(Subject&)>>;

/// As a container without CAP_PERFMON does; the process ends where that cannot be had.
void refuse_perf_event_open(int error);

/// Of subject_counters.cpp, subject_switches.cpp, subject_timers.cpp and subject_trouble.cpp.
Scenarios counter_scenarios();
Scenarios switch_scenarios();
Scenarios timer_scenarios();
Scenarios trouble_scenarios();

}  // namespace critpath::test
