// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what misses of caches, and branches that were predicted wrongly, say about instructions that are slow.
// (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/report/explain/explain.hpp"

#include <string>
#include <string_view>

namespace critpath::report
{

/// Sets Explanation::cache_misses and branch_misses, as far as they are known.
void add_misses(Explanation& explanation);

/// Of these three, nothing is known but where instructions are slow:
/// Which kind makes them slow, as far as that is beyond doubt; else "".
std::string_view missed(const Explanation& explanation);
/// Sentences: how often it happens, there and on the peers.
std::string misses_in_words(const Explanation& explanation);
/// What to look at, on this rank or on the slow ones.
std::string misses_remedy(const Explanation& explanation, bool are_many);

}  // namespace critpath::report
