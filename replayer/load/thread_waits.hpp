// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who waited for whom among the threads of a process: teams with their barriers, threads that are created and
// waited for, and locks. (docs/ALGORITHM, "Threads")
#pragma once

#include "analysis/model/trace.hpp"

#include <cstdint>
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
        // These have a ThreadDetail.
        Create,
        Begin,
        End,
        Wait,  // for the end of a thread
        Acquire,
        Release
    };
    What what;
    model::CallId point;
    std::uint32_t object;  // team, contingent of threads, or lock: as the trace numbers them

    [[nodiscard]] bool has_detail() const { return what >= What::Create; }
};

struct ThreadDetail {
    std::uint64_t number;  // of the thread in its contingent, or of the acquisition of the lock
    model::Ns since;       // of Wait and Acquire: from when on the thread waited, if it did
};

/// Of one location, in order.
struct ThreadLog {
    std::vector<ThreadRecord> records;
    std::vector<ThreadDetail> details;
};

struct ThreadLogOf {
    const ThreadLog* log;
    const model::LocationTrace* trace;
};

struct ThreadWaits {
    std::vector<model::ThreadWait> waits;
    std::uint64_t ignored = 0;  // records that fit to no others
};

/// Of all locations of one process.
ThreadWaits thread_waits(const std::vector<ThreadLogOf>& locations);

}  // namespace critpath::replayer::load
