// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who waited for whom among the threads of a process: teams with their barriers, threads that are created and
// waited for, and locks. (docs/ALGORITHM, "Threads")
#pragma once

#include "analysis/model/trace.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace critpath::replayer::load
{

/// What a thread did at one of its points (model::Calls).
struct ThreadRecord {
    enum class What : std::uint8_t {
        Fork,
        Join,
        TeamBegin,
        TeamEnd,
        Arrive,  // at a barrier
        Depart,
        Create,
        Begin,
        End,
        Wait,  // for the end of a thread
        Acquire,
        Release
    };
    What what;
    model::CallId point;
    std::uint32_t object = 0;  // team, contingent of threads, or lock: as the trace numbers them
    std::uint64_t number = 0;  // of the thread in its contingent, or of the acquisition of the lock
    model::Ns since{};         // of Wait and Acquire: the event before, from which on it waited, if it did
};

/// A location and its records, in order.
struct ThreadRecords {
    const model::LocationTrace* trace;
    std::span<const ThreadRecord> records;
};

/// Of all locations of one process.
std::vector<model::ThreadWait> thread_waits(std::span<const ThreadRecords> locations);

}  // namespace critpath::replayer::load
