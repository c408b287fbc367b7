// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which part of a run is what the program does most of the time, and not how it starts and ends.
#pragma once

#include "analysis/division/windows.hpp"

#include <span>

namespace critpath::report
{

/// From the first to the last of those MPI calls that the path has, or has come from last, in half of the phases, and
/// that come again and again; where there are none, from MPI_Init to MPI_Finalize. Phases follow each other.
division::Window steady_part(const model::Profile& profile, std::span<const model::Segment> segments,
                             std::span<const division::Window> phases);

/// Whether less than a tenth of the phase lies outside: that makes no more than a tenth of its character.
bool is_steady(const division::Window& phase, const division::Window& steady_part);

}  // namespace critpath::report
