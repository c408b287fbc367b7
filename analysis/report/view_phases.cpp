// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by phase`: when the critical path changes its character, in equal parts of the run.
#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/steady_phases.hpp"
#include "analysis/report/text.hpp"
#include "formats/result/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace critpath::report
{

namespace
{

/// What a part of the path is, as far as one tells it apart at a glance.
enum Character : std::uint8_t { Compute, Mpi, Transfer, Collective, Other };
using Characters = std::array<std::int64_t, 5>;  // ns

Character character_of(model::SegmentKind kind)
{
    switch (kind) {
    case model::SegmentKind::Compute:
        return Compute;
    case model::SegmentKind::Mpi:
    case model::SegmentKind::Delay:
        return Mpi;
    case model::SegmentKind::Transfer:
        return Transfer;
    case model::SegmentKind::Collective:
        return Collective;
    default:
        return Other;
    }
}

struct Phase {
    Window window;
    Characters ns{};
    std::int64_t off_processor_ns = 0;         // of these
    std::optional<std::int64_t> computed_ns;   // by all ranks, on and off the path, if it is known
    std::optional<std::int64_t> imbalance_ns;  // what the path computes less the mean of all ranks, where these compare
    std::size_t rank = 0;                      // that has most of it
    std::int64_t rank_ns = 0;
    Hotspot function;  // that has most of it; without a name if none has any
};

/// `profile` becomes that of the phase.
Phase describe(model::Profile& profile, division::Parts parts)
{
    Phase phase;
    phase.window = parts.window;
    division::restrict_to(profile, std::move(parts));
    for (const model::KindTime& time : profile.kinds)
        phase.ns[character_of(time.kind)] += time.ns;
    for (const model::CallPathTime& time : profile.path)
        if (const model::Row& row = profile.row(time.call_path);
            row.kind == model::RowKind::Pseudo &&
            (row.name == model::pseudo::preempted || row.name == model::pseudo::blocked))
            phase.off_processor_ns += time.ns;
    for (std::size_t rank = 0; rank < profile.processes.size(); ++rank)
        if (profile.processes[rank].path_ns > phase.rank_ns) {
            phase.rank = rank;
            phase.rank_ns = profile.processes[rank].path_ns;
        }
    phase.function = costliest(profile, {});
    return phase;
}

using division::TotalsKnown;

/// What all ranks compute; returns how well that is known of the phase of which it is known worst.
TotalsKnown add_totals(const HotspotRequest& request, const std::vector<Window>& windows, std::vector<Phase>& phases)
{
    const std::int64_t makespan_ns = whole_run(request.profile).end;
    const std::vector<division::TotalsIn> totals = totals_of(request.request, request.profile, windows);
    const auto ranks = static_cast<std::int64_t>(request.profile.processes.size());
    auto worst = TotalsKnown::Exactly;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const TotalsKnown known = division::totals_known(makespan_ns, windows[i]);
        worst = std::max(worst, known);
        if (known == TotalsKnown::Not)
            continue;
        phases[i].computed_ns = totals[i].computed_ns;
        if (ranks_compare(request.profile))
            phases[i].imbalance_ns = phases[i].ns[Compute] - totals[i].computed_ns / ranks;
    }
    return worst;
}

/// The phase whose parts are least like those of all these phases together, if there are several others, and if it has
/// a tenth of its time elsewhere.
std::optional<std::size_t> least_like_the_others(const std::vector<Phase>& phases, const std::vector<std::size_t>& of)
{
    constexpr std::size_t fewest = 3;
    constexpr double far = 0.2;  // twice the part that is elsewhere: it lacks there what it has here
    if (of.size() < fewest)
        return std::nullopt;
    Characters all{};
    std::int64_t all_ns = 0;
    for (const std::size_t phase : of) {
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] += phases[phase].ns[i];
        all_ns += phases[phase].window.length();
    }
    const auto distance = [&](std::size_t phase) {
        double sum = 0;
        for (std::size_t i = 0; i < all.size(); ++i)
            sum += std::abs(part(phases[phase].ns[i], phases[phase].window.length()) - part(all[i], all_ns));
        return sum;
    };
    const auto farthest =
        std::max_element(of.begin(), of.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    return distance(*farthest) < far ? std::nullopt : std::optional(*farthest);
}

/// How a program starts and ends is like nothing else in it, and mostly no news.
std::vector<std::size_t> steady_phases(const HotspotRequest& request, const std::vector<Window>& windows)
{
    const result::Segments segments(request.request.trace);
    const Window steady = steady_part(request.profile, segments.records(), windows);
    std::vector<std::size_t> phases;
    for (std::size_t i = 0; i < windows.size(); ++i)
        if (is_steady(windows[i], steady))
            phases.push_back(i);
    return phases;
}

Row cells(std::size_t number, const Phase& phase)
{
    const std::int64_t length = phase.window.length();
    Row row = {static_cast<std::int64_t>(number), Seconds{phase.window.begin}, Seconds{phase.window.end}};
    for (const std::int64_t ns : {phase.ns[Compute], phase.off_processor_ns, phase.ns[Mpi], phase.ns[Transfer],
                                  phase.ns[Collective], phase.ns[Other]}) {
        row.emplace_back(Share{part(ns, length)});
        row.emplace_back(Seconds{ns});
    }
    row.push_back(time_or_none(phase.computed_ns));
    row.push_back(phase.computed_ns ? Cell(Seconds{*phase.computed_ns - phase.ns[Compute]}) : Cell());
    row.push_back(phase.imbalance_ns ? Cell(Share{part(*phase.imbalance_ns, length)}) : Cell());
    row.push_back(time_or_none(phase.imbalance_ns));
    const bool has_function = !phase.function.name.empty();
    row.emplace_back(static_cast<std::int64_t>(phase.rank));
    row.emplace_back(Share{part(phase.rank_ns, length)});
    row.push_back(has_function ? Cell(phase.function.name) : Cell());
    row.push_back(has_function ? Cell(phase.function.module) : Cell());
    add_share_cells(row, phase.function);
    return row;
}

std::vector<Column> phase_columns()
{
    std::vector<Column> columns = {{"phase", "#"},
                                   {"begin_seconds", "Begin s"},
                                   {"end_seconds", ""},
                                   {"", "Comp %"},
                                   {"compute_seconds", ""},
                                   {"", "No CPU %"},
                                   {"without_processor_seconds", ""},
                                   {"", "MPI %"},
                                   {"mpi_seconds", ""},
                                   {"", "Msg %"},
                                   {"transfer_seconds", ""},
                                   {"", "Coll %"},
                                   {"collective_seconds", ""},
                                   {"", ""},
                                   {"other_seconds", ""},
                                   {"all_ranks_computed_seconds", ""},
                                   {"off_path_computed_seconds", ""},
                                   {"", "Imb %", Align::Right, Fit::Whole, 0, Spare::Then},
                                   {"imbalance_seconds", ""},
                                   {"rank", "Rank"},
                                   {"rank_percent", "Its %"},
                                   {"function", "Function", Align::Left, Fit::Name},
                                   {"module", ""}};
    for (Column& column : share_columns("function_percent", "Its %"))
        columns.push_back(std::move(column));
    return columns;
}

}  // namespace

Hotspot costliest(const model::Profile& profile, const Selection& selection)
{
    const Hotspots whole = sums(profile);
    std::vector<Hotspot> items(profile.rows.size());
    for (const model::CallPathTime& time : profile.path) {
        const model::Row& row = profile.row(time.call_path);
        if (!selection.has_rank(time.process) || !selection.has_row(row))
            continue;
        const bool is_guessed =  // by samples of elsewhere
            row.kind == model::RowKind::Sampled && whole.is_sampled && whole.path_samples == 0;
        if (is_guessed)
            continue;
        Hotspot& item = items[profile.row_of(time.call_path).value];
        item.path_ns += time.ns;
        item.sampled_ns += is_found_by_samples(profile, time) ? time.ns : 0;
        item.path_samples += time.samples;
    }
    const auto best = std::max_element(items.begin(), items.end(),
                                       [](const Hotspot& a, const Hotspot& b) { return a.path_ns < b.path_ns; });
    if (best == items.end() || best->path_ns == 0)
        return {};
    best->name = profile.rows[static_cast<std::size_t>(best - items.begin())].name;
    best->module = profile.rows[static_cast<std::size_t>(best - items.begin())].module;
    whole.add_share(*best);
    return *best;
}

std::string guesses_note(std::uint64_t phases)
{
    return fmt::format("Too few samples to tell the function of {}; give fewer --phases.", counted(phases, "phase"));
}

Document phase_view(const HotspotRequest& request)
{
    if (!request.selection.module.empty())
        return module_phase_view(request);
    const Window whole = request.window.value_or(whole_run(request.profile));
    model::Profile profile = request.profile;
    const std::vector<Window> windows = phases_of(request.request.arguments, whole);
    std::vector<Phase> phases;
    for (division::Parts& parts : parts_of(request.request, request.profile, windows))
        phases.push_back(describe(profile, std::move(parts)));
    const TotalsKnown known = add_totals(request, windows, phases);

    Table table;
    table.key = "phases";
    table.columns = phase_columns();
    std::vector<Row> rows;
    for (const Phase& phase : phases)
        rows.push_back(cells(rows.size() + 1, phase));
    table.each_row = rows_of(std::move(rows));
    Document document;
    document.fields = {{"path_seconds", "", Seconds{whole.length()}},
                       {"rows", "", static_cast<std::int64_t>(phases.size())}};
    document.tables.push_back(std::move(table));
    document.notes.push_back(fmt::format("{} of equal length: {}. Shares are of the phase; No CPU is part of the kinds "
                                         "beside it; Rank and Function are those that have most of it.",
                                         counted(phases.size(), "phase"), path_text(request.window, whole.length())));
    if (std::ranges::any_of(phases, [](const Phase& phase) { return phase.imbalance_ns.has_value(); }))
        document.notes.emplace_back("Imb: what the path computes in the phase, less what a rank does in the mean.");
    if (known != TotalsKnown::Exactly)
        document.notes.push_back(totals_note(request.profile, windows.front()));
    const auto is_guess = [](const Phase& phase) {
        return phase.function.is_below_error() || phase.function.name == model::pseudo::not_sampled;
    };
    if (const auto guesses = std::ranges::count_if(phases, is_guess); guesses > 0)
        document.notes.push_back(guesses_note(static_cast<std::uint64_t>(guesses)));
    const std::vector<std::size_t> steady = steady_phases(request, windows);
    if (const std::optional<std::size_t> other = least_like_the_others(phases, steady))
        document.notes.push_back(fmt::format(
            "Least like the others{} is phase {}: {}",
            steady.size() < phases.size() ? ", but for the start and the end of the run," : "", *other + 1,
            command_line(fmt::format("hotspots --from {} --to {}", exact_seconds(phases[*other].window.begin),
                                     exact_seconds(phases[*other].window.end)),
                         request.request.trace_name)));
    return document;
}

}  // namespace critpath::report
