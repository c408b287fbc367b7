// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots`: where the time of the critical path goes, by function, module or rank.
#include "analysis/report/clocks.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "formats/result/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace critpath::report
{

namespace
{

/// What a list shows of all rows, for the line below it.
struct Coverage {
    std::size_t shown = 0;
    std::size_t rows = 0;         // that could have been shown
    std::size_t below_error = 0;  // left out
    std::int64_t shown_path_ns = 0;
    std::int64_t shown_total_ns = 0;
};

double part(std::int64_t ns, std::int64_t whole_ns)
{
    return whole_ns > 0 ? static_cast<double>(ns) / static_cast<double>(whole_ns) : 0;
}

/// Leaves the rows that `sort` is about, in its order, and counts those that it leaves out.
Coverage select(std::vector<Hotspot>& items, const std::string& sort, std::uint64_t top)
{
    Coverage coverage;
    const auto keep = [&](const Hotspot& item) {
        if (sort == "path" && item.path_ns > 0 && item.is_below_error()) {
            ++coverage.below_error;
            return false;
        }
        const bool has_total = item.total_ns.value_or(0) > 0;
        return (sort != "all" && item.path_ns > 0) || (sort != "path" && has_total);
    };
    items.erase(std::remove_if(items.begin(), items.end(), [&](const Hotspot& item) { return !keep(item); }),
                items.end());
    if (sort == "path")
        sort_by_path(items);
    else if (sort == "all")
        std::stable_sort(items.begin(), items.end(), [](const Hotspot& a, const Hotspot& b) {
            return a.total_ns.value_or(0) > b.total_ns.value_or(0);
        });
    else
        std::stable_sort(items.begin(), items.end(),
                         [](const Hotspot& a, const Hotspot& b) { return a.name < b.name; });
    coverage.rows = items.size();
    if (top > 0 && items.size() > top)
        items.resize(top);
    coverage.shown = items.size();
    for (const Hotspot& item : items) {
        coverage.shown_path_ns += item.path_ns;
        coverage.shown_total_ns += item.total_ns.value_or(0);
    }
    return coverage;
}

void describe(Document& document, const Coverage& coverage, const Hotspots& hotspots, const std::string& sort)
{
    const double path_share = part(coverage.shown_path_ns, hotspots.path_ns);
    document.fields = {
        {"sort", "", sort},
        {"path_seconds", "", Seconds{hotspots.path_ns}},
        {"path_samples", "", static_cast<std::int64_t>(hotspots.path_samples)},
        {"all_ranks_seconds", "", Seconds{hotspots.total_ns}},
        {"rows_shown", "", static_cast<std::int64_t>(coverage.shown)},
        {"rows", "", static_cast<std::int64_t>(coverage.rows)},
        {"rows_below_error", "", static_cast<std::int64_t>(coverage.below_error)},
        {"shown_path_percent", "", Share{path_share}},
    };
    std::string covered =
        fmt::format("{} % of the critical path ({})", percent_text(path_share), duration_text(hotspots.path_ns));
    if (sort == "all")
        covered = fmt::format("{} % of the time on all ranks ({}) and {}",
                              percent_text(part(coverage.shown_total_ns, hotspots.total_ns)),
                              duration_text(hotspots.total_ns), covered);
    std::string note =
        fmt::format("{} of {} shown: {}.", count_text(coverage.shown), counted(coverage.rows, "row"), covered);
    if (coverage.below_error > 0)
        note += fmt::format(" Left out: {} below the sampling error.", counted(coverage.below_error, "row"));
    document.notes.push_back(std::move(note));
    if (hotspots.path_samples > 0)
        document.notes.push_back(
            fmt::format("±: 95 % sampling error with {} on the path.", counted(hotspots.path_samples, "sample")));
}

Cell time_or_none(const std::optional<std::int64_t>& ns)
{
    return ns ? Cell(Seconds{*ns}) : Cell();
}

/// Share of the path as it stands in a table: a row that no sample hit on the path has no error to speak of.
Cell share_cell(const Hotspot& item)
{
    return item.path_ns > 0 ? Cell(item.share) : Cell();
}

Cell error_cell(const Hotspot& item)
{
    return item.is_estimate ? Cell(Share{item.share.error}) : Cell();
}

Table function_table(const std::vector<Hotspot>& items)
{
    Table table;
    table.key = "hotspots";
    table.columns = {
        {"function", "Function", Align::Left, Fit::Name},
        {"", "Module", Align::Left, Fit::Middle},
        {"module", "", Align::Left},
        {"kind", ""},
        {"file", ""},
        {"line", ""},
        {"path_seconds", "Path s"},
        {"", "Path %"},
        {"path_percent", ""},
        {"path_percent_error", ""},
        {"path_samples", ""},
        {"all_ranks_seconds", "All ranks s"},
        {"all_ranks_samples", ""},
    };
    std::vector<Row> rows;
    rows.reserve(items.size());
    for (const Hotspot& item : items)
        rows.push_back({item.name, std::string(basename(item.place())), item.module, item.kind, item.file,
                        item.line > 0 ? Cell(item.line) : Cell(), Seconds{item.path_ns}, share_cell(item),
                        Share{item.share.value}, error_cell(item), static_cast<std::int64_t>(item.path_samples),
                        time_or_none(item.total_ns), static_cast<std::int64_t>(item.total_samples)});
    table.each_row = rows_of(std::move(rows));
    return table;
}

Table module_table(const std::vector<Hotspot>& items)
{
    Table table;
    table.key = "hotspots";
    table.columns = {
        {"", "Module", Align::Left, Fit::Middle},
        {"module", "", Align::Left},
        {"kind", ""},
        {"functions_on_path", "Functions"},
        {"path_seconds", "Path s"},
        {"", "Path %"},
        {"path_percent", ""},
        {"path_percent_error", ""},
        {"path_samples", ""},
        {"all_ranks_seconds", "All ranks s"},
        {"all_ranks_samples", ""},
    };
    std::vector<Row> rows;
    rows.reserve(items.size());
    for (const Hotspot& item : items)
        rows.push_back({std::string(basename(item.name)), item.name, item.kind, item.functions, Seconds{item.path_ns},
                        share_cell(item), Share{item.share.value}, error_cell(item),
                        static_cast<std::int64_t>(item.path_samples), time_or_none(item.total_ns),
                        static_cast<std::int64_t>(item.total_samples)});
    table.each_row = rows_of(std::move(rows));
    return table;
}

Document function_view(const model::Profile& profile, const Request& request)
{
    const std::string& sort = request.arguments.text("--sort");
    const bool by_modules = request.arguments.text("--by") == "module";
    Hotspots hotspots = by_modules ? by_module(profile) : by_function(profile);
    const Coverage coverage = select(hotspots.items, sort, request.arguments.number("--top"));
    Document document;
    describe(document, coverage, hotspots, sort);
    document.tables.push_back(by_modules ? module_table(hotspots.items) : function_table(hotspots.items));
    if (const std::string note = unsampled_note(hotspots); !note.empty())
        document.notes.push_back(note);
    if (const std::string note = respite_note(profile); !note.empty())
        document.notes.push_back(note);
    if (sort == "path")
        document.notes.push_back(fmt::format("The ordinary hotspots: cpreport hotspots --sort all{} {}",
                                             by_modules ? " --by module" : "", shell_quoted(request.trace_name)));
    return document;
}

/// Ranks in the order of `sort`, without those off the path if it is the path that counts.
std::vector<std::size_t> select_ranks(const std::vector<model::ProcessTotals>& processes, const std::string& sort)
{
    std::vector<std::size_t> ranks(processes.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    if (sort == "name")
        return ranks;
    if (sort == "path")
        ranks.erase(
            std::remove_if(ranks.begin(), ranks.end(), [&](std::size_t i) { return processes[i].path_ns <= 0; }),
            ranks.end());
    const auto key = [&](std::size_t i) { return sort == "path" ? processes[i].path_ns : processes[i].lifetime_ns; };
    std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
    return ranks;
}

Table rank_table(const std::vector<model::ProcessTotals>& processes, const std::vector<std::size_t>& ranks,
                 std::int64_t path_ns)
{
    Table table;
    table.key = "ranks";
    table.columns = {
        {"rank", "Rank"},
        {"name", ""},
        {"path_seconds", "Path s"},
        {"path_percent", "Path %"},
        {"lifetime_seconds", "Lifetime s"},
        {"mpi_seconds", "MPI s"},
        {"sampled_seconds", ""},
        {"samples", ""},
        {"mpi_calls", ""},
        {"node", "Node", Align::Left, Fit::Middle},
    };
    std::vector<Row> rows;
    for (const std::size_t i : ranks) {
        const model::ProcessTotals& process = processes[i];
        rows.push_back({static_cast<std::int64_t>(i), process.name, Seconds{process.path_ns},
                        Share{part(process.path_ns, path_ns)}, Seconds{process.lifetime_ns}, Seconds{process.mpi_ns},
                        Seconds{process.sampled_ns}, static_cast<std::int64_t>(process.samples),
                        static_cast<std::int64_t>(process.calls), process.node});
    }
    table.each_row = rows_of(std::move(rows));
    return table;
}

Document rank_view(const model::Profile& profile, const Request& request)
{
    const std::string& sort = request.arguments.text("--sort");
    const std::uint64_t top = request.arguments.number("--top");
    std::vector<std::size_t> ranks = select_ranks(profile.processes, sort);
    Coverage coverage;
    coverage.rows = ranks.size();
    if (top > 0 && ranks.size() > top)
        ranks.resize(top);
    coverage.shown = ranks.size();
    std::int64_t path_ns = 0;
    for (const model::ProcessTotals& process : profile.processes)
        path_ns += process.path_ns;
    for (const std::size_t i : ranks)
        coverage.shown_path_ns += profile.processes[i].path_ns;

    Document document;
    const double share = part(coverage.shown_path_ns, path_ns);
    document.fields = {
        {"sort", "", sort},
        {"path_seconds", "", Seconds{path_ns}},
        {"rows_shown", "", static_cast<std::int64_t>(coverage.shown)},
        {"rows", "", static_cast<std::int64_t>(coverage.rows)},
        {"shown_path_percent", "", Share{share}},
    };
    document.tables.push_back(rank_table(profile.processes, ranks, path_ns));
    document.notes.push_back(fmt::format("{} of {} shown: {} % of the critical path ({}).", count_text(coverage.shown),
                                         counted(coverage.rows, "rank"), percent_text(share), duration_text(path_ns)));
    return document;
}

Document run(const Request& request)
{
    const model::Profile profile = result::read(request.trace);
    Document document =
        request.arguments.text("--by") == "rank" ? rank_view(profile, request) : function_view(profile, request);
    document.view = "hotspots";
    document.fields.insert(document.fields.begin(), {"by", "", request.arguments.text("--by")});
    for (const Field& field : clock_fields(profile))
        document.fields.push_back(field);
    for (const std::string& note : clock_notes(profile))
        document.notes.push_back(note);
    return document;
}

}  // namespace

Command hotspots_command()
{
    return {
        "hotspots",
        "the functions, modules or ranks that the critical path spends its time in",
        {
            {"--top", "N", "rows to show; 0: all", "20", {}},
            {"--sort", "KEY", "what to sort by (all: time on all ranks)", "path", {"path", "all", "name"}},
            {"--by", "WHAT", "what a row is", "function", {"function", "module", "rank"}},
        },
        {"hotspots --top 10", "hotspots --by module --format csv cp-app-1 > modules.csv"},
        run,
    };
}

}  // namespace critpath::report
