// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/hotspot_list.hpp"

#include "analysis/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace critpath::report
{

Folding::Folding(const std::vector<Hotspot>& items)
{
    constexpr std::size_t most = 5;
    std::vector<std::int64_t> unsure_ns;
    for (const Hotspot& item : items) {
        if (item.path_ns <= 0 || item.path_samples == 0)
            continue;
        if (!item.is_below_error())
            return;
        unsure_ns.push_back(item.path_ns);
    }
    if (unsure_ns.empty())
        return;
    std::ranges::sort(unsure_ns, std::greater());
    least_ns_ = unsure_ns[std::min(most, unsure_ns.size()) - 1];
}

bool Folding::leaves_out(const Hotspot& item) const
{
    return item.is_below_error() && (!is_undecided() || item.path_ns < least_ns_);
}

std::set<std::string> sampled_functions(const model::Profile& profile)
{
    std::set<std::string> names;
    for (const model::AddressTime& time : profile.addresses)
        names.insert(profile.row(time.call_path).name);
    return names;
}

std::set<std::string> sampled_binaries(const model::Profile& profile)
{
    std::set<std::string> paths;
    for (const model::AddressTime& time : profile.addresses)
        paths.insert(profile.row(time.call_path).module);
    return paths;
}

std::string ranks_note(const model::Profile& profile, const Selection& selection)
{
    constexpr double printed = 0.001;  // of the path
    const std::vector<std::uint32_t>& ranks = selection.ranks;
    if (ranks.empty() || !selection.module.empty())  // what ranks have in a module, --by rank says by the same rows
        return "";
    std::int64_t of_rows_ns = 0;
    for (const model::CallPathTime& time : profile.path)
        of_rows_ns += selection.has_rank(time.process) ? time.ns : 0;
    std::int64_t of_ranks_ns = 0;
    for (const std::uint32_t rank : ranks)
        of_ranks_ns += rank < profile.processes.size() ? profile.processes[rank].path_ns : 0;
    if (std::abs(part(of_rows_ns - of_ranks_ns, fact(profile, "path_ns"))) < printed)
        return "";
    return fmt::format("{} on the path is {} by these rows and {} by its segments (--by rank): a sample stands for all "
                       "of its period, so that only the rows of all ranks sum to the path.",
                       ranks.size() == 1 ? "What this rank has" : "What these ranks have", duration_text(of_rows_ns),
                       duration_text(of_ranks_ns));
}

bool is_of_path(const std::string& sort)
{
    return sort == "path" || sort == "imbalance";
}

Coverage select(std::vector<Hotspot>& items, const std::string& sort, std::uint64_t top)
{
    Coverage coverage;
    const Folding folding(items);
    const bool of_path = is_of_path(sort);
    coverage.is_undecided = of_path && folding.is_undecided();
    const auto keep = [&](const Hotspot& item) {
        if (sort == "imbalance" && !item.imbalance_ns)
            return false;
        if (of_path && item.path_ns > 0 && folding.leaves_out(item)) {
            ++coverage.below_error;
            coverage.below_error_ns += item.path_ns;
            return false;
        }
        const bool has_total = item.total_ns.value_or(0) > 0;
        return (sort != "all" && item.path_ns > 0) || (!of_path && has_total);
    };
    items.erase(std::remove_if(items.begin(), items.end(), [&](const Hotspot& item) { return !keep(item); }),
                items.end());
    if (sort == "path")
        sort_by_path(items);
    else if (sort == "all")
        std::stable_sort(items.begin(), items.end(), [](const Hotspot& a, const Hotspot& b) {
            return a.total_ns.value_or(0) > b.total_ns.value_or(0);
        });
    else if (sort == "imbalance")
        std::ranges::stable_sort(items, std::ranges::greater(), [](const Hotspot& item) { return *item.imbalance_ns; });
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
        {"below_error_seconds", "", Seconds{coverage.below_error_ns}},
        {"shown_path_percent", "", Share{path_share}},
    };
    if (window && hotspots.total_ns == 0)  // it is not known there
        std::erase_if(document.fields, [](const Field& field) { return field.key == "all_ranks_seconds"; });
    std::string covered = fmt::format("{} % of {}", percent_text(path_share), path_text(window, hotspots.path_ns));
    if (sort == "all")
        covered = fmt::format("{} % of the time on all ranks ({}) and {}",
                              percent_text(part(coverage.shown_total_ns, hotspots.total_ns)),
                              duration_text(hotspots.total_ns), covered);
    document.notes.push_back(
        fmt::format("{} of {} shown: {}.{}", count_text(coverage.shown), counted(coverage.rows, "row"), covered,
                    below_error_note(coverage.below_error, "row", part(coverage.below_error_ns, hotspots.path_ns))));
    if (coverage.is_undecided)
        document.notes.push_back(undecided_note(hotspots));
    explain_errors(document, hotspots);
}

std::string below_error_note(std::size_t rows, const char* name, std::optional<double> share)
{
    if (rows == 0)
        return {};
    const std::string sum =
        share ? fmt::format(" ({} % {})", percent_text(*share), rows == 1 ? "of the path" : "together") : "";
    return fmt::format(" Left out: {} below the sampling error{}.", counted(rows, name), sum);
}

std::string undecided_note(const Hotspots& hotspots)
{
    return fmt::format("Too few samples ({} on the path) to tell: another run may well show other rows.",
                       count_text(hotspots.path_samples));
}

void explain_errors(Document& document, const Hotspots& hotspots)
{
    constexpr double worth_it = 0.01;  // of the path
    if (hotspots.path_samples == 0) {
        if (hotspots.domain_ns > 0 && hotspots.is_sampled)
            document.notes.emplace_back("No sample is on the path here: which functions it is in cannot be told.");
        return;
    }
    std::string note =
        fmt::format("±: 95 % sampling error with {} on the path", counted(hotspots.path_samples, "sample"));
    if (const double unseen = hotspots.most_unseen(); unseen >= worth_it)
        note += fmt::format("; what has no sample may have up to {} %", percent_text(unseen));
    document.notes.push_back(note + ".");
}

Cell time_or_none(const std::optional<std::int64_t>& ns)
{
    return ns ? Cell(Seconds{*ns}) : Cell();
}

Cell line_cell(const Hotspot& item)
{
    return item.line > 0 ? Cell(item.line) : Cell();
}

std::vector<Column> share_columns(const std::string& key, const std::string& title)
{
    return {{"", title}, {key, ""}, {key + "_low", ""}, {key + "_high", ""}};
}

void add_share_cells(Row& row, const Estimate& share, std::int64_t path_ns)
{
    row.push_back(path_ns > 0 ? Cell(share) : Cell());
    row.emplace_back(Share{share.value});
    row.push_back(share.exact ? Cell() : Cell(Share{share.low}));
    row.push_back(share.exact ? Cell() : Cell(Share{share.high}));
}

void add_share_cells(Row& row, const Hotspot& item)
{
    add_share_cells(row, item.share, item.path_ns);
}

std::vector<Column> time_columns(bool of_all)
{
    std::vector<Column> columns = {{"path_seconds", "Path s"}};
    for (Column& column : share_columns())
        columns.push_back(std::move(column));
    columns.push_back({"path_samples", ""});
    if (of_all)
        columns.insert(columns.end(), {{"all_ranks_seconds", "All ranks s"},
                                       {"all_ranks_samples", ""},
                                       {"off_path_seconds", "Off path s", Align::Right, Fit::Whole, 0, Spare::First},
                                       {"imbalance_seconds", "Imbalance s"}});
    return columns;
}

void add_time_cells(Row& row, const Hotspot& item, bool of_all)
{
    row.emplace_back(Seconds{item.path_ns});
    add_share_cells(row, item);
    row.emplace_back(static_cast<std::int64_t>(item.path_samples));
    if (!of_all)
        return;
    row.push_back(time_or_none(item.total_ns));
    row.emplace_back(static_cast<std::int64_t>(item.total_samples));
    row.push_back(time_or_none(item.off_path_ns));
    row.push_back(time_or_none(item.imbalance_ns));
}

}  // namespace critpath::report
