// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how fast a process computes at a place, as the counts of its samples tell: cycles by time, by instruction, and
// time by instruction; and how often its instructions miss the caches, or were predicted wrongly. Each with its error.
// (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/peers/gaps.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// What was counted from one sample to the next.
struct CountedTime {
    double ns = 0;  // on the processor
    double instructions = 0;
    double cycles = 0;
    double cache_misses = -1;  // less than 0: not known; likewise
    double branch_misses = -1;
};

/// The logarithm of a quotient of sums, and the variance of that, in units of 2^-32 as fixed_log has them.
struct Ratio {
    std::int64_t log = 0;
    std::int64_t variance = 0;
};
/// `over` by `under`, of at least two. By how much the parts differ from the whole tells how exactly it is known.
Ratio ratio(std::span<const CountedTime> parts, double CountedTime::*over, double CountedTime::*under);

/// Where the two events stand in Definitions::counted, if samples count them.
struct PaceEvents {
    std::optional<std::size_t> instructions, cycles, cache_misses, branch_misses;
    [[nodiscard]] bool any() const { return instructions || cycles; }
};
PaceEvents pace_events(const model::Definitions& definitions);

/// How often something happens to an instruction.
struct Misses {
    std::int64_t known = 0;  // 1 if enough samples tell; else the ratio is 0
    Ratio by_instruction;
};
/// Of none at all, half a one is taken, which may as well be several.
Misses misses(std::span<const CountedTime> parts, double CountedTime::*count);

/// Of one process at one place. Travels as an array of 64-bit integers.
struct Pace {
    std::int64_t samples = 0;
    // With so many as are enough, and as far as the events are there; else 0:
    Ratio frequency;         // cycles by ns
    Ratio cycles;            // by instruction
    Ratio instruction_time;  // ns by instruction
    Misses cache_misses;
    Misses branch_misses;
};

/// `list`: the gaps at the place, ascending. Only samples count of which nearly all that they tell of lies in these.
Pace pace(Gaps& gaps, std::span<const std::uint32_t> list, const PaceEvents& events);

}  // namespace critpath::replayer
