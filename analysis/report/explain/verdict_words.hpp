// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the verdict on a stretch, and what to do about it, in words.
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <string>

namespace critpath::report
{

/// Which ranks it is about, how often, and what to do, if that can matter.
std::string verdict_in_words(const Explanation& e, const model::Profile& profile);
/// Of the rank that takes longer for another reason than the one that the verdict is about.
std::string other_in_words(const Explanation& e);
/// Verdicts on ranks are of those that come there often enough to be told apart: of the others.
std::string left_out_in_words(const Explanation& e, const model::Profile& profile);
/// What takes much of the time and is no work has a remedy of its own, even if peers lose as much and something else
/// makes the difference.
std::string besides_in_words(const Explanation& e);

}  // namespace critpath::report
