// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/when.hpp"

#include "analysis/report/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace critpath::report
{

namespace
{

// What makes long times one part of the run. docs/ALGORITHM, "Explanations", has the reasons.
constexpr std::int64_t least_times = 5;      // fewer may be neighbours by chance
constexpr double least_long = 0.8;           // of those in the part: long
constexpr double most_of_run = 0.9;          // of all times: in a part that is not the whole
constexpr double same_path_within = 0.1;     // of the stretch: what segments tell of it
constexpr double least_off_processor = 0.5;  // of a time: known without samples

bool have_same_functions(const model::Profile& profile, model::CallPathId one, model::CallPathId other)
{
    for (; one != other; one = profile.call_paths[one.value].parent, other = profile.call_paths[other.value].parent)
        if (!one.valid() || !other.valid() || profile.row_of(one) != profile.row_of(other))
            return false;
    return true;
}

/// How segments are found to be those of a stretch.
struct GapMatch {
    bool by_functions = false;  // whatever the sites of the calls: some sites are one place
    bool by_call_after = false;
};

std::vector<PathGap> gaps_by(GapMatch match, const model::Profile& profile, const model::Stretch& stretch,
                             std::span<const model::Segment> segments)
{
    const auto is_call = [&](std::uint32_t call, model::CallPathId of) {
        return match.by_functions ? have_same_functions(profile, {call}, of) : model::CallPathId{call} == of;
    };
    std::vector<PathGap> gaps;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const model::Segment& segment = segments[i];
        if (model::SegmentKind{segment.kind} != model::SegmentKind::Compute || !is_call(segment.call, stretch.before))
            continue;
        if (match.by_call_after && (i + 1 == segments.size() || !is_call(segments[i + 1].call, stretch.after)))
            continue;
        gaps.push_back({{segment.begin, segment.end}, profile.location_process[segment.location], {segment.call}});
    }
    return gaps;
}

/// The marks of one part, and how many are in it.
struct Range {
    std::size_t begin = 0, end = 0;
    std::int64_t marked = 0;
};

/// The range in which marks outnumber what is not marked by most.
Range densest(const std::vector<bool>& marks)
{
    Range best, here;
    std::int64_t best_sum = 0, sum = 0;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        if (sum <= 0) {
            here = {i, i, 0};
            sum = 0;
        }
        sum += marks[i] ? 1 : -1;
        here.marked += marks[i] ? 1 : 0;
        here.end = i + 1;
        if (sum > best_sum) {
            best_sum = sum;
            best = here;
        }
    }
    return best;
}

/// What its gaps in the part take longer than those in the rest of the run do in the median, ns.
double longer_in(const Range& part, const std::vector<PathGap>& gaps, std::size_t rank)
{
    std::vector<std::int64_t> outside;
    for (std::size_t i = 0; i < gaps.size(); ++i)
        if (i < part.begin || i >= part.end)
            outside.push_back(gaps[i].window.length());
    const auto median = outside.begin() + static_cast<std::ptrdiff_t>(outside.size() / 2);
    std::ranges::nth_element(outside, median);
    double longer_ns = 0;
    for (std::size_t i = part.begin; i < part.end; ++i)
        if (gaps[i].rank == rank)
            longer_ns += static_cast<double>(gaps[i].window.length() - *median);
    return longer_ns;
}

/// The part of the run in which the rank that takes longer does so. Segments do not tell what peers took, so the times
/// at which it takes half as long again as these, or more, are taken to be its longest ones; elsewhere, noise may be
/// among them. The part is believed if its times are as much longer than those of the rest of the run as the rank is
/// longer than its peers in all.
std::optional<PartOfRun> one_part(const std::vector<PathGap>& gaps, const Explanation& e)
{
    const std::int64_t times = e.stretch->much_longer;
    if (times < least_times || times == e.stretch->told_times() || e.longer_share < mostly_from)
        return std::nullopt;
    std::vector<std::int64_t> lengths;
    for (const PathGap& gap : gaps)
        if (gap.rank == e.longer_rank)
            lengths.push_back(gap.window.length());
    if (static_cast<std::int64_t>(lengths.size()) < times)
        return std::nullopt;
    const auto least = lengths.begin() + times - 1;
    std::ranges::nth_element(lengths, least, std::ranges::greater());
    std::vector<bool> are_long;
    for (const PathGap& gap : gaps)
        are_long.push_back(gap.rank == e.longer_rank && gap.window.length() >= *least);
    const Range found = densest(are_long);
    const auto inside = static_cast<std::int64_t>(found.end - found.begin);
    const auto all = static_cast<std::int64_t>(gaps.size());
    if (found.marked < least_times || part(found.marked, inside) < least_long || part(inside, all) > most_of_run)
        return std::nullopt;
    const double times_expected = longer_in(found, gaps, e.longer_rank) /
                                  (e.longer_share * static_cast<double>(std::max<std::int64_t>(e.longer_ns, 1)));
    if (times_expected < 1 / same_difference_within || times_expected > same_difference_within)
        return std::nullopt;
    return PartOfRun{gaps[found.begin].window.begin, gaps[found.end - 1].window.end, inside, found.marked};
}

/// Whether samples, or time off the processor, say what a rank did there.
bool is_anything_known(const model::Profile& profile, std::span<const model::Attribution> attributions,
                       std::size_t rank, const division::Window& window)
{
    std::int64_t off_processor_ns = 0;
    for (const model::Attribution& a : attributions) {
        if (profile.location_process[a.location] != rank)
            continue;
        if (a.is_sample() && a.begin >= window.begin && a.begin < window.end)
            return true;
        if (a.kind == model::AttributionKind::Computation)
            off_processor_ns += division::length_in(window, a.begin, a.begin + a.ns);
    }
    return part(off_processor_ns, window.length()) >= least_off_processor;
}

/// Who is slow for half of the run may be so by rank for half of the variance.
bool may_be_of_one_part(const Explanation& e)
{
    return e.verdict == Verdict::Transient ||
           (e.verdict == Verdict::PersistentRank && !e.is_nearly_always() && !e.is_persistent_by_times());
}

}  // namespace

std::vector<PathGap> gaps_on_path(const model::Profile& profile, const model::Stretch& stretch,
                                  std::span<const model::Segment> segments)
{
    std::vector<PathGap> best;
    double least_off = same_path_within;
    for (const GapMatch match : {GapMatch{false, false}, {true, false}, {false, true}, {true, true}}) {
        std::vector<PathGap> gaps = gaps_by(match, profile, stretch, segments);
        std::int64_t ns = 0;
        for (const PathGap& gap : gaps)
            ns += gap.window.length();
        const double off = std::abs(part(ns - stretch.path_ns, stretch.path_ns));
        if (off < least_off) {
            least_off = off;
            best = std::move(gaps);
        }
    }
    return best;
}

bool is_of_some_times(const Explanation& e)
{
    return may_be_of_one_part(e) || (e.other && !e.is_at_start());
}

void add_times(const model::Profile& profile, const std::vector<PathGap>& gaps,
               std::span<const model::Attribution> attributions, Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    if (may_be_of_one_part(e) && !e.is_mostly_once())
        e.part_of_run = one_part(gaps, e);
    if (s.costliest_rank >= 0)
        e.is_costliest_known = is_anything_known(profile, attributions, static_cast<std::size_t>(s.costliest_rank),
                                                 {s.costliest_begin_ns, s.costliest_begin_ns + s.costliest_length_ns});
}

}  // namespace critpath::report
