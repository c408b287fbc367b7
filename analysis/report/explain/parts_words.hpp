// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns by what a stretch takes longer than its peers, in words.
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <string>

namespace critpath::report
{

/// Many times the time of the peers is no percent: parts are then of the difference.
bool are_parts_of_difference(const Reason& reason);
/// What parts are parts of.
double whole_of(const Reason& reason);
/// In whole numbers, as figures are shown.
long rounded_percent(double part);
/// What each factor adds to the time of the peers, the largest first: "+38 % by more instructions", of samples
/// "+38 % (± 5) by more instructions". Many times that time are no percent: then of the difference.
/// `reason`: of the stretch `e`, or of a rank in it.
std::string parts_in_words(const Reason& reason, const Explanation& e);

}  // namespace critpath::report
