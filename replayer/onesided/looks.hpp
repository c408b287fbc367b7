// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the loops in which a process looks into a window again and again (MPI_Get or MPI_Fetch_and_op, mostly each with
// a flush; MPI_Win_sync, or a lock of its own, for its own memory) until it finds what somebody has put there: waits
// that are spelled as polling. (docs/ALGORITHM, "One-sided communication")
#pragma once

#include "replayer/onesided/phase.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Where a loop looked.
struct LookedAt {
    static constexpr std::int32_t own_memory = -2;

    std::int32_t target;  // rank in the window, or own_memory
    Ns in_vain;           // enter of the last look but one, which found nothing
};

/// Behind the last call of a loop, the thread had no processor, or was in the collector, before it read its memory.
struct LookReturn {
    CallRef point;
    Ns since, time;  // between these two
};

/// One such loop.
struct Looking {
    model::WindowId window;
    CallRef end;  // behind this call the process went on
    Ns since;     // enter of the first look
    Ns pause;     // between its calls, at most, mostly
    std::vector<LookedAt> places;
    std::vector<LookReturn> returns;  // ascending; where it may have found it behind `end`, in its own memory
};

/// What an event that may be a look is for others.
enum class LookRole : std::uint8_t {
    NoLook,      // or the last one of a loop, which found something and may have changed it
    BeginsLoop,  // MPI_Win_sync: it looks, but something may have been stored before it
    OnlyLooks,   // it has changed nothing
};

/// The loops of one process. Rule sets other than Rules::Arrival take them for work.
class Looks
{
public:
    Looks(WindowProcess& process, Rules rules);

    [[nodiscard]] const std::vector<Looking>& loops() const { return loops_; }
    [[nodiscard]] LookRole role(std::uint32_t event) const { return roles_[event]; }
    /// Whether that lock epoch was there for a look only, which found nothing.
    [[nodiscard]] bool are_all_of(std::uint32_t lock_epoch) const { return only_looks_[lock_epoch] != 0; }

private:
    void find_loops(WindowProcess& process);
    void find_epochs(const WindowProcess& process);

    std::vector<Looking> loops_;            // ascending by end, of each location
    std::vector<LookRole> roles_;           // by event
    std::vector<std::uint8_t> only_looks_;  // by lock epoch
};

}  // namespace critpath::replayer
