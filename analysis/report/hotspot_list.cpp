// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/hotspot_list.hpp"

#include "analysis/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace critpath::report
{

Coverage select(std::vector<Hotspot>& items, const std::string& sort, std::uint64_t top)
{
    Coverage coverage;
    const auto keep = [&](const Hotspot& item) {
        if (sort == "path" && item.path_ns > 0 && item.is_below_error()) {
            ++coverage.below_error;
            return false;
        }
        const bool has_total = item.total_ns.value_or(0) > 0 && !item.total_is_elsewhere;
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

void describe(Document& document, const Coverage& coverage, const Hotspots& hotspots, const std::string& sort,
              const std::optional<Window>& window)
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
    if (window)
        std::erase_if(document.fields, [](const Field& field) { return field.key == "all_ranks_seconds"; });
    std::string covered = fmt::format("{} % of {}", percent_text(path_share), path_text(window, hotspots.path_ns));
    if (sort == "all")
        covered = fmt::format("{} % of the time on all ranks ({}) and {}",
                              percent_text(part(coverage.shown_total_ns, hotspots.total_ns)),
                              duration_text(hotspots.total_ns), covered);
    std::string note =
        fmt::format("{} of {} shown: {}.", count_text(coverage.shown), counted(coverage.rows, "row"), covered);
    if (coverage.below_error > 0)
        note += fmt::format(" Left out: {} below the sampling error.", counted(coverage.below_error, "row"));
    document.notes.push_back(std::move(note));
    explain_errors(document, hotspots);
}

void explain_errors(Document& document, const Hotspots& hotspots)
{
    if (hotspots.path_samples > 0)
        document.notes.push_back(
            fmt::format("±: 95 % sampling error with {} on the path.", counted(hotspots.path_samples, "sample")));
}

Cell time_or_none(const std::optional<std::int64_t>& ns)
{
    return ns ? Cell(Seconds{*ns}) : Cell();
}

Cell share_cell(const Hotspot& item)
{
    return item.path_ns > 0 ? Cell(item.share) : Cell();
}

Cell error_cell(const Hotspot& item)
{
    return item.is_estimate ? Cell(Share{item.share.error}) : Cell();
}

Cell line_cell(const Hotspot& item)
{
    return item.line > 0 ? Cell(item.line) : Cell();
}

std::vector<Column> time_columns(bool of_run)
{
    std::vector<Column> columns = {{"path_seconds", "Path s"},
                                   {"", "Path %"},
                                   {"path_percent", ""},
                                   {"path_percent_error", ""},
                                   {"path_samples", ""}};
    if (of_run)
        columns.insert(columns.end(), {{"all_ranks_seconds", "All ranks s"},
                                       {"all_ranks_samples", ""},
                                       {"off_path_seconds", ""},
                                       {"imbalance_seconds", "Imbalance s"}});
    return columns;
}

void add_time_cells(Row& row, const Hotspot& item, bool of_run)
{
    row.emplace_back(Seconds{item.path_ns});
    row.push_back(share_cell(item));
    row.emplace_back(Share{item.share.value});
    row.push_back(error_cell(item));
    row.emplace_back(static_cast<std::int64_t>(item.path_samples));
    if (!of_run)
        return;
    row.push_back(time_or_none(item.total_ns));
    row.emplace_back(static_cast<std::int64_t>(item.total_samples));
    row.push_back(time_or_none(item.off_path_ns));
    row.push_back(time_or_none(item.imbalance_ns));
}

}  // namespace critpath::report
