// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what threads did inside of MPI while the path was there: in calls on the path, and of transfers on both sides,
// of which one may be held by another process of the replay. (docs/ALGORITHM, "Inside MPI")
#pragma once

#include "replayer/attribute/recent_map.hpp"
#include "replayer/attribute/sampled_code.hpp"
#include "replayer/attribute/spin.hpp"
#include "replayer/attribute/tally.hpp"

#include <cstddef>
#include <cstdint>

namespace critpath::replayer
{

/// Adds attributions of the owned locations to a Tally. A segment costs a few steps beside those of the samples in it,
/// if it is near the one of its location before.
class InsideFinder
{
public:
    /// Attributions count their time from `origin`; `code` knows whose time a sample is. All must outlive this.
    InsideFinder(const Replay& replay, const SpinFunctions& spin, const SampledCode& code, model::Ns origin,
                 Tally& tally)
        : replay_(replay), spin_(spin), code_(code), origin_(origin), tally_(tally)
    {
    }

    /// Of a segment in a call.
    void add_call(const model::Segment& segment);
    /// Of a transfer, what a thread did in one of its calls in [begin, end): there, spinning says nothing.
    void add_transfer(model::CallRef call, model::Ns begin, model::Ns end);
    /// Whether a thread of the process was sampled then.
    bool has_samples(const model::ProcessTrace& trace, model::Ns begin, model::Ns end);

private:
    enum class Spinning : bool { Left, Noted };
    std::size_t first_sample(const model::LocationTrace& trace, model::Ns begin);
    void add(model::LocationId location, model::Ns begin, model::Ns end, Spinning spinning);

    const Replay& replay_;
    const SpinFunctions& spin_;
    const SampledCode& code_;
    model::Ns origin_;
    Tally& tally_;
    struct ByLocation {
        std::size_t operator()(std::uint32_t location) const { return location; }
    };
    /// Between two samples of a location: most segments are shorter.
    struct Unsampled {
        model::LocationId location = model::LocationId::none();
        model::Ns since{}, until{};  // when these were taken
    };
    Unsampled last_unsampled_;
    RecentMap<std::uint32_t, std::size_t, ByLocation> near_samples_;  // where the last segment of each location was
};

/// Both sides of all transfers on the path; the tally has the rest of what `path` is divided into. Collective over
/// `replay.comm`.
void add_transfers(const Replay& replay, const Predecessors& predecessors, const Path& path, const SpinFunctions& spin,
                   Tally& tally);

}  // namespace critpath::replayer
