// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns when, in the course of the run, a stretch takes longer than on the peers: of one that does so now and then,
// whether that is one part of the run, and whether anything is known of the time at which it did so most.
// (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/division/windows.hpp"
#include "analysis/report/explain/explain.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace critpath::report
{

/// A gap, or the part of it that is on the path.
struct PathGap {
    division::Window window;
    std::size_t rank = 0;
    model::CallPathId before = model::CallPathId::none();  // the call that it lies behind
};

/// Those of a stretch, in the order of time. Segments tell the call before a gap, and not always the one behind it:
/// empty if what they tell does not make up the time of the stretch.
std::vector<PathGap> gaps_on_path(const model::Profile& profile, const model::Stretch& stretch,
                                  std::span<const model::Segment> segments);

/// What differs from time to time, of which the records of the path tell more.
bool is_of_some_times(const Explanation& e);

/// Adds to such an explanation what these tell. `gaps`: of its stretch.
void add_times(const model::Profile& profile, const std::vector<PathGap>& gaps,
               std::span<const model::Attribution> attributions, Explanation& e);

}  // namespace critpath::report
