// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by function` and `--by module`.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

namespace critpath::report
{

namespace
{

Table table_of(std::vector<Column> columns, const std::vector<Hotspot>& items, bool of_run,
               Row (*first_cells)(const Hotspot&))
{
    Table table;
    table.key = "hotspots";
    table.columns = std::move(columns);
    const std::vector<Column> times = time_columns(of_run);
    table.columns.insert(table.columns.end(), times.begin(), times.end());
    std::vector<Row> rows;
    rows.reserve(items.size());
    for (const Hotspot& item : items) {
        rows.push_back(first_cells(item));
        add_time_cells(rows.back(), item, of_run);
    }
    table.each_row = rows_of(std::move(rows));
    return table;
}

Row function_cells(const Hotspot& item)
{
    return {item.name, std::string(basename(item.place())), item.module, item.kind, item.file, line_cell(item)};
}

Row module_cells(const Hotspot& item)
{
    return {std::string(basename(item.name)), item.name, item.kind, item.functions};
}

/// Where the ordinary hotspots are to be had, for those who want to compare.
std::string ordinary_note(const HotspotRequest& request, const char* by)
{
    return fmt::format("The ordinary hotspots: cpreport hotspots --sort all{} {}", by,
                       shell_quoted(request.request.trace_name));
}

Document list(const HotspotRequest& request, Hotspots hotspots, Table (*table)(const std::vector<Hotspot>&, bool),
              const char* by)
{
    const std::string& sort = request.request.arguments.text("--sort");
    const Coverage coverage = select(hotspots.items, sort, request.request.arguments.number("--top"));
    Document document;
    describe(document, coverage, hotspots, sort, request.window);
    if (request.inclusive)
        document.notes.front() = fmt::format("{} of {} shown; a row has the time of those that it calls, too.",
                                             coverage.shown, coverage.rows);
    document.tables.push_back(table(hotspots.items, !request.window));
    if (const std::string note = unsampled_note(hotspots); !note.empty())
        document.notes.push_back(note);
    if (request.window) {
        document.notes.push_back(window_note());
        return document;
    }
    if (const std::string note = respite_note(request.profile); !note.empty())
        document.notes.push_back(note);
    if (sort == "path")
        document.notes.push_back(ordinary_note(request, by));
    return document;
}

}  // namespace

Document function_view(const HotspotRequest& request)
{
    const auto table = [](const std::vector<Hotspot>& items, bool of_run) {
        return table_of({{"function", "Function", Align::Left, Fit::Name},
                         {"", "Module", Align::Left, Fit::Middle},
                         {"module", "", Align::Left},
                         {"kind", ""},
                         {"file", ""},
                         {"line", ""}},
                        items, of_run, function_cells);
    };
    return list(request, by_function(request.profile, request.selection, request.inclusive), table, "");
}

Document module_view(const HotspotRequest& request)
{
    const auto table = [](const std::vector<Hotspot>& items, bool of_run) {
        return table_of({{"", "Module", Align::Left, Fit::Middle},
                         {"module", "", Align::Left},
                         {"kind", ""},
                         {"functions_on_path", "Functions"}},
                        items, of_run, module_cells);
    };
    return list(request, by_module(request.profile, request.selection), table, " --by module");
}

}  // namespace critpath::report
