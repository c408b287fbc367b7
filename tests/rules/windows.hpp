// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is true of the windows of any run.
#pragma once

#include "tests/builder/replayed.hpp"

#include <cstdint>

namespace critpath::tests
{

/// The whole run as a window is what the replay found; windows that the run is cut into at random add up to it, and the
/// rows of each sum to its length.
void expect_windows_of(const Replayed& r, std::uint32_t seed);

}  // namespace critpath::tests
