// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --event NAME`: what was counted on the critical path, by function, module or call path.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "formats/result/schema.hpp"
#include "formats/support/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace critpath::report
{

namespace
{

/// What was counted of one event.
struct Counts {
    std::int64_t count = 0, ns = 0, known_ns = 0, scaled_ns = 0;

    void add(const model::EventCount& more)
    {
        count += more.count;
        ns += more.ns;
        known_ns += more.known_ns;
        scaled_ns += more.scaled_ns;
    }
};

/// One function, module or call path.
struct Counted {
    std::string name;
    std::string module;  // path of the binary
    std::string kind;
    Counts wanted, instructions, cycles;
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
    if (profile.events.empty())
        fail(ExitCode::Usage, "--event {}: the trace has no events; record it with samples: cpcollect --events LIST",
             name);
    fail(ExitCode::Usage,
         "--event {}: the trace has {}; give one of these, or record the application again with cpcollect --events",
         name, fmt::join(profile.events, ", "));
}

/// What is summed up in one row: the key of it, and the row without counts.
using Item = std::pair<std::string, Counted>;

Item function_item(const model::Profile& profile, model::CallPathId path)
{
    const model::Row& row = profile.row(path);
    const std::string& place = row.module.empty() ? row.file : row.module;
    return {fmt::format("{}", profile.row_of(path).value),
            {row.name, place, std::string(result::name(row.kind)), {}, {}, {}}};
}

Item module_item(const model::Profile& profile, model::CallPathId path)
{
    const model::Row& row = profile.row(path);
    const std::string& place = row.module.empty() ? row.file : row.module;
    if (place.empty())  // time of no function is in no module
        return {row.name, {row.name, "", std::string(result::name(row.kind)), {}, {}, {}}};
    return {place, {std::string(basename(place)), place, "module", {}, {}, {}}};
}

Item call_path_item(const model::Profile& profile, model::CallPathId path)
{
    std::vector<const std::string*> names;
    for (model::CallPathId at = path; at.valid(); at = profile.call_paths[at.value].parent)
        names.push_back(&profile.row(at).name);
    Counted item = function_item(profile, path).second;
    item.name.clear();
    for (auto name = names.rbegin(); name != names.rend(); ++name)
        item.name += (item.name.empty() ? "" : ";") + **name;
    return {fmt::format("{}", path.value), item};
}

struct By {
    const char* name;
    const char* column;
    Item (*item)(const model::Profile& profile, model::CallPathId path);
};
constexpr By groupings[] = {
    {"function", "Function", function_item},
    {"module", "Module", module_item},
    {"callpath", "Call path", call_path_item},
};

std::vector<Counted> sum_up(const HotspotRequest& request, const By& by, std::uint32_t wanted)
{
    const model::Profile& profile = request.profile;
    const auto instructions = find_event(profile, "instructions"), cycles = find_event(profile, "cycles");
    std::map<std::string, std::size_t> places;
    std::vector<Counted> items;
    for (const model::EventCount& e : profile.path_events) {
        if (!request.selection.has_rank(e.process) || !request.selection.has_row(profile.row(e.call_path)))
            continue;
        Item item = by.item(profile, e.call_path);
        const auto [place, is_new] = places.emplace(item.first, items.size());
        if (is_new)
            items.push_back(std::move(item.second));
        Counted& sum = items[place->second];
        if (e.event == wanted)
            sum.wanted.add(e);
        if (e.event == instructions)
            sum.instructions.add(e);
        if (e.event == cycles)
            sum.cycles.add(e);
    }
    return items;
}

/// Of all ranks and rows.
std::int64_t count_on_path(const model::Profile& profile, std::uint32_t wanted)
{
    std::int64_t count = 0;
    for (const model::EventCount& e : profile.path_events)
        count += e.event == wanted ? e.count : 0;
    return count;
}

Cell ratio(std::int64_t count, std::int64_t of)
{
    return count > 0 && of > 0 ? Cell(Ratio{static_cast<double>(count) / static_cast<double>(of)}) : Cell();
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

/// Shares are of `of_path`.
Table table_of(const std::vector<Counted>& items, const By& by, const std::optional<Relation>& relation,
               std::int64_t of_path)
{
    Table table;
    table.key = "events";
    const bool has_module = std::string_view(by.name) != "module";  // beside the name
    table.columns = {{by.name, by.column, Align::Left, Fit::Name}};
    if (has_module)
        table.columns.push_back({"", "Module", Align::Left, Fit::Middle});
    const std::vector<Column> counts = {{has_module ? "module" : "path", "", Align::Left},
                                        {"kind", ""},
                                        {"count", "Count"},
                                        {"count_percent", "Count %"}};
    table.columns.insert(table.columns.end(), counts.begin(), counts.end());
    if (relation)
        table.columns.push_back(relation->column);
    const std::vector<Column> times = {{"processor_seconds", "CPU s"}, {"known_percent", ""}, {"scaled_percent", ""}};
    table.columns.insert(table.columns.end(), times.begin(), times.end());
    std::vector<Row> cells;
    for (const Counted& item : items) {
        const Counts& c = item.wanted;
        const bool is_known = c.known_ns > 0 || c.count > 0;
        Row& row = cells.emplace_back(Row{item.name});
        if (has_module)
            row.emplace_back(std::string(basename(item.module)));
        row.insert(row.end(), {item.module, item.kind, is_known ? Cell(c.count) : Cell(),
                               is_known ? Cell(Share{part(c.count, of_path)}) : Cell()});
        if (relation)
            row.push_back(relation->cell(item));
        row.insert(row.end(), {Seconds{c.ns}, Share{part(c.known_ns, c.ns)}, Share{part(c.scaled_ns, c.ns)}});
    }
    table.each_row = rows_of(std::move(cells));
    return table;
}

/// Of all items, but for the number.
Counts sum_of(const std::vector<Counted>& items)
{
    Counts all;
    for (const Counted& item : items) {
        all.ns += item.wanted.ns;
        all.known_ns += item.wanted.known_ns;
        all.scaled_ns += item.wanted.scaled_ns;
    }
    return all;
}

void add_notes(Document& document, const Counts& all, const std::string& event)
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
}

}  // namespace

Document event_view(const HotspotRequest& request)
{
    const Arguments& arguments = request.request.arguments;
    const std::string& name = arguments.text("--event");
    const std::string& sort = arguments.text("--sort");
    const By* by = std::ranges::find_if(groupings, [&](const By& b) { return arguments.text("--by") == b.name; });
    const std::uint32_t wanted = wanted_event(request.profile, name);
    std::vector<Counted> items = sum_up(request, *by, wanted);
    const std::int64_t of_path = count_on_path(request.profile, wanted);
    const Counts all = sum_of(items);
    std::erase_if(items, [](const Counted& item) { return item.wanted.count == 0 && item.wanted.known_ns > 0; });
    std::ranges::stable_sort(items, [&](const Counted& a, const Counted& b) {
        return sort == "name" ? a.name < b.name : a.wanted.count > b.wanted.count;
    });
    const std::size_t rows = items.size();
    if (const std::uint64_t top = arguments.number("--top"); top > 0 && rows > top)
        items.resize(top);

    std::int64_t shown = 0;
    for (const Counted& item : items)
        shown += item.wanted.count;

    Document document;
    document.fields = {{"event", "", name},
                       {"sort", "", sort},
                       {"count", "", of_path},
                       {"rows_shown", "", static_cast<std::int64_t>(items.size())},
                       {"rows", "", static_cast<std::int64_t>(rows)},
                       {"known_percent", "", Share{part(all.known_ns, all.ns)}},
                       {"scaled_percent", "", Share{part(all.scaled_ns, all.ns)}}};
    document.tables.push_back(table_of(items, *by, relation_of(request.profile, name), of_path));
    document.notes.push_back(fmt::format("{} of {} shown: {} % of {} {} on the critical path.", items.size(),
                                         counted(rows, "row"), percent_text(part(shown, of_path)),
                                         count_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, of_path))),
                                         name));
    add_notes(document, all, name);
    return document;
}

}  // namespace critpath::report
