// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by transfer`: the messages that the critical path waits for.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/inside.hpp"
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

/// Messages of one rank to another, or to itself, that one MPI function of one of these waited for.
struct Link {
    std::uint32_t from = 0, to = 0, waits = 0;
    model::RowId function;
    std::int64_t path_ns = 0;
    std::int64_t longest_ns = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t largest = 0;  // of these
};

using LinkKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;  // its members

LinkKey key_of(const Link& link)
{
    return {link.from, link.to, link.waits, link.function.value};
}

model::RowId function_of(const model::Profile& profile, model::CallPathId call)
{
    return call.valid() ? profile.row_of(call) : model::RowId::none();
}

std::vector<Link> links_on_path(const HotspotRequest& request)
{
    const result::Segments segments(request.request.trace);
    segments.check(request.profile);
    const Window window = request.window.value_or(whole_run(request.profile));
    const std::vector<std::uint32_t>& process = request.profile.location_process;
    std::map<LinkKey, Link> links;
    for (const model::Segment& segment : segments.records()) {
        if (static_cast<model::SegmentKind>(segment.kind) != model::SegmentKind::Transfer)
            continue;
        const Link of_segment{process[segment.source()], process[segment.destination()], process[segment.location],
                              function_of(request.profile, {segment.call})};
        const std::int64_t ns = division::length_in(window, segment.begin, segment.end);
        if (!request.selection.has_rank({of_segment.waits}) || ns == 0)
            continue;
        Link& link = links.try_emplace(key_of(of_segment), of_segment).first->second;
        link.path_ns += ns;
        link.longest_ns = std::max(link.longest_ns, ns);
        ++link.messages;
        link.bytes += segment.bytes;
        link.largest = std::max<std::uint64_t>(link.largest, segment.bytes);
    }
    std::vector<Link> result;
    for (const auto& [key, link] : links)
        result.push_back(link);
    std::stable_sort(result.begin(), result.end(), [](const Link& a, const Link& b) { return a.path_ns > b.path_ns; });
    return result;
}

Row cells_of(const model::Profile& profile, const Link& link, std::int64_t path_ns)
{
    const bool same_node = profile.processes[link.from].node == profile.processes[link.to].node;
    const auto messages = static_cast<std::int64_t>(link.messages);
    return {std::int64_t{link.from},
            std::int64_t{link.to},
            std::int64_t{link.waits},
            link.function.valid() ? Cell(profile.rows[link.function.value].name) : Cell(),
            std::string(link.from == link.to ? "same rank"
                        : same_node          ? "same node"
                                             : "other node"),
            messages,
            static_cast<std::int64_t>(link.bytes / link.messages),
            static_cast<std::int64_t>(link.bytes),
            static_cast<std::int64_t>(link.largest),
            Seconds{link.path_ns / messages},
            Seconds{link.longest_ns},
            Seconds{link.path_ns},
            Share{part(link.path_ns, path_ns)}};
}

Table plain_table(const model::Profile& profile, const std::vector<Link>& links, std::int64_t path_ns)
{
    std::vector<Row> rows;
    for (const Link& link : links)
        rows.push_back(cells_of(profile, link, path_ns));
    Table table;
    table.key = "transfers";
    table.columns = {{"from_rank", "From"},
                     {"to_rank", "To"},
                     {"waiting_rank", "Waits"},
                     {"waited_in", "Waited in", Align::Left, Fit::Name},
                     {"link", "Link", Align::Left},
                     {"transfers", "Transfers"},
                     {"", "Mean bytes"},
                     {"bytes", ""},
                     {"largest_bytes", ""},
                     {"mean_seconds", "Mean s", Align::Right, Fit::Whole, 6, Spare::Then},
                     {"longest_seconds", "Longest s", Align::Right, Fit::Whole, 6, Spare::First},
                     {"path_seconds", "Path s"},
                     {"path_percent", "Path %"}};
    table.each_row = rows_of(std::move(rows));
    return table;
}

/// With what each link is divided into below it.
Table divided_table(const HotspotRequest& request, const std::vector<Link>& links, std::int64_t path_ns)
{
    constexpr std::size_t waited_in = 3;  // the column
    const model::Profile& profile = request.profile;
    std::vector<division::InsideTime> times = inside_of(request);
    std::erase_if(times, [](const division::InsideTime& time) { return !time.of.is_transfer; });
    const auto by_link = group_by(times, [&](const division::InsideTime& time) {
        return key_of({time.of.from.value, time.of.to.value, time.of.waits.value, function_of(profile, time.of.call)});
    });
    Table table = plain_table(profile, {}, path_ns);
    for (Column& column : table.columns)  // in favour of functions
        if (column.key == "waited_in" || column.key == "mean_seconds" || column.key == "longest_seconds")
            column.title.clear();
    table.columns.insert(table.columns.begin() + waited_in, {"", "Waited in", Align::Left, Fit::Name});
    table.columns.pop_back();  // the share, which parts know within an interval
    const std::vector<Column> shares = share_columns();
    table.columns.insert(table.columns.end(), shares.begin(), shares.end());
    const std::vector<Column> more = {
        {"function", ""}, {"module", ""}, {"kind", ""}, {"side", ""}, {"path_samples", ""}};
    table.columns.insert(table.columns.end(), more.begin(), more.end());
    std::vector<Row> rows;
    for (const Link& link : links) {
        Row row = cells_of(profile, link, path_ns);
        const Cell function = row[waited_in];
        row.insert(row.begin() + waited_in, function);
        row.pop_back();
        const double share = part(link.path_ns, path_ns);
        Hotspot whole;
        whole.path_ns = link.path_ns;
        whole.share = {share, share, share, true};
        add_share_cells(row, whole);
        row.resize(table.columns.size());
        rows.push_back(std::move(row));
        const std::vector<InsidePart> parts =
            parts_of(profile, times_in_row(by_link, key_of(link)), link.path_ns, true);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Hotspot& item = parts[i].item;
            Row row_of_part = {std::int64_t{link.from},
                               std::int64_t{link.to},
                               std::int64_t{link.waits},
                               drawn(parts, i),
                               function,
                               Cell(),
                               Cell(),
                               Cell(),
                               Cell(),
                               Cell(),
                               Cell(),
                               Cell(),
                               Seconds{item.path_ns}};
            add_share_cells(row_of_part, item);
            for (const std::string& text : {item.name, item.module, item.kind, std::string(parts[i].side)})
                row_of_part.emplace_back(text);
            row_of_part.emplace_back(static_cast<std::int64_t>(item.path_samples));
            rows.push_back(std::move(row_of_part));
        }
    }
    table.each_row = rows_of(std::move(rows));
    return table;
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
    for (const Link& link : links)
        shown_ns += link.path_ns;
    const bool has_inside = request.request.arguments.flag("--inside");
    Table table = has_inside ? divided_table(request, links, path_ns) : plain_table(profile, links, path_ns);
    Document document;
    const double share = part(shown_ns, path_ns);
    document.fields = {{"path_seconds", "", Seconds{path_ns}},
                       {"rows_shown", "", static_cast<std::int64_t>(links.size())},
                       {"rows", "", static_cast<std::int64_t>(all)},
                       {"shown_path_percent", "", Share{share}}};
    document.tables.push_back(std::move(table));
    document.notes.push_back(fmt::format("{} of {} shown: {} % of {}.", count_text(links.size()), counted(all, "row"),
                                         percent_text(share), path_text(request.window, path_ns)));
    if (has_inside)
        document.notes.push_back(inside_note());
    return document;
}

}  // namespace critpath::report
