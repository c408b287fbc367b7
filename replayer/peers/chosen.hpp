// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the steps of the phase "peers" behind the choice of places: the gaps on the path against those of the peers, and
// the gaps of all ranks against each other.
#pragma once

#include "analysis/model/stretch.hpp"
#include "replayer/peers/gaps.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// The places that are worth an explanation, and the gaps of the owned processes there.
struct Chosen {
    struct OnPath {
        std::int64_t ns;
        std::uint32_t place, occurrence;
        std::int64_t stands_for;  // so many gaps, itself among them
    };
    struct Total {
        std::int64_t ns = 0, gaps = 0;
    };
    /// By place and by index into Replay::processes: gaps, ascending. Entry k is occurrence k.
    std::vector<std::vector<std::vector<std::uint32_t>>> gaps;
    /// By index into Replay::processes: those that are on the path and to be compared, in order of time.
    std::vector<std::vector<OnPath>> on_path;
    /// By place and by index into Replay::processes: all that is on the path.
    std::vector<std::vector<Total>> totals;
};

/// Of the gaps of one owned process at a place that are on the path and compared, those of which nobody has counted
/// instructions or cycles.
struct Uncounted {
    std::int64_t gaps = 0;
    std::int64_t processor_ns = 0;  // what they take longer on the processor
    std::int64_t per_log_ns = 0;    // what they take longer for each unit of the logarithm of a factor
};

struct Compared {
    std::vector<model::StretchShare> shares;        // of the owned processes
    std::vector<std::vector<Uncounted>> uncounted;  // by place, and by index into Replay::processes
};

/// Compares each gap on the path with the same occurrence on the other processes; adds to `sums`, by place, what the
/// owned processes have on the path. Collective over `replay.comm`.
Compared compare(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                 std::vector<model::Stretch>& sums);

/// Moves in `sums` what uncounted gaps take longer on the processor to instructions, cycles and frequency, where
/// samples of all processes count these. Returns, by place, who has the fewest of such samples. Collective over
/// `replay.comm`.
struct FewestSamples {
    std::int64_t samples = 0;
    std::int64_t rank = -1;  // none, if the trace has no such samples
};
std::vector<FewestSamples> tell_by_samples(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                                           const std::vector<std::vector<Uncounted>>& uncounted,
                                           std::vector<model::Stretch>& sums);

/// Fills in which differences between ranks, and nodes, persist, and how many ranks are slow. Collective over
/// `replay.comm`; the same on all processes.
void find_persistence(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                      std::vector<model::Stretch>& stretches);

}  // namespace critpath::replayer
