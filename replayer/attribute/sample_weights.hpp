// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns for how much time samples of first threads stand between two MPI calls. Who was just interrupted by a sample is
// late, and the path goes there: where ranks have as much to do, it has more samples than its time would have, and the
// other ranks have fewer; where one rank has more to do than all others, it has not. (docs/ALGORITHM, "Samples")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/peers/same_calls.hpp"
#include "replayer/restore/restore.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

class SampleWeights
{
public:
    /// `same`: which calls are one place. Must not outlive `replay`. Collective over `replay.comm`; the same for any
    /// number of processes.
    SampleWeights(const Replay& replay, const Path& path, const SameCalls& same);

    /// What the sample of an owned process stands for, ns, on the path if it is there, or else off it: its period in
    /// the proportions of the time between the calls around it; elsewhere its period.
    [[nodiscard]] std::int64_t of(const model::LocationTrace& location, const model::Sample& sample) const;
    /// What it stands for on and off the path, of which the samples of all ranks tell by their periods; but no less
    /// than on the path.
    [[nodiscard]] std::int64_t of_all(const model::LocationTrace& location, const model::Sample& sample) const;

    /// So many samples of equal weight, of a million, say as much of the path as a million of its own.
    [[nodiscard]] std::int64_t equal_ones() const { return equal_ones_; }

private:
    struct OfFirstThread {
        std::vector<std::int64_t> ns;      // by sample; empty: as their periods
        std::vector<std::int64_t> all_ns;  // likewise, on and off the path
    };
    /// Null: it is of another thread.
    [[nodiscard]] const OfFirstThread* find(const model::LocationTrace& location) const;

    const Replay& replay_;
    std::vector<OfFirstThread> threads_;  // by index into Replay::processes
    std::int64_t equal_ones_;
};

}  // namespace critpath::replayer
