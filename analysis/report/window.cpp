// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/window.hpp"

#include "analysis/report/numbers.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"
#include "formats/support/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace critpath::report
{

namespace
{

__extension__ using Wide = __int128;

/// `profile` is the one that the records are of, `divided` the one whose processes the time is divided among.
std::vector<division::Parts> divide(const Request& request, const model::Profile& profile,
                                    const model::Profile& divided, const std::vector<Window>& windows,
                                    const division::HasRank& has_rank)
{
    const result::Segments segments(request.trace);
    segments.check(profile);
    const result::Attributions attributions(request.trace);
    attributions.check(profile);
    try {
        return division::divide(divided, {segments.records(), attributions.records()}, windows, has_rank);
    } catch (const std::out_of_range& error) {
        fail(ExitCode::BadTrace, "{}: damaged ({}); run again: mpirun -n N cpreplay {}",
             result::segments_path(request.trace).string(), error.what(), shell_quoted(request.trace.string()));
    }
}

bool is_whole(const Window& window, const model::Profile& profile)
{
    const Window whole = whole_run(profile);
    return window.begin == whole.begin && window.end == whole.end;
}

std::vector<model::CallPathTime> totals_in(const Request& request, const model::Profile& profile, const Window& window)
{
    return is_whole(window, profile) ? profile.totals : std::move(totals_of(request, profile, {window}).front().totals);
}

/// Threads in place of the processes that they are of.
model::Profile of_threads(model::Profile profile)
{
    std::vector<model::ProcessTotals> threads(profile.locations.size());
    for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
        std::uint32_t& process = profile.location_process[thread];
        threads[thread].name = profile.locations[thread];
        threads[thread].node = profile.processes[process].node;
        process = thread;
    }
    profile.processes = std::move(threads);
    return profile;
}

}  // namespace

std::vector<Option> window_options()
{
    return {
        {"--from", "TIME", "only what lies after this moment of the run: in seconds, or 20ms, or 40%", "", {}},
        {"--to", "TIME", "only what lies before this moment", "", {}},
    };
}

Window whole_run(const model::Profile& profile)
{
    return {0, fact(profile, "makespan_ns")};
}

std::vector<Window> phases_of(const Arguments& arguments, const Window& whole)
{
    constexpr std::uint64_t most = 1000;  // each knows all ranks
    const std::uint64_t asked = arguments.number("--phases");
    if (asked == 0 || asked > most)
        fail(ExitCode::Usage, "--phases: {} is not from 1 to {}; for example: --phases 20", asked, most);
    const std::int64_t number = std::min(whole.length(), static_cast<std::int64_t>(asked));
    const auto cut = [&](std::int64_t i) {
        return whole.begin + static_cast<std::int64_t>(Wide{whole.length()} * i / number);
    };
    std::vector<Window> parts;
    for (std::int64_t i = 0; i < number; ++i)
        parts.push_back({cut(i), cut(i + 1)});
    return parts;
}

std::optional<Window> window_of(const Arguments& arguments, const model::Profile& profile)
{
    const Window whole = whole_run(profile);
    const auto from = arguments.moment_ns("--from", whole.end);
    const auto to = arguments.moment_ns("--to", whole.end);
    if (!from && !to)
        return std::nullopt;
    if (from && *from >= whole.end)
        fail(ExitCode::Usage, "--from: {} is not before the end of the run at {} s; give an earlier time",
             arguments.text("--from"), exact_seconds(whole.end));
    if (to && *to > whole.end)
        fail(ExitCode::Usage, "--to: {} is behind the end of the run at {} s; leave it out, or give an earlier time",
             arguments.text("--to"), exact_seconds(whole.end));
    const Window window{from.value_or(whole.begin), to.value_or(whole.end)};
    if (window.length() <= 0)
        fail(ExitCode::Usage, "--to: {} is not after --from; give a later time", arguments.text("--to"));
    return window;
}

std::vector<division::Parts> parts_of(const Request& request, const model::Profile& profile,
                                      const std::vector<Window>& windows, const Selection& selection)
{
    division::HasRank has_rank;
    if (!selection.ranks.empty())
        has_rank = [&](model::ProcessId process) { return selection.has_rank(process); };
    return divide(request, profile, profile, windows, has_rank);
}

model::Profile threads_in(const Request& request, const model::Profile& profile, const Window& window)
{
    model::Profile threads = of_threads(profile);
    division::restrict_to(threads, std::move(divide(request, profile, threads, {window}, {}).front()));
    return threads;
}

std::vector<division::TotalsIn> totals_of(const Request& request, const model::Profile& profile,
                                          const std::vector<Window>& windows)
{
    const result::TotalParts parts(request.trace);
    parts.check(profile);
    const std::int64_t makespan_ns = whole_run(profile).end;
    std::vector<division::TotalsIn> totals =
        division::totals_in(makespan_ns, profile.call_paths.size(), parts.records(), windows);
    for (std::size_t i = 0; i < windows.size(); ++i)
        if (division::totals_known(makespan_ns, windows[i]) == division::TotalsKnown::Not)
            totals[i] = {};
    return totals;
}

model::Profile profile_in(const Request& request, const model::Profile& profile, const Window& window,
                          const Selection& selection)
{
    division::Parts parts = std::move(parts_of(request, profile, {window}, selection).front());
    parts.totals = totals_in(request, profile, window);
    model::Profile result = profile;
    division::restrict_to(result, std::move(parts));
    if (is_whole(window, profile)) {
        result.total_addresses = profile.total_addresses;
        return result;
    }
    const result::Computed computed(request.trace);
    computed.check(profile);
    result.computed_ns =
        division::computed_in(whole_run(profile).end, profile.locations.size(), computed.records(), window);
    return result;
}

std::string path_text(const std::optional<Window>& window, std::int64_t path_ns)
{
    if (!window)
        return fmt::format("the critical path ({})", duration_text(path_ns));
    const auto seconds = [](std::int64_t ns) { return exact_seconds(ns) + " s"; };
    return fmt::format("the critical path from {} to {} ({})", seconds(window->begin), seconds(window->end),
                       duration_text(path_ns));
}

void add_window(Document& document, const Window& window)
{
    document.fields.push_back({"from_seconds", "", Seconds{window.begin}});
    document.fields.push_back({"to_seconds", "", Seconds{window.end}});
    for (Table& table : document.tables) {
        table.columns.push_back({"from_seconds", ""});
        table.columns.push_back({"to_seconds", ""});
        table.each_row = [window, each_row = std::move(table.each_row)](const RowSink& sink) {
            each_row([&](std::span<const Cell> cells) {
                Row row(cells.begin(), cells.end());
                row.emplace_back(Seconds{window.begin});
                row.emplace_back(Seconds{window.end});
                sink(row);
            });
        };
    }
}

namespace
{

/// `whose` are known by parts of the run, which are `parts`.
std::string known_note(division::TotalsKnown known, std::string_view whose, std::string_view parts,
                       std::int64_t part_ns)
{
    switch (known) {
    case division::TotalsKnown::Exactly:
        return {};
    case division::TotalsKnown::Interpolated:
        return fmt::format("{} known by {} of the run ({}): where this part begins and ends, they are interpolated.",
                           whose, parts, duration_text(part_ns));
    case division::TotalsKnown::Not:
        break;
    }
    return fmt::format("{} known by {} of the run only ({}): this part is shorter.", whose, parts,
                       duration_text(part_ns));
}

}  // namespace

std::string totals_note(const model::Profile& profile, const Window& window)
{
    const std::int64_t makespan_ns = whole_run(profile).end;
    return known_note(division::totals_known(makespan_ns, window), "All ranks are", "thousandths",
                      makespan_ns / model::TimeSlots::number);
}

std::string computed_note(const model::Profile& profile, const Window& window)
{
    const std::int64_t makespan_ns = whole_run(profile).end;
    return known_note(division::computed_known(makespan_ns, window), "The times that they compute are", "hundredths",
                      makespan_ns / model::ComputedParts::number);
}

}  // namespace critpath::report
