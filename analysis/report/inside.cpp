// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/inside.hpp"

#include "analysis/report/statistics.hpp"
#include "formats/result/schema.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace critpath::report
{

namespace
{

__extension__ using Wide = __int128;

const char* name_of(division::Side side)
{
    switch (side) {
    case division::Side::From:
        return "from";
    case division::Side::To:
        return "to";
    case division::Side::Call:
        break;
    }
    return "";
}

InsidePart pseudo_part(const char* name, std::int64_t ns)
{
    InsidePart part{{}, ""};
    part.item.name = name;
    part.item.kind = result::name(model::RowKind::Pseudo);
    part.item.path_ns = ns;
    return part;
}

InsidePart part_of(const model::Profile& profile, const division::InsideTime& time)
{
    InsidePart part = pseudo_part("[spinning]", time.ns);
    part.side = name_of(time.side);
    part.item.path_samples = time.samples;
    if (time.function.valid()) {
        const model::Row& row = profile.rows[time.function.value];
        part.item.name = row.name;
        part.item.kind = result::name(row.kind);
        part.item.module = row.module;
        part.item.file = row.file;
        part.item.line = row.line;
    }
    return part;
}

/// Those of one function on one side are one part.
std::vector<InsidePart> summed(const model::Profile& profile, const std::vector<division::InsideTime>& times)
{
    std::map<std::pair<division::Side, model::RowId>, InsidePart> sums;
    for (const division::InsideTime& time : times) {
        const auto [entry, is_new] = sums.try_emplace({time.side, time.function}, part_of(profile, time));
        if (is_new)
            continue;
        entry->second.item.path_ns += time.ns;
        entry->second.item.path_samples += time.samples;
    }
    std::vector<InsidePart> parts;
    for (auto& [key, part] : sums)
        parts.push_back(std::move(part));
    return parts;
}

/// Makes the parts sum to `row_ns`.
void balance(std::vector<InsidePart>& parts, std::int64_t row_ns, const char* rest)
{
    std::int64_t sum = 0;
    for (const InsidePart& part : parts)
        sum += part.item.path_ns;
    std::int64_t left = row_ns - sum;
    if (left < 0) {
        left = row_ns;
        for (InsidePart& part : parts) {
            part.item.path_ns = static_cast<std::int64_t>(Wide{part.item.path_ns} * row_ns / sum);
            left -= part.item.path_ns;
        }
        parts.front().item.path_ns += std::exchange(left, 0);  // rounding, a few ns
    }
    if (left > 0)
        parts.push_back(pseudo_part(rest, left));
}

/// How many samples of one thread a time has.
std::uint64_t periods_in(const model::Profile& profile, std::int64_t ns)
{
    std::int64_t sampled_ns = 0;
    std::uint64_t samples = 0;
    for (const model::ProcessTotals& process : profile.processes) {
        sampled_ns += process.sampled_ns;
        samples += process.samples;
    }
    const std::int64_t period =
        samples > 0 ? std::max<std::int64_t>(1, sampled_ns / static_cast<std::int64_t>(samples)) : 0;
    return period > 0 ? static_cast<std::uint64_t>(ns / period) : 0;
}

std::uint64_t samples_of(const std::vector<InsidePart>& parts)
{
    std::uint64_t samples = 0;
    for (const InsidePart& part : parts)
        samples += part.item.path_samples;
    return samples;
}

void add_errors(std::vector<InsidePart>& parts, std::int64_t row_ns, std::uint64_t samples, std::int64_t path_ns)
{
    // As a function is hit in the compute segments of the path, so is a part in its row.
    Hotspots row;
    row.path_ns = path_ns;
    row.domain_ns = row_ns;
    row.independent_samples = row.path_samples = samples;
    for (InsidePart& part : parts) {
        part.item.sampled_ns = part.item.path_ns;
        row.add_share(part.item);
    }
}

/// Puts functions that could have no time into one part.
void fold(std::vector<InsidePart>& parts)
{
    const auto first = std::stable_partition(parts.begin(), parts.end(), [](const InsidePart& part) {
        return part.item.kind == result::name(model::RowKind::Pseudo) || !part.item.is_below_error();
    });
    if (parts.end() - first < 2)
        return;
    InsidePart others = pseudo_part("[others]", 0);
    for (auto part = first; part != parts.end(); ++part) {
        others.item.path_ns += part->item.path_ns;
        others.item.path_samples += part->item.path_samples;
    }
    parts.erase(first, parts.end());
    parts.push_back(std::move(others));
}

}  // namespace

std::vector<division::InsideTime> inside_of(const HotspotRequest& request)
{
    if (!request.request.arguments.flag("--inside"))
        return {};
    if (!has_samples(request.profile))
        fail(ExitCode::Usage,
             "--inside: the trace has no samples, which alone see what MPI does; record it with samples");
    const result::Segments segments(request.request.trace);
    segments.check(request.profile);
    const result::Attributions attributions(request.request.trace);
    attributions.check(request.profile);
    auto times = division::inside_mpi(request.profile, {segments.records(), attributions.records()},
                                      request.window.value_or(whole_run(request.profile)));
    std::erase_if(times, [&](const division::InsideTime& time) { return !request.selection.has_rank(time.of.waits); });
    return times;
}

std::vector<InsidePart> parts_of(const model::Profile& profile, const std::vector<division::InsideTime>& times,
                                 std::int64_t row_ns, bool is_transfer)
{
    if (row_ns <= 0)
        return {};
    std::vector<InsidePart> parts = summed(profile, times);
    const std::uint64_t samples = std::max(samples_of(parts), periods_in(profile, row_ns));
    if (samples == 0)
        return {};
    balance(parts, row_ns, is_transfer ? "[in flight]" : "[blocked, not sampled]");
    const std::int64_t path_ns = fact(profile, "path_ns");
    add_errors(parts, row_ns, samples, path_ns);
    fold(parts);
    add_errors(parts, row_ns, samples, path_ns);
    std::ranges::stable_sort(parts, std::ranges::greater{}, [](const InsidePart& part) { return part.item.path_ns; });
    return parts;
}

std::string drawn(const std::vector<InsidePart>& parts, std::size_t i, const std::string& stem, bool has_more)
{
    const std::string side = parts[i].side;
    return stem + (i + 1 == parts.size() && !has_more ? "└ " : "├ ") + side + (side.empty() ? "" : ": ") +
           parts[i].item.name;
}

std::string inside_note()
{
    return "Below a row: what samples found inside of it (of messages, from: on the rank that sends it; to: on the one "
           "that gets it), and what they leave.";
}

}  // namespace critpath::report
