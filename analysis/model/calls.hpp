// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the MPI calls of a location as data, and how a call is named: by its location and place there (CallRef), or
// within one process by a single number (CallNumbers). There may be a hundred million of them, so that bytes count.
#pragma once

#include "analysis/model/ids.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace critpath::model
{

/// A call on a location of the same process; the enter of `call` or its leave, as the context says.
struct CallRef {
    LocationId location = LocationId::none();
    CallId call = CallId::none();
    [[nodiscard]] bool valid() const { return call.valid(); }
    auto operator<=>(const CallRef&) const = default;
};

/// The calls of one process in one row: those of its first location, then those of the next.
class CallNumbers
{
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    CallNumbers() = default;
    explicit CallNumbers(LocationId only) : first_(only) {}
    /// `starts`: by location from `first` on, how many calls those before it have.
    CallNumbers(LocationId first, std::vector<std::uint32_t> starts) : first_(first), starts_(std::move(starts)) {}

    [[nodiscard]] std::uint32_t of(CallRef call) const
    {
        return call.valid() ? start(call.location.value - first_.value) + call.call.value : none;
    }
    [[nodiscard]] CallRef ref(std::uint32_t number) const
    {
        if (number == none)
            return {};
        if (starts_.size() < 2)
            return {first_, {number}};
        const auto next = std::upper_bound(starts_.begin(), starts_.end(), number);
        const auto l = static_cast<std::uint32_t>(next - starts_.begin()) - 1;
        return {{first_.value + l}, {number - starts_[l]}};
    }

private:
    [[nodiscard]] std::uint32_t start(std::uint32_t l) const { return l < starts_.size() ? starts_[l] : 0; }

    LocationId first_{0};
    std::vector<std::uint32_t> starts_;  // none: there is one location
};

/// Sizes are told apart by their binary logarithm: bucket 0 is no byte, bucket k holds 2^(k-1) .. 2^k - 1 bytes.
constexpr int size_bucket(std::uint64_t bytes)
{
    return static_cast<int>(std::bit_width(bytes));
}

/// The MPI calls of one location in order of enter; calls do not nest. Between them stand moments at which threads of
/// the process meet, or may, or one goes on behind a look: points, which have no length and no size, and are like calls
/// in nothing but that a path can jump from and to them.
class Calls
{
public:
    [[nodiscard]] std::size_t size() const { return enter_.size(); }
    [[nodiscard]] bool empty() const { return enter_.empty(); }
    [[nodiscard]] std::size_t capacity() const { return enter_.capacity(); }
    void reserve(std::size_t calls);

    void add(Ns enter, Ns leave, ContextId context);
    void set_leave(std::size_t i, Ns leave);
    void add_point(Ns time);
    /// The bytes that the call moved: of the messages that it sent or completed, and of its part in a collective.
    void set_size_bucket(std::size_t i, int bucket) { bucket_[i] = static_cast<std::uint8_t>(bucket); }

    [[nodiscard]] Ns enter(std::size_t i) const { return enter_[i]; }
    [[nodiscard]] Ns duration(std::size_t i) const
    {
        return duration_[i] == very_long ? find(i)->second : Ns{duration_[i]};
    }
    [[nodiscard]] Ns leave(std::size_t i) const { return enter_[i] + duration(i); }
    /// The MPI function and from where it was called; of a point, those of the last call before it.
    [[nodiscard]] ContextId context(std::size_t i) const { return context_[i]; }
    [[nodiscard]] int size_bucket(std::size_t i) const { return bucket_[i]; }
    [[nodiscard]] bool is_point(std::size_t i) const { return bucket_[i] == point; }
    [[nodiscard]] bool has_points() const { return !points_.empty(); }
    /// One more than the last call among the first `end` that is no point; 0 if there is none.
    [[nodiscard]] std::size_t behind_last_call(std::size_t end) const
    {
        return end > 0 && is_point(end - 1) ? points_around(end - 1).begin : end;
    }
    /// The first call from `begin` on that is no point; the number of calls if there is none.
    [[nodiscard]] std::size_t next_call(std::size_t begin) const
    {
        return begin < size() && is_point(begin) ? points_around(begin).end : begin;
    }

    [[nodiscard]] const std::vector<Ns>& enters() const { return enter_; }

private:
    static constexpr std::uint8_t point = 0xff;  // for bucket_, where sizes end at 64
    static constexpr std::uint32_t very_long = std::numeric_limits<std::uint32_t>::max();  // 4.3 s, or negative

    using Long = std::pair<std::size_t, Ns>;
    [[nodiscard]] std::vector<Long>::const_iterator find(std::size_t i) const
    {
        return std::lower_bound(long_.begin(), long_.end(), i,
                                [](const Long& l, std::size_t n) { return l.first < n; });
    }

    /// Points with no call in between: there may be very many.
    struct Points {
        std::size_t begin, end;
    };
    [[nodiscard]] const Points& points_around(std::size_t call) const
    {
        const auto behind = std::upper_bound(points_.begin(), points_.end(), call,
                                             [](std::size_t i, const Points& points) { return i < points.begin; });
        return *(behind - 1);
    }

    std::vector<Ns> enter_;
    std::vector<std::uint32_t> duration_;  // ns
    std::vector<ContextId> context_;
    std::vector<std::uint8_t> bucket_;
    std::vector<Long> long_;  // the durations that do not fit, ascending by call
    std::vector<Points> points_;
};

inline void Calls::reserve(std::size_t calls)
{
    enter_.reserve(calls);
    duration_.reserve(calls);
    context_.reserve(calls);
    bucket_.reserve(calls);
}

inline void Calls::add(Ns enter, Ns leave, ContextId context)
{
    enter_.push_back(enter);
    duration_.push_back(0);
    context_.push_back(context);
    bucket_.push_back(0);
    set_leave(size() - 1, leave);
}

inline void Calls::add_point(Ns time)
{
    add(time, time, empty() ? ContextId::none() : context_.back());
    bucket_.back() = point;
    if (points_.empty() || points_.back().end != size() - 1)
        points_.push_back({size() - 1, size() - 1});
    ++points_.back().end;
}

inline void Calls::set_leave(std::size_t i, Ns leave)
{
    const Ns duration = leave - enter_[i];
    const bool was_long = duration_[i] == very_long;
    if (duration >= Ns{0} && duration < Ns{very_long} && !was_long) [[likely]] {
        duration_[i] = static_cast<std::uint32_t>(duration.count());
        return;
    }
    const auto at = long_.begin() + (find(i) - long_.begin());
    if (was_long)
        at->second = duration;
    else
        long_.insert(at, {i, duration});
    duration_[i] = very_long;
}

/// The last call that was entered until `time`, points left aside; the number of calls if there is none.
inline std::size_t last_entered(const Calls& calls, Ns time)
{
    const auto& enters = calls.enters();
    const auto entered =
        static_cast<std::size_t>(std::upper_bound(enters.begin(), enters.end(), time) - enters.begin());
    const std::size_t behind = calls.behind_last_call(entered);
    return behind > 0 ? behind - 1 : calls.size();
}

/// The calls of a location without the points between them. Must not outlive them.
class CallsAlone
{
public:
    explicit CallsAlone(const Calls& calls) : calls_(&calls)
    {
        for (std::size_t i = 0; calls.has_points() && i < calls.size(); ++i)
            if (!calls.is_point(i))
                numbers_.push_back(static_cast<std::uint32_t>(i));
    }

    [[nodiscard]] std::size_t size() const { return calls_->has_points() ? numbers_.size() : calls_->size(); }
    /// The number of the `place`-th call among calls and points.
    [[nodiscard]] std::uint32_t number(std::size_t place) const
    {
        return calls_->has_points() ? numbers_[place] : static_cast<std::uint32_t>(place);
    }
    [[nodiscard]] Ns enter(std::size_t place) const { return calls_->enter(number(place)); }
    [[nodiscard]] Ns leave(std::size_t place) const { return calls_->leave(number(place)); }

private:
    const Calls* calls_;
    std::vector<std::uint32_t> numbers_;  // empty if there are no points
};

}  // namespace critpath::model
