// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how readings of counters, which stand before the enters and the leaves of calls, become what a thread counted
// between its calls.
#pragma once

#include "analysis/model/trace.hpp"
#include "formats/otf2/reader.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer::load
{

/// Where the values of a metric class stand that say what a thread has done since it began.
struct CounterPlaces {
    static constexpr std::uint8_t none = 0xff;
    std::uint8_t instructions = none;
    std::uint8_t cycles = none;
    [[nodiscard]] bool any() const { return instructions != none || cycles != none; }
};

/// The counters of one location, in the order of its records.
class CountReader
{
public:
    /// A reading; false if it says nothing of these counters.
    bool read(model::Ns now, const otf2::event::Metric& record, const CounterPlaces& places)
    {
        const model::Counted values{value(record, places.instructions), value(record, places.cycles)};
        if (values.instructions == model::Counted::unknown && values.cycles == model::Counted::unknown)
            return false;
        newest_ = {now, values};
        return true;
    }

    /// The `call`-th call is entered, points left aside. Only a reading of the same moment is the call's.
    void enter(model::Ns now, std::uint64_t call, std::vector<model::Counted>& counted)
    {
        if (newest_ && newest_->time == now && at_leave_) {
            counted.resize(call);
            counted.push_back({difference(newest_->values.instructions, at_leave_->instructions),
                               difference(newest_->values.cycles, at_leave_->cycles)});
        }
        newest_.reset();
    }

    void leave(model::Ns now)
    {
        at_leave_.reset();
        if (newest_ && newest_->time == now)
            at_leave_ = newest_->values;
        newest_.reset();
    }

private:
    struct Reading {
        model::Ns time;
        model::Counted values;
    };

    static std::int64_t value(const otf2::event::Metric& record, std::uint8_t place)
    {
        const bool is_whole =
            place < record.size && (record.types[place] == OTF2_TYPE_INT64 || record.types[place] == OTF2_TYPE_UINT64);
        return is_whole && record.values[place].signed_int >= 0 ? record.values[place].signed_int
                                                                : model::Counted::unknown;
    }

    /// What a counter says that was reset, or that overflowed, is not known.
    static std::int64_t difference(std::int64_t now, std::int64_t before)
    {
        const bool is_known = now != model::Counted::unknown && before != model::Counted::unknown && now >= before;
        return is_known ? now - before : model::Counted::unknown;
    }

    std::optional<Reading> newest_;
    std::optional<model::Counted> at_leave_;  // of the call before
};

}  // namespace critpath::replayer::load
