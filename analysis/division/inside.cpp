// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/division/inside.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <tuple>

namespace critpath::division
{

namespace
{

using model::Attribution;
using model::AttributionKind;
using model::Segment;
using model::SegmentKind;

using Points = std::vector<const Attribution*>;

Points points_of(std::span<const Attribution> attributions)
{
    Points points;
    for (const Attribution& a : attributions)
        if (a.is_inside_mpi())
            points.push_back(&a);
    std::ranges::stable_sort(points, {}, [](const Attribution* a) { return a->begin; });
    return points;
}

class Summer
{
public:
    Summer(const model::Profile& profile, const Window& window) : profile_(profile), window_(window) {}

    /// All that was found in a segment, in order of time.
    void add(const Segment& segment, std::span<const Attribution* const> points)
    {
        const auto process_of = [&](std::uint32_t location) {
            return model::ProcessId{profile_.location_process[location]};
        };
        const model::ProcessId waits = process_of(segment.location);
        const auto kind = static_cast<SegmentKind>(segment.kind);
        if (kind != SegmentKind::Transfer) {
            if (kind != SegmentKind::Mpi && kind != SegmentKind::Delay && kind != SegmentKind::Collective)
                return;  // of a damaged file
            for (const Attribution* point : points)
                add({false, {segment.call}, waits, waits, waits}, Side::Call, *point, point->ns);
            return;
        }
        const MpiPart message{
            true, {segment.call}, process_of(segment.source()), process_of(segment.destination()), waits};
        // Backwards: the next point of either side.
        std::array<const Attribution*, 2> next{};
        const auto side_of = [&](const Attribution& point) {
            return profile_.location_process[point.location] == waits.value ? 1U : 0U;
        };
        for (std::size_t end = points.size(); end > 0;) {
            std::size_t begin = end;
            for (; begin > 0 && points[begin - 1]->begin == points[end - 1]->begin; --begin)
                next[side_of(*points[begin - 1])] = points[begin - 1];
            for (; end > begin; --end) {
                const Attribution& point = *points[end - 1];
                const unsigned side = side_of(point);
                const Attribution* other = next[1 - side];
                const bool both = other != nullptr && other->begin - other->ns < point.begin;
                add(message, (side == 1) == (waits == message.to) ? Side::To : Side::From, point,
                    both ? point.ns / 2 : point.ns);
            }
        }
    }

    std::vector<InsideTime> take() const
    {
        std::vector<InsideTime> result;
        for (const auto& [key, amount] : sums_) {
            const auto& [of, side, function] = key;
            result.push_back({of, side, function, amount.first, amount.second});
        }
        return result;
    }

private:
    void add(const MpiPart& of, Side side, const Attribution& point, std::int64_t ns)
    {
        if (point.begin < window_.begin || point.begin >= window_.end)
            return;
        const bool is_known = point.kind == AttributionKind::Inside;
        auto& [sum, samples] = sums_[{of, side, is_known ? profile_.row_of({point.call_path}) : model::RowId::none()}];
        sum += ns;
        ++samples;
    }

    const model::Profile& profile_;
    Window window_;
    std::map<std::tuple<MpiPart, Side, model::RowId>, std::pair<std::int64_t, std::uint64_t>> sums_;
};

}  // namespace

std::vector<InsideTime> inside_mpi(const model::Profile& profile, const PathRecords& records, const Window& window)
{
    const Points points = points_of(records.attributions);
    Summer summer(profile, window);
    auto segment = records.segments.begin();
    for (std::size_t begin = 0; begin < points.size();) {
        segment = std::ranges::upper_bound(segment, records.segments.end(), points[begin]->begin, {}, &Segment::end);
        if (segment == records.segments.end())
            break;
        std::size_t end = begin;
        while (end < points.size() && points[end]->begin < segment->end)
            ++end;
        summer.add(*segment, std::span(points).subspan(begin, end - begin));
        begin = end;
    }
    return summer.take();
}

}  // namespace critpath::division
