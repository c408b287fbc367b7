// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a trace in memory knows of one-sided communication: windows, and what each call did on one, unless it was
// collective (those are among ProcessTrace::collectives).
#pragma once

#include "analysis/model/calls.hpp"
#include "analysis/model/ids.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::model
{

using WindowId = Id<struct WindowTag>;              // dense index over the window definitions
using ProcessGroupId = Id<struct ProcessGroupTag>;  // dense index over the groups that epochs may name

struct Window {
    std::string name;
    CommId comm;  // its own: of its members, and with its collectives (creation, fences, freeing) alone
};

/// A group of processes as MPI_Win_start and MPI_Win_post name it.
using ProcessGroup = std::vector<ProcessId>;

/// What one call did on a window.
struct WindowEvent {
    enum class What : std::uint8_t {
        Start,
        Post,
        Complete,
        Wait,  // also the MPI_Win_test that found the epoch over
        Lock,
        Unlock,
        Flush,
        Transfer,  // put, get or accumulate
        Sync,      // of the own memory with what others see of it
    };
    /// What a transfer does to its target.
    enum class Access : std::uint8_t {
        None,
        Reads,
        Writes,
        Changes,  // reads it, and makes of that something else
        Swaps,    // reads it, and puts something there that does not depend on it, always or where it is as expected
    };

    CallRef call;
    CallRef completion;  // of a transfer with a request: the call that completed it
    WindowId window;
    ProcessGroupId group;  // Start, Post: with whom
    std::int32_t target;   // Lock, Unlock, Flush, Transfer: rank in the window; -1: all
    What what;
    bool exclusive;       // Lock
    bool no_check;        // Start, Post: MPI_MODE_NOCHECK
    Access access;        // Transfer
    std::uint64_t bytes;  // of a transfer; otherwise of all transfers that the call completes

    [[nodiscard]] bool reads() const { return access != Access::None && access != Access::Writes; }
    [[nodiscard]] bool writes() const { return access != Access::None && access != Access::Reads; }
};

}  // namespace critpath::model
