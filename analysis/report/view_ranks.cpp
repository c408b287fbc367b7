// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by rank`, `--by node` and `--by thread`: who carries the critical path.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/numbers.hpp"
#include "formats/result/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace critpath::report
{

namespace
{

/// A rank, a node or a thread.
struct Carrier {
    std::int64_t number = 0;  // of a rank
    std::string name;
    std::string node;
    std::int64_t ranks = 0;
    std::int64_t path_ns = 0;
    std::int64_t lifetime_ns = 0;
    std::int64_t mpi_ns = 0;
    std::int64_t sampled_ns = 0;
    std::int64_t samples = 0;
    std::int64_t calls = 0;
};

void add(Carrier& sum, const model::ProcessTotals& process)
{
    ++sum.ranks;
    sum.path_ns += process.path_ns;
    sum.lifetime_ns += process.lifetime_ns;
    sum.mpi_ns += process.mpi_ns;
    sum.sampled_ns += process.sampled_ns;
    sum.samples += static_cast<std::int64_t>(process.samples);
    sum.calls += static_cast<std::int64_t>(process.calls);
}

/// Orders them by `sort`, leaves out those off the path if it is the path that counts, and keeps the first `top`.
Coverage select(std::vector<Carrier>& carriers, const std::string& sort, std::uint64_t top)
{
    if (sort == "path")
        std::erase_if(carriers, [](const Carrier& c) { return c.path_ns <= 0; });
    if (sort != "name")
        std::stable_sort(carriers.begin(), carriers.end(), [&](const Carrier& a, const Carrier& b) {
            return sort == "path" ? a.path_ns > b.path_ns : a.lifetime_ns > b.lifetime_ns;
        });
    Coverage coverage;
    coverage.rows = carriers.size();
    if (top > 0 && carriers.size() > top)
        carriers.resize(top);
    coverage.shown = carriers.size();
    for (const Carrier& carrier : carriers)
        coverage.shown_path_ns += carrier.path_ns;
    return coverage;
}

std::int64_t path_of_all(const model::Profile& profile)
{
    return std::accumulate(profile.processes.begin(), profile.processes.end(), std::int64_t{0},
                           [](std::int64_t sum, const model::ProcessTotals& process) { return sum + process.path_ns; });
}

/// What is known of ranks and sums of ranks, between other columns; and the same of its cells. `of_run`: what only the
/// whole run has, too.
std::vector<Column> with_totals(std::vector<Column> first, const std::vector<Column>& last, bool of_run)
{
    first.insert(first.end(), {{"path_seconds", "Path s"}, {"path_percent", "Path %"}});
    if (of_run)
        first.insert(first.end(), {{"lifetime_seconds", "Lifetime s"},
                                   {"mpi_seconds", "MPI s"},
                                   {"sampled_seconds", ""},
                                   {"samples", ""},
                                   {"mpi_calls", ""}});
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

Row with_totals(const Carrier& c, std::int64_t path_ns, Row first, const Row& last, bool of_run)
{
    first.emplace_back(Seconds{c.path_ns});
    first.emplace_back(Share{part(c.path_ns, path_ns)});
    if (of_run) {
        first.emplace_back(Seconds{c.lifetime_ns});
        first.emplace_back(Seconds{c.mpi_ns});
        first.emplace_back(Seconds{c.sampled_ns});
        first.emplace_back(c.samples);
        first.emplace_back(c.calls);
    }
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

struct Kind {
    std::string noun;             // "rank"
    std::string key;              // of the table
    std::vector<Column> columns;  // and
    Row (*cells)(const Carrier& carrier, std::int64_t path_ns, bool of_run);
};

Document list(const HotspotRequest& request, std::vector<Carrier> carriers, const Kind& kind)
{
    const std::string& sort = request.request.arguments.text("--sort");
    const Coverage coverage = select(carriers, sort, request.request.arguments.number("--top"));
    const std::int64_t path_ns = path_of_all(request.profile);
    const double share = part(coverage.shown_path_ns, path_ns);
    Document document;
    document.fields = {
        {"sort", "", sort},
        {"path_seconds", "", Seconds{path_ns}},
        {"rows_shown", "", static_cast<std::int64_t>(coverage.shown)},
        {"rows", "", static_cast<std::int64_t>(coverage.rows)},
        {"shown_path_percent", "", Share{share}},
    };
    Table table;
    table.key = kind.key;
    table.columns = kind.columns;
    std::vector<Row> rows;
    for (const Carrier& carrier : carriers)
        rows.push_back(kind.cells(carrier, path_ns, !request.window));
    table.each_row = rows_of(std::move(rows));
    document.tables.push_back(std::move(table));
    document.notes.push_back(fmt::format("{} of {} shown: {} % of {}.", count_text(coverage.shown),
                                         counted(coverage.rows, kind.noun), percent_text(share),
                                         path_text(request.window, path_ns)));
    if (request.window)
        document.notes.push_back(window_note());
    return document;
}

}  // namespace

Document rank_view(const HotspotRequest& request)
{
    std::vector<Carrier> ranks;
    for (std::uint32_t rank = 0; rank < request.profile.processes.size(); ++rank) {
        if (!request.selection.has_rank({rank}))
            continue;
        const model::ProcessTotals& process = request.profile.processes[rank];
        Carrier& carrier = ranks.emplace_back();
        carrier.number = rank;
        carrier.name = process.name;
        carrier.node = process.node;
        add(carrier, process);
    }
    return list(
        request, std::move(ranks),
        {"rank", "ranks",
         with_totals({{"rank", "Rank"}, {"name", ""}}, {{"node", "Node", Align::Left, Fit::Middle}}, !request.window),
         [](const Carrier& c, std::int64_t path_ns, bool of_run) -> Row {
             return with_totals(c, path_ns, {c.number, c.name}, {c.node}, of_run);
         }});
}

Document node_view(const HotspotRequest& request)
{
    std::map<std::string, std::size_t> places;
    std::vector<Carrier> nodes;
    for (std::uint32_t rank = 0; rank < request.profile.processes.size(); ++rank) {
        const model::ProcessTotals& process = request.profile.processes[rank];
        if (!request.selection.has_rank({rank}))
            continue;
        const auto [place, is_new] = places.emplace(process.node, nodes.size());
        if (is_new)
            nodes.emplace_back().node = process.node;
        add(nodes[place->second], process);
    }
    if (request.request.arguments.text("--sort") == "name")
        std::sort(nodes.begin(), nodes.end(), [](const Carrier& a, const Carrier& b) { return a.node < b.node; });
    return list(request, std::move(nodes),
                {"node", "nodes",
                 with_totals({{"node", "Node", Align::Left, Fit::Middle}, {"ranks", "Ranks"}}, {}, !request.window),
                 [](const Carrier& c, std::int64_t path_ns, bool of_run) -> Row {
                     return with_totals(c, path_ns, {c.node, c.ranks}, {}, of_run);
                 }});
}

Document thread_view(const HotspotRequest& request)
{
    const result::Segments segments(request.request.trace);
    segments.check(request.profile);
    std::vector<Carrier> threads(request.profile.locations.size());
    for (std::size_t i = 0; i < threads.size(); ++i) {
        threads[i].name = request.profile.locations[i];
        threads[i].number = request.profile.location_process[i];
        threads[i].node = request.profile.processes[request.profile.location_process[i]].node;
    }
    const Window window = request.window.value_or(whole_run(request.profile));
    for (const model::Segment& segment : segments.records())
        threads[segment.location].path_ns += division::length_in(window, segment.begin, segment.end);
    std::erase_if(
        threads, [&](const Carrier& c) { return !request.selection.has_rank({static_cast<std::uint32_t>(c.number)}); });
    return list(request, std::move(threads),
                {"thread",
                 "threads",
                 {{"thread", "Thread", Align::Left, Fit::Middle},
                  {"rank", ""},
                  {"path_seconds", "Path s"},
                  {"path_percent", "Path %"},
                  {"node", "Node", Align::Left, Fit::Middle}},
                 [](const Carrier& c, std::int64_t path_ns, bool /*of_run*/) -> Row {
                     return {c.name, c.number, Seconds{c.path_ns}, Share{part(c.path_ns, path_ns)}, c.node};
                 }});
}

}  // namespace critpath::report
