// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/segments.hpp"

#include "formats/result/checksum.hpp"

#include <optional>
#include <string>
#include <tuple>

namespace critpath::result
{

namespace
{

std::int64_t fact(const model::Profile& profile, std::string_view key, std::int64_t otherwise)
{
    const auto found = profile.facts.find(std::string(key));
    return found == profile.facts.end() ? otherwise : found->second;
}

/// No run is longer than some 70 years, in ns: sums of two such times are times.
constexpr std::int64_t makespan_limit = std::int64_t{1} << 61;

bool is_of(const RecordHeader& header, const model::Profile& profile)
{
    return header.begin_ns == fact(profile, "begin_ns", header.begin_ns) &&
           header.makespan_ns == fact(profile, "makespan_ns", header.makespan_ns);
}

/// All records of a file of `profile`. Throws Failure(BadTrace) if they do not have its checksum.
template <class Records>
void check_sum(const RecordFile& file, const Records& records, const model::Profile& profile, std::string_view key)
{
    const auto sum = static_cast<std::int64_t>(checksum(records, 0));
    if (sum != fact(profile, key, sum))
        file.damaged("the checksum does not fit");
}

void check_is_of(const RecordFile& file, const model::Profile& profile)
{
    if (!is_of(file.header(), profile))
        file.damaged("it belongs to another result");
}

const char* wrong_ids(const model::Segment& segment, const model::Profile& profile)
{
    if (segment.kind >= model::segment_kinds)
        return "a segment has an unknown kind";
    if (segment.location >= profile.locations.size() || segment.other >= profile.locations.size())
        return "a segment has an unknown location";
    if (segment.origin() >= profile.locations.size() || (segment.flags > model::Segment::sends && !segment.is_own()))
        return "a segment has unknown flags";
    if (model::CallPathId{segment.call}.valid() && segment.call >= profile.call_paths.size())
        return "a segment has an unknown call";
    return nullptr;
}

const char* fault(const model::Attribution& attribution, const model::Profile& profile, std::int64_t makespan_ns)
{
    const model::CallPathId call_path{attribution.call_path};
    if (static_cast<std::uint32_t>(attribution.kind) >= model::attribution_kinds)
        return "an attribution has an unknown kind";
    if (attribution.location >= profile.locations.size())
        return "an attribution has an unknown location";
    if (call_path.valid() ? call_path.value >= profile.call_paths.size()
                          : !attribution.is_sample() || attribution.ns != 0)
        return "an attribution has an unknown call path";
    if (attribution.kind == model::AttributionKind::Call && !profile.call_paths[call_path.value].parent.valid())
        return "an attribution is below no call";
    const bool is_inside = attribution.begin >= 0 && attribution.begin < makespan_ns && attribution.ns >= 0 &&
                           (attribution.is_point() || attribution.ns <= makespan_ns - attribution.begin);
    return is_inside ? nullptr : "an attribution is outside of the run";
}

bool has_place(const model::CountPlace& place, const model::Profile& profile)
{
    if (static_cast<std::uint32_t>(place.owner) >= model::count_owners)
        return false;
    return (place.owner == model::CountOwner::None) != model::CallPathId{place.call_path}.valid() &&
           (place.owner == model::CountOwner::None || place.call_path < profile.call_paths.size());
}

const char* fault(const model::CountInterval& interval, const model::Profile& profile, std::int64_t makespan_ns)
{
    if (interval.location >= profile.locations.size())
        return "counts have an unknown location";
    if ((interval.flags & ~model::CountInterval::all_flags) != 0)
        return "counts have an unknown flag";
    if (!has_place(interval.last, profile) || !has_place(interval.before, profile))
        return "counts have an unknown call path";
    const bool is_moment = interval.has(model::CountInterval::moment);
    if (is_moment && interval.last.owner != model::CountOwner::Function)
        return "counts of others have no function";
    const bool is_inside = interval.begin < makespan_ns && interval.begin >= (is_moment ? 0 : -makespan_limit) &&
                           interval.ns >= (is_moment ? 0 : 1) && interval.ns <= makespan_limit;
    if (!is_inside)
        return "counts are outside of the run";
    if (interval.whole_ns < interval.ns || interval.whole_ns > makespan_limit)
        return "counts are more than their sample's";
    return nullptr;
}

}  // namespace

void Segments::check(const model::Profile& profile) const
{
    const auto records_of_result = fact(profile, "segments", static_cast<std::int64_t>(header().records));
    if (!is_of(header(), profile) || static_cast<std::int64_t>(header().records) != records_of_result)
        file_.damaged("it belongs to another result");
    std::int64_t time = 0;
    for (const model::Segment& segment : records()) {
        if (segment.begin != time || segment.end <= segment.begin)
            file_.damaged("the segments do not form one chain");
        if (const char* how = wrong_ids(segment, profile); how != nullptr)
            file_.damaged(how);
        time = segment.end;
    }
    if (time != header().makespan_ns)
        file_.damaged("the segments do not cover the run");
    check_sum(file_, records(), profile, segments_checksum_fact);
}

void Attributions::check(const model::Profile& profile) const
{
    check_is_of(file_, profile);
    const auto order = [&](const model::Attribution& a) {
        return std::tuple(profile.location_process[a.location], a.order());
    };
    const model::Attribution* before = nullptr;
    for (const model::Attribution& attribution : records()) {
        if (const char* how = fault(attribution, profile, header().makespan_ns); how != nullptr)
            file_.damaged(how);
        if (before != nullptr && order(attribution) < order(*before))
            file_.damaged("the attributions are not sorted");
        before = &attribution;
    }
    check_sum(file_, records(), profile, attribution_checksum_fact);
}

void Counts::check(const model::Profile& profile) const
{
    check_is_of(file_, profile);
    const model::CountRecords all = records();
    const auto order = [&](const model::CountInterval& i) {
        return std::tuple(profile.location_process[i.location], i.location, i.has(model::CountInterval::moment));
    };
    std::optional<model::CountInterval> before;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const model::CountInterval interval = all.interval(i);
        if (const char* how = fault(interval, profile, header().makespan_ns); how != nullptr)
            file_.damaged(how);
        const bool is_moment = interval.has(model::CountInterval::moment);
        if (before &&
            (order(interval) < order(*before) ||
             (order(interval) == order(*before) && interval.begin < (is_moment ? before->begin : before->end()))))
            file_.damaged("the counts are not sorted");
        before = interval;
    }
    check_sum(file_, all, profile, counts_checksum_fact);
}

void TotalParts::check(const model::Profile& profile) const
{
    check_is_of(file_, profile);
    const model::TotalPart* before = nullptr;
    for (const model::TotalPart& part : records()) {
        if (part.slot >= model::TimeSlots::number)
            file_.damaged("times have an unknown part of the run");
        if (model::CallPathId{part.call_path}.valid() && part.call_path >= profile.call_paths.size())
            file_.damaged("times have an unknown call path");
        if (before != nullptr && std::tie(before->slot, before->call_path) >= std::tie(part.slot, part.call_path))
            file_.damaged("the times are not sorted");
        before = &part;
    }
    check_sum(file_, records(), profile, totals_checksum_fact);
}

void Computed::check(const model::Profile& profile) const
{
    check_is_of(file_, profile);
    const model::ComputedParts* before = nullptr;
    for (const model::ComputedParts& parts : records()) {
        if (parts.location >= profile.locations.size())
            file_.damaged("computation has an unknown location");
        if (before != nullptr && before->location >= parts.location)
            file_.damaged("the computation is not sorted");
        before = &parts;
    }
    check_sum(file_, records(), profile, computed_checksum_fact);
}

}  // namespace critpath::result
