// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the threads of the path counted while they were on it: which parts of the counts that samples carry the
// path has something of, and their sums. How these are divided is division/counts. (formats/FORMAT.md, "What was
// counted on the path")
#pragma once

#include "analysis/model/counts.hpp"
#include "replayer/attribute/tally.hpp"
#include "replayer/attribute/team.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace critpath::replayer
{

/// Numbers of the places that counts may have, as long as call paths have none: those of contexts are their ContextId.
class CountPlaceNumbers
{
public:
    explicit CountPlaceNumbers(const model::Definitions& definitions)
        : contexts_(static_cast<std::uint32_t>(definitions.contexts.size()))
    {
    }

    /// Of a function, or of a wait for other threads.
    [[nodiscard]] std::uint32_t number(Place place) const
    {
        if (place.pseudo == Pseudo::None)
            return place.context.value;
        return contexts_ + (place.context.valid() ? place.context.value : contexts_);
    }

    [[nodiscard]] Place place(std::uint32_t number) const
    {
        if (!model::CallPathId{number}.valid())
            return {model::ContextId::none(), Pseudo::NotSampled};
        if (number < contexts_)
            return {model::ContextId{number}};
        const std::uint32_t waiter = number - contexts_;
        return {waiter < contexts_ ? model::ContextId{waiter} : model::ContextId::none(), Pseudo::TeamWait};
    }

private:
    std::uint32_t contexts_;
};

/// The intervals of one thread, which are made where the path comes to them.
class ThreadCounts
{
public:
    /// Times count from the begin of `run`. All must outlive this.
    ThreadCounts(const Replay& replay, const TeamWaits& waits, model::Interval run, model::LocationId location);

    /// Calls `visit(interval, counts)` for those that meet [begin, end); time ascends from call to call.
    template <class Visit>
    void for_each(model::Ns begin, model::Ns end, Visit visit);

    void add_moment(const model::CountInterval& moment, std::span<const std::int64_t> counts);
    /// Adds all that was made, in the order of the file.
    void append_to(model::CountTable& table) const;

    [[nodiscard]] std::uint32_t process() const { return process_; }

private:
    /// The time between two samples.
    struct Stretch {
        std::size_t sample;  // behind it
        model::Ns since, until;
    };

    void make_until(model::Ns begin, model::Ns end);
    model::Ns make_at(model::Ns time);
    [[nodiscard]] Stretch stretch_at(model::Ns time);
    void make(const Stretch& stretch, model::Ns begin, model::Ns end, std::uint32_t flags);
    [[nodiscard]] model::CountPlace place_of(std::size_t sample) const;
    [[nodiscard]] bool is_of_computation(const model::Sample& sample) const;
    [[nodiscard]] std::int64_t processor_time(model::Ns time) const;

    const Replay& replay_;
    const TeamWaits& waits_;
    const model::ProcessTrace& trace_;
    const model::LocationTrace& location_;
    CountPlaceNumbers numbers_;
    model::Interval run_;
    std::uint32_t process_;
    model::CountTable intervals_, moments_;
    std::size_t next_ = 0;                  // of the intervals: the first that may still meet what is asked for
    model::Ns made_;                        // until here there are intervals of what the path has something of
    std::vector<std::int64_t> off_before_;  // ns without a processor, until each of LocationTrace::off
    std::size_t near_off_ = 0, near_sample_ = 0;
};

/// Divides what one process of the replay counted, and adds the parts to a Tally. A segment costs a few steps beside
/// those of the samples in it.
class CountDivider
{
public:
    /// Segments count their time from the begin of `run`. All must outlive this.
    CountDivider(const Replay& replay, model::Interval run, const TeamWaits& waits, Tally& tally)
        : replay_(replay), run_(run), waits_(waits), numbers_(replay.definitions), tally_(tally)
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
    ThreadCounts& thread(model::LocationId location);
    std::vector<model::EventAmount>& amounts(Place place, std::uint32_t process);

    const Replay& replay_;
    model::Interval run_;
    const TeamWaits& waits_;
    CountPlaceNumbers numbers_;
    Tally& tally_;
    std::map<model::LocationId, ThreadCounts> threads_;
    /// Where the sums of the last places are, by what they are: a segment is mostly like one of those before it.
    struct Recent {
        Place place;
        std::uint32_t process;
        std::vector<model::EventAmount>* amounts = nullptr;
    };
    std::array<Recent, 64> recent_{};
};

}  // namespace critpath::replayer
