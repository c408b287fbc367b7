// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a trace can have that the replay cannot use or that should not be, and how the tools say it. Each is a fact
// of the result by its name (formats/FORMAT.md).
#pragma once

#include <array>
#include <cstdint>

namespace critpath::model
{

/// What was seen of locations but is not in their arrays.
struct Anomalies {
    std::uint64_t cancelled_receives = 0;
    std::uint64_t unfinished_requests = 0;  // posts without a completion; such receives are left out
    std::uint64_t open_calls = 0;           // enter without leave; closed at the location's last event
    std::uint64_t ignored_records = 0;      // but for the next four
    std::uint64_t ignored_thread_records = 0;
    std::uint64_t ignored_io_records = 0;
    std::uint64_t ignored_rma_records = 0;
    std::uint64_t ignored_metric_records = 0;
    std::uint64_t clock_violations = 0;    // events that go back in time within a location
    std::uint64_t lost_records = 0;        // that did not fit, or were damaged
    std::uint64_t unresolved_records = 0;  // that named what nobody had defined
    std::uint64_t foreign_operations = 0;  // with processes of another MPI_COMM_WORLD
    std::uint64_t lost_samples = 0;
    std::uint64_t unseen_unloads = 0;  // libraries that were unloaded, nobody knows when
    std::uint64_t replaced_files = 0;  // binaries whose names are not known, because their files changed since they ran
    std::uint64_t stopped_timers = 0;  // threads whose samples end before they do
    std::uint64_t no_run_delay = 0;    // threads whose waits for a processor the kernel does not count
    // In which threads were not sampled, because they switched too often:
    std::uint64_t wait_respite_ns = 0;  // while they waited in MPI,
    std::uint64_t respite_ns = 0;       // and elsewhere
};

struct AnomalyCount {
    const char* name;
    std::uint64_t Anomalies::*count;
};

/// All members. What the collector counts stands in the trace as location property critpath.<name>.
inline constexpr std::array anomaly_counts = {
    AnomalyCount{"cancelled_receives", &Anomalies::cancelled_receives},
    AnomalyCount{"unfinished_requests", &Anomalies::unfinished_requests},
    AnomalyCount{"open_calls", &Anomalies::open_calls},
    AnomalyCount{"ignored_records", &Anomalies::ignored_records},
    AnomalyCount{"ignored_thread_records", &Anomalies::ignored_thread_records},
    AnomalyCount{"ignored_io_records", &Anomalies::ignored_io_records},
    AnomalyCount{"ignored_rma_records", &Anomalies::ignored_rma_records},
    AnomalyCount{"ignored_metric_records", &Anomalies::ignored_metric_records},
    AnomalyCount{"clock_violations", &Anomalies::clock_violations},
    AnomalyCount{"lost_records", &Anomalies::lost_records},
    AnomalyCount{"unresolved_records", &Anomalies::unresolved_records},
    AnomalyCount{"foreign_operations", &Anomalies::foreign_operations},
    AnomalyCount{"lost_samples", &Anomalies::lost_samples},
    AnomalyCount{"unseen_unloads", &Anomalies::unseen_unloads},
    AnomalyCount{"replaced_files", &Anomalies::replaced_files},
    AnomalyCount{"stopped_timers", &Anomalies::stopped_timers},
    AnomalyCount{"no_run_delay", &Anomalies::no_run_delay},
    AnomalyCount{"wait_respite_ns", &Anomalies::wait_respite_ns},
    AnomalyCount{"respite_ns", &Anomalies::respite_ns},
};
static_assert(anomaly_counts.size() * sizeof(std::uint64_t) == sizeof(Anomalies), "each member stands in the table");

inline void add(Anomalies& sum, const Anomalies& more)
{
    for (const AnomalyCount& anomaly : anomaly_counts) {
        sum.*anomaly.count += more.*anomaly.count;
    }
}

struct Oddity {
    const char* fact;
    const char* words;                 // after the count
    const char* on_one_clock = words;  // instead, where all ranks count as having one clock
};

/// `clock_domains`: how many clocks the ranks have, the fact of that name.
inline const char* words_of(const Oddity& oddity, std::int64_t clock_domains)
{
    return clock_domains == 1 ? oddity.on_one_clock : oddity.words;
}

/// The facts of a result that should be zero, what concerns most of an analysis first.
inline constexpr std::array oddities = {
    Oddity{"lost_records", "MPI calls that could not be kept when they were recorded, or were damaged since"},
    Oddity{"unresolved_records", "MPI calls that name what was not recorded"},
    Oddity{"partners_unrecorded",
           "operations whose partner was not recorded (recording off, a callback, or a freed request)"},
    Oddity{"foreign_operations", "messages and collectives with processes that are not in the trace (MPI_Comm_spawn)"},
    Oddity{"lost_samples", "samples that could not be kept when they were recorded"},
    Oddity{"unseen_unloads", "libraries that were unloaded unseen: samples of them may have other names, or none"},
    Oddity{"replaced_files", "binaries that were replaced or deleted since they ran: their functions have no names"},
    Oddity{"stopped_timers",
           "threads whose samples end early: the application took their signal or stack, or closed events"},
    Oddity{"unmatched_sends", "sends without a receive"},
    Oddity{"unmatched_receives", "receives without a send"},
    Oddity{"cancelled_receives", "receives that were cancelled"},
    Oddity{"unfinished_requests", "requests that never completed, or were freed before"},
    Oddity{"incomplete_collectives", "collectives that some members did not reach"},
    Oddity{"mismatched_collectives", "collectives whose members called different operations"},
    Oddity{"unknown_collectives",
           "collectives by functions that are not known (taken for synchronisations where their times say so)"},
    Oddity{"clock_violations", "dependencies that run backwards in time (clocks disagree; shortened to nothing)",
           "dependencies that run backwards in time (not all operations were recorded, or this is not one clock; "
           "shortened to nothing)"},
    Oddity{"ignored_rma_records",
           "records of one-sided communication that the replay does not use (window unknown, other models)"},
    Oddity{"ignored_thread_records", "records of threads that fit to no others, or are not analyzed (tasks)"},
    Oddity{"ignored_io_records", "records of file operations, which the replay does not analyze"},
    Oddity{"ignored_records", "event records of kinds that the replay does not use"},
};

}  // namespace critpath::model
