// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ids of the trace; see tables.hpp.
#include "collector/archive/tables.hpp"
#include "formats/binary/demangle.hpp"
#include "formats/otf2/function_map.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace critpath::archive
{

namespace
{

using Kind = CommunicatorEntry::Kind;

// Visits the entries in the order of `sort_key` and tells each its number.
template <class Entry, class SortKey, class Visit>
std::vector<std::uint32_t> number_by(const std::vector<Entry>& table, SortKey sort_key, Visit visit)
{
    std::vector<std::uint32_t> order(table.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return sort_key(table[a]) < sort_key(table[b]); });
    std::vector<std::uint32_t> numbers(table.size());
    for (std::uint32_t number = 0; number < order.size(); ++number) {
        numbers[order[number]] = number;
        visit(table[order[number]], number);
    }
    return numbers;
}

// A function that is called so would have a module.
bool is_off_processor(const RegionEntry& entry)
{
    return entry.module.empty() &&
           (entry.canonical_name == otf2::preempted_region || entry.canonical_name == otf2::blocked_region);
}

std::vector<std::uint32_t> number_regions(const Tables& tables, otf2::TraceDefinitions& out)
{
    const auto sort_key = [](const RegionEntry& r) {
        return std::tie(r.function, r.module, r.canonical_name, r.mark, r.key);
    };
    return number_by(tables.regions, sort_key, [&](const RegionEntry& entry, std::uint32_t) {
        otf2::RegionDefinition region;
        region.function = entry.function;
        if (entry.function == functions::FunctionId::none) {
            region.name = binary::demangle(entry.canonical_name) + entry.mark;
            region.canonical_name = entry.canonical_name;
            region.module = entry.module;
        }
        if (is_off_processor(entry)) {
            region.paradigm = OTF2_PARADIGM_NONE;
            region.role = OTF2_REGION_ROLE_ARTIFICIAL;
        }
        out.regions.push_back(std::move(region));
    });
}

// Which contexts are those of MPI calls, or on the way to one.
std::vector<bool> on_the_way_to_calls(const Tables& tables)
{
    const std::vector<ContextEntry>& table = tables.contexts;
    std::vector<bool> result(table.size());
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        if (tables.regions[position(tables.regions, table[i].region)].function == functions::FunctionId::none) {
            continue;
        }
        for (std::uint32_t at = i; !result[at]; at = position(table, table[at].parent)) {
            result[at] = true;
            if (table[at].parent.is_zero()) {
                break;
            }
        }
    }
    return result;
}

// Those that stand in the records of every call come first: libotf2 writes small numbers in fewer bytes. Then level by
// level: the parents' numbers are known, and order the children.
std::vector<std::uint32_t> number_contexts(const Tables& tables, const std::vector<std::uint32_t>& regions,
                                           otf2::TraceDefinitions& out)
{
    const std::vector<ContextEntry>& table = tables.contexts;
    struct Row {
        std::uint32_t round, depth, parent, region, entry;
        auto operator<=>(const Row&) const = default;
    };
    const std::vector<bool> called = on_the_way_to_calls(tables);
    std::vector<Row> rows;
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        rows.push_back(
            {called[i] ? 0U : 1U, table[i].depth, otf2::none, regions[position(tables.regions, table[i].region)], i});
    }
    std::sort(rows.begin(), rows.end());
    std::vector<std::uint32_t> numbers(table.size(), otf2::none);
    for (auto level = rows.begin(); level != rows.end();) {
        const auto end = std::find_if(level, rows.end(),
                                      [&](const Row& r) { return r.round != level->round || r.depth != level->depth; });
        for (auto row = level; row != end; ++row) {
            const Hash128& parent = table[row->entry].parent;
            row->parent = parent.is_zero() ? otf2::none : numbers[position(table, parent)];
        }
        std::sort(level, end);
        for (; level != end; ++level) {
            numbers[level->entry] = static_cast<std::uint32_t>(out.contexts.size());
            out.contexts.push_back({level->region, level->parent, table[level->entry].site});
        }
    }
    return numbers;
}

// Generations below MPI_COMM_WORLD and MPI_COMM_SELF; a parent that nobody recorded ends the line.
std::vector<std::uint32_t> depths(const std::vector<CommunicatorEntry>& table)
{
    constexpr std::uint32_t unknown = otf2::none;
    std::vector<std::uint32_t> depth(table.size(), unknown);
    std::vector<std::uint32_t> line;
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t at = i;
        line.clear();
        while (at < table.size() && depth[at] == unknown) {
            depth[at] = 0;  // should a line ever close to a ring, it ends here
            line.push_back(at);
            const std::uint32_t parent = position(table, table[at].parent);
            at = parent < table.size() && table[parent].key == table[at].parent ? parent : unknown;
        }
        std::uint32_t base = at < table.size() ? depth[at] + 1 : 0;
        for (auto member = line.rbegin(); member != line.rend(); ++member) {
            depth[*member] = base++;
        }
    }
    return depth;
}

otf2::CommunicatorDefinition define(const CommunicatorEntry& entry, std::uint32_t number)
{
    otf2::CommunicatorDefinition comm;
    comm.is_inter = entry.kind == Kind::Inter;
    comm.is_self = entry.kind == Kind::Self || entry.kind == Kind::Alone;
    comm.has_events = entry.kind != Kind::World && entry.kind != Kind::Self;
    comm.name = entry.kind == Kind::World  ? "MPI_COMM_WORLD"
                : entry.kind == Kind::Self ? "MPI_COMM_SELF"
                                           : fmt::format("Communicator {}", number);
    if (!entry.sides.empty()) {
        comm.members = entry.sides.front();
    }
    if (entry.sides.size() > 1) {
        comm.remote = entry.sides[1];
    }
    comm.grid = entry.grid;
    return comm;
}

std::vector<std::uint32_t> number_communicators(const Tables& tables, otf2::TraceDefinitions& out)
{
    const std::vector<CommunicatorEntry>& table = tables.communicators;
    const std::vector<std::uint32_t> depth = depths(table);
    const auto predefined = [](Kind kind) { return kind == Kind::World ? 0 : kind == Kind::Self ? 1 : 2; };
    const auto sort_key = [&](const CommunicatorEntry& e) {
        return std::tuple(predefined(e.kind), depth[&e - table.data()], std::cref(e.key).get());
    };
    std::vector<std::uint32_t> numbers =
        number_by(table, sort_key, [&](const CommunicatorEntry& entry, std::uint32_t number) {
            out.communicators.push_back(define(entry, number));
        });
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::uint32_t parent = position(table, table[i].parent);
        if (parent < table.size() && table[parent].key == table[i].parent) {
            out.communicators[numbers[i]].parent = numbers[parent];
        }
    }
    return numbers;
}

// By communicator, and then by who the members say they are: there is no other order that all ranks know.
std::vector<std::uint32_t> number_windows(const Tables& tables, const std::vector<std::uint32_t>& communicators,
                                          otf2::TraceDefinitions& out)
{
    const auto comm_of = [&](const WindowEntry& w) { return communicators[position(tables.communicators, w.comm)]; };
    return number_by(
        tables.windows, [&](const WindowEntry& w) { return std::tuple(comm_of(w), w.key); },
        [&](const WindowEntry& w, std::uint32_t number) {
            out.windows.push_back({fmt::format("Window {}", number), comm_of(w)});
        });
}

}  // namespace

Numbers number(const Tables& tables, otf2::TraceDefinitions& out)
{
    Numbers ids;
    ids.strings = number_by(
        tables.strings, [](const StringEntry& s) { return std::tie(s.text); },
        [&](const StringEntry& s, std::uint32_t) { out.strings.push_back(s.text); });
    ids.modules = number_by(
        tables.modules, [](const ModuleEntry& m) { return std::tie(m.path, m.build_id); },
        [&](const ModuleEntry& m, std::uint32_t) {
            out.modules.push_back({m.build_id, m.path});
        });
    ids.regions = number_regions(tables, out);
    ids.contexts = number_contexts(tables, ids.regions, out);
    ids.communicators = number_communicators(tables, out);
    ids.generators = number_by(
        tables.generators, [](const GeneratorEntry& g) { return std::tie(g.event, g.period); },
        [&](const GeneratorEntry& g, std::uint32_t) {
            out.generators.push_back({g.event, g.period});
        });
    ids.windows = number_windows(tables, ids.communicators, out);
    ids.groups = number_by(
        tables.groups, [](const GroupEntry& g) { return std::tie(g.members); },
        [&](const GroupEntry& g, std::uint32_t) { out.groups.push_back(g.members); });
    ids.metrics = number_by(
        tables.metrics, [](const MetricEntry& m) { return std::tie(m.is_sampled, m.names); },
        [&](const MetricEntry& m, std::uint32_t) {
            out.metrics.push_back({m.names, m.is_sampled});
        });
    return ids;
}

}  // namespace critpath::archive
