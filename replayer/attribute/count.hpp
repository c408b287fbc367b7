// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the threads of the path counted while they were on it: the events that samples carry, divided at the
// borders of segments. (formats/FORMAT.md, "What was counted on the path")
#pragma once

#include "replayer/attribute/divide.hpp"
#include "replayer/attribute/tally.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace critpath::replayer
{

/// Divides what one process of the replay counted, and adds the parts to a Tally. A segment costs a few steps beside
/// those of the samples in it, if it is near the one of its location before.
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
    /// Asks one location, mostly about what is near to what was asked last.
    class Cursor
    {
    public:
        explicit Cursor(const model::LocationTrace& location);
        /// Processor time of the thread before a moment, ns, but for a constant.
        std::int64_t processor_time(model::Ns time);
        /// The first sample behind a moment.
        std::size_t sample_behind(model::Ns time);
        /// It is of a function, and not in a call.
        bool is_of_computation(std::size_t sample);

    private:
        const model::LocationTrace& location_;
        std::vector<std::int64_t> off_before_;  // without a processor, until each of LocationTrace::off
        std::size_t near_off_ = 0, near_sample_ = 0;
        struct Answer {
            std::size_t sample = SIZE_MAX;
            bool is_of_computation = false;
        };
        std::array<Answer, 2> answers_{};  // of even samples and of odd ones
    };
    struct Part {
        const model::LocationTrace& location;
        Cursor& cursor;
        std::uint32_t process;
        model::Ns begin, end;
    };

    /// Only samples have counts, whatever else the trace defines.
    [[nodiscard]] bool is_idle() const
    {
        return !replay_.definitions.has_samples || replay_.definitions.counted.empty();
    }
    Part part_of(const model::Segment& segment);
    std::vector<EventAmount>& amounts(Place place, std::uint32_t process);
    template <class PlaceOf>
    void divide(const Part& part, PlaceOf place_of);
    void add(const Part& part, std::size_t sample, model::Ns begin, model::Ns end, Place place);
    static std::int64_t part_of_count(const Part& part, std::size_t sample, model::Ns begin, model::Ns end,
                                      std::int64_t count);
    [[nodiscard]] Place place_of(const Part& part, std::size_t sample) const;

    const Replay& replay_;
    model::Ns origin_;
    const PathDivider& divider_;
    Tally& tally_;
    std::map<std::uint32_t, Cursor> cursors_;  // by LocationId
    /// Where the sums of the last places are, by what they are: a segment is mostly like one of those before it.
    struct Recent {
        Place place;
        std::uint32_t process;
        std::vector<EventAmount>* amounts = nullptr;
    };
    std::array<Recent, 64> recent_{};
};

}  // namespace critpath::replayer
