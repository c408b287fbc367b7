// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots`: where the time of the critical path goes.
#include "analysis/report/clocks.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "formats/result/result.hpp"
#include "formats/support/error.hpp"

#include <algorithm>

namespace critpath::report
{

namespace
{

struct View {
    const char* by;
    Document (*make)(const HotspotRequest& request);
    bool has_inclusive;          // --inclusive is an answer, or what it does anyway
    bool has_modules;            // --module
    bool is_of_windows = false;  // it makes its own of the whole run's profile
    bool has_inside = false;     // --inside
};

constexpr View views[] = {
    {"function", function_view, true, true, false, true},
    {"module", module_view, false, true},
    {"line", line_view, false, true},
    {"callpath", call_path_view, true, true, false, true},
    {"phase", phase_view, false, false, true},
    {"rank", rank_view, false, false},
    {"node", node_view, false, false},
    {"thread", thread_view, false, false},
    {"transfer", transfer_view, false, false, false, true},
};

std::vector<std::string> view_names()
{
    std::vector<std::string> names;
    for (const View& view : views)
        names.emplace_back(view.by);
    return names;
}

/// Parts are of rows of MPI alone.
void check_inside(const Arguments& arguments, const View& view)
{
    if (!arguments.flag("--inside"))
        return;
    if (!view.has_inside)
        fail(ExitCode::Usage,
             "--inside: divides functions, call paths and transfers; leave it out, or leave out --by {}", view.by);
    const bool is_inclusive = arguments.flag("--inclusive");
    if (is_inclusive || arguments.given("--event"))
        fail(ExitCode::Usage, "--inside: divides the time of MPI functions alone; leave out {}",
             is_inclusive ? "--inclusive" : "--event");
}

Document run(const Request& request)
{
    const std::string& by = request.arguments.text("--by");
    const View& view = *std::find_if(std::begin(views), std::end(views), [&](const View& v) { return by == v.by; });
    if (request.arguments.flag("--inclusive") && !view.has_inclusive)
        fail(ExitCode::Usage, "--inclusive: only functions call others; leave it out, or use --by function");
    if (request.arguments.given("--module") && !view.has_modules)
        fail(ExitCode::Usage, "--module: a {} is in no module; leave it out, or use --by function", by);
    check_inside(request.arguments, view);
    const model::Profile profile = result::read(request.trace);
    const Selection selection = {request.arguments.ranks("--rank", profile.processes.size()),
                                 request.arguments.text("--module")};
    const std::optional<Window> window = window_of(request.arguments, profile);
    if (window && request.arguments.text("--sort") == "all")
        fail(ExitCode::Usage,
             "--sort all: time on all ranks is known of the whole run only; leave out --from and --to");
    // Lines of some ranks are not in the database either.
    const bool needs_records = window || (by == "line" && !selection.ranks.empty());
    const bool has_event = request.arguments.given("--event");
    if (window && has_event)
        fail(ExitCode::Usage, "--event: counts are known of the whole run only; leave out --from and --to");
    std::optional<model::Profile> part;
    if (needs_records && !view.is_of_windows && !has_event)
        part = profile_in(request, profile, window.value_or(whole_run(profile)), selection);
    const auto make = has_event ? event_view : view.make;
    Document document =
        make({part ? *part : profile, request, selection, request.arguments.flag("--inclusive"), window});
    document.view = "hotspots";
    document.fields.insert(document.fields.begin(), {"by", "", by});
    if (window)
        add_window(document, *window);
    add_clocks(document, profile);
    return document;
}

}  // namespace

Command hotspots_command()
{
    return {
        "hotspots",
        "the functions, lines, call paths or ranks that the critical path spends its time in",
        {
            {"--by", "WHAT", "row", "function", view_names()},
            {"--sort", "KEY", "what to sort by (all: time on all ranks)", "path", {"path", "all", "name"}},
            {"--top", "N", "rows to show; 0: all", "20", {}},
            {"--rank", "N,...", "path time on these ranks only", "", {}, true},
            {"--module", "TEXT", "only functions of binaries that have this in their path", "", {}},
            {"--event", "NAME", "counts of this event in place of time, such as instructions", "", {}},
            {"--inclusive", "", "functions with those that they call", "", {}},
            {"--inside", "", "below MPI functions and transfers: what was done in them", "", {}},
            window_options()[0],
            window_options()[1],
            {"--phases", "N", "equal parts of the run or of the window, for --by phase", "10", {}},
        },
        {"hotspots --by callpath", "hotspots --by line --module solver", "hotspots --from 40% --to 12.5s",
         "hotspots --format csv cp-app-1 > functions.csv"},
        run,
    };
}

}  // namespace critpath::report
