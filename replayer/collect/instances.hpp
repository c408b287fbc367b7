// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the re-execution of collectives as reductions: what each process knows of an instance from its own members
// becomes what all members of it need to know. Communicators that span much of the replay are reduced over all
// processes, thousands of instances at a time; small ones at one process each. (docs/ALGORITHM, "In parallel")
#pragma once

#include "replayer/collect/members.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace critpath::replayer
{

/// All instances on the sides that owned processes are members of, and on their partner sides.
class Instances
{
public:
    /// The n-th instance on a side.
    [[nodiscard]] const rules::Instance& at(Side side, std::uint32_t number) const;

    std::unordered_map<std::uint32_t, std::vector<rules::Instance>> by_side;
    // Of the whole trace; both sides of an inter-communicator count once each.
    std::uint64_t count = 0;
    std::uint64_t incomplete = 0;
    std::uint64_t mismatched = 0;
};

/// Instances of a communicator without a partner to reduce with cost nothing but their own processes' time.
/// Collective over `replay.comm`.
Instances reduce_instances(const Replay& replay, const Members& members);

/// Whether all members of the side were there, in the same operation; otherwise nothing can be concluded from it.
bool usable(const rules::Instance& instance, std::size_t size);

}  // namespace critpath::replayer
