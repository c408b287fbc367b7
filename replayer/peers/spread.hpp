// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns by how much the parts of a difference vary from one gap to the next. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/model/stretch.hpp"
#include "replayer/peers/split.hpp"

#include <cstdint>

namespace critpath::replayer
{

/// Sums over gaps on the path that have peers. Made of 64-bit integers that add up, so that it travels as an array of
/// them, and is the same whoever has added what.
class Spread
{
public:
    static constexpr int numbers = 13;

    /// One more gap, which stands for so many.
    void add(const Split& parts, std::int64_t stands_for);
    void add(const Spread& more);
    /// Fills in the spreads: of sums over as many gaps as these, 95 %. Of one alone nothing is known.
    void write_to(model::Difference& difference) const;

private:
    struct Part {
        std::int64_t sum = 0;
        // Of squares, which 64 bits do not hold: in units of 2^80, of what is left in units of 2^40, and the rest.
        std::int64_t high = 0, middle = 0, low = 0;

        void add(std::int64_t ns);
        [[nodiscard]] std::int64_t spread(std::int64_t gaps) const;
    };

    std::int64_t gaps_ = 0;
    Part work_, preempted_, blocked_;
};

}  // namespace critpath::replayer
