// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the threads of the path counted while they were on it: the events that samples carry, divided at the
// borders of segments. (formats/FORMAT.md, "What was counted on the path")
#pragma once

#include "replayer/attribute/divide.hpp"
#include "replayer/attribute/tally.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace critpath::replayer
{

/// Divides what one process of the replay counted, and adds the parts to a Tally. In the order of samples and segments,
/// but for searches.
class CountDivider
{
public:
    /// Segments count their time from `origin`; `divider` knows whose time a sample is. All must outlive this.
    CountDivider(const Replay& replay, model::Ns origin, const PathDivider& divider, Tally& tally)
        : replay_(replay), origin_(origin), divider_(divider), tally_(tally)
    {
    }

    /// A computation: what its thread counted belongs to the functions that were sampled in it, or next to it.
    void add_computation(const model::Segment& segment);
    /// A call: to Segment::call.
    void add_call(const model::Segment& segment);

private:
    /// Of one location: how long it had no processor until each of LocationTrace::off.
    using OffBefore = std::vector<std::int64_t>;
    struct Part {
        const model::LocationTrace& location;
        const OffBefore& off_before;
        std::uint32_t process;
        model::Ns begin, end;
    };

    /// Only samples have counts, whatever else the trace defines.
    [[nodiscard]] bool is_idle() const
    {
        return !replay_.definitions.has_samples || replay_.definitions.counted.empty();
    }
    Part part_of(const model::Segment& segment);
    const OffBefore& off_before(const model::LocationTrace& location);
    template <class PlaceOf>
    void divide(const Part& part, PlaceOf place_of);
    void add(const Part& part, std::size_t sample, model::Ns begin, model::Ns end, Place place);
    [[nodiscard]] Place place_of(const Part& part, std::size_t sample) const;

    const Replay& replay_;
    model::Ns origin_;
    const PathDivider& divider_;
    Tally& tally_;
    std::map<std::uint32_t, OffBefore> off_before_;  // by LocationId
};

}  // namespace critpath::replayer
