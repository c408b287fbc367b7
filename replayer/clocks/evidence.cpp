// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/evidence.hpp"

#include "replayer/exchange.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace critpath::replayer::clocks
{

namespace
{

__extension__ using Wide = __int128;

constexpr std::int64_t longest_stretch = 60'000'000'000;  // ns: so long, a clock's rate is steady
constexpr std::int64_t most_stretches = 7 * 24 * 60;      // of a week; longer runs are rare, or their times damaged
constexpr std::int64_t tolerance = 1000;  // ns: below, a contradiction is no reason to distrust anything
constexpr double steepest = 1e-4;         // two oscillators are within 100 ppm of each other

struct BoundRecord {
    std::uint32_t first, second, stretch, side;
    Bound bound;
};

/// Two stretches that meet in one moment say both where the clock was; if they disagree, it was not steady.
Interval both(const Interval& a, const Interval& b)
{
    const Interval common{std::max(a.low, b.low), std::min(a.high, b.high)};
    return common.valid() ? common : Interval{std::min(a.low, b.low), std::max(a.high, b.high)};
}

Knot middle(std::int64_t time, const Interval& interval)
{
    const std::int64_t ahead = interval.low + (interval.high - interval.low) / 2;
    return {time, ahead, interval.high - ahead};
}

}  // namespace

std::uint32_t Evidence::stretches(std::uint32_t clock) const
{
    return 1 + static_cast<std::uint32_t>(std::min(length(clock) / longest_stretch, most_stretches));
}

std::int64_t Evidence::border(std::uint32_t clock, std::uint32_t stretch) const
{
    return spans_[clock].begin.count() + static_cast<std::int64_t>(Wide{length(clock)} * stretch / stretches(clock));
}

std::uint32_t Evidence::stretch_of(std::uint32_t clock, std::int64_t time) const
{
    if (length(clock) < longest_stretch)
        return 0;  // the only one; a wide division for each message would be dear
    const std::int64_t count = stretches(clock);
    const Wide passed = Wide{time - spans_[clock].begin.count()} * count / std::max<std::int64_t>(1, length(clock));
    return static_cast<std::uint32_t>(std::clamp<Wide>(passed, 0, count - 1));
}

void Evidence::add(Hull::Side side, const Key& key, const Bound& bound)
{
    Band& band = bands_[key];
    (side == Hull::Side::Upper ? band.upper : band.lower).add(bound);
}

void Evidence::add(const Moment& before, const Moment& after)
{
    const bool is_upper = before.clock < after.clock;
    const Moment& first = is_upper ? before : after;
    const Moment& second = is_upper ? after : before;
    const std::int64_t time = first.time.count();
    const std::uint32_t clock = first.clock.value;
    add(is_upper ? Hull::Side::Upper : Hull::Side::Lower, {clock, second.clock.value, stretch_of(clock, time)},
        {time, (second.time - first.time).count()});
}

/// All bounds of a pair go to one process, and each process gets about as many pairs.
void Evidence::meet(const Replay& replay)
{
    auto out = lists_for<BoundRecord>(replay.size);
    for (auto& [key, band] : bands_) {
        const auto& [first, second, stretch] = key;
        auto& to = out[(first + second) % out.size()];
        for (const auto& [side, hull] : {std::pair(0U, &band.upper), std::pair(1U, &band.lower)})
            for (const Bound& bound : hull->bounds())
                to.push_back({first, second, stretch, side, bound});
    }
    bands_.clear();
    for (const BoundRecord& r : replayer::exchange(replay.comm, out).items)
        add(r.side == 0 ? Hull::Side::Upper : Hull::Side::Lower, {r.first, r.second, r.stretch}, r.bound);
}

Comparison Evidence::compare_pair(std::uint32_t first, std::uint32_t second, std::int64_t limit)
{
    const std::uint32_t count = stretches(first);
    std::vector<std::optional<Interval>> at_border(count + 1);
    bool contradicts = false;
    const auto note = [&](std::uint32_t border, const Interval& interval) {
        auto& known = at_border[border];
        known = known ? both(*known, interval) : interval;
    };
    for (std::uint32_t stretch = 0; stretch < count; ++stretch) {
        const auto found = bands_.find({first, second, stretch});
        Band band = found == bands_.end() ? Band{} : std::move(found->second);
        const std::int64_t begin = border(first, stretch), end = border(first, stretch + 1);
        std::optional<Fit> fitted = fit(band.upper.bounds(), band.lower.bounds(), begin, end, steepest);
        if (limit >= 0) {
            const auto within = [&](std::int64_t bound) {
                Band limited = band;
                for (const std::int64_t time : {begin, end}) {
                    limited.upper.add({time, bound});
                    limited.lower.add({time, -bound});
                }
                return fit(limited.upper.bounds(), limited.lower.bounds(), begin, end, steepest);
            };
            const auto closer = within(limit);
            contradicts = contradicts || (closer->contradictory && within(limit + tolerance)->contradictory);
            if (!fitted || !closer->contradictory)
                fitted = closer;
        }
        if (fitted) {
            note(stretch, fitted->begin);
            note(stretch + 1, fitted->end);
        }
    }
    std::vector<Knot> knots;
    for (std::uint32_t i = 0; i <= count; ++i)
        if (at_border[i])
            knots.push_back(middle(border(first, i), *at_border[i]));
    Comparison result{{first}, {second}, Curve(std::move(knots)), 0, contradicts};
    if (!result.curve.is_identity())
        result.error = result.curve.largest_error(spans_[first].begin, spans_[first].end);
    return result;
}

std::vector<Comparison> Evidence::compare(const Replay& replay, const std::vector<std::int64_t>& measured)
{
    meet(replay);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const auto& [key, band] : bands_) {
        const std::pair pair(std::get<0>(key), std::get<1>(key));
        if (pairs.empty() || pairs.back() != pair)
            pairs.push_back(pair);
    }
    std::vector<Comparison> result;
    for (const auto& [first, second] : pairs) {
        const bool known = measured[first] >= 0 && measured[second] >= 0;
        result.push_back(compare_pair(first, second, known ? measured[first] + measured[second] : -1));
        if (result.back().curve.is_identity())
            result.pop_back();  // bounds on one side only
    }
    bands_.clear();
    return result;
}

}  // namespace critpath::replayer::clocks
