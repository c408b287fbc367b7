// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the rule for fences of windows: whether one waited for a member, or for what was transferred before it.
// (docs/ALGORITHM, "One-sided communication")
#pragma once

#include "replayer/rules/predecessor.hpp"

#include <cstdint>
#include <span>

namespace critpath::replayer::rules
{

/// A transfer between windows that may have been under way when its origin came to the fence.
struct FencedTransfer {
    Enter enter;  // or that of the target, to the fence that let it begin
    Ns takes;     // at the least
    std::uint64_t bytes;
    model::ProcessId origin, target;
    model::LocationId origin_location, target_location;  // none() if it has none
    bool puts;                                           // its data goes to the target
    bool begun_by_target = false;                        // `enter` is the target's
};

/// A fence call that took longer than it costs.
struct FenceWait {
    CallRef call;
    model::ProcessId process;
    Ns leave;
    Ns last;        // when the last member came
    Ns completion;  // from there to the end, at the least
    bool together;  // at about the same time, all members left
    Ns error;       // by so much clocks may be off
};

/// Whether `other` explains the end of each fence at least as well: it began no sooner, and takes no less.
[[nodiscard]] bool is_dominated(const FencedTransfer& transfer, const FencedTransfer& other);

/// Of those of `transfers` that concern the call (where not all left together: of its own process), the one that
/// explains the end of the call better than the last member does; Route::Work: none.
Predecessor fence_predecessor(const FenceWait& wait, std::span<const FencedTransfer> transfers);

}  // namespace critpath::replayer::rules
