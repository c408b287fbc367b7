// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/tables.hpp"

#include <algorithm>
#include <utility>

namespace critpath::archive
{

namespace
{

template <class Entry>
void sort_table(std::vector<Entry>& table)
{
    std::stable_sort(table.begin(), table.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    std::vector<Entry> unique;
    for (Entry& entry : table) {
        if (!unique.empty() && unique.back().key == entry.key) {
            unique.back().absorb(entry);
        } else {
            unique.push_back(std::move(entry));
        }
    }
    table = std::move(unique);
}

template <class Entry>
void merge_table(std::vector<Entry>& first, std::vector<Entry>& second, std::vector<Entry>& merged,
                 std::vector<std::uint32_t>& first_at, std::vector<std::uint32_t>& second_at)
{
    merged.reserve(std::max(first.size(), second.size()));
    auto a = first.begin();
    auto b = second.begin();
    while (a != first.end() || b != second.end()) {
        const auto at = static_cast<std::uint32_t>(merged.size());
        const bool from_first = b == second.end() || (a != first.end() && a->key <= b->key);
        const bool from_second = a == first.end() || (b != second.end() && b->key <= a->key);
        if (from_first && from_second) {
            a->absorb(*b);
        }
        merged.push_back(std::move(from_first ? *a : *b));
        if (from_first) {
            first_at.push_back(at);
            ++a;
        }
        if (from_second) {
            second_at.push_back(at);
            ++b;
        }
    }
}

std::vector<std::uint32_t> select_one(const std::vector<std::uint32_t>& through,
                                      const std::vector<std::uint32_t>& positions)
{
    std::vector<std::uint32_t> result;
    result.reserve(positions.size());
    for (const std::uint32_t position : positions) {
        result.push_back(through[position]);
    }
    return result;
}

// Of lists that ascend. Neighbours of the tree have consecutive ranks: then no list is made.
otf2::RankList join(const otf2::RankList& a, const otf2::RankList& b)
{
    const auto is_range = [](const otf2::RankList& ranks) { return ranks.size() == 1 && ranks.front().stride == 1; };
    if (is_range(a) && is_range(b) && a.front().first + a.front().count == b.front().first) {
        return {{a.front().first, 1, a.front().count + b.front().count}};
    }
    std::vector<std::int32_t> all = otf2::expand(a);
    const std::vector<std::int32_t> more = otf2::expand(b);
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return otf2::compress(all);
}

}  // namespace

void CommunicatorEntry::absorb(const CommunicatorEntry& other)
{
    knowers = join(knowers, other.knowers);
    if (grid.empty()) {
        grid = other.grid;  // somebody's recording may have ended before it
    }
    if (kind != Kind::Inter) {
        return;
    }
    // Each process knows the group that it is not in; its parent may be another one than the other side's.
    sides.insert(sides.end(), other.sides.begin(), other.sides.end());
    std::sort(sides.begin(), sides.end());
    sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
    parent = parent.is_zero() ? other.parent : other.parent.is_zero() ? parent : std::min(parent, other.parent);
}

void Tables::sort()
{
    sort_table(strings);
    sort_table(modules);
    sort_table(regions);
    sort_table(contexts);
    sort_table(communicators);
    sort_table(generators);
    sort_table(windows);
    sort_table(groups);
    sort_table(metrics);
}

Merged merge(Tables first, Tables second)
{
    Merged m;
    merge_table(first.strings, second.strings, m.tables.strings, m.first.strings, m.second.strings);
    merge_table(first.modules, second.modules, m.tables.modules, m.first.modules, m.second.modules);
    merge_table(first.regions, second.regions, m.tables.regions, m.first.regions, m.second.regions);
    merge_table(first.contexts, second.contexts, m.tables.contexts, m.first.contexts, m.second.contexts);
    merge_table(first.communicators, second.communicators, m.tables.communicators, m.first.communicators,
                m.second.communicators);
    merge_table(first.generators, second.generators, m.tables.generators, m.first.generators, m.second.generators);
    merge_table(first.windows, second.windows, m.tables.windows, m.first.windows, m.second.windows);
    merge_table(first.groups, second.groups, m.tables.groups, m.first.groups, m.second.groups);
    merge_table(first.metrics, second.metrics, m.tables.metrics, m.first.metrics, m.second.metrics);
    return m;
}

Numbers select(const Numbers& through, const Numbers& positions)
{
    return {select_one(through.strings, positions.strings),
            select_one(through.modules, positions.modules),
            select_one(through.regions, positions.regions),
            select_one(through.contexts, positions.contexts),
            select_one(through.communicators, positions.communicators),
            select_one(through.generators, positions.generators),
            select_one(through.windows, positions.windows),
            select_one(through.groups, positions.groups),
            select_one(through.metrics, positions.metrics)};
}

}  // namespace critpath::archive
