// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots`: where the time of the critical path goes.
#include "analysis/report/calls_divided.hpp"
#include "analysis/report/clocks.hpp"
#include "analysis/report/empty_note.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/left_out.hpp"
#include "analysis/report/load.hpp"
#include "analysis/report/sampling_cost.hpp"
#include "analysis/report/text.hpp"
#include "formats/support/error.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace critpath::report
{

namespace
{

struct HotspotView {
    const char* by;
    Document (*make)(const HotspotRequest& request);
    bool is_of_windows = false;  // it makes its own of the whole run's profile
};

constexpr HotspotView hotspot_views[] = {
    {"function", function_view},  {"module", module_view},     {"line", line_view},
    {"callpath", call_path_view}, {"phase", phase_view, true}, {"rank", rank_view},
    {"node", node_view},          {"thread", thread_view},     {"transfer", transfer_view},
};

std::vector<std::string> hotspot_view_names()
{
    std::vector<std::string> names;
    for (const HotspotView& view : hotspot_views)
        names.emplace_back(view.by);
    return names;
}

std::vector<std::string> all_but(const std::vector<std::string>& names)
{
    std::vector<std::string> others = hotspot_view_names();
    std::erase_if(others, [&](const std::string& by) { return std::ranges::find(names, by) != names.end(); });
    return others;
}

/// What a view, or another option, would ignore.
std::vector<Conflict> conflicts()
{
    const std::vector<std::string> with_modules = {"function", "module", "line", "callpath",
                                                   "phase",    "rank",   "node", "thread"};
    return {
        {{"--phases"}, {"--by", all_but({"phase"})}, "the run is divided by --by phase; leave it out, or add that"},
        {{"--top"}, {"--by", {"phase"}}, "all phases are shown; give their number with --phases"},
        {{"--sort", {"all", "name"}}, {"--by", {"phase"}}, "phases stand in the order of time; leave it out"},
        {{"--rank"},
         {"--by", {"phase"}},
         "a phase is of all ranks; leave it out, or use --from and --to with --by function"},
        {{"--inclusive"},
         {"--by", all_but({"function", "callpath"})},
         "only functions call others; leave it out, or use --by function"},
        {{"--module"}, {"--by", all_but(with_modules)}, "a {} is in no module; leave it out, or use --by function"},
        {{"--sort", {"name"}}, {"--by", {"callpath"}}, "a call tree has no order of names; leave it out"},
        {{"--sort", {"all", "name"}},
         {"--by", {"transfer"}},
         "transfers are known on the critical path only, and have no names; leave it out"},
        {{"--sort", {"imbalance"}},
         {"--by", all_but({"function", "module", "line"})},
         "it is known of functions, modules and lines; leave it out, or use --by function"},
        {{"--sort", {"imbalance"}}, {"--rank"}, "it compares the path with all ranks; leave out --rank"},
        {{"--sort", {"imbalance"}}, {"--inclusive"}, "it is of each function alone; leave out --inclusive"},
        {{"--sort", {"imbalance"}}, {"--event"}, "events are counted on the critical path only; leave it out"},
        {{"--recursion"},
         {"--by", all_but({"callpath"})},
         "only a call tree has levels; leave it out, or use --by callpath"},
        {{"--recursion"}, {"--event"}, "counts are listed by each call path, not as a tree; leave it out"},
        {{"--recursion", {"fold"}}, {"--format", {"csv", "json"}}, "CSV and JSON have each call path; leave it out"},
        {{"--event"}, {"--by", {"transfer"}}, "a message on its way counts nothing; leave out --by {}"},
        {{"--inside"},
         {"--by", all_but({"function", "callpath", "transfer"})},
         "divides functions, call paths and transfers; leave it out, or leave out --by {}"},
        {{"--inlined"},
         {"--by", all_but({"function", "callpath"})},
         "divides functions; leave it out, or use --by function (--by line has what is inlined)"},
        {{"--inlined"}, {"--inside"}, "divides sampled functions, and --inside those of MPI; leave one of them out"},
        {{"--inlined"}, {"--event"}, "divides the time of functions; leave out --event"},
        {{"--inside"}, {"--sort", {"all"}}, "divides what is on the critical path; leave out --sort all"},
        {{"--inside"}, {"--event"}, "divides the time of MPI functions alone; leave out --event"},
        {{"--inside"}, {"--inclusive"}, "divides the time of MPI functions alone; leave out --inclusive"},
        {{"--inclusive"}, {"--event"}, "counts are those of each function alone; leave it out"},
        {{"--sort", {"all"}}, {"--event"}, "events are counted on the critical path only; leave it out"},
    };
}

/// What --module asks for must be somewhere: an empty table would read as if it took no time.
void check_module(const Request& request, const model::Profile& profile, const Selection& selection)
{
    if (!selection.module.empty() && std::none_of(profile.rows.begin(), profile.rows.end(),
                                                  [&](const model::Row& row) { return selection.has_row(row); }))
        fail(ExitCode::Usage, "--module: no binary of this run has '{}' in its path; see those that there are: {}",
             selection.module, command_line("hotspots --by module", request.trace_name));
}

/// What is to sort the rows must be known.
void check_sort(const Request& request, const model::Profile& profile, const Window& window)
{
    const std::string& by = request.arguments.text("--by");
    const std::string& sort = request.arguments.text("--sort");
    if (by == "line" || request.arguments.flag("--inlined"))
        fail(ExitCode::Usage, "--sort {}: with {}, time on all ranks is known of the whole run only; leave out {}",
             sort, by == "line" ? "--by line" : "--inlined", request.arguments.given("--from") ? "--from" : "--to");
    const bool of_each = by == "rank" || by == "node" || by == "thread";
    const auto known = of_each ? division::computed_known : division::totals_known;
    if (known(whole_run(profile).end, window) == division::TotalsKnown::Not)
        fail(ExitCode::Usage, "--sort {}: {} Leave it out, or choose a longer part", sort,
             of_each ? computed_note(profile, window) : totals_note(profile, window));
}

std::vector<std::string> events_of(const std::filesystem::path& trace)
{
    return load(trace).events;
}

/// In the ordinary list, which has what samples find. In a call tree, these are not below the call.
InsideOfCalls inside_of_calls(const Arguments& arguments)
{
    const bool is_tree = arguments.flag("--inclusive") || arguments.text("--by") == "callpath";
    return arguments.text("--sort") == "all" && !is_tree ? InsideOfCalls::OfTheLibrary : InsideOfCalls::OfTheCall;
}

/// In place of what part of the path the rows are.
void say_why_empty(Document& document, const model::Profile& profile, const Asked& asked, std::string_view trace)
{
    const auto rows = std::ranges::find(document.fields, "rows", &Field::key);
    const auto* count = rows == document.fields.end() ? nullptr : std::get_if<std::int64_t>(&rows->value);
    std::optional<std::string> note =
        count != nullptr && *count == 0 ? empty_note(profile, asked, trace) : std::nullopt;
    if (!note)
        return;
    std::erase_if(document.notes, [](const std::string& text) { return text.starts_with("0 of 0 "); });
    document.notes.insert(document.notes.begin(), std::move(*note));
}

Document run_hotspots(const Request& request)
{
    const std::string& by = request.arguments.text("--by");
    const HotspotView& view = *std::find_if(std::begin(hotspot_views), std::end(hotspot_views),
                                            [&](const HotspotView& v) { return by == v.by; });
    model::Profile profile = load(request.trace);
    const Selection selection = {request.arguments.ranks("--rank", profile.processes.size()),
                                 request.arguments.text("--module")};
    const std::optional<std::int64_t> all_ranks_ns = all_ranks_time(profile, selection);
    const InsideOfCalls inside = inside_of_calls(request.arguments);
    divide_calls(profile, inside);
    check_module(request, profile, selection);
    const std::optional<Window> window = window_of(request.arguments, profile);
    const std::string& sort = request.arguments.text("--sort");
    if (window && (sort == "all" || sort == "imbalance"))
        check_sort(request, profile, *window);
    if (sort == "imbalance" && profile.processes.size() < 2)
        fail(ExitCode::Usage, "--sort imbalance: there is one rank; leave it out");
    // Lines of some ranks are not in the database either.
    const bool by_address = by == "line" || by == "callpath" || request.arguments.flag("--inlined");
    const bool needs_records = window || (by_address && !selection.ranks.empty());
    const bool has_event = request.arguments.given("--event");
    std::optional<model::Profile> part;
    if (needs_records && !view.is_of_windows && !has_event)
        part = profile_in(request, profile, window.value_or(whole_run(profile)), selection);
    if (part)
        divide_calls(*part, inside);
    const auto make = has_event ? event_view : view.make;
    Document document = make(
        {part ? *part : profile, profile, request, selection, request.arguments.flag("--inclusive"), window, inside});
    say_why_empty(document, part ? *part : profile, {selection, by == "transfer", window.has_value(), all_ranks_ns},
                  request.trace_name);
    document.view = "hotspots";
    document.fields.insert(document.fields.begin(), {"by", "", by});
    if (window)
        add_window(document, *window);
    if (std::string note = doubt_note(profile, request.trace_name); !note.empty() && !window)
        document.notes.push_back(std::move(note));
    if (std::optional<std::string> note = sampling_cost_note(profile); note && !window)
        document.notes.push_back(std::move(*note));
    add_clocks(document, profile);
    add_left_out(document, profile);
    return document;
}

}  // namespace

Command hotspots_command()
{
    return {
        "hotspots",
        "what the critical path spends its time in, by function, line, rank and more",
        {
            {"--by", "WHAT", "", "function", hotspot_view_names()},
            {"--sort", "KEY", "sort by (all: time on all ranks)", "path", {"path", "all", "imbalance", "name"}},
            {"--top", "N", "rows to show; 0: all", "20", {}},
            {"--rank", "RANKS", "path time on these ranks only, as 0,4-7", "", {}, true},
            {"--module", "TEXT", "only functions of binaries that have this in their path", "", {}},
            {"--event",
             "NAME",
             "counts of this event in place of time, such as instructions",
             "",
             {},
             false,
             {},
             "",
             events_of},
            {"--recursion", "HOW", "calls of a function by itself, in a call tree", "fold", {"fold", "all"}},
            {"--inclusive", "", "functions with those that they call", "", {}},
            {"--inlined", "", "what was inlined into functions as rows of their own", "", {}},
            {"--inside", "", "below MPI functions and transfers: what was done in them", "", {}},
            window_options()[0],
            window_options()[1],
            {"--phases", "N", "equal parts of the run or of the window, for --by phase", "10", {}},
        },
        {"hotspots --by callpath", "hotspots --by line --module solver", "hotspots --from 40% --to 12.5s",
         "hotspots --format csv cp-app-1 > functions.csv"},
        run_hotspots,
        {},
        conflicts(),
    };
}

}  // namespace critpath::report
