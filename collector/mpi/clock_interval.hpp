// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what messages prove about the difference of two clocks: an interval, never an average. And the tree in which
// many clocks are compared with one. (docs/ALGORITHM, "Clocks")
#pragma once

#include <bit>
#include <cstdint>

namespace critpath::preload
{

/// At one moment, another clock minus ours is in [low, high], ns.
struct OffsetInterval {
    std::int64_t low = 0;
    std::int64_t high = 0;

    [[nodiscard]] std::int64_t width() const { return high - low; }

    /// What holds `elapsed` ns later. Oscillators are within 50 ppm of their frequency; two differ by twice that.
    [[nodiscard]] OffsetInterval after(std::uint64_t elapsed) const
    {
        const auto drift = static_cast<std::int64_t>(elapsed / 10'000 + (elapsed % 10'000 != 0 ? 1 : 0));
        return {low - drift, high + drift};
    }
};

/// A minus C, from A minus B and B minus C at the same moment.
inline OffsetInterval chain(const OffsetInterval& a_minus_b, const OffsetInterval& b_minus_c)
{
    return {a_minus_b.low + b_minus_c.low, a_minus_b.high + b_minus_c.high};
}

/// Our clock minus that of a partner, from round trips: sent and received on our clock, and the partner's stamp
/// between them.
class OffsetEstimate
{
public:
    void add(std::uint64_t sent, std::uint64_t stamp, std::uint64_t received)
    {
        // A clock shows the last ns that has passed, so that a difference of two is off by less than one.
        const OffsetInterval trip = {static_cast<std::int64_t>(sent - stamp) - 1,
                                     static_cast<std::int64_t>(received - stamp) + 1};
        OffsetInterval known = rounds_ == 0 ? trip : interval_.after(stamp - stamp_);
        if (trip.low <= known.high && known.low <= trip.high) {
            known.low = known.low > trip.low ? known.low : trip.low;
            known.high = known.high < trip.high ? known.high : trip.high;
        } else {
            known = trip;  // a clock has jumped: what was known before is of no use
        }
        interval_ = known;
        stamp_ = stamp;
        const bool better = rounds_ == 0 || known.width() < best_ - best_ / 32;
        best_ = better ? known.width() : best_;
        stale_ = better ? 0 : stale_ + 1;
        ++rounds_;
    }

    /// More rounds promise little.
    [[nodiscard]] bool is_settled() const { return rounds_ >= most_rounds || stale_ >= patience; }

    [[nodiscard]] int rounds() const { return rounds_; }
    [[nodiscard]] const OffsetInterval& interval() const { return interval_; }
    [[nodiscard]] std::uint64_t stamp() const { return stamp_; }  // when it holds, on the partner's clock

    static constexpr int most_rounds = 100;
    static constexpr int patience = 25;  // rounds that brought nothing

private:
    OffsetInterval interval_;
    std::uint64_t stamp_ = 0;
    std::int64_t best_ = 0;
    int rounds_ = 0;
    int stale_ = 0;
};

/// The tree: in step s, those that know their offset from clock 0 (the first 2^s) are each asked by one that does not.
struct ClockTree {
    /// Whom `clock` > 0 is compared with.
    static unsigned parent(unsigned clock) { return clock ^ std::bit_floor(clock); }
    /// The clocks that are compared with `clock`, in this order: clock + s for s = first_step(clock), then twice that,
    /// and so on.
    static unsigned first_step(unsigned clock) { return clock == 0 ? 1 : 2 * std::bit_floor(clock); }
};

}  // namespace critpath::preload
