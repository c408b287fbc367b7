// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --event NAME`: what was counted on the critical path.
#include "analysis/report/count_error.hpp"
#include "analysis/report/event_rows.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/refused.hpp"
#include "analysis/report/text.hpp"
#include "formats/support/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace critpath::report
{

namespace
{

using model::EventAmount;

/// One row.
struct Counted {
    std::string name;         // by which rows are sorted,
    std::int64_t number = 0;  // and by this where that is the same
    Row cells;                // without its counts
    EventAmount wanted, instructions, cycles;
    bool is_sampled = false;  // samples have found some of it; or else it is known by calls
};

std::optional<std::uint32_t> find_event(const model::Profile& profile, const std::string& name)
{
    const auto found = std::ranges::find(profile.events, name);
    return found == profile.events.end() ? std::nullopt
                                         : std::optional(static_cast<std::uint32_t>(found - profile.events.begin()));
}

std::uint32_t wanted_event(const model::Profile& profile, const std::string& name)
{
    if (const auto event = find_event(profile, name))
        return *event;
    const std::string refused = refusal_of(profile, name);
    if (!refused.empty())
        fail(ExitCode::Usage, "--event {}: it was refused when the run was recorded ({}); {}", name, refused,
             profile.events.empty() ? "the trace has no other"
                                    : fmt::format("the trace has {}", fmt::join(profile.events, ", ")));
    if (profile.events.empty())
        fail(ExitCode::Usage, "--event {}: the trace has no events; record it with samples: cpcollect --events LIST",
             name);
    fail(ExitCode::Usage,
         "--event {}: the trace has {}; give one of these, or record the application again with cpcollect --events",
         name, fmt::join(profile.events, ", "));
}

/// Which events rows are made of.
struct Events {
    std::uint32_t wanted;
    std::optional<std::uint32_t> instructions, cycles;
};

void add(Counted& sum, const CountedPlace& place, const Events& events)
{
    sum.wanted.add(place.events[events.wanted]);
    if (events.instructions)
        sum.instructions.add(place.events[*events.instructions]);
    if (events.cycles)
        sum.cycles.add(place.events[*events.cycles]);
}

bool is_selected(const HotspotRequest& request, const CountedPlace& place)
{
    return request.selection.has_rank(place.process) && request.selection.has_row(request.profile.row(place.call_path));
}

std::vector<Counted> sum_up(const HotspotRequest& request, const EventGrouping& grouping, const Events& events,
                            const std::vector<CountedPlace>& places, binary::SourceLines& lines)
{
    const CallChains chains(request.profile);
    EventGrouping::Context context{request.profile, chains, lines};
    std::map<std::string, std::size_t> rows;
    std::vector<Counted> items;
    for (const CountedPlace& place : places) {
        if (!request.selection.has_rank(place.process))
            continue;
        EventGrouping::Label label = grouping.label(context, place);
        const model::Row& function = request.profile.row(place.call_path);
        const bool is_of_mpi = function.kind == model::RowKind::Mpi && request.selection.has_row(function);
        if (!is_of_mpi && !request.selection.has_module(label.module.value_or(function.module)))
            continue;
        const auto [row, is_new] = rows.emplace(label.key, items.size());
        if (is_new)
            items.push_back({std::move(label.name), label.number, std::move(label.cells), {}, {}, {}, false});
        add(items[row->second], place, events);
        items[row->second].is_sampled |= request.profile.row(place.call_path).kind != model::RowKind::Mpi;
    }
    return items;
}

std::vector<Column> phase_event_columns()
{
    return {{"phase", "#"},      {"begin_seconds", "Begin s"},
            {"end_seconds", ""}, {"function", "Function", Align::Left, Fit::Name},
            {"module", ""},      {"function_percent", "Its %"}};
}

/// One phase; beside it the function that counts most.
Counted phase_row(const HotspotRequest& request, const Events& events, const std::vector<CountedPlace>& places,
                  const Window& window, std::int64_t number)
{
    Counted phase;
    phase.number = number;
    std::map<std::uint32_t, std::int64_t> functions;  // counts by RowId
    for (const CountedPlace& place : places)
        if (is_selected(request, place)) {
            add(phase, place, events);
            functions[request.profile.row_of(place.call_path).value] += place.events[events.wanted].count;
        }
    const auto most = std::ranges::max_element(functions, {}, [](const auto& item) { return item.second; });
    phase.cells = {number, Seconds{window.begin}, Seconds{window.end}};
    if (most == functions.end() || most->second <= 0) {
        phase.cells.resize(phase_event_columns().size());
        return phase;
    }
    const model::Row& row = request.profile.rows[most->first];
    phase.cells.insert(phase.cells.end(), {row.name, row.module, Share{part(most->second, phase.wanted.count)}});
    return phase;
}

Cell ratio(std::int64_t count, std::int64_t of)
{
    return count > 0 && of > 0 ? Cell(Ratio{static_cast<double>(count) / static_cast<double>(of)}) : Cell();
}

/// What is not sure of the rows that samples have found.
struct Unsure {
    bool are_all = false;    // there are such rows, and the samples of each could just as well be none
    std::size_t rows = 0;    // that were left out
    std::int64_t count = 0;  // of these
};

/// Takes away those that are small and could be none. Where few samples bring much, large rows could be none, too, but
/// are no less worth a look.
Unsure leave_out_unsure(std::vector<Counted>& items, const EventAmount& path)
{
    constexpr double small = 0.01;
    const auto is_found = [](const Counted& item) { return item.is_sampled && item.wanted.count > 0; };
    const auto is_sure = [&](const Counted& item) { return is_found(item) && !could_be_none(item.wanted, path); };
    Unsure unsure;
    unsure.are_all = std::ranges::any_of(items, is_found) && std::ranges::none_of(items, is_sure);
    unsure.rows = std::erase_if(items, [&](const Counted& item) {
        const bool goes = is_found(item) && !is_sure(item) && part(item.wanted.count, path.count) < small;
        unsure.count += goes ? item.wanted.count : 0;
        return goes;
    });
    return unsure;
}

/// What the count is related to: instructions to cycles, and other events to instructions.
struct Relation {
    Column column;
    Cell (*cell)(const Counted& item);
};

std::optional<Relation> relation_of(const model::Profile& profile, const std::string& event)
{
    if (!find_event(profile, "instructions"))
        return std::nullopt;
    if (event != "instructions" && event != "cycles")
        return Relation{{"per_instruction", "Per instr."},
                        [](const Counted& i) { return ratio(i.wanted.count, i.instructions.count); }};
    if (!find_event(profile, "cycles"))
        return std::nullopt;
    return Relation{{"instructions_per_cycle", "Instr./cycle"},
                    [](const Counted& i) { return ratio(i.instructions.count, i.cycles.count); }};
}

/// Shares are of `path`.
Table table_of(const std::vector<Counted>& items, std::vector<Column> first, const std::optional<Relation>& relation,
               const EventAmount& path, bool is_sampled)
{
    Table table;
    table.key = "events";
    table.columns = std::move(first);
    table.columns.push_back({"count", "Count"});
    if (is_sampled)
        for (Column& column : share_columns("count_percent", "Count %"))
            table.columns.push_back(std::move(column));
    else
        table.columns.push_back({"count_percent", "Count %"});
    if (relation)
        table.columns.push_back(relation->column);
    // Beside the time, of which the counts are those of a part then.
    constexpr double nearly_all = 0.95;
    const bool is_known_in_part = std::ranges::any_of(
        items, [](const Counted& item) { return part(item.wanted.known_ns, item.wanted.ns) < nearly_all; });
    table.columns.insert(table.columns.end(), {{"processor_seconds", "CPU s", Align::Right, Fit::Whole, 0, Spare::Then},
                                               {"known_percent", is_known_in_part ? "Known %" : ""},
                                               {"scaled_percent", ""}});
    std::vector<Row> rows;
    for (const Counted& item : items) {
        const EventAmount& c = item.wanted;
        const bool is_known = c.known_ns > 0 || c.count > 0;
        Row& row = rows.emplace_back(item.cells);
        row.push_back(is_known ? Cell(c.count) : Cell());
        if (!is_sampled)
            row.push_back(is_known ? Cell(Share{part(c.count, path.count)}) : Cell());
        else if (is_known)
            add_share_cells(row, count_share(c, path), path.count);
        else
            row.resize(row.size() + share_columns("", "").size());
        if (relation)
            row.push_back(relation->cell(item));
        row.insert(row.end(), {Seconds{c.ns}, Share{part(c.known_ns, c.ns)}, Share{part(c.scaled_ns, c.ns)}});
    }
    table.each_row = rows_of(std::move(rows));
    return table;
}

EventAmount sum_of(const std::vector<Counted>& items)
{
    EventAmount all;
    for (const Counted& item : items)
        all.add(item.wanted);
    return all;
}

/// Of all ranks and rows.
EventAmount path_of(const std::vector<std::vector<CountedPlace>>& windows, std::uint32_t event)
{
    EventAmount all;
    for (const std::vector<CountedPlace>& places : windows)
        for (const CountedPlace& place : places)
            all.add(place.events[event]);
    return all;
}

void add_notes(Document& document, const EventAmount& all, const std::string& event)
{
    if (all.known_ns < all.ns)
        document.notes.push_back(
            fmt::format("Counts of {} are not known for {} % of the processor time on the path, and lack what was "
                        "counted there.",
                        event, percent_text(part(all.ns - all.known_ns, all.ns))));
    if (all.scaled_ns > 0)
        document.notes.push_back(fmt::format(
            "For {} % of it, they were counted for a part of the time and scaled up, because the processor has "
            "too few counters for all events at once.",
            percent_text(part(all.scaled_ns, all.ns))));
    document.notes.push_back(
        "Counts are read at samples: those since the one before stand where the sample is. So what a function counts "
        "that runs for less than that at a time may stand at the functions behind it, by more than ±.");
}

/// Fields and note of a table that has `shown` of the `rows` that there are.
void describe(Document& document, const HotspotRequest& request, const std::vector<Counted>& shown, std::size_t rows,
              const EventAmount& all, std::int64_t of_path)
{
    const std::string& name = request.request.arguments.text("--event");
    document.fields = {{"event", "", name},
                       {"sort", "", request.request.arguments.text("--sort")},
                       {"count", "", of_path},
                       {"rows_shown", "", static_cast<std::int64_t>(shown.size())},
                       {"rows", "", static_cast<std::int64_t>(rows)},
                       {"known_percent", "", Share{part(all.known_ns, all.ns)}},
                       {"scaled_percent", "", Share{part(all.scaled_ns, all.ns)}}};
    const std::string path =
        request.window ? path_text(request.window, request.window->length()) : std::string("the critical path");
    document.notes.push_back(fmt::format("{} of {} shown: {} % of {} {} on {}.", shown.size(), counted(rows, "row"),
                                         percent_text(part(sum_of(shown).count, of_path)),
                                         count_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, of_path))),
                                         name, path));
    add_notes(document, all, name);
}

Document phases_view(const HotspotRequest& request, const Events& events, const std::optional<Relation>& relation)
{
    const Window whole = request.window.value_or(whole_run(request.profile));
    const std::vector<Window> windows = phases_of(request.request.arguments, whole);
    std::vector<std::vector<CountedPlace>> places;
    if (!windows.empty())
        places = counted_places(request, windows);
    std::vector<Counted> phases;
    for (std::size_t i = 0; i < windows.size(); ++i)
        phases.push_back(phase_row(request, events, places[i], windows[i], static_cast<std::int64_t>(i + 1)));
    const EventAmount path = path_of(places, events.wanted);
    Document document;
    describe(document, request, phases, phases.size(), sum_of(phases), path.count);
    document.tables.push_back(table_of(phases, phase_event_columns(), relation, path, false));
    return document;
}

}  // namespace

Document event_view(const HotspotRequest& request)
{
    const model::Profile& profile = request.profile;
    const Arguments& arguments = request.request.arguments;
    const std::string& name = arguments.text("--event");
    const std::string& by = arguments.text("--by");
    const Events events = {wanted_event(profile, name), find_event(profile, "instructions"),
                           find_event(profile, "cycles")};
    const std::optional<Relation> relation = relation_of(profile, name);
    if (by == "phase")
        return phases_view(request, events, relation);

    const EventGrouping grouping = event_grouping(by);
    std::vector<Window> windows;
    if (request.window || grouping.needs_records)
        windows.push_back(request.window.value_or(whole_run(profile)));
    const std::vector<std::vector<CountedPlace>> places = counted_places(request, windows);
    binary::SourceLines lines = source_lines(profile);
    std::vector<Counted> items = sum_up(request, grouping, events, places.front(), lines);
    const EventAmount all = sum_of(items), path = path_of(places, events.wanted);
    const std::size_t without =
        std::erase_if(items, [](const Counted& item) { return item.wanted.count == 0 && item.wanted.known_ns > 0; });
    std::ranges::stable_sort(items, [&](const Counted& a, const Counted& b) {
        return arguments.text("--sort") == "name" ? std::tie(a.name, a.number) < std::tie(b.name, b.number)
                                                  : a.wanted.count > b.wanted.count;
    });
    const Unsure unsure = grouping.is_sampled ? leave_out_unsure(items, path) : Unsure();
    const std::size_t rows = items.size();
    if (const std::uint64_t top = arguments.number("--top"); top > 0 && rows > top)
        items.resize(top);

    Document document;
    describe(document, request, items, rows, all, path.count);
    if (unsure.rows > 0)
        document.notes.push_back(fmt::format("Left out: {} below the sampling error ({} % together).",
                                             counted(unsure.rows, "row"),
                                             percent_text(part(unsure.count, path.count))));
    if (unsure.are_all)
        document.notes.emplace_back("Too few samples have counted it to tell: another run may well show other rows.");
    document.fields.push_back({"rows_below_error", "", static_cast<std::int64_t>(unsure.rows)});
    document.fields.push_back({"count_below_error", "", unsure.count});
    if (without > 0)
        document.notes.push_back(fmt::format("Left out: {} that counted none.", counted(without, "row")));
    if (const double n = samples_behind({}, path); grouping.is_sampled && n > 0)
        document.notes.push_back(fmt::format("±: 95 % sampling error; the counts tell as much as {} that count alike.",
                                             counted(static_cast<std::uint64_t>(n + 0.5), "sample")));
    document.tables.push_back(table_of(items, grouping.columns, relation, path, grouping.is_sampled));
    document.tables.back().other_paths = sampled_binaries(request.profile);
    if (by == "line")
        for (std::string& note : missing_lines_notes(profile, request.selection, lines))
            document.notes.push_back(std::move(note));
    return document;
}

}  // namespace critpath::report
