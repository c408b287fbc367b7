// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the call tree without the levels that functions fill which call themselves.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace critpath::report
{

/// A profile in which calls of a function by itself, directly, are one call, which calls what all of them call.
struct FoldedRecursion {
    model::Profile profile;                 // the sums of the original; without stretches and counts of events
    std::vector<std::size_t> levels;        // by CallPathId: how many of such calls are below each other at most
    std::vector<model::CallPathId> places;  // by CallPathId of the original: what it is in `profile`
};

/// Nothing if no function calls itself. Functions without a name of their own ("[app]") are many, and not folded.
/// `is_inlined`: by CallPathId, as of a CallTree; calls that are and others stay apart. Empty: none is.
std::optional<FoldedRecursion> fold_recursion(const model::Profile& profile, const std::vector<bool>& is_inlined = {});

}  // namespace critpath::report
