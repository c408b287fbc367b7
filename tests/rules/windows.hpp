// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is true of the windows of any run, and a run that is worth cutting.
#pragma once

#include "tests/builder/replayed.hpp"

#include <cstdint>

namespace critpath::tests
{

/// The whole run as a window is what the replay found; windows that the run is cut into at random add up to it, and the
/// rows of each sum to its length.
void expect_windows_of(const Replayed& r, std::uint32_t seed);

/// Rank 0 carries the path and has no processor while it computes, and while it is in a collective; rank 1 neither, in
/// a wait.
inline Replayed replay_off_the_processor()
{
    Program p(2);
    p[0].called_from({"main", "step", "exchange"});
    p[0].send({100, 101}, 1, 8, 1);
    p[0].sample(150, {"main", "step", "kernel"}, 200, 0);
    p[0].off({200, 300}, true);
    p[0].off({350, 360}, false);
    p[0].called_from({"main", "step"});
    p[0].off({410, 450}, true);
    p[0].collective(FunctionId::MPI_Allreduce, {401, 451});
    p[1].recv({90, 102}, 0, 8, 1);
    p[1].off({110, 440}, false);  // in a wait that is not on the path
    p[1].collective(FunctionId::MPI_Allreduce, {105, 452});
    p[1].finish(453);
    p[0].finish(500);
    return replay(p);
}

}  // namespace critpath::tests
