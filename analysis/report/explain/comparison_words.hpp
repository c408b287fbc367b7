// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a stretch compares with its peers, in words.
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <string>

namespace critpath::report
{

/// Whether it takes longer on the processor, and nobody can tell by what.
bool is_missed(const Explanation& e);

/// How much longer than its peers it takes, who these are, by what, and what cannot be told.
std::string comparison_in_words(const Explanation& e);

}  // namespace critpath::report
