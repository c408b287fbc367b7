// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/division/counts.hpp"

#include "analysis/model/pseudo_rows.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace critpath::division
{

namespace
{

using model::CallPathId;
using model::CountInterval;
using model::CountOwner;
using model::CountPlace;
using model::CountRecords;
using model::EventAmount;
using model::Segment;
using model::SegmentKind;

__extension__ using Wide = __int128;

/// Which sample says what was counted in a computation: one that was taken in it; or else one at either end of the
/// interval. Null if there is none.
const CountPlace* place_in(const CountInterval& interval, const Segment& segment)
{
    const bool has_last = interval.last.owner != CountOwner::None;
    const bool has_before = interval.before.owner != CountOwner::None;
    const bool is_last_inside = has_last && interval.until < segment.end;
    const bool is_before_inside = has_before && interval.since >= segment.begin;
    if (has_last && (is_last_inside || !is_before_inside))
        return &interval.last;
    return has_before ? &interval.before : nullptr;
}

/// Of a part of an interval's count: what all of its sample has counted comes in at once, wherever it belongs. Of that
/// the count is a part, rounded towards what came later, so that all of it is more than one less says.
double weighted(const CountInterval& interval, std::int64_t count, std::int64_t part)
{
    const double times =
        static_cast<double>(interval.whole_ns) / static_cast<double>(std::max<std::int64_t>(interval.ns, 1));
    return static_cast<double>(part) * std::max(static_cast<double>(count), static_cast<double>(count - 1) * times);
}

/// The sums of one window.
class Sums
{
public:
    explicit Sums(std::size_t events) : events_(events) {}

    std::vector<EventAmount>& of(CallPathId call_path, std::uint32_t location, std::uint64_t address)
    {
        if (!call_path.valid())
            throw std::out_of_range("counts have a place that the result does not know");
        const Key key{call_path.value, location, address};
        if (last_ == nullptr || key != last_key_) {
            last_ = &places_[key];
            last_->resize(events_);
            last_key_ = key;
        }
        return *last_;
    }

    std::vector<PlaceCounts> take()
    {
        std::vector<PlaceCounts> result;
        for (auto& [key, events] : places_)
            result.push_back({{key.call_path}, key.location, key.address, std::move(events)});
        std::ranges::sort(result, {},
                          [](const PlaceCounts& p) { return std::tuple(p.call_path, p.location, p.address); });
        return result;
    }

private:
    struct Key {
        std::uint32_t call_path, location;
        std::uint64_t address;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept
        {
            const std::uint64_t word = (std::uint64_t{key.call_path} << 32U | key.location) ^ key.address << 20U;
            return static_cast<std::size_t>((word ^ word >> 29U) * 0x9e3779b97f4a7c15U);
        }
    };

    std::size_t events_;
    std::unordered_map<Key, std::vector<EventAmount>, Hash> places_;
    Key last_key_{};
    std::vector<EventAmount>* last_ = nullptr;  // of last_key_
};

/// The intervals of one location.
struct Cursor {
    std::size_t next = 0, end = 0;  // the first that may still meet a segment; behind the last
};

class CountDivider
{
public:
    CountDivider(const model::Profile& profile, const CountRecords& records)
        : records_(records), cursors_(profile.locations.size())
    {
        for (std::size_t i = 0; i < records.size(); ++i) {
            const CountInterval interval = records.interval(i);
            if (interval.has(CountInterval::moment)) {
                moments_.emplace_back(interval.begin, i);
                continue;
            }
            Cursor& cursor = cursors_.at(interval.location);
            cursor.next = cursor.end == 0 ? i : cursor.next;
            cursor.end = i + 1;
        }
        std::ranges::sort(moments_);
        for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i)
            if (!profile.call_paths[i].parent.valid() && profile.row({i}).name == model::pseudo::not_sampled)
                not_sampled_ = {i};
    }

    void add(const Segment& segment, const Window& window, Sums& sums)
    {
        Cursor& cursor = cursors_.at(segment.location);
        const std::int64_t begin = std::max(segment.begin, window.begin);
        while (cursor.next < cursor.end && records_.interval(cursor.next).end() <= begin)
            ++cursor.next;
        for (std::size_t i = cursor.next; i < cursor.end; ++i) {
            const CountInterval interval = records_.interval(i);
            if (interval.begin >= std::min(segment.end, window.end))
                break;
            if (const auto share = share_of(interval, segment))
                add(i, interval, *share, window, sums);
        }
    }

    void add_moments(const Window& window, Sums& sums) const
    {
        auto at = std::ranges::lower_bound(moments_, std::pair(window.begin, std::size_t{0}));
        for (; at != moments_.end() && at->first < window.end; ++at) {
            const std::size_t i = at->second;
            const CountInterval moment = records_.interval(i);
            std::vector<EventAmount>& amounts = sums.of({moment.last.call_path}, moment.location, moment.last.address);
            for (std::size_t event = 0; event < amounts.size(); ++event)
                amounts[event].add(amount_of(moment, records_.counts(i)[event]));
        }
    }

private:
    void add(std::size_t i, const CountInterval& interval, const CountShare& share, const Window& window,
             Sums& sums) const
    {
        const std::int64_t begin = std::max(share.begin, window.begin), end = std::min(share.end, window.end);
        if (begin >= end)
            return;
        const CallPathId known{share.call_path};
        std::vector<EventAmount>& amounts =
            sums.of(known.valid() ? known : not_sampled_, interval.location, share.address);
        for (std::size_t event = 0; event < amounts.size(); ++event)
            amounts[event].add(amount_of(interval, records_.counts(i)[event], begin, end, share.is_known));
    }

    const CountRecords& records_;
    std::vector<Cursor> cursors_;                                // by LocationId
    std::vector<std::pair<std::int64_t, std::size_t>> moments_;  // by begin, with their numbers
    CallPathId not_sampled_ = CallPathId::none();
};

}  // namespace

std::optional<CountShare> share_of(const CountInterval& interval, const Segment& segment)
{
    CountShare share{std::max(interval.begin, segment.begin), std::min(interval.end(), segment.end), 0, segment.call,
                     true};
    if (share.begin >= share.end)
        return std::nullopt;
    switch (static_cast<SegmentKind>(segment.kind)) {
    case SegmentKind::Compute:
        break;
    case SegmentKind::Mpi:
    case SegmentKind::Delay:
    case SegmentKind::Collective:
        return share;
    default:
        return std::nullopt;
    }
    share.call_path = CallPathId::none().value;
    if (const CountPlace* place = place_in(interval, segment); place != nullptr) {
        if (place->owner == CountOwner::Others)
            return std::nullopt;
        share.call_path = place->call_path;
        share.address = place->address;
        share.is_known = place->owner == CountOwner::Function;
    }
    return share;
}

EventAmount amount_of(const CountInterval& interval, std::int64_t count, std::int64_t begin, std::int64_t end,
                      bool is_known)
{
    const std::int64_t ns = interval.has(CountInterval::no_processor) ? 0 : end - begin;
    if (!is_known || count == model::unknown_count)
        return {0, ns, 0, 0};
    // So that the parts of a count are the whole. Mostly, both numbers are small: then it takes less time.
    constexpr std::int64_t small = std::int64_t{1} << 31;
    const bool are_small = count >= 0 && count < small && interval.ns < small;
    const auto until = [&](std::int64_t time) {
        const std::int64_t since = time - interval.begin;
        return are_small ? count * since / interval.ns : static_cast<std::int64_t>(Wide{count} * since / interval.ns);
    };
    const std::int64_t part = count == 0 ? 0 : until(end) - until(begin);
    return {part, ns, ns, interval.has(CountInterval::scaled) ? ns : 0, weighted(interval, count, part)};
}

EventAmount amount_of(const CountInterval& moment, std::int64_t count)
{
    const std::int64_t ns = moment.ns;
    if (count == model::unknown_count)
        return {0, ns, 0, 0};
    return {count, ns, ns, moment.has(CountInterval::scaled) ? ns : 0, weighted(moment, count, count)};
}

std::vector<std::vector<PlaceCounts>> divide_counts(const model::Profile& profile, std::span<const Segment> segments,
                                                    const CountRecords& records, std::span<const Window> windows)
{
    std::vector<std::vector<PlaceCounts>> result;
    CountDivider divider(profile, records);
    for (const Window& window : windows) {
        Sums sums(profile.events.size());
        auto segment = std::ranges::upper_bound(segments, window.begin, {}, &Segment::end);
        for (; segment != segments.end() && segment->begin < window.end; ++segment)
            divider.add(*segment, window, sums);
        divider.add_moments(window, sums);
        result.push_back(sums.take());
    }
    return result;
}

}  // namespace critpath::division
