// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns whether ranks come to a stretch from calls that the program makes at different places, so that what they do
// behind these may be different work: a master and its one worker meet between calls of the same two functions.
#pragma once

#include "analysis/report/explain/when.hpp"

#include <span>

namespace critpath::report
{

/// Adds that to the explanation. `gaps`: of its stretch.
void add_sites(const model::Profile& profile, std::span<const PathGap> gaps, binary::SourceLines& lines,
               Explanation& e);

}  // namespace critpath::report
