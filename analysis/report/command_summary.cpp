// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport summary`: what the run was, what its critical path consists of, and how far to trust it.
#include "analysis/model/anomalies.hpp"
#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/clocks.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/left_out.hpp"
#include "analysis/report/load.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/refused.hpp"
#include "analysis/report/sampling_cost.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace critpath::report
{

namespace
{

constexpr std::size_t top_ranks = 5;
constexpr std::size_t top_functions = 5;

std::string ranks_text(const model::Profile& profile)
{
    std::set<std::string> nodes;
    for (const model::ProcessTotals& process : profile.processes)
        nodes.insert(process.node);
    std::string text = fmt::format("{} on {}", count_text(profile.processes.size()), counted(nodes.size(), "node"));
    if (profile.locations.size() > profile.processes.size())
        text += fmt::format(", {}", counted(profile.locations.size(), "thread"));
    return text;
}

std::string sampling_text(const model::Profile& profile, std::uint64_t path_samples)
{
    const std::string event = property(profile, "event");
    if (event.empty())
        return "none: functions are as far known as the trace has enter and leave records of them";
    const std::int64_t value = period_of(profile);
    const bool is_time = property(profile, "period_unit") == "ns";
    const std::string call_graph = property(profile, "call_graph");
    const std::string precise_ip = property(profile, "precise_ip");
    return fmt::format("{} about every {}: {}, {} on the path{}{}", event,
                       is_time ? duration_text(value) : count_text(static_cast<std::uint64_t>(value)),
                       counted(static_cast<std::uint64_t>(fact(profile, "samples")), "sample"),
                       count_text(path_samples), call_graph.empty() ? "" : fmt::format("; call graph: {}", call_graph),
                       precise_ip.empty() ? "" : fmt::format("; precise_ip: {}", precise_ip));
}

std::string clocks_text(const model::Profile& profile)
{
    const std::string clocks = count_text(static_cast<std::uint64_t>(fact(profile, "clock_domains")));
    if (const std::int64_t unknown = fact(profile, "clocks_unknown"); unknown > 0)
        return fmt::format("{}; nothing relates {} of them to the others", clocks,
                           count_text(static_cast<std::uint64_t>(unknown)));
    return fmt::format("{}; times on different ones compare to within {}, corrected by up to {}", clocks,
                       duration_text(fact(profile, "clock_uncertainty_ns")),
                       duration_text(fact(profile, "clock_correction_ns")));
}

/// On the path, outside of MPI, in processes of several threads.
std::int64_t blocked_beside_threads(const model::Profile& profile)
{
    std::map<std::uint32_t, std::size_t> threads;
    for (const std::uint32_t process : profile.location_process)
        ++threads[process];
    std::int64_t ns = 0;
    for (const model::CallPathTime& time : profile.path) {
        const model::CallPathId parent = profile.call_paths[time.call_path.value].parent;
        const bool is_in_mpi = parent.valid() && profile.row(parent).kind == model::RowKind::Mpi;
        if (!is_in_mpi && profile.row(time.call_path).name == model::pseudo::blocked && threads[time.process.value] > 1)
            ns += time.ns;
    }
    return ns;
}

/// Of a run in which threads that call MPI wait for each other.
std::vector<Field> thread_fields(const model::Profile& profile)
{
    const std::int64_t blocked_ns = blocked_beside_threads(profile);
    if (fact(profile, "threads_calling_mpi") == 0 || fact(profile, "blocked_ns") == 0)
        return {};
    return {{"", "Threads",
             fmt::format("several of a process call MPI; for which one another waited is a guess, and none is made for "
                         "{} % of the path ([blocked])",
                         percent_text(part(blocked_ns, fact(profile, "path_ns"))))},
            {"blocked_beside_threads_seconds", "", Seconds{blocked_ns}}};
}

std::vector<Field> fields(const model::Profile& profile, const Request& request, std::uint64_t path_samples)
{
    const std::int64_t path_ns = fact(profile, "path_ns");
    const std::int64_t unsure_ns = fact(profile, "low_confidence_ns");
    const std::int64_t led_ns = fact(profile, "led_by_doubt_ns");
    std::int64_t lifetime_ns = 0;
    std::int64_t mpi_ns = 0;
    for (const model::ProcessTotals& process : profile.processes) {
        lifetime_ns += process.lifetime_ns;
        mpi_ns += process.mpi_ns;
    }
    const std::string command = property(profile, "command");
    std::vector<Field> result = {
        {"command", "Command", command.empty() ? Cell() : Cell(command), Fit::Middle},
        {"", "Trace", request.trace_name, Fit::Middle},
        {"", "Ranks", ranks_text(profile)},
        {"processes", "", static_cast<std::int64_t>(profile.processes.size())},
        {"locations", "", static_cast<std::int64_t>(profile.locations.size())},
        {"makespan_seconds", "Makespan", Seconds{fact(profile, "makespan_ns")}},
        {"", "Path",
         fmt::format("{} with {} from {}", counted(static_cast<std::uint64_t>(fact(profile, "segments")), "segment"),
                     counted(static_cast<std::uint64_t>(fact(profile, "hops")), "change"),
                     profile.locations.size() > profile.processes.size() ? "thread to thread" : "rank to rank")},
        {"segments", "", fact(profile, "segments")},
        {"hops", "", fact(profile, "hops")},
        {"", "In MPI", fmt::format("{} % of the time of all ranks", percent_text(part(mpi_ns, lifetime_ns)))},
        {"mpi_percent_of_all_ranks", "", Share{part(mpi_ns, lifetime_ns)}},
        {"", "Sampling", sampling_text(profile, path_samples)},
        {"event", "", property(profile, "event")},
        {"period", "", period_of(profile) > 0 ? Cell(period_of(profile)) : Cell()},
        {"period_unit", "", property(profile, "period_unit")},
        {"call_graph", "", property(profile, "call_graph")},
        {"precise_ip", "", property(profile, "precise_ip")},
        {"not_recorded", "", property(profile, "left_out")},
        {"refused_events", "", refused_text(profile)},
        {"samples", "", fact(profile, "samples")},
        {"path_samples", "", static_cast<std::int64_t>(path_samples)},
        {"", "Uncertainty",
         other_rules(profile).empty()
             ? fmt::format("{} % of the path is where doubtful decisions put it ({} % in the calls in doubt)",
                           percent_text(part(led_ns, path_ns)), percent_text(part(unsure_ns, path_ns)))
             : fmt::format("not told by --rules={}, which are there to compare", other_rules(profile))},
        {"low_confidence_percent", "", Share{part(unsure_ns, path_ns)}},
        {"led_by_doubt_percent", "", Share{part(led_ns, path_ns)}},
        {"rules", "", property(profile, "rules")},
        {"replay_version", "", property(profile, "tool_version")},
    };
    if (fact(profile, "clock_domains") > 1) {  // otherwise all times are exact
        const std::initializer_list<Field> clocks = {
            {"", "Clocks", clocks_text(profile)},
            {"clock_domains", "", fact(profile, "clock_domains")},
            {"clock_uncertainty_seconds", "", Seconds{fact(profile, "clock_uncertainty_ns")}},
            {"clock_correction_seconds", "", Seconds{fact(profile, "clock_correction_ns")}},
        };
        const auto rules =
            std::ranges::find_if(result, [](const Field& field) { return std::string_view(field.key) == "rules"; });
        result.insert(rules, clocks);
    }
    if (has_samples(profile) && !knows_time_off_processor(profile))
        result.push_back({"", "Not sampled", "time without a processor: of that, timers know nothing"});
    if (const std::string refused = refused_text(profile); !refused.empty())
        result.push_back({"", "Refused", refused});
    for (const Field& field : sampling_cost_fields(profile))
        result.push_back(field);
    for (const Field& field : thread_fields(profile))
        result.push_back(field);
    for (const Field& field : clock_fields(profile))
        result.push_back(field);
    if (const std::string how = property(profile, "incomplete"); !how.empty()) {
        const auto later = static_cast<std::uint64_t>(fact(profile, "cut_calls"));
        result.push_back({"", "Incomplete",
                          fmt::format("{}; analyzed while all ranks are known ({} cut)", how, counted(later, "call"))});
        result.push_back({"incomplete", "", how});
        result.push_back({"cut_calls", "", fact(profile, "cut_calls")});
        result.push_back({"operations_under_way", "", fact(profile, "under_way")});
    }
    return result;
}

Table kind_table(const model::Profile& profile)
{
    struct Sum {
        std::int64_t ns = 0;
        std::uint64_t segments = 0;
    };
    std::array<Sum, model::segment_kinds> sums;
    std::int64_t path_ns = 0;
    for (const model::KindTime& time : profile.kinds) {
        Sum& sum = sums[static_cast<std::size_t>(time.kind)];
        sum.ns += time.ns;
        sum.segments += time.segments;
        path_ns += time.ns;
    }
    std::vector<std::size_t> order(sums.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sums[a].ns > sums[b].ns; });
    std::vector<Row> rows;
    for (const std::size_t kind : order) {
        if (sums[kind].ns > 0)
            rows.push_back({std::string(model::name(static_cast<model::SegmentKind>(kind))), Seconds{sums[kind].ns},
                            Share{part(sums[kind].ns, path_ns)}, static_cast<std::int64_t>(sums[kind].segments)});
    }
    return {"kinds",
            "What the critical path consists of",
            {{"kind", "Kind", Align::Left},
             {"path_seconds", "Path s"},
             {"path_percent", "Path %"},
             {"segments", "Segments"}},
            rows_of(std::move(rows))};
}

Table rank_table(const model::Profile& profile)
{
    std::vector<std::size_t> ranks(profile.processes.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) {
        return profile.processes[a].path_ns > profile.processes[b].path_ns;
    });
    std::vector<Row> rows;
    for (std::size_t i = 0; i < std::min(top_ranks, ranks.size()); ++i) {
        const model::ProcessTotals& process = profile.processes[ranks[i]];
        if (process.path_ns > 0)
            rows.push_back({static_cast<std::int64_t>(ranks[i]), Seconds{process.path_ns},
                            Share{part(process.path_ns, fact(profile, "path_ns"))}, Seconds{process.mpi_ns},
                            process.node});
    }
    return {"ranks",
            "The ranks that carry it",
            {{"rank", "Rank"},
             {"path_seconds", "Path s"},
             {"path_percent", "Path %"},
             {"mpi_seconds", "MPI s"},
             {"node", "Node", Align::Left, Fit::Middle}},
            rows_of(std::move(rows))};
}

Table function_table(const model::Profile& profile, Hotspots& hotspots)
{
    sort_by_path(hotspots.items);
    const Folding folding(hotspots.items);
    std::vector<Row> rows;
    for (const Hotspot& item : hotspots.items) {
        if (rows.size() == top_functions || item.path_ns <= 0)
            break;
        if (folding.leaves_out(item))
            continue;
        rows.push_back({item.name, item.place(), item.module, Seconds{item.path_ns}});
        add_share_cells(rows.back(), item);
    }
    Table table{"functions",
                "The functions that it spends its time in",
                {{"function", "Function", Align::Left, Fit::Name},
                 {"", "Module", Align::Left, Fit::Path},
                 {"module", ""},
                 {"path_seconds", "Path s"}},
                rows_of(std::move(rows))};
    for (Column& column : share_columns())
        table.columns.push_back(std::move(column));
    table.other_paths = sampled_binaries(profile);
    return table;
}

Table anomaly_table(const model::Profile& profile)
{
    std::vector<Row> rows;
    for (const model::Oddity& oddity : model::oddities) {
        if (fact(profile, oddity.fact) > 0)
            rows.push_back({std::string(oddity.fact), fact(profile, oddity.fact),
                            std::string(model::words_of(oddity, fact(profile, "clock_domains")))});
    }
    return {"anomalies",
            "What was odd in this trace",
            {{"fact", ""}, {"count", "Count"}, {"meaning", "What", Align::Left, Fit::Middle}},
            rows_of(std::move(rows))};
}

bool is_empty(const Table& table)
{
    bool empty = true;
    table.each_row([&](std::span<const Cell> /*row*/) { empty = false; });
    return empty;
}

Document run_summary(const Request& request)
{
    model::Profile profile = load(request.trace);
    divide_calls(profile, InsideOfCalls::OfTheCall);
    Hotspots hotspots = by_function(profile);
    Document document;
    document.view = "summary";
    document.fields = fields(profile, request, hotspots.path_samples);
    for (Table& table : std::array{kind_table(profile), rank_table(profile), function_table(profile, hotspots),
                                   clock_table(profile), anomaly_table(profile)}) {
        if (!is_empty(table))
            document.tables.push_back(std::move(table));
    }
    if (const std::string note = unsampled_note(profile, hotspots); !note.empty())
        document.notes.push_back(note);
    if (std::string note = no_run_delay_note(profile); !note.empty())
        document.notes.push_back(std::move(note));
    if (std::optional<std::string> note = sampling_cost_note(profile))
        document.notes.push_back(std::move(*note));
    for (const std::string& note : clock_notes(profile))
        document.notes.push_back(note);
    add_left_out(document, profile);
    document.notes.push_back("Next: " + command_line("hotspots", request.trace_name));
    return document;
}

}  // namespace

Command summary_command()
{
    return {
        "summary",   "what the critical path consists of, who carries it, and how sure that is",
        {},          {"summary", "summary --format json cp-app-1"},
        run_summary,
    };
}

}  // namespace critpath::report
