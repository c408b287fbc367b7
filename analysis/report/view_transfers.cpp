// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by transfer`: the messages that the critical path waits for.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/numbers.hpp"
#include "formats/result/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace critpath::report
{

namespace
{

/// Messages of one rank to another, or to itself, that one MPI function waited for.
struct Link {
    std::uint32_t from = 0, to = 0;
    model::RowId function;
    std::int64_t path_ns = 0;
    std::int64_t longest_ns = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

std::vector<Link> links_on_path(const HotspotRequest& request)
{
    const result::Segments segments(request.request.trace);
    segments.check(request.profile);
    const Window window = request.window.value_or(whole_run(request.profile));
    const std::vector<std::uint32_t>& process = request.profile.location_process;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Link> links;
    for (const model::Segment& segment : segments.records()) {
        if (static_cast<model::SegmentKind>(segment.kind) != model::SegmentKind::Transfer)
            continue;
        const std::uint32_t from = process[segment.from], to = process[segment.location];
        const std::int64_t ns = division::length_in(window, segment.begin, segment.end);
        if (!request.selection.has_rank({to}) || ns == 0)
            continue;
        const model::CallPathId call{segment.call};
        const model::RowId function = call.valid() ? request.profile.row_of(call) : model::RowId::none();
        Link& link = links[{from, to, function.value}];
        link.from = from;
        link.to = to;
        link.function = function;
        link.path_ns += ns;
        link.longest_ns = std::max(link.longest_ns, ns);
        ++link.messages;
        link.bytes += segment.bytes;
    }
    std::vector<Link> result;
    for (const auto& [key, link] : links)
        result.push_back(link);
    std::stable_sort(result.begin(), result.end(), [](const Link& a, const Link& b) { return a.path_ns > b.path_ns; });
    return result;
}

}  // namespace

Document transfer_view(const HotspotRequest& request)
{
    const model::Profile& profile = request.profile;
    std::vector<Link> links = links_on_path(request);
    const std::size_t all = links.size();
    if (const std::uint64_t top = request.request.arguments.number("--top"); top > 0 && all > top)
        links.resize(top);
    const std::int64_t path_ns = fact(profile, "path_ns");
    std::int64_t shown_ns = 0;
    std::vector<Row> rows;
    for (const Link& link : links) {
        shown_ns += link.path_ns;
        const bool same_node = profile.processes[link.from].node == profile.processes[link.to].node;
        const auto messages = static_cast<std::int64_t>(link.messages);
        rows.push_back({std::int64_t{link.from}, std::int64_t{link.to},
                        link.function.valid() ? Cell(profile.rows[link.function.value].name) : Cell(),
                        std::string(link.from == link.to ? "same rank"
                                    : same_node          ? "same node"
                                                         : "other node"),
                        messages, static_cast<std::int64_t>(link.bytes / link.messages),
                        static_cast<std::int64_t>(link.bytes), Seconds{link.path_ns / messages},
                        Seconds{link.longest_ns}, Seconds{link.path_ns}, Share{part(link.path_ns, path_ns)}});
    }
    Table table;
    table.key = "transfers";
    table.columns = {{"from_rank", "From"},
                     {"to_rank", "To"},
                     {"waited_in", "Waited in", Align::Left, Fit::Name},
                     {"link", "Link", Align::Left},
                     {"transfers", "Transfers"},
                     {"", "Bytes each"},
                     {"bytes", ""},
                     {"mean_seconds", "Mean s", Align::Right, Fit::Whole, 6},
                     {"longest_seconds", "Longest s", Align::Right, Fit::Whole, 6},
                     {"path_seconds", "Path s"},
                     {"path_percent", "Path %"}};
    table.each_row = rows_of(std::move(rows));
    Document document;
    const double share = part(shown_ns, path_ns);
    document.fields = {{"path_seconds", "", Seconds{path_ns}},
                       {"rows_shown", "", static_cast<std::int64_t>(links.size())},
                       {"rows", "", static_cast<std::int64_t>(all)},
                       {"shown_path_percent", "", Share{share}}};
    document.tables.push_back(std::move(table));
    document.notes.push_back(fmt::format("{} of {} shown: {} % of {}.", count_text(links.size()), counted(all, "row"),
                                         percent_text(share), path_text(request.window, path_ns)));
    return document;
}

}  // namespace critpath::report
