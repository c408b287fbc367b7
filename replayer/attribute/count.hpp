// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the sums of what was counted on the path: the counts of its threads, as division/counts divides them, and those
// of other threads that it waits for. (formats/FORMAT.md, "What was counted on the path")
#pragma once

#include "analysis/model/counts.hpp"
#include "replayer/attribute/tally.hpp"
#include "replayer/attribute/team.hpp"
#include "replayer/attribute/thread_counts.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace critpath::replayer
{

/// Divides what one process of the replay counted, and adds the parts to a Tally. A segment costs a few steps beside
/// those of the samples in it.
class CountDivider
{
public:
    /// Segments count their time from the begin of `run`. All must outlive this.
    CountDivider(const Replay& replay, model::Interval run, const SampledCode& code, Tally& tally)
        : replay_(replay), run_(run), code_(code), numbers_(replay.definitions), tally_(tally)
    {
    }

    /// Those of a location in order of time.
    void add(const model::Segment& segment);
    /// Of the processor time that `work` stands for, `ns` are on the path, which waits on `location` at `time`.
    void add_work(model::LocationId location, model::Ns time, std::int64_t ns, const Work& work);
    /// Adds the records of counts.bin.
    void finish();

private:
    /// Only samples have counts, whatever else the trace defines.
    [[nodiscard]] bool is_idle() const
    {
        return !replay_.definitions.has_samples || replay_.definitions.counted.empty();
    }
    ThreadCounts& thread(model::LocationId location)
    {
        return last_thread_ != nullptr && last_location_ == location ? *last_thread_ : find_thread(location);
    }
    ThreadCounts& find_thread(model::LocationId location);
    std::vector<model::EventAmount>& amounts(Place place, std::uint32_t process);

    const Replay& replay_;
    model::Interval run_;
    const SampledCode& code_;
    CountPlaceNumbers numbers_;
    Tally& tally_;
    std::map<model::LocationId, ThreadCounts> threads_;
    ThreadCounts* last_thread_ = nullptr;  // that was asked for
    model::LocationId last_location_ = model::LocationId::none();
};

}  // namespace critpath::replayer
