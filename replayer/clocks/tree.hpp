// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns by which comparisons a clock is related to the one that all share: the shortest paths over the pairs of clocks
// that were compared, whose lengths are errors. All processes agree on them, though each knows only some pairs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace critpath::replayer::clocks
{

struct Link {
    std::uint32_t a, b;  // clocks
    std::int64_t error;
};

/// By clock.
struct Tree {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max() / 4;

    std::vector<std::uint32_t> parent;  // none: it is not related to another one, but to the shared one, or not at all
    std::vector<std::int64_t> error;    // of the way to the shared one; unknown: there is none
    std::vector<std::uint32_t> level;   // 0 without a parent
    std::uint32_t depth = 0;            // the largest level
};

/// `error`: by clock, that of what relates it to the shared one as it is (0: it is that one); unknown where nothing
/// does. `links`: those that this process knows. In rounds, one a level at the least. Collective.
Tree shortest_paths(MPI_Comm comm, std::vector<std::int64_t> error, const std::vector<Link>& links);

}  // namespace critpath::replayer::clocks
