// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which of the counts that the samples of a thread carry the path has something of, as records of counts.bin.
// (formats/FORMAT.md)
#pragma once

#include "analysis/model/counts.hpp"
#include "replayer/analysis.hpp"
#include "replayer/attribute/places.hpp"
#include "replayer/attribute/team.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
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

    /// What a sample may be time of: a function, the collector, or waiting for other threads.
    [[nodiscard]] std::uint32_t number(Place place) const
    {
        if (place.pseudo == Pseudo::None)
            return place.context.value;
        const std::uint32_t below = place.context.valid() ? place.context.value : contexts_;
        return contexts_ + below + (place.pseudo == Pseudo::Measurement ? contexts_ + 1 : 0);
    }

    [[nodiscard]] Place place(std::uint32_t number) const
    {
        if (!model::CallPathId{number}.valid())
            return {model::ContextId::none(), Pseudo::NotSampled};
        if (number < contexts_)
            return {model::ContextId{number}};
        const bool waits = number <= 2 * contexts_;
        const std::uint32_t below = number - contexts_ - (waits ? 0 : contexts_ + 1);
        return {below < contexts_ ? model::ContextId{below} : model::ContextId::none(),
                waits ? Pseudo::TeamWait : Pseudo::Measurement};
    }

private:
    std::uint32_t contexts_;
};

/// Records that are made one behind the other. As they become many they are not copied, which would cost more than to
/// make them.
class CountBlocks
{
public:
    explicit CountBlocks(std::size_t events) : events_(events) {}

    void push_back(const model::CountInterval& interval, std::span<const std::int64_t> counts)
    {
        if (size_ % block_size == 0) {
            blocks_.emplace_back(events_);
            if (size_ > 0)  // most are few
                blocks_.back().reserve(block_size);
        }
        blocks_.back().push_back(interval, counts);
        ++size_;
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] model::CountInterval interval(std::size_t i) const { return block_of(i).interval(i % block_size); }
    [[nodiscard]] std::span<const std::int64_t> counts(std::size_t i) const
    {
        return block_of(i).counts(i % block_size);
    }
    [[nodiscard]] std::size_t events() const { return events_; }
    /// Appends all blocks to `tables`; none is left.
    void move_to(std::vector<model::CountTable>& tables)
    {
        std::ranges::move(blocks_, std::back_inserter(tables));
        blocks_.clear();
        size_ = 0;
    }

private:
    static constexpr std::size_t block_size = 8192;  // records: large enough to be paged (paged_memory.hpp)

    [[nodiscard]] model::CountRecords block_of(std::size_t i) const { return blocks_[i / block_size].records(); }

    std::vector<model::CountTable> blocks_;
    std::size_t size_ = 0;
    std::size_t events_;
};

/// The intervals of one thread, which are made where the path comes to them.
class ThreadCounts
{
public:
    /// Times count from the begin of `run`. All must outlive this.
    ThreadCounts(const Replay& replay, const SampledCode& code, model::Interval run, model::LocationId location);

    /// Calls `visit(interval, counts)` for those that meet [begin, end); time ascends from call to call.
    template <class Visit>
    void for_each(model::Ns begin, model::Ns end, Visit visit)
    {
        if (made_ < end)
            make_until(begin, end);
        const std::int64_t from = (begin - run_.begin).count(), until = (end - run_.begin).count();
        while (next_ < intervals_.size() && interval(next_).end() <= from)
            ++next_;
        for (std::size_t i = next_; i < intervals_.size() && interval(i).begin < until; ++i) {
            visit(interval(i), intervals_.counts(i));
            if (interval(i).end() >= until)
                return;
        }
    }

    void add_moment(const model::CountInterval& moment, std::span<const std::int64_t> counts);
    /// Appends all that was made to `tables`, in the order of the file.
    void move_to(std::vector<model::CountTable>& tables);

    [[nodiscard]] std::uint32_t process() const { return process_; }

private:
    /// The time between two samples, which has several intervals where its thread lost its processor.
    struct Stretch {
        std::size_t sample = SIZE_MAX;  // behind it
        model::Ns since{}, until{};
        std::int64_t before = 0, processor_ns = 0;  // processor_time() at `since`, and from then on
        model::CountPlace last{}, first{};          // as CountInterval::last and ::before
    };

    /// The one that was asked for last is kept: many segments are shorter.
    const model::CountInterval& interval(std::size_t i)
    {
        if (std::exchange(kept_index_, i) != i)
            kept_ = intervals_.interval(i);
        return kept_;
    }
    void make_until(model::Ns begin, model::Ns end);
    model::Ns make_at(model::Ns time);
    [[nodiscard]] const Stretch& stretch_at(model::Ns time);
    void make(const Stretch& stretch, model::Ns begin, model::Ns end, std::uint32_t flags);
    [[nodiscard]] model::CountPlace place_of(std::size_t sample) const;
    [[nodiscard]] bool is_of_computation(const model::Sample& sample) const;
    [[nodiscard]] std::int64_t processor_time(model::Ns time) const;

    const SampledCode& code_;
    const model::ProcessTrace& trace_;
    const model::LocationTrace& location_;
    CountPlaceNumbers numbers_;
    model::Interval run_;
    std::uint32_t process_;
    CountBlocks intervals_;
    model::CountTable moments_;
    std::size_t next_ = 0;  // of the intervals: the first that may still meet what is asked for
    model::CountInterval kept_{};
    std::size_t kept_index_ = SIZE_MAX;
    model::Ns made_;                        // until here there are intervals of what the path has something of
    std::vector<std::int64_t> off_before_;  // ns without a processor, until each of LocationTrace::off
    std::size_t near_off_ = 0;
    Stretch stretch_;  // that was asked for last
};

/// By event, what a sample counts.
std::vector<std::int64_t> counts_of(const model::LocationTrace& location, std::size_t sample, std::size_t events);
/// CountInterval::scaled, if these are; or nothing.
std::uint32_t scaled_flag(const model::LocationTrace& location, std::size_t sample);

}  // namespace critpath::replayer
