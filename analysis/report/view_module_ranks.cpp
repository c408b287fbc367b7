// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by rank` and `--by node` with `--module`: who carries the path in these binaries.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
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
Hotspots path_times(const HotspotRequest& request, std::size_t items, IndexOf index_of)
{
    const model::Profile& profile = request.profile;
    Hotspots hotspots = sums(profile);
    hotspots.items.resize(items);
    for (const model::CallPathTime& time : profile.path)
        if (request.selection.has_rank(time.process) && request.selection.has_row(profile.row(time.call_path)))
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
             "--sort all: with --module, ranks and nodes are known by their path time only; leave it out");
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

}  // namespace

Document module_rank_view(const HotspotRequest& request)
{
    const auto& processes = request.profile.processes;
    Hotspots hotspots = path_times(request, processes.size(), [](std::uint32_t rank) { return rank; });
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
    Hotspots hotspots = path_times(request, places.size(),
                                   [&](std::uint32_t rank) { return places.at(request.profile.processes[rank].node); });
    for (const auto& [node, place] : places)
        hotspots.items[place].name = node;
    return list(request, std::move(hotspots), "nodes", {{"node", "Node", Align::Left, Fit::Middle}},
                [](const Hotspot& item) -> Row { return {item.name}; });
}

}  // namespace critpath::report
