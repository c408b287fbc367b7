// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport diff`: what has become faster or slower on the critical path from one run to another. To compare by
// something else: add it to diff_views().
#include "analysis/report/clocks.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/comparison.hpp"
#include "analysis/report/comparison_builds.hpp"
#include "analysis/report/left_out.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/load.hpp"
#include "analysis/report/locate.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace critpath::report
{

namespace
{

std::string change_text(std::int64_t before_ns, std::int64_t after_ns)
{
    const std::int64_t change = after_ns - before_ns;
    std::string text = fmt::format("{} -> {}", duration_text(before_ns), duration_text(after_ns));
    if (before_ns > 0)
        text += fmt::format(" ({}{} %)", change < 0 ? "-" : "+", percent_text(part(std::abs(change), before_ns)));
    return text;
}

/// An item a rank, by its number.
Hotspots by_rank(const model::Profile& profile)
{
    Hotspots hotspots = sums(profile);
    for (std::size_t rank = 0; rank < profile.processes.size(); ++rank) {
        Hotspot& item = hotspots.items.emplace_back();
        item.name = fmt::format("{}", rank);
        item.kind = "rank";
        item.path_ns = profile.processes[rank].path_ns;
        hotspots.add_share(item);
    }
    return hotspots;
}

using Columns = std::vector<Column>;

/// What rows are, and the first columns and cells of the table of them.
struct DiffView {
    const char* by;
    Hotspots (*items)(const model::Profile& profile, binary::SourceLines& lines);
    Columns columns;
    Row (*cells)(const Difference& difference);
    bool needs_lines = false;
    MatchBy match = MatchBy::Name;
};

Column function_column()
{
    return {"function", "Function", Align::Left, Fit::Name};
}

Column inlined_column()
{
    return {"inlined_into", "Inlined into", Align::Left, Fit::Name};
}

Cell inlined_cell(const Difference& d)
{
    return d.inlined_into.empty() ? Cell() : Cell(d.inlined_into);
}

/// `spare_module`: in tables, where there is room.
Columns with_module(Columns first, Spare spare_module = Spare::No)
{
    first.insert(first.end(),
                 {{"", "Module", Align::Left, Fit::Middle, 0, spare_module}, {"module", ""}, {"kind", ""}});
    return first;
}

Row with_module(Row first, const Difference& d)
{
    first.insert(first.end(), {std::string(basename(d.module)), d.module, d.kind});
    return first;
}

DiffView of_functions()
{
    return {"function", [](const model::Profile& profile, binary::SourceLines&) { return by_function(profile); },
            with_module(Columns{function_column()}), [](const Difference& d) { return with_module(Row{d.name}, d); }};
}

DiffView of_modules()
{
    return {"module",
            [](const model::Profile& profile, binary::SourceLines&) { return by_module(profile); },
            {{"", "Module", Align::Left, Fit::Middle}, {"module", ""}, {"kind", ""}},
            [](const Difference& d) {
                return Row{d.name, d.name, d.kind};
            }};
}

DiffView of_lines()
{
    const auto cells = [](const Difference& d) {
        const bool has_line = d.line > 0;
        const Cell place = has_line ? Cell(fmt::format("{}:{}", d.short_file, d.line)) : Cell();
        return with_module(Row{place, d.file, has_line ? Cell(d.line) : Cell(), d.name, inlined_cell(d)}, d);
    };
    return {"line",
            [](const model::Profile& profile, binary::SourceLines& lines) {
                return by_line(profile, {}, Items::OnPath, lines, CallSites::Apart);
            },
            with_module(Columns{{"", "Line", Align::Left, Fit::Middle},
                                {"file", ""},
                                {"line", ""},
                                function_column(),
                                inlined_column()},
                        Spare::First),
            cells,
            true,
            MatchBy::Line};
}

DiffView of_ranks()
{
    return {"rank",
            [](const model::Profile& profile, binary::SourceLines&) { return by_rank(profile); },
            {{"rank", "Rank"}},
            [](const Difference& d) { return Row{std::int64_t{std::stoi(d.name)}}; }};
}

DiffView of_inlined()
{
    return {"inlined",
            [](const model::Profile& profile, binary::SourceLines& lines) {
                return by_inlined_function(profile, {}, Items::OnPath, lines, CallSites::Apart);
            },
            with_module(Columns{function_column(), inlined_column()}),
            [](const Difference& d) {
                return with_module(Row{d.name, inlined_cell(d)}, d);
            },
            true};
}

const std::vector<DiffView>& diff_views()
{
    static const std::vector<DiffView> list = {of_functions(), of_modules(), of_lines(), of_ranks(), of_inlined()};
    return list;
}

std::vector<std::string> diff_view_names()
{
    std::vector<std::string> names;
    for (const DiffView& view : diff_views())
        names.emplace_back(view.by);
    return names;
}

Table table_of(const DiffView& view, const std::vector<Difference>& differences)
{
    Table table;
    table.key = "differences";
    table.columns = view.columns;
    table.columns.insert(table.columns.end(), {{"base_path_seconds", "Base s"},
                                               {"path_seconds", "Path s"},
                                               {"change_seconds", "Change s"},
                                               {"change_low_seconds", "Low s"},
                                               {"change_high_seconds", "High s"}});
    std::vector<Row> rows;
    for (const Difference& d : differences) {
        Row& row = rows.emplace_back(view.cells(d));
        row.insert(row.end(), {Seconds{d.before_ns}, Seconds{d.after_ns}, Seconds{d.change_ns()},
                               d.is_estimate ? Cell(Seconds{std::llround(d.change.low)}) : Cell(),
                               d.is_estimate ? Cell(Seconds{std::llround(d.change.high)}) : Cell()});
    }
    table.each_row = rows_of(std::move(rows));
    return table;
}

/// One of the two runs, as rows.
struct Run {
    const char* label;  // as the fields of the document call it
    model::Profile profile;
    binary::SourceLines lines{};  // binaries may have been built anew in between
    Hotspots hotspots{};
};

/// How many rows are shown, of those that changed, of all.
std::string shown_note(std::size_t shown, std::size_t changed, std::size_t little, std::size_t all)
{
    const std::string at_least = fmt::format("{} % of the path", percent_text(least_change));
    std::string note =
        changed == 0 ? fmt::format("Nothing changed by more than the sampling error and {}", at_least)
                     : fmt::format("{} of {} that changed by more than the sampling error and {} shown; {} in all",
                                   count_text(shown), counted(changed, "row"), at_least, count_text(all));
    if (little > 0)
        note += fmt::format(", {} of them changed by more than the error, but by less than {}", count_text(little),
                            at_least);
    return note + ".";
}

/// Of rows of several functions, whether they have changed or not; those with the most time.
std::vector<std::string> folded_names(const std::vector<Difference>& rows)
{
    constexpr std::size_t most = 3, width = 40;
    std::map<std::string, std::int64_t> ns;
    for (const Difference& row : rows)
        if (!row.of_several.empty())
            ns[row.of_several] += row.before_ns + row.after_ns;
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [name, time] : ns)
        order.emplace_back(-time, name);
    std::ranges::sort(order);
    std::vector<std::string> names;
    for (const auto& [time, name] : order)
        if (names.size() < most)
            names.push_back(shorten_name(printable(name), width));
        else if (names.size() == most)
            names.emplace_back(ellipsis);
    return names;
}

/// Of rows that stand for several functions; empty if there are none.
std::string folded_note(const std::vector<Difference>& rows, MatchBy match)
{
    if (std::ranges::none_of(rows, [](const Difference& row) { return !row.of_several.empty(); }))
        return {};
    return fmt::format(
        "{}: one row for all functions whose names differ by a number of the compiler's only, which may be another "
        "one's number in a binary that was built anew{}.",
        fmt::join(folded_names(rows), ", "),
        match == MatchBy::Line ? "; what is inlined into them is told apart by where they call it"
                               : ": compare --by line, too");
}

Document run_diff(const Request& request)
{
    const std::string base = find_trace(request.arguments.text("BASE")).string();
    const DiffView& view = *std::ranges::find(diff_views(), request.arguments.text("--by"), &DiffView::by);
    Run before = {"Base", load(base)}, after = {"Trace", load(request.trace)};
    for (Run* of : {&before, &after}) {
        of->lines = source_lines(of->profile);
        of->lines.open_with(before.lines);
        of->hotspots = view.items(of->profile, of->lines);
    }
    const Builds builds = builds_of(before.profile, after.profile);
    const std::optional<Renamed>& renamed = builds.program;
    std::vector<Difference> every_row = compare(before.hotspots, after.hotspots, builds, view.match);
    const std::size_t all = every_row.size();
    const std::string folded = folded_note(every_row, view.match);
    auto [differences, little] =
        changed_rows(std::move(every_row), std::max(before.hotspots.path_ns, after.hotspots.path_ns));
    const std::size_t changed = differences.size();
    if (const std::uint64_t top = request.arguments.number("--top"); top > 0 && changed > top)
        differences.resize(top);

    Document document;
    document.view = "diff";
    document.fields = {{"base", "Base", base, Fit::Middle},
                       {"", "Trace", request.trace_name, Fit::Middle},
                       {"", "Path", change_text(before.hotspots.path_ns, after.hotspots.path_ns)},
                       {"by", "", std::string(view.by)},
                       {"base_path_seconds", "", Seconds{before.hotspots.path_ns}},
                       {"path_seconds", "", Seconds{after.hotspots.path_ns}},
                       {"rows_changed", "", static_cast<std::int64_t>(changed)},
                       {"rows", "", static_cast<std::int64_t>(all)}};
    const std::size_t ranks_before = before.profile.processes.size(), ranks_after = after.profile.processes.size();
    if (ranks_before != ranks_after)
        document.fields.insert(document.fields.begin() + 2,
                               {{"", "Ranks", fmt::format("{} -> {}", ranks_before, ranks_after)}});
    document.fields.insert(document.fields.end(), {{"base_ranks", "", static_cast<std::int64_t>(ranks_before)},
                                                   {"ranks", "", static_cast<std::int64_t>(ranks_after)}});
    document.tables.push_back(table_of(view, differences));
    document.notes.push_back(shown_note(differences.size(), changed, little, all));
    document.notes.emplace_back(
        "Low, high: the 95 % interval of the change by sampling; -: it is exact. How much a time varies from "
        "run to run is not in it.");
    if (view.match == MatchBy::Line)
        document.notes.emplace_back("A line that has another number in the other run is another row: compare --by "
                                    "function, too.");
    if (!folded.empty())
        document.notes.push_back(folded);
    const bool is_of_binaries = std::string_view(view.by) != "rank";
    if (renamed && is_of_binaries)
        document.notes.push_back(fmt::format("{} and {} are taken as the same binary, the program.",
                                             printable(renamed->before), printable(renamed->after)));
    if (is_of_binaries)
        std::ranges::move(build_notes(before.profile, after.profile, renamed), std::back_inserter(document.notes));
    if (const std::string note = kinds_note(before.profile, after.profile); !note.empty())
        document.notes.push_back(note);
    if (view.needs_lines)
        for (Run* of : {&before, &after})
            for (const std::string& note : missing_lines_notes(of->profile, {}, of->lines))
                document.notes.push_back(fmt::format("{}: {}", of->label, note));
    add_clocks(document, after.profile);
    add_left_out(document, after.profile);
    return document;
}

}  // namespace

Command diff_command()
{
    return {
        "diff",
        "what takes more or less time on the path than in another run",
        {
            {"--by",
             "WHAT",
             "what a row is",
             "function",
             diff_view_names(),
             false,
             {"callpath", "phase", "node", "thread", "transfer"},
             "what it is in one run has no counterpart in another; see both with cpreport hotspots --by {}"},
            {"--top", "N", "rows to show; 0: all", "20", {}},
        },
        {"diff cp-app-1 cp-app-2", "diff --by line cp-app-1"},
        run_diff,
        {"BASE", "the trace to compare with", true},
    };
}

}  // namespace critpath::report
