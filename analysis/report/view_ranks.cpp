// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by rank`, `--by node` and `--by thread`: who carries the critical path.
#include "analysis/division/threads.hpp"
#include "analysis/report/computed_time.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/statistics.hpp"
#include "formats/result/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

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
    std::optional<Estimate> share;             // of the path: of a thread, as it may wait for others
    std::int64_t computed_ns = 0;              // between calls, by all threads
    std::int64_t path_computed_ns = 0;         // of that, on the path
    std::optional<std::int64_t> imbalance_ns;  // of single-threaded ranks: computed_ns less that of as many mean ranks
    std::int64_t lifetime_ns = 0;
    std::int64_t mpi_ns = 0;
    std::int64_t sampled_ns = 0;
    std::int64_t samples = 0;
    std::int64_t calls = 0;
};

void add(Carrier& sum, const ComputedTime& computed, std::uint32_t rank)
{
    sum.computed_ns += computed.of_rank(rank);
    sum.path_computed_ns += computed.on_path(rank);
    if (computed.mean())
        sum.imbalance_ns = sum.imbalance_ns.value_or(0) + computed.of_rank(rank) - *computed.mean();
}

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

/// Orders them by `sort`, and keeps the first `top`, of which those off the path are left out if it is the path that
/// counts; 0: all.
Coverage select(std::vector<Carrier>& carriers, const std::string& sort, std::uint64_t top)
{
    Coverage coverage;
    coverage.rows = carriers.size();
    if (sort == "path" && top > 0)
        std::erase_if(carriers, [](const Carrier& c) { return c.path_ns <= 0; });
    if (sort != "name")
        std::stable_sort(carriers.begin(), carriers.end(), [&](const Carrier& a, const Carrier& b) {
            return sort == "path" ? a.path_ns > b.path_ns : a.computed_ns > b.computed_ns;
        });
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

/// What is known of the part of the run that is looked at.
struct Known {
    bool computed;  // what each rank and thread computes
    bool rest;      // what is known of the whole run only
};

Known known_of(const HotspotRequest& request)
{
    if (!request.window)
        return {true, true};
    const std::int64_t makespan_ns = whole_run(request.profile).end;
    return {division::computed_known(makespan_ns, *request.window) != division::TotalsKnown::Not, false};
}

/// What is known of threads, between other columns; and the same of its cells.
std::vector<Column> with_times(std::vector<Column> first, const std::vector<Column>& last, Known known,
                               const std::vector<Column>& share = {{"path_percent", "Path %"}})
{
    first.push_back({"path_seconds", "Path s"});
    first.insert(first.end(), share.begin(), share.end());
    if (known.computed)
        first.insert(first.end(), {{"computed_seconds", "Non-MPI s"},
                                   {"off_path_seconds", "Off path s"},
                                   {"imbalance_seconds", "Imbalance s"}});
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

Row with_times(const Carrier& c, std::int64_t path_ns, Row first, const Row& last, Known known)
{
    first.emplace_back(Seconds{c.path_ns});
    if (c.share)
        add_share_cells(first, *c.share, c.path_ns);
    else
        first.emplace_back(Share{part(c.path_ns, path_ns)});
    if (known.computed) {
        first.emplace_back(Seconds{c.computed_ns});
        // Samples of threads that live for as long as the time between two may stand for more time than they had.
        const std::int64_t off_path_ns = c.computed_ns - c.path_computed_ns;
        first.push_back(off_path_ns < 0 ? Cell() : Cell(Seconds{off_path_ns}));
        first.push_back(time_or_none(c.imbalance_ns));
    }
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

/// Likewise of ranks and sums of ranks.
std::vector<Column> with_totals(std::vector<Column> first, const std::vector<Column>& last, Known known)
{
    first = with_times(std::move(first), {}, known);
    if (known.rest)
        first.insert(first.end(), {{"lifetime_seconds", "Lifetime s"},
                                   {"mpi_seconds", "MPI s"},
                                   {"sampled_seconds", ""},
                                   {"samples", ""},
                                   {"mpi_calls", ""}});
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

Row with_totals(const Carrier& c, std::int64_t path_ns, Row first, const Row& last, Known known)
{
    first = with_times(c, path_ns, std::move(first), {}, known);
    if (known.rest) {
        first.emplace_back(Seconds{c.lifetime_ns});
        first.emplace_back(Seconds{c.mpi_ns});
        first.emplace_back(Seconds{c.sampled_ns});
        first.emplace_back(c.samples);
        first.emplace_back(c.calls);
    }
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

/// Of the path's time of each thread, ns: what samples of others give to it or take from it is an estimate, all else is
/// exact.
std::vector<Interval> intervals_of(const division::ThreadTimes& times)
{
    std::vector<Interval> errors(times.threads.size(), {0, 0});  // below and above
    const auto add = [&](std::uint32_t thread, double below, double above) {
        errors[thread] = {std::hypot(errors[thread].low, below), std::hypot(errors[thread].high, above)};
    };
    const auto error_of = [](std::int64_t ns, const division::GivenTime& of) {
        const double share = part(ns, of.of_ns), all = static_cast<double>(of.of_ns);
        const Interval interval = score_interval(share, static_cast<double>(of.samples));
        return std::pair(all * (share - interval.low), all * (interval.high - share));
    };
    std::map<std::uint32_t, division::GivenTime> of_all;  // what a thread gives to all others, as the same samples say
    for (const division::GivenTime& given : times.given) {
        const auto [below, above] = error_of(given.ns, given);
        add(given.to, below, above);
        const auto [sum, is_new] = of_all.try_emplace(given.from, given);
        if (!is_new)
            sum->second.ns += given.ns;
    }
    for (const auto& [from, given] : of_all) {
        const auto [below, above] = error_of(given.ns, given);
        add(from, above, below);
    }
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const auto ns = static_cast<double>(times.threads[i].path);
        errors[i] = {std::max(0.0, ns - errors[i].low), ns + errors[i].high};
    }
    return errors;
}

struct Kind {
    std::string noun;             // "rank"
    std::string key;              // of the table
    std::vector<Column> columns;  // and
    Row (*cells)(const Carrier& carrier, std::int64_t path_ns, Known known);
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
    const Known known = known_of(request);
    std::vector<Row> rows;
    for (const Carrier& carrier : carriers)
        rows.push_back(kind.cells(carrier, path_ns, known));
    table.each_row = rows_of(std::move(rows));
    document.tables.push_back(std::move(table));
    document.notes.push_back(fmt::format("{} of {} shown: {} % of {}.", count_text(coverage.shown),
                                         counted(coverage.rows, kind.noun), percent_text(share),
                                         path_text(request.window, path_ns)));
    if (request.window)
        if (std::string note = computed_note(request.profile, *request.window); !note.empty())
            document.notes.push_back(std::move(note));
    if (!known.computed)
        return document;
    const ComputedTime computation(request.profile);
    document.fields.push_back({"path_computed_seconds", "", Seconds{computation.on_path()}});
    document.fields.push_back({"mean_computed_seconds", "", time_or_none(computation.mean())});
    if (computation.mean())
        document.notes.push_back(fmt::format("The path computes for {}, a rank for {} in the mean.",
                                             duration_text(computation.on_path()), duration_text(*computation.mean())));
    return document;
}

}  // namespace

Document rank_view(const HotspotRequest& request)
{
    if (!request.selection.module.empty())
        return module_rank_view(request);
    const ComputedTime computation(request.profile);
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
        add(carrier, computation, rank);
    }
    return list(
        request, std::move(ranks),
        {"rank", "ranks",
         with_totals({{"rank", "Rank"}, {"name", ""}}, {{"node", "Node", Align::Left, Fit::Middle}}, known_of(request)),
         [](const Carrier& c, std::int64_t path_ns, Known known) -> Row {
             return with_totals(c, path_ns, {c.number, c.name}, {c.node}, known);
         }});
}

Document node_view(const HotspotRequest& request)
{
    if (!request.selection.module.empty())
        return module_node_view(request);
    const ComputedTime computation(request.profile);
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
        add(nodes[place->second], computation, rank);
    }
    if (request.request.arguments.text("--sort") == "name")
        std::sort(nodes.begin(), nodes.end(), [](const Carrier& a, const Carrier& b) { return a.node < b.node; });
    return list(request, std::move(nodes),
                {"node", "nodes",
                 with_totals({{"node", "Node", Align::Left, Fit::Middle}, {"ranks", "Ranks"}}, {}, known_of(request)),
                 [](const Carrier& c, std::int64_t path_ns, Known known) -> Row {
                     return with_totals(c, path_ns, {c.node, c.ranks}, {}, known);
                 }});
}

Document thread_view(const HotspotRequest& request)
{
    if (!request.selection.module.empty())
        return module_thread_view(request);
    const result::Segments segments(request.request.trace);
    segments.check(request.profile);
    const result::Attributions attributions(request.request.trace);
    attributions.check(request.profile);
    const std::optional<std::int64_t> mean_ns = ComputedTime(request.profile).mean();
    std::vector<Carrier> threads(request.profile.locations.size());
    for (std::size_t i = 0; i < threads.size(); ++i) {
        threads[i].name = request.profile.locations[i];
        threads[i].number = request.profile.location_process[i];
        threads[i].node = request.profile.processes[request.profile.location_process[i]].node;
        threads[i].computed_ns = request.profile.computed_ns[i];
        if (mean_ns)
            threads[i].imbalance_ns = threads[i].computed_ns - *mean_ns;
    }
    const division::ThreadTimes times =
        division::time_of_threads(request.profile, {segments.records(), attributions.records()},
                                  request.window.value_or(whole_run(request.profile)));
    const std::vector<Interval> intervals = intervals_of(times);
    const std::int64_t whole_ns = path_of_all(request.profile);
    for (std::size_t i = 0; i < threads.size(); ++i) {
        threads[i].path_ns = times.threads[i].path;
        threads[i].path_computed_ns = times.threads[i].computed;
        const auto share = [&](double ns) { return whole_ns > 0 ? ns / static_cast<double>(whole_ns) : 0; };
        const auto [low, high] = intervals[i];
        threads[i].share = Estimate{part(threads[i].path_ns, whole_ns), share(low), share(high), low == high};
    }
    std::erase_if(
        threads, [&](const Carrier& c) { return !request.selection.has_rank({static_cast<std::uint32_t>(c.number)}); });
    Document document =
        list(request, std::move(threads),
             {"thread", "threads",
              with_times({{"thread", "Thread", Align::Left, Fit::Middle}, {"rank", ""}},
                         {{"node", "Node", Align::Left, Fit::Middle}}, known_of(request), share_columns()),
              [](const Carrier& c, std::int64_t path_ns, Known known) -> Row {
                  return with_times(c, path_ns, {c.name, c.number}, {c.node}, known);
              }});
    if (!times.given.empty())
        document.notes.emplace_back("±: 95 % sampling error of how long threads wait for each other.");
    return document;
}

}  // namespace critpath::report
