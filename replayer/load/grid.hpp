// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a Cartesian topology says about neighbourhood collectives: whom each rank gets something from. (MPI-3.1,
// 7.6: the neighbours of a rank are those at -1 and at +1 in each dimension)
#pragma once

#include "analysis/model/neighbours.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer::load
{

struct Grid {
    struct Dimension {
        std::uint32_t size;
        bool is_periodic;
    };
    struct Place {
        std::uint32_t rank;
        std::vector<std::uint32_t> coordinates;
    };

    std::vector<Dimension> dimensions;
    std::vector<Place> places;  // empty: in row-major order, as MPI has them
};

/// Of a communicator of so many ranks. Nothing, if the grid is not one of each rank in a place of its own: other tools
/// describe machines and threads as grids, too.
std::optional<model::Neighbours> neighbours(const Grid& grid, std::size_t ranks);

}  // namespace critpath::replayer::load
