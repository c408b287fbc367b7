// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns clocks that are off, and how far what comes out is from what comes out with true ones.
#pragma once

#include "tests/builder/replayed.hpp"
#include "tests/oracle/archive.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

namespace critpath::oracle
{

/// As a trace of another tool, without a word on its clocks; node 1 is off.
inline Clocks one_off(int nodes, std::int64_t offset_ns)
{
    Clocks result{.nodes = {}, .said = Clocks::Said::Nothing};
    result.nodes.resize(static_cast<std::size_t>(nodes));
    result.nodes[1].offset_ns = offset_ns;
    return result;
}

/// Within 0.1 ms of each other, with rates within 20 ppm of the true one.
inline Clocks random_clocks(int nodes, std::uint32_t seed)
{
    std::mt19937 random(seed);
    Clocks result{.nodes = {}, .said = Clocks::Said::Nothing};
    for (int i = 0; i < nodes; ++i)
        result.nodes.push_back({static_cast<std::int64_t>(random() % 100'000) - 50'000,
                                static_cast<std::int64_t>(random() % 40'000) - 20'000});
    return result;
}

/// By honest intervals, whose middle is not the truth.
inline Clocks measured(Clocks clocks)
{
    clocks.said = Clocks::Said::Measured;
    clocks.half_width_ns = 5000;
    clocks.error_ns = 2000;
    return clocks;
}

inline double part_of_path(const tests::Replayed& replayed, std::int64_t ns)
{
    return static_cast<double>(ns) / static_cast<double>(replayed.fact("path_ns"));
}

inline double share(const tests::Replayed& replayed, std::size_t rank)
{
    return part_of_path(replayed, replayed.profile.processes[rank].path_ns);
}

/// The largest difference of a rank's share of the path.
inline double difference(const tests::Replayed& a, const tests::Replayed& b)
{
    double largest = 0;
    for (std::size_t r = 0; r < a.profile.processes.size(); ++r)
        largest = std::max(largest, std::abs(share(a, r) - share(b, r)));
    return largest;
}

/// The part of the path that was decided within the error of the clocks, and what that may have led to.
inline double decided(const tests::Replayed& replayed)
{
    return part_of_path(replayed, replayed.fact("clock_decided_ns"));
}
inline double doubted(const tests::Replayed& replayed)
{
    return part_of_path(replayed, replayed.fact("clock_doubted_ns"));
}

}  // namespace critpath::oracle
