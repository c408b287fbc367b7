// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by function` and `--by module`.
#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/application.hpp"
#include "analysis/report/blocked_note.hpp"
#include "analysis/report/call_tree.hpp"
#include "analysis/report/caller_notes.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/inclusive.hpp"
#include "analysis/report/inside.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/made_code_note.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/refused.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/unnamed_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace critpath::report
{

namespace
{

Table table_of(std::vector<Column> columns, const std::vector<Hotspot>& items, Row (*first_cells)(const Hotspot&),
               bool of_all = true)
{
    Table table;
    table.key = "hotspots";
    table.columns = std::move(columns);
    const std::vector<Column> times = time_columns(of_all);
    table.columns.insert(table.columns.end(), times.begin(), times.end());
    std::vector<Row> rows;
    rows.reserve(items.size());
    for (const Hotspot& item : items) {
        rows.push_back(first_cells(item));
        add_time_cells(rows.back(), item, of_all);
    }
    table.each_row = rows_of(std::move(rows));
    return table;
}

Row function_cells(const Hotspot& item)
{
    return {item.name, item.place(), item.module, item.kind, item.file, line_cell(item)};
}

Row inlined_cells(const Hotspot& item)
{
    Row row = function_cells(item);
    row.insert(row.begin() + 1, item.inlined_into.empty() ? Cell() : Cell(item.inlined_into));
    return row;
}

/// With all that it calls.
Row whole_cells(const Hotspot& item)
{
    Row row = function_cells(item);
    row.insert(row.begin(), Cell((item.is_inlined ? "[I] " : "") + item.name));
    row.insert(row.begin() + 2, {std::int64_t{item.is_inlined}, Seconds{item.inlined_ns}});
    return row;
}

Row module_cells(const Hotspot& item)
{
    return {item.name, item.name, item.kind, item.functions};
}

/// Functions, and below those of MPI and transfers what they are divided into.
class InsideFunctions
{
public:
    explicit InsideFunctions(const HotspotRequest& request)
        : profile_(request.profile), times_(group_by(inside_of(request), [&](const division::InsideTime& time) {
              return time.of.is_transfer ? std::string(model::pseudo::transfer)
                                         : request.profile.row(time.of.call).name;
          }))
    {
    }

    [[nodiscard]] Table table(const std::vector<Hotspot>& items) const
    {
        Table table;
        table.key = "hotspots";
        table.columns = {{"", "Function", Align::Left, Fit::Name},
                         {"function", ""},
                         {"inside", ""},
                         {"side", ""},
                         {"", "Module", Align::Left, Fit::Path},
                         {"module", ""},
                         {"kind", ""},
                         {"file", ""},
                         {"line", ""}};
        const std::vector<Column> times = time_columns(true);
        table.columns.insert(table.columns.end(), times.begin(), times.end());
        std::vector<Row> rows;
        for (const Hotspot& item : items) {
            add(item, item.name, "", "", rows);
            const std::vector<InsidePart> parts = parts_below(item);
            for (std::size_t i = 0; i < parts.size(); ++i)
                add(parts[i].item, drawn(parts, i), item.name, parts[i].side, rows);
        }
        table.each_row = rows_of(std::move(rows));
        return table;
    }

private:
    [[nodiscard]] std::vector<InsidePart> parts_below(const Hotspot& item) const
    {
        const bool is_transfer = item.kind == "pseudo" && item.name == model::pseudo::transfer;
        if (!is_transfer && item.kind != "mpi")
            return {};
        return parts_of(profile_, times_in_row(times_, item.name), item.path_ns, is_transfer);
    }

    void add(const Hotspot& item, std::string drawn_name, const std::string& inside, const char* side,
             std::vector<Row>& rows) const
    {
        Row& row = rows.emplace_back(Row{std::move(drawn_name), item.name, inside, std::string(side)});
        const Row more = function_cells(item);
        row.insert(row.end(), more.begin() + 1, more.end());
        add_time_cells(row, item, true);
    }

    const model::Profile& profile_;
    std::map<std::string, std::vector<division::InsideTime>> times_;
};

/// Where the ordinary hotspots are to be had, for those who want to compare.
std::string ordinary_note(const HotspotRequest& request, const char* by)
{
    return "The ordinary hotspots: " +
           command_line(fmt::format("hotspots --sort all{}", by), request.request.trace_name);
}

/// Which of the functions that are inlined in the application has the most of the path, where that is much.
std::string inlined_note(const HotspotRequest& request, binary::SourceLines& lines)
{
    constexpr double worth_it = 0.1;  // of the path
    const model::Profile& profile = request.profile;
    std::map<model::RowId, std::int64_t> of_row;
    for (const model::AddressTime& time : profile.addresses)
        of_row[profile.row_of(time.call_path)] += time.ns;
    const std::int64_t path_ns = fact(profile, "path_ns");
    const std::set<std::string_view> modules = modules_of_application(profile);
    struct Inlined {
        std::int64_t ns = 0;
        std::map<model::RowId, std::int64_t> in;
    };
    std::map<std::string, Inlined> inlined;
    for (const model::AddressTime& time : profile.addresses) {
        const model::RowId id = profile.row_of(time.call_path);
        const model::Row& row = profile.rows[id.value];
        if (!request.selection.has_row(row) || !modules.contains(row.module) || part(of_row[id], path_ns) < worth_it)
            continue;  // its debug information need not be read
        if (const auto functions = inlined_functions_at(profile, row, time.address, lines); !functions.empty()) {
            Inlined& of = inlined[functions.front()];
            of.ns += time.ns;
            of.in[id] += time.ns;
        }
    }
    const auto most = std::ranges::max_element(inlined, {}, [](const auto& of) { return of.second.ns; });
    if (most == inlined.end() || part(most->second.ns, path_ns) < worth_it)
        return {};
    const auto& [name, of] = *most;
    const auto row = std::ranges::max_element(of.in, {}, [](const auto& in) { return in.second; })->first;
    constexpr std::size_t width = 48;
    return fmt::format(
        "Rows have what was inlined into them: {} has {} % of the path, {}in {}. As rows of their own: {}",
        shorten_name(printable(name), width), percent_text(part(of.ns, path_ns)),
        of.in.size() == 1 ? "" : "most of it ", shorten_name(printable(profile.rows[row.value].name), width),
        command_line("hotspots --inlined", request.request.trace_name));
}

using MakeTable = std::function<Table(const std::vector<Hotspot>& items)>;

enum class Names : std::uint8_t { OfFunctions, OfModules };

Document list(const HotspotRequest& request, Hotspots hotspots, const MakeTable& table, const char* by,
              binary::SourceLines& lines, Names names = Names::OfFunctions)
{
    const std::string& sort = request.request.arguments.text("--sort");
    const Coverage coverage = select(hotspots.items, sort, request.request.arguments.number("--top"));
    if (request.request.arguments.text("--format") != "table")  // tables do not show where functions are
        add_declarations(request.profile, lines, hotspots.items);
    Document document;
    describe(document, coverage, hotspots, sort, request.window);
    if (request.inclusive) {  // rows contain each other: their sums mean nothing
        std::erase_if(document.fields, [](const Field& field) {
            return field.key == "shown_path_percent" || field.key == "below_error_seconds";
        });
        document.notes.front() =
            fmt::format("{} of {} shown; a row has the time of those that it calls, too.{}", coverage.shown,
                        coverage.rows, below_error_note(coverage.below_error, "row", std::nullopt));
    }
    if (request.request.arguments.flag("--inside"))
        document.notes.push_back(inside_note());
    if (request.calls == InsideOfCalls::OfTheLibrary && hotspots.is_sampled)
        document.notes.emplace_back(
            "All ranks: calls of MPI are in the rows of the library's functions, as samples find "
            "them; in other orders, in those of the MPI functions.");
    document.tables.push_back(table(hotspots.items));
    document.tables.back().other_names = sampled_functions(request.profile);
    document.tables.back().other_paths = sampled_binaries(request.profile);
    if (names == Names::OfFunctions)
        std::ranges::move(unnamed_notes(request.profile, request.selection), std::back_inserter(document.notes));
    if (names == Names::OfFunctions && !request.inclusive)
        if (std::optional<std::string> note =
                made_code_note(request.profile, request.selection, request.request.trace_name))
            document.notes.push_back(std::move(*note));
    if (const std::string note = unsampled_note(request.profile, hotspots); !note.empty())
        document.notes.push_back(note);
    std::ranges::copy(caller_notes(hotspots, request.profile, {request.selection.ranks, {}}),
                      std::back_inserter(document.notes));
    if (std::optional<std::string> note = blocked_note(request.profile, request.selection))
        document.notes.push_back(std::move(*note));
    if (std::string note = no_run_delay_note(request.profile); !note.empty())
        document.notes.push_back(std::move(note));
    if (std::string note = ranks_note(request.profile, request.selection); !note.empty())
        document.notes.push_back(std::move(note));
    if (request.window) {
        if (std::string note = totals_note(request.profile, *request.window); !note.empty())
            document.notes.push_back(std::move(note));
        return document;
    }
    if (const std::string note = respite_note(request.profile, request.calls); !note.empty())
        document.notes.push_back(note);
    if (sort == "path")
        document.notes.push_back(ordinary_note(request, by));
    return document;
}

std::vector<Column> function_columns()
{
    return {{"function", "Function", Align::Left, Fit::Name},
            {"", "Module", Align::Left, Fit::Path},
            {"module", "", Align::Left},
            {"kind", ""},
            {"file", ""},
            {"line", ""}};
}

Document inlined_view(const HotspotRequest& request)
{
    // In a part of the run, addresses are known on the path only.
    const bool of_all = !request.window;
    const auto table = [&](const std::vector<Hotspot>& items) {
        std::vector<Column> columns = function_columns();
        columns.insert(columns.begin() + 1, {"inlined_into", "Inlined into", Align::Left, Fit::Name});
        Table result = table_of(std::move(columns), items, inlined_cells, of_all);
        for (Column& column : result.columns)
            if (column.key == "imbalance_seconds" && request.request.arguments.text("--sort") != "imbalance")
                column.spare = Spare::Then;
        return result;
    };
    binary::SourceLines lines = source_lines(request.profile);
    const Items wanted = is_of_path(request.request.arguments.text("--sort")) ? Items::OnPath : Items::All;
    Document document = list(request, by_inlined_function(request.profile, request.selection, wanted, lines), table,
                             " --inlined", lines);
    if (!of_all)
        document.notes.emplace_back("What is inlined on all ranks is known of the whole run only: without --from and "
                                    "--to.");
    std::ranges::move(missing_lines_notes(request.profile, request.selection, lines),
                      std::back_inserter(document.notes));
    return document;
}

/// With all that they call. A function has the time of its copies, too, which are inlined.
Hotspots inclusive_with_inlined(const HotspotRequest& request, binary::SourceLines& lines)
{
    const CallTree tree = call_tree(request.profile, request.selection, &lines);
    Hotspots hotspots = by_function_inclusive(tree.profile, request.selection, tree.is_inlined);
    if (request.window)
        for (std::size_t i = 0; i < tree.is_inlined.size(); ++i)
            if (tree.is_inlined[i])
                forget_all_ranks(hotspots.items[tree.profile.call_paths[i].row.value]);
    return hotspots;
}

Document inclusive_inlined_view(const HotspotRequest& request)
{
    binary::SourceLines lines = source_lines(request.profile);
    Hotspots hotspots = inclusive_with_inlined(request, lines);
    add_addresses(request.whole, hotspots.items);
    bool any_inlined = false;
    const auto table = [&](const std::vector<Hotspot>& items) {
        any_inlined = std::ranges::any_of(items, &Hotspot::is_inlined);
        std::vector<Column> columns = {
            {"", "Function", Align::Left, Fit::Name}, {"function", ""}, {"inlined", ""}, {"inlined_path_seconds", ""}};
        const std::vector<Column> others = function_columns();
        columns.insert(columns.end(), others.begin() + 1, others.end());
        return table_of(std::move(columns), items, whole_cells);
    };
    Document document = list(request, std::move(hotspots), table, "", lines);
    if (any_inlined)
        document.notes.emplace_back("[I]: inlined wherever it is on the path.");
    return document;
}

}  // namespace

Document function_view(const HotspotRequest& request)
{
    const Arguments& arguments = request.request.arguments;
    if (arguments.flag("--inlined"))
        return request.inclusive ? inclusive_inlined_view(request) : inlined_view(request);
    binary::SourceLines lines = source_lines(request.profile);
    Hotspots hotspots = request.inclusive ? by_function_inclusive(request.profile, request.selection)
                                          : by_function(request.profile, request.selection);
    add_addresses(request.whole, hotspots.items);
    if (arguments.flag("--inside")) {
        const InsideFunctions inside(request);
        return list(
            request, std::move(hotspots), [&](const auto& items) { return inside.table(items); }, "", lines);
    }
    const auto table = [](const auto& items) { return table_of(function_columns(), items, function_cells); };
    Document document = list(request, std::move(hotspots), table, "", lines);
    const bool is_whole = !request.window && request.selection.ranks.empty() && request.selection.module.empty();
    if (arguments.text("--format") == "table" && !request.inclusive && is_whole)
        if (std::string note = inlined_note(request, lines); !note.empty())
            document.notes.push_back(std::move(note));
    return document;
}

Document module_view(const HotspotRequest& request)
{
    const auto table = [](const std::vector<Hotspot>& items) {
        return table_of({{"", "Module", Align::Left, Fit::Path},
                         {"module", "", Align::Left},
                         {"kind", ""},
                         {"functions_on_path", "Functions"}},
                        items, module_cells);
    };
    binary::SourceLines lines = source_lines(request.profile);
    return list(request, by_module(request.profile, request.selection), table, " --by module", lines, Names::OfModules);
}

}  // namespace critpath::report
