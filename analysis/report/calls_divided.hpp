// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns whose time on all ranks the inside of MPI calls is: results have it twice, by the function that was called and
// by those that samples found in it. (formats/FORMAT.md, `total_time`)
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>

namespace critpath::report
{

enum class InsideOfCalls : std::uint8_t {
    OfTheCall,     // as on the path: of the MPI function, whatever it calls
    OfTheLibrary,  // as in any list of samples: of the functions that do the work, and MPI functions have no time
};

/// Leaves one of the two, so that the time of one thread counts once. A second time, nothing is left to be done.
void divide_calls(model::Profile& profile, InsideOfCalls inside);

}  // namespace critpath::report
