// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the times of one process' own ranks, on and off the path, by place and by part of the run.
#pragma once

#include "analysis/model/totals.hpp"
#include "replayer/attribute/places.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace critpath::replayer
{

struct Total {
    std::int64_t ns = 0;
    std::uint64_t samples = 0;
    std::int64_t other_threads_ns = 0;  // of ns, that of other threads than the first of a process
    std::int64_t in_calls_ns = 0;       // of ns, what MPI functions have, too, since it lies in calls of them

    void add(const Total& more)
    {
        ns += more.ns;
        samples += more.samples;
        other_threads_ns += more.other_threads_ns;
        in_calls_ns += more.in_calls_ns;
    }
    [[nodiscard]] bool is_zero() const { return ns == 0 && samples == 0; }
};

class Totals
{
public:
    Totals() : Totals(0, {}, {}) {}
    Totals(std::size_t contexts, model::Ns begin, model::Ns makespan)
        : of_context_(contexts), current_(contexts), origin_(begin.count()), slots_(makespan.count())
    {
    }

    /// What took [begin, end), each part of it in its own slot. Cheapest in the order of time.
    void add(Place place, model::Ns begin, model::Ns end, bool is_first_thread)
    {
        split(begin, end, [&](std::int64_t ns) { in_slot(place).add({ns, 0, is_first_thread ? 0 : ns}); });
    }
    /// Likewise, of what lies in a call that has it already.
    void add_in_call(Place place, model::Ns begin, model::Ns end, bool is_first_thread)
    {
        split(begin, end, [&](std::int64_t ns) { in_slot(place).add({ns, 0, is_first_thread ? 0 : ns, ns}); });
    }
    /// What one place has of [begin, end) belongs to the other.
    void move(Place from, Place to, model::Ns begin, model::Ns end, bool is_first_thread)
    {
        split(begin, end, [&](std::int64_t ns) {
            in_slot(from).add({-ns, 0, is_first_thread ? 0 : -ns});
            in_slot(to).add({ns, 0, is_first_thread ? 0 : ns});
        });
    }
    /// What a sample at that time stands for, in a call of MPI or not.
    void add_sample(Place place, model::Ns time, std::int64_t ns, bool is_first_thread, bool is_in_call)
    {
        move_to(time.count() - origin_);
        in_slot(place).add({ns, 1, is_first_thread ? 0 : ns, is_in_call ? ns : 0});
    }
    /// A place that may have no time of its own, but counts.
    void mention(const Place& place)
    {
        if (place.pseudo != Pseudo::None)
            of_pseudo_[place];
        else if (std::unique_ptr<OfPlace>& totals = of_context_[place.context.value]; !totals)
            totals = std::make_unique<OfPlace>();
    }
    /// Whose computation comes next.
    void begin_thread(model::LocationId location) { of_threads_.push_back({location.value, 0, {}}); }
    /// Time of that thread between its calls.
    void add_computed(model::Ns begin, model::Ns end)
    {
        split(begin, end, [&](std::int64_t ns) {
            computed_[slot_] += ns;
            of_threads_.back().ns[slot_ / model::ComputedParts::slots] += ns;
        });
    }
    /// When all is added, and before anything is asked for.
    void finish() { store(); }

    /// All that were added or mentioned.
    [[nodiscard]] std::vector<Place> places() const
    {
        std::vector<Place> result;
        for (std::uint32_t context = 0; context < of_context_.size(); ++context)
            if (of_context_[context])
                result.push_back({{context}});
        for (const auto& entry : of_pseudo_)
            result.push_back(entry.first);
        return result;
    }
    /// Calls `visit(place, slot, total)` for all that is not zero, by place.
    template <class Visit>
    void for_each(Visit visit) const
    {
        for (std::uint32_t context = 0; context < of_context_.size(); ++context)
            if (of_context_[context])
                of_context_[context]->for_each(
                    [&](std::uint32_t slot, const Total& total) { visit(Place{{context}}, slot, total); });
        for (const auto& entry : of_pseudo_)
            entry.second.for_each([&](std::uint32_t slot, const Total& total) { visit(entry.first, slot, total); });
    }
    /// By slot.
    [[nodiscard]] const std::array<std::int64_t, model::TimeSlots::number>& computed() const { return computed_; }

    /// In the order in which they came.
    [[nodiscard]] const std::vector<model::ComputedParts>& of_threads() const { return of_threads_; }

private:
    /// Most places are met in few parts of the run.
    class OfPlace
    {
    public:
        Total& at(std::uint32_t slot)
        {
            std::unique_ptr<Chunk>& chunk = chunks_[slot / chunk_slots];
            if (!chunk)
                chunk = std::make_unique<Chunk>();
            return (*chunk)[slot % chunk_slots];
        }
        template <class Visit>
        void for_each(Visit visit) const
        {
            for (std::uint32_t i = 0; i < chunks_.size(); ++i)
                for (std::uint32_t slot = 0; chunks_[i] && slot < chunk_slots; ++slot)
                    if (const Total& total = (*chunks_[i])[slot]; !total.is_zero())
                        visit(i * chunk_slots + slot, total);
        }

    private:
        static constexpr std::uint32_t chunk_slots = 25;
        static_assert(model::TimeSlots::number % chunk_slots == 0);
        using Chunk = std::array<Total, chunk_slots>;
        std::array<std::unique_ptr<Chunk>, model::TimeSlots::number / chunk_slots> chunks_;
    };

    /// What the place has in the current slot, until the next step. (By reference: a place is written in parts, and the
    /// processor would wait for these to read it as one.)
    Total& in_slot(const Place& place)
    {
        if (place.pseudo != Pseudo::None) {
            if (last_pseudo_ == nullptr || last_place_ != place) {
                last_place_ = place;
                last_pseudo_ = &of_pseudo_[place];
                last_total_ = nullptr;
            }
            if (last_total_ == nullptr)
                last_total_ = &last_pseudo_->at(slot_);
            return *last_total_;
        }
        Total& total = current_[place.context.value];
        if (total.is_zero())
            touched_.push_back(place.context.value);
        return total;
    }

    /// What was added in the current slot goes to its place: threads make many calls of few kinds there.
    void store()
    {
        for (const std::uint32_t context : touched_) {
            std::unique_ptr<OfPlace>& totals = of_context_[context];
            if (!totals)
                totals = std::make_unique<OfPlace>();
            totals->at(slot_).add(current_[context]);
            current_[context] = {};
        }
        touched_.clear();
    }

    void move_to_slot(std::uint32_t slot)
    {
        store();
        last_total_ = nullptr;
        slot_ = slot;
    }

    [[nodiscard]] bool is_in(std::uint32_t slot, std::int64_t time) const
    {
        return time >= slots_.begin(slot) && time < slots_.end(slot);
    }

    /// Makes the slot of that time the current one.
    void move_to(std::int64_t time)
    {
        if (is_in(slot_, time))
            return;
        const std::uint32_t next = slot_ + 1;  // mostly
        move_to_slot(next < model::TimeSlots::number && is_in(next, time) ? next : slots_.at(time));
    }

    /// Calls `add(ns)` for the part in each slot, which is the current one then. Mostly it is already.
    template <class Add>
    [[gnu::always_inline]] void split(model::Ns begin, model::Ns end, Add add)
    {
        const std::int64_t from = begin.count() - origin_;
        const std::int64_t to = end.count() - origin_;
        if (from >= slots_.begin(slot_) && to <= slots_.end(slot_) && from < to)
            add(to - from);
        else if (from < to)
            split_over_slots(from, to, add);
    }

    /// What lies outside of the run is in the first slot, or the last: nothing gets lost.
    template <class Add>
    [[gnu::noinline]] void split_over_slots(std::int64_t from, std::int64_t to, Add add)
    {
        move_to(from);
        for (; to > slots_.end(slot_) && slot_ + 1 < model::TimeSlots::number; move_to_slot(slot_ + 1))
            if (const std::int64_t until = slots_.end(slot_); from < until) {
                add(until - from);
                from = until;
            }
        add(to - from);
    }

    std::vector<std::unique_ptr<OfPlace>> of_context_;
    std::map<Place, OfPlace> of_pseudo_;
    std::vector<Total> current_;          // by ContextId: of the current slot
    std::vector<std::uint32_t> touched_;  // those that are not zero
    Place last_place_;
    OfPlace* last_pseudo_ = nullptr;  // its totals
    Total* last_total_ = nullptr;     // what it has in the current slot
    std::array<std::int64_t, model::TimeSlots::number> computed_{};
    std::vector<model::ComputedParts> of_threads_;
    std::int64_t origin_;
    model::TimeSlots slots_;
    std::uint32_t slot_ = 0;  // that of the last time
};

}  // namespace critpath::replayer
