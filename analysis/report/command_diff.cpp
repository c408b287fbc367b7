// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport diff`: what has become faster or slower on the critical path from one run to another.
#include "analysis/report/clocks.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/comparison.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/load.hpp"
#include "analysis/report/locate.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

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

Document run(const Request& request)
{
    const std::string base = find_trace(request.arguments.text("BASE")).string();
    const model::Profile before = load(base);
    const model::Profile after = load(request.trace);
    const bool by_modules = request.arguments.text("--by") == "module";
    const auto group = [&](const model::Profile& profile) {
        return by_modules ? by_module(profile) : by_function(profile);
    };
    const Hotspots hotspots_before = group(before), hotspots_after = group(after);
    const std::optional<Renamed> renamed = renamed_program(before, after);
    std::vector<Difference> differences = compare(hotspots_before, hotspots_after, renamed);
    const std::size_t all = differences.size();
    std::erase_if(differences, [](const Difference& d) { return d.change_ns() == 0 || d.is_below_error(); });
    const std::size_t changed = differences.size();
    if (const std::uint64_t top = request.arguments.number("--top"); top > 0 && changed > top)
        differences.resize(top);

    Document document;
    document.view = "diff";
    document.fields = {{"base", "Base", base, Fit::Middle},
                       {"", "Trace", request.trace_name, Fit::Middle},
                       {"", "Path", change_text(hotspots_before.path_ns, hotspots_after.path_ns)},
                       {"base_path_seconds", "", Seconds{hotspots_before.path_ns}},
                       {"path_seconds", "", Seconds{hotspots_after.path_ns}},
                       {"rows_changed", "", static_cast<std::int64_t>(changed)},
                       {"rows", "", static_cast<std::int64_t>(all)}};
    Table table;
    table.key = "differences";
    table.columns = {{by_modules ? "" : "function", by_modules ? "" : "Function", Align::Left, Fit::Name},
                     {"", "Module", Align::Left, Fit::Middle},
                     {"module", ""},
                     {"kind", ""},
                     {"base_path_seconds", "Base s"},
                     {"path_seconds", "Path s"},
                     {"change_seconds", "Change s"},
                     {"change_low_seconds", "Low s"},
                     {"change_high_seconds", "High s"}};
    std::vector<Row> rows;
    for (const Difference& d : differences)
        rows.push_back({d.name, by_modules ? d.name : std::string(basename(d.module)), by_modules ? d.name : d.module,
                        d.kind, Seconds{d.before_ns}, Seconds{d.after_ns}, Seconds{d.change_ns()},
                        d.is_estimate ? Cell(Seconds{std::llround(d.change.low)}) : Cell(),
                        d.is_estimate ? Cell(Seconds{std::llround(d.change.high)}) : Cell()});
    table.each_row = rows_of(std::move(rows));
    document.tables.push_back(std::move(table));
    document.notes.push_back(
        changed == 0 ? std::string("Nothing changed by more than the sampling error.")
                     : fmt::format("{} of {} that changed by more than the sampling error shown; {} in all.",
                                   count_text(differences.size()), counted(changed, "row"), count_text(all)));
    document.notes.emplace_back(
        "Low, high: the 95 % interval of the change by sampling; -: it is exact. How much a time varies from "
        "run to run is not in it.");
    if (renamed)
        document.notes.push_back(fmt::format("{} and {} are taken as the same binary, the program.",
                                             printable(renamed->before), printable(renamed->after)));
    add_clocks(document, after);
    return document;
}

}  // namespace

Command diff_command()
{
    return {
        "diff",
        "what takes more or less time on the path than in another run",
        {
            {"--by", "WHAT", "what a row is", "function", {"function", "module"}},
            {"--top", "N", "rows to show; 0: all", "20", {}},
        },
        {"diff cp-app-1 cp-app-2", "diff --by module cp-app-1"},
        run,
        {"BASE", "the trace to compare with", true},
    };
}

}  // namespace critpath::report
