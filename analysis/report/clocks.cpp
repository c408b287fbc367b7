// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/clocks.hpp"

#include "analysis/report/hotspots.hpp"
#include "analysis/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace critpath::report
{

namespace
{

constexpr std::size_t top_clocks = 10;
constexpr double much_decided = 0.2;  // of the path

double part_of_path(const model::Profile& profile, const char* key)
{
    return part(fact(profile, key), fact(profile, "path_ns"));
}

/// Ranks of one node have one clock; where the trace does not say that there are several nodes, they seem to be one.
std::vector<std::string> notes_of_one_clock(const model::Profile& profile)
{
    constexpr double many = 0.01;
    const std::int64_t backwards = fact(profile, "clock_violations");
    if (part(backwards, fact(profile, "messages") + fact(profile, "collectives")) < many)
        return {};
    return {fmt::format(
        "Warning: {} backwards in time, although all ranks count as having one clock, so that this "
        "trace cannot tell which ranks the path is on. Does it name the nodes that they ran on, and was everything "
        "recorded that they sent and received?",
        backwards == 1 ? "1 dependency runs"
                       : count_text(static_cast<std::uint64_t>(backwards)) + " dependencies run")};
}

}  // namespace

std::vector<Field> clock_fields(const model::Profile& profile)
{
    const std::int64_t unknown = fact(profile, "clocks_unknown");
    // By how much they may be off is not known, so nothing is that is decided within it.
    const auto share = [&](const char* of) { return unknown > 0 ? Cell() : Cell(Share{part_of_path(profile, of)}); };
    return {{"clock_decided_percent", "", share("clock_decided_ns")},
            {"clock_doubted_percent", "", share("clock_doubted_ns")},
            {"clocks_unknown", "", unknown}};
}

std::vector<std::string> clock_notes(const model::Profile& profile)
{
    if (fact(profile, "clock_domains") <= 1)
        return notes_of_one_clock(profile);
    const std::int64_t unknown = fact(profile, "clocks_unknown");
    if (unknown > 0)
        return {fmt::format("Warning: nothing relates {} to the others, so that this trace cannot tell which ranks the "
                            "path is on.",
                            counted(static_cast<std::uint64_t>(unknown), "clock"))};
    const double decided = part_of_path(profile, "clock_decided_ns");
    std::vector<std::string> notes;
    notes.push_back(fmt::format("Clocks: {} % of the path was decided within their error ({}); shares of ranks are "
                                "right within {} % of the path.",
                                percent_text(decided), duration_text(fact(profile, "clock_uncertainty_ns")),
                                percent_text(part_of_path(profile, "clock_doubted_ns"))));
    if (decided > much_decided)
        notes.emplace_back("Warning: this trace cannot tell which ranks the path is on: they come closer to each other "
                           "than the clocks are known. What the path consists of is less affected.");
    return notes;
}

Table clock_table(const model::Profile& profile)
{
    std::vector<std::size_t> order(profile.clocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return profile.clocks[i].last_arrivals; });
    std::int64_t arrivals = 0;
    for (const model::ClockTotals& clock : profile.clocks)
        arrivals += static_cast<std::int64_t>(clock.last_arrivals);
    const std::int64_t path_ns = fact(profile, "path_ns");
    std::vector<Row> rows;
    for (std::size_t i = 0; i < std::min(top_clocks, order.size()); ++i) {
        const model::ClockTotals& clock = profile.clocks[order[i]];
        rows.push_back(
            {static_cast<std::int64_t>(order[i]), clock.node, static_cast<std::int64_t>(clock.processes),
             Share{part(clock.path_ns, path_ns)},
             clock.is_known ? Cell(Share{part(clock.decided_ns, path_ns)}) : Cell(),
             arrivals > 0 ? Cell(Share{part(static_cast<std::int64_t>(clock.last_arrivals), arrivals)}) : Cell(),
             Seconds{clock.correction_ns}, clock.is_known ? Cell(Seconds{clock.uncertainty_ns}) : Cell()});
    }
    constexpr int microseconds = 6;
    return {"clocks",
            "What the clocks leave open (a node that is last too often may have a clock that is late)",
            {{"clock", ""},
             {"node", "Node", Align::Left, Fit::Middle},
             {"ranks", "Ranks"},
             {"path_percent", "Path %"},
             {"clock_decided_percent", "Unsure %"},
             {"last_arrivals_percent", "Last %"},
             {"correction_seconds", "Corrected s", Align::Right, Fit::Whole, microseconds},
             {"uncertainty_seconds", "Error s", Align::Right, Fit::Whole, microseconds}},
            rows_of(std::move(rows))};
}

void add_clocks(Document& document, const model::Profile& profile)
{
    for (Field& field : clock_fields(profile))
        document.fields.push_back(std::move(field));
    for (std::string& note : clock_notes(profile))
        document.notes.push_back(std::move(note));
}

}  // namespace critpath::report
