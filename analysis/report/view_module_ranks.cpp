// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by rank`, `--by node`, `--by thread` and `--by phase` with `--module`: who carries the path
// in these binaries, and when.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/numbers.hpp"
#include "formats/support/error.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

/// Path time in the selected binaries, by what `index_of(rank)` says; of as many items.
template <class IndexOf>
Hotspots path_times(const model::Profile& profile, const Selection& selection, std::size_t items, IndexOf index_of)
{
    Hotspots hotspots = sums(profile);
    hotspots.items.resize(items);
    for (const model::CallPathTime& time : profile.path)
        if (selection.has_rank(time.process) && selection.has_row(profile.row(time.call_path)))
            add_path(hotspots.items[index_of(time.process.value)], time, is_found_by_samples(profile, time));
    for (Hotspot& item : hotspots.items)
        hotspots.add_share(item);
    return hotspots;
}

Document list(const HotspotRequest& request, Hotspots hotspots, const std::string& key, std::vector<Column> columns,
              Row (*cells)(const Hotspot& item))
{
    const std::string& sort = request.request.arguments.text("--sort");
    if (sort == "all")
        fail(ExitCode::Usage,
             "--sort all: with --module, ranks, nodes and threads are known by their path time only; leave it out");
    const Coverage coverage = select(hotspots.items, sort, request.request.arguments.number("--top"));
    Document document;
    describe(document, coverage, hotspots, sort, request.window);
    Table table;
    table.key = key;
    table.columns = std::move(columns);
    for (Column& column : time_columns(false))
        table.columns.push_back(std::move(column));
    std::vector<Row> rows;
    for (const Hotspot& item : hotspots.items) {
        rows.push_back(cells(item));
        add_time_cells(rows.back(), item, false);
    }
    table.each_row = rows_of(std::move(rows));
    document.tables.push_back(std::move(table));
    document.notes.push_back(fmt::format("Time in binaries with '{}' in their path; shares are of the whole path.",
                                         request.selection.module));
    return document;
}

/// The threads of the selected ranks.
Selection threads_of(const model::Profile& profile, const Selection& selection)
{
    Selection threads = {{}, selection.module};
    for (std::uint32_t thread = 0; thread < profile.locations.size() && !selection.ranks.empty(); ++thread)
        if (selection.has_rank({profile.location_process[thread]}))
            threads.ranks.push_back(thread);
    if (threads.ranks.empty() && !selection.ranks.empty())
        threads.ranks.push_back(static_cast<std::uint32_t>(profile.locations.size()));  // none: no rank would be all
    return threads;
}

}  // namespace

Document module_rank_view(const HotspotRequest& request)
{
    const auto& processes = request.profile.processes;
    Hotspots hotspots =
        path_times(request.profile, request.selection, processes.size(), [](std::uint32_t rank) { return rank; });
    for (std::size_t rank = 0; rank < processes.size(); ++rank) {
        hotspots.items[rank].name = fmt::format("{:010}", rank);  // to sort by
        hotspots.items[rank].module = processes[rank].name;
        hotspots.items[rank].file = processes[rank].node;
        hotspots.items[rank].line = static_cast<std::int64_t>(rank);
    }
    return list(request, std::move(hotspots), "ranks",
                {{"rank", "Rank"}, {"name", ""}, {"node", "Node", Align::Left, Fit::Middle}},
                [](const Hotspot& item) -> Row {
                    return {item.line, item.module, item.file};
                });
}

Document module_node_view(const HotspotRequest& request)
{
    std::map<std::string, std::size_t> places;
    for (const model::ProcessTotals& process : request.profile.processes)
        places.emplace(process.node, places.size());
    Hotspots hotspots = path_times(request.profile, request.selection, places.size(),
                                   [&](std::uint32_t rank) { return places.at(request.profile.processes[rank].node); });
    for (const auto& [node, place] : places)
        hotspots.items[place].name = node;
    return list(request, std::move(hotspots), "nodes", {{"node", "Node", Align::Left, Fit::Middle}},
                [](const Hotspot& item) -> Row { return {item.name}; });
}

Document module_thread_view(const HotspotRequest& request)
{
    const Window window = request.window.value_or(whole_run(request.whole));
    const model::Profile threads = threads_in(request.request, request.whole, window);
    Hotspots hotspots = path_times(threads, threads_of(request.whole, request.selection), threads.processes.size(),
                                   [](std::uint32_t thread) { return thread; });
    for (std::size_t thread = 0; thread < threads.processes.size(); ++thread) {
        hotspots.items[thread].name = fmt::format("{:010}", thread);  // to sort by
        hotspots.items[thread].module = threads.processes[thread].name;
        hotspots.items[thread].file = threads.processes[thread].node;
        hotspots.items[thread].line = request.whole.location_process[thread];
    }
    return list(
        request, std::move(hotspots), "threads",
        {{"thread", "Thread", Align::Left, Fit::Middle}, {"rank", ""}, {"node", "Node", Align::Left, Fit::Middle}},
        [](const Hotspot& item) -> Row {
            return {item.module, item.line, item.file};
        });
}

Document module_phase_view(const HotspotRequest& request)
{
    const Window whole = request.window.value_or(whole_run(request.profile));
    Table table;
    table.key = "phases";
    table.columns = {{"phase", "#"}, {"begin_seconds", "Begin s"}, {"end_seconds", ""}};
    for (Column& column : time_columns(false))
        table.columns.push_back(std::move(column));
    table.columns.insert(table.columns.end(), {{"function", "Function", Align::Left, Fit::Name}, {"module", ""}});
    for (Column& column : share_columns("function_percent", "Its %"))
        table.columns.push_back(std::move(column));
    std::vector<Row> rows;
    std::uint64_t guesses = 0;
    model::Profile profile = request.profile;
    for (division::Parts& parts :
         parts_of(request.request, request.profile, phases_of(request.request.arguments, whole))) {
        Row& row = rows.emplace_back();
        row = {static_cast<std::int64_t>(rows.size()), Seconds{parts.window.begin}, Seconds{parts.window.end}};
        division::restrict_to(profile, std::move(parts));
        add_time_cells(row, path_times(profile, request.selection, 1, [](std::uint32_t) { return 0; }).items[0], false);
        const Hotspot function = costliest(profile, request.selection);
        row.push_back(function.name.empty() ? Cell() : Cell(function.name));
        row.push_back(function.name.empty() ? Cell() : Cell(function.module));
        add_share_cells(row, function);
        guesses += function.is_below_error() ? 1 : 0;
    }
    Document document;
    document.fields = {{"path_seconds", "", Seconds{whole.length()}},
                       {"rows", "", static_cast<std::int64_t>(rows.size())}};
    document.notes.push_back(fmt::format(
        "{} of equal length: {}. Time in binaries with '{}' in their path; shares are of the phase. Function is the "
        "one of these that has most of it.",
        counted(rows.size(), "phase"), path_text(request.window, whole.length()), request.selection.module));
    if (guesses > 0)
        document.notes.push_back(guesses_note(guesses));
    table.each_row = rows_of(std::move(rows));
    document.tables.push_back(std::move(table));
    return document;
}

}  // namespace critpath::report
