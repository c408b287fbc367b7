// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the counters that are read where the application enters and leaves MPI: PAPI events of each thread, hardware or
// software. PAPI is opened when counters were asked for, not linked. Where the kernel and the processor allow it, PAPI
// reads hardware counters without a system call (rdpmc); software events always cost one.
#pragma once

#include "formats/spool/record.hpp"

#include <cstdint>

namespace critpath::preload
{

class SpoolWriter;

/// What could be counted. Call on every rank, once, with the library's communicator made and the settings shared;
/// collective. Afterwards `header` names the counters that every rank has; rank 0 has said what is missing, and why.
void negotiate_counters(spool::SpoolHeader& header);

/// Used by its own thread only.
class Counters
{
public:
    /// On the thread itself, after negotiate_counters.
    void start();

    /// On the thread itself.
    void stop();

    [[nodiscard]] bool are_on() const { return are_on_; }

    void read_enter() { has_enter_ = read(at_enter_); }
    void read_leave() { has_leave_ = read(at_leave_); }

    /// Appends what was read since the last time.
    void write(SpoolWriter& spool);

    /// Forgets it.
    void drop() { has_enter_ = has_leave_ = false; }

private:
    using Values = long long[spool::max_counters];

    bool read(Values& values) const;

    bool are_on_ = false;
    bool has_enter_ = false;
    bool has_leave_ = false;
    int event_set_ = -1;
    Values at_enter_ = {};
    Values at_leave_ = {};
};

}  // namespace critpath::preload
