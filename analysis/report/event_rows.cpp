// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/event_rows.hpp"

#include "analysis/division/counts.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/text.hpp"
#include "formats/result/schema.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace critpath::report
{

namespace
{

using Label = EventGrouping::Label;
using Context = EventGrouping::Context;

/// Where a function is defined, as far as that is known: the binary, or else the source file.
const std::string& place_of(const model::Row& row)
{
    return row.module.empty() ? row.file : row.module;
}

Row named_cells(const std::string& name, const model::Row& row)
{
    return {name, place_of(row), place_of(row), std::string(result::name(row.kind))};
}

Label function_label(Context& context, const CountedPlace& place)
{
    const model::Row& row = context.profile.row(place.call_path);
    return {fmt::format("{}", context.profile.row_of(place.call_path).value), row.name, 0, named_cells(row.name, row)};
}

Label module_label(Context& context, const CountedPlace& place)
{
    const model::Row& row = context.profile.row(place.call_path);
    const std::string& module = place_of(row);
    if (module.empty())  // time of no function is in no module
        return {row.name, row.name, 0, {row.name, row.name, std::string(), std::string(result::name(row.kind))}};
    const std::string name(basename(module));
    return {module, name, 0, {module, name, module, std::string("module")}};
}

Label call_path_label(Context& context, const CountedPlace& place)
{
    std::string chain = context.chains.full_name(place.call_path.value);
    Row cells = named_cells(chain, context.profile.row(place.call_path));
    // Wherever its functions make their calls.
    return {fmt::format("{}\n{}", chain, context.profile.row(place.call_path).module), std::move(chain), 0,
            std::move(cells)};
}

/// As by_line(): calls of MPI by the lines that make them.
Label line_label(Context& context, const CountedPlace& place)
{
    const model::Profile& profile = context.profile;
    const model::Row& row = profile.row(place.call_path);
    const model::CallPathId call = call_of(profile, place.call_path);
    std::optional<SourceLine> line = call.valid() ? line_of_call(profile, call, context.lines)
                                                  : source_line_of(profile, row, place.address, context.lines);
    if (line && call.valid()) {
        line->function = row.name;
        line->inlined_into.clear();
    }
    const model::Row& of = line && call.valid() ? profile.row(profile.call_paths[call.value].parent) : row;
    const std::string kind = line && !call.valid() ? "line" : std::string(result::name(row.kind));
    const auto cells = [&](const SourceLine& at, Cell where, Cell file, Cell number) -> Row {
        return {std::move(where),
                std::move(file),
                std::move(number),
                at.function,
                at.inlined_into.empty() ? Cell() : Cell(at.inlined_into),
                place_of(of),
                place_of(of),
                kind};
    };
    if (!line)
        return {fmt::format("{}", profile.row_of(place.call_path).value), row.name, 0,
                cells({"", 0, row.name, ""}, {}, row.file, {})};
    const std::string where = fmt::format("{}:{}", basename(line->file), line->line);
    return {fmt::format("{}\n{}\n{}\n{}\n{}", of.module, line->file, line->line, line->function, line->inlined_into),
            line->file, line->line, cells(*line, where, line->file, std::int64_t{line->line}), of.module};
}

Label rank_label(Context& context, const CountedPlace& place)
{
    const model::ProcessTotals& process = context.profile.processes[place.process.value];
    const std::int64_t rank = place.process.value;
    return {fmt::format("{}", rank), "", rank, {rank, process.name, process.node}};
}

Label node_label(Context& context, const CountedPlace& place)
{
    const std::string& node = context.profile.processes[place.process.value].node;
    return {node, node, 0, {node}};
}

Label thread_label(Context& context, const CountedPlace& place)
{
    const std::string& node = context.profile.processes[place.process.value].node;
    return {fmt::format("{}", place.location),
            "",
            place.location,
            {context.profile.locations[place.location], std::int64_t{place.process.value}, node}};
}

const std::vector<EventGrouping>& groupings()
{
    const Column module_name = {"", "Module", Align::Left, Fit::Path};
    const Column module = {"module", "", Align::Left}, kind = {"kind", ""};
    const Column node = {"node", "Node", Align::Left, Fit::Middle};
    static const std::vector<EventGrouping> all = {
        {"function",
         {{"function", "Function", Align::Left, Fit::Name}, module_name, module, kind},
         function_label,
         false,
         true},
        {"module", {module_name, {"module", ""}, {"path", "", Align::Left}, kind}, module_label, false, true},
        {"callpath",
         {{"call_path", "Call path", Align::Left, Fit::Name}, module_name, module, kind},
         call_path_label,
         false,
         true},
        {"line",
         {{"", "Line", Align::Left, Fit::Middle},
          {"file", ""},
          {"line", ""},
          {"function", "Function", Align::Left, Fit::Name},
          {"inlined_into", "Inlined into", Align::Left, Fit::Name},
          module_name,
          module,
          kind},
         line_label,
         true,
         true},
        {"rank", {{"rank", "Rank"}, {"name", ""}, node}, rank_label, false, false},
        {"node", {node}, node_label, false, false},
        {"thread", {{"thread", "Thread", Align::Left, Fit::Middle}, {"rank", ""}, node}, thread_label, true, false},
    };
    return all;
}

/// Of the whole run, sorted as the table is.
std::vector<CountedPlace> places_of_run(const model::Profile& profile)
{
    std::vector<CountedPlace> places;
    for (const model::EventCount& e : profile.path_events) {
        if (places.empty() || places.back().call_path != e.call_path || places.back().process != e.process) {
            places.push_back({e.call_path, e.process, 0, 0, {}});
            places.back().events.resize(profile.events.size());
        }
        places.back().events[e.event] = {e.count, e.ns, e.known_ns, e.scaled_ns,
                                         static_cast<double>(e.count) * static_cast<double>(e.sample_count) * 1e-3};
    }
    return places;
}

}  // namespace

EventGrouping event_grouping(const std::string& by)
{
    const auto found = std::ranges::find_if(groupings(), [&](const EventGrouping& g) { return by == g.by; });
    if (found == groupings().end())
        fail(ExitCode::Usage, "--event: a {} counts nothing; leave out --by {}", by, by);
    return *found;
}

std::vector<std::vector<CountedPlace>> counted_places(const HotspotRequest& request, const std::vector<Window>& windows)
{
    const model::Profile& profile = request.profile;
    if (windows.empty())
        return {places_of_run(profile)};
    const std::filesystem::path& trace = request.request.trace;
    const result::Segments segments(trace);
    segments.check(profile);
    const result::Counts counts(trace, profile.events.size());
    counts.check(profile);
    std::vector<std::vector<CountedPlace>> result;
    try {
        for (auto& places : division::divide_counts(profile, segments.records(), counts.records(), windows)) {
            std::vector<CountedPlace>& of_window = result.emplace_back();
            for (division::PlaceCounts& place : places)
                of_window.push_back({place.call_path,
                                     {profile.location_process[place.location]},
                                     place.location,
                                     place.address,
                                     std::move(place.events)});
        }
    } catch (const std::out_of_range& error) {
        fail(ExitCode::BadTrace, "{}: damaged ({}); run again: mpirun -n N cpreplay {}",
             result::counts_path(trace).string(), error.what(), shell_quoted(trace.string()));
    }
    return result;
}

}  // namespace critpath::report
