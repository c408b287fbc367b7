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

    void add(const Total& more)
    {
        ns += more.ns;
        samples += more.samples;
        other_threads_ns += more.other_threads_ns;
    }
    [[nodiscard]] bool is_zero() const { return ns == 0 && samples == 0; }
};

class Totals
{
public:
    Totals() : Totals(0, {}, {}) {}
    Totals(std::size_t contexts, model::Ns begin, model::Ns makespan)
        : of_context_(contexts), origin_(begin.count()), slots_(makespan.count())
    {
    }

    /// What took [begin, end), each part of it in its own slot. Cheapest in the order of time.
    void add(Place place, model::Ns begin, model::Ns end, bool is_first_thread)
    {
        split(begin, end, [&](std::uint32_t slot, std::int64_t ns) {
            at(place, slot).add({ns, 0, is_first_thread ? 0 : ns});
        });
    }
    /// What a sample at that time stands for.
    void add_sample(Place place, model::Ns time, std::int64_t ns, bool is_first_thread)
    {
        move_to(time.count() - origin_);
        at(place, slot_).add({ns, 1, is_first_thread ? 0 : ns});
    }
    /// Time of a thread between its calls.
    void add_computed(model::Ns begin, model::Ns end)
    {
        split(begin, end, [&](std::uint32_t slot, std::int64_t ns) { computed_[slot] += ns; });
    }

    /// Calls `visit(place, slot, total)` for all that is not zero, by place.
    template <class Visit>
    void for_each(Visit visit) const
    {
        for (std::uint32_t context = 0; context < of_context_.size(); ++context)
            if (of_context_[context])
                of_context_[context]->for_each(
                    [&](std::uint32_t slot, const Total& total) { visit(Place{{context}}, slot, total); });
        for (const auto& [place, totals] : of_pseudo_)
            totals.for_each([&](std::uint32_t slot, const Total& total) { visit(place, slot, total); });
    }
    /// By slot.
    [[nodiscard]] const std::array<std::int64_t, model::TimeSlots::number>& computed() const { return computed_; }

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

    Total& at(Place place, std::uint32_t slot)
    {
        if (place.pseudo != Pseudo::None)
            return of_pseudo_[place].at(slot);
        std::unique_ptr<OfPlace>& totals = of_context_[place.context.value];
        if (!totals)
            totals = std::make_unique<OfPlace>();
        return totals->at(slot);
    }

    /// Makes that slot the current one.
    void move_to(std::int64_t time)
    {
        if (time >= slot_begin_ && time < slot_end_)
            return;
        slot_ = slots_.at(time);
        set_bounds();
    }
    void set_bounds()
    {
        slot_begin_ = slots_.begin(slot_);
        slot_end_ = slots_.end(slot_);
    }

    /// What lies outside of the run is in the first slot, or the last: nothing gets lost.
    template <class Visit>
    void split(model::Ns begin, model::Ns end, Visit visit)
    {
        std::int64_t from = begin.count() - origin_;
        const std::int64_t to = end.count() - origin_;
        if (from >= to)
            return;
        move_to(from);
        while (to > slot_end_ && slot_ + 1 < model::TimeSlots::number) {
            if (from < slot_end_) {
                visit(slot_, slot_end_ - from);
                from = slot_end_;
            }
            ++slot_;
            set_bounds();
        }
        visit(slot_, to - from);
    }

    std::vector<std::unique_ptr<OfPlace>> of_context_;
    std::map<Place, OfPlace> of_pseudo_;
    std::array<std::int64_t, model::TimeSlots::number> computed_{};
    std::int64_t origin_;
    model::TimeSlots slots_;
    std::uint32_t slot_ = 0;
    std::int64_t slot_begin_ = 0, slot_end_ = 0;
};

}  // namespace critpath::replayer
