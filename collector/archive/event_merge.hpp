// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the second pass over a thread's spool: calls, the collector's own time and samples become the events of one
// location, merged by time (formats/FORMAT.md, "Events").
#pragma once

#include "collector/archive/kernel_events.hpp"
#include "collector/archive/process.hpp"
#include "formats/otf2/event_writer.hpp"

#include <cstddef>
#include <cstdint>

namespace critpath::archive
{

struct EventCounts {
    std::uint64_t calls = 0;
    std::uint64_t samples = 0;
    OffTotals off;
    std::uint64_t unresolved = 0;  // calls that name what no record defines
    std::uint64_t foreign = 0;     // messages and collective operations on communicators that cannot be described
};

/// Writes the events of the thread at `position` of the process' spool. Throws Failure when it cannot be written.
EventCounts write_events(const ProcessData& process, std::size_t position, const EventIds& ids,
                         otf2::EventWriter& writer);

}  // namespace critpath::archive
