// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what all ranks have of a part of the run, on and off the path.
#pragma once

#include "analysis/division/windows.hpp"
#include "analysis/model/totals.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace critpath::division
{

/// How well the times of all ranks are known in a window.
enum class TotalsKnown : std::uint8_t {
    Exactly,       // it begins and ends with slots
    Interpolated,  // what a slot has is taken to be spread over it evenly
    Not,           // it is shorter than a slot
};
TotalsKnown totals_known(std::int64_t makespan_ns, const Window& window);
/// Likewise, of what each of them computes, which is known by ComputedParts.
TotalsKnown computed_known(std::int64_t makespan_ns, const Window& window);

struct TotalsIn {
    std::vector<model::CallPathTime> totals;  // as Profile::totals
    std::int64_t computed_ns = 0;             // the sum of what Profile::computed_ns has of the window
};

/// By window. Windows follow each other in time; the sums of those that make up another one are those of that one.
/// `parts`: those of the run, which has so many call paths. Throws std::out_of_range if they do not fit to it.
std::vector<TotalsIn> totals_in(std::int64_t makespan_ns, std::size_t call_paths,
                                std::span<const model::TotalPart> parts, std::span<const Window> windows);

/// By LocationId, of so many: what they compute in the window. Throws std::out_of_range if there are others.
std::vector<std::int64_t> computed_in(std::int64_t makespan_ns, std::size_t locations,
                                      std::span<const model::ComputedParts> parts, const Window& window);

}  // namespace critpath::division
