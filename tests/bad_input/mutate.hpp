// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how an archive is damaged at random.
#pragma once

#include "tests/bad_input/archive.hpp"

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace critpath::bad_input
{

using Random = std::mt19937_64;

/// Damages `archive` in one to three places; files may be damaged, cut, exchanged or missing. `others`: archives of
/// which pieces may appear. Returns in words what was done.
std::string mutate(Archive& archive, const std::vector<Archive>& others, Random& random);

}  // namespace critpath::bad_input
