// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the re-execution of collectives as reductions: what each process knows of an instance from its own members
// becomes what all members of it need to know. Communicators that span much of the replay are reduced over all
// processes, thousands of instances at a time; small ones at one process each. (docs/ALGORITHM, "In parallel")
#pragma once

#include "replayer/collect/members.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace critpath::replayer
{

/// Of the whole trace; both sides of an inter-communicator count once each.
struct InstanceCounts {
    std::uint64_t all = 0;
    std::uint64_t incomplete = 0;
    std::uint64_t mismatched = 0;
    std::uint64_t unknown = 0;  // operations in functions that are not in the table
};

/// Gets instances `first`, `first` + 1, ... of a side, whole.
using VisitInstances = std::function<void(Side side, std::uint32_t first, std::span<const rules::Instance> instances)>;

/// Calls `visit` for all instances on the sides that owned processes are members of, and on their partner sides, those
/// of a side in order; they are not in memory all at once. Instances of a communicator without a partner to reduce with
/// cost nothing but their own processes' time. Collective over `replay.comm`; `visit` must not be.
InstanceCounts reduce_instances(const Replay& replay, const Members& members, const VisitInstances& visit);

/// Whether all members of the side were there, in the same operation; otherwise nothing can be concluded from it.
bool usable(const rules::Instance& instance, std::size_t size);

}  // namespace critpath::replayer
