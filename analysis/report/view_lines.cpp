// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by line`.
#include "analysis/naming/path_tails.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace critpath::report
{

Document line_view(const HotspotRequest& request)
{
    const std::string& sort = request.request.arguments.text("--sort");
    binary::SourceLines lines = source_lines(request.profile);
    Hotspots hotspots =
        by_line(request.profile, request.selection, is_of_path(sort) ? Items::OnPath : Items::All, lines);
    const Coverage coverage = select(hotspots.items, sort, request.request.arguments.number("--top"));
    Document document;
    describe(document, coverage, hotspots, sort, request.window);
    Table table;
    table.key = "hotspots";
    table.other_names = sampled_functions(request.profile);
    table.other_paths = sampled_binaries(request.profile);
    table.columns = {{"", "Line", Align::Left, Fit::Middle},
                     {"file", ""},
                     {"line", ""},
                     {"function", "Function", Align::Left, Fit::Name},
                     {"inlined_into", "Inlined into", Align::Left, Fit::Name},
                     {"", "Module", Align::Left, Fit::Path},
                     {"module", ""},
                     {"kind", ""}};
    // In a part of the run, addresses are known on the path only.
    const bool of_all = !request.window;
    for (Column& column : time_columns(of_all)) {
        // Lines are long.
        if (column.key == "all_ranks_seconds" || (column.key == "imbalance_seconds" && sort != "imbalance"))
            column.spare = Spare::First;
        table.columns.push_back(std::move(column));
    }
    std::set<std::string> files;
    for (const Hotspot& item : hotspots.items)
        files.insert(item.file);
    const std::map<std::string, std::string> short_files = naming::path_tails(files);
    std::vector<Row> rows;
    for (const Hotspot& item : hotspots.items) {
        const bool has_line = item.line > 0;
        rows.push_back({has_line ? Cell(fmt::format("{}:{}", short_files.at(item.file), item.line)) : Cell(), item.file,
                        line_cell(item), item.name, item.inlined_into.empty() ? Cell() : Cell(item.inlined_into),
                        item.place(), item.module, item.kind});
        add_time_cells(rows.back(), item, of_all);
    }
    table.each_row = rows_of(std::move(rows));
    document.tables.push_back(std::move(table));
    if (!of_all)
        document.notes.emplace_back("Lines on all ranks are known of the whole run only: without --from and --to.");
    if (std::string note = ranks_note(request.profile, request.selection); !note.empty())
        document.notes.push_back(std::move(note));
    if (std::string note = skid_note(request.profile); !note.empty())
        document.notes.push_back(std::move(note));
    for (std::string& note : missing_lines_notes(request.profile, request.selection, lines))
        document.notes.push_back(std::move(note));
    return document;
}

}  // namespace critpath::report
