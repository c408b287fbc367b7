// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the definitions that ranks must agree on: sorted tables, how two ranks' tables become one, and which id each
// entry finally gets. Merging is associative and does not depend on the order; nothing here communicates.
#pragma once

#include "collector/archive/hash.hpp"
#include "formats/functions/functions.hpp"
#include "formats/otf2/definitions.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace critpath::archive
{

struct StringEntry {
    Hash128 key;
    std::string text;
    void absorb(const StringEntry&) {}
    bool operator==(const StringEntry&) const = default;
};

struct ModuleEntry {
    Hash128 key;  // of path and build id
    std::string path;
    std::string build_id;
    void absorb(const ModuleEntry&) {}
    bool operator==(const ModuleEntry&) const = default;
};

struct RegionEntry {
    Hash128 key;
    functions::FunctionId function = functions::FunctionId::none;  // of MPI
    std::string canonical_name;                                    // of a sampled function
    std::string module;                                            // path
    std::string mark = {};  // behind the name: its source file, functions with the same code
    void absorb(const RegionEntry&) {}
    bool operator==(const RegionEntry&) const = default;
};

struct ContextEntry {
    Hash128 key;  // of the path from the root
    Hash128 region;
    Hash128 parent;  // zero at the root
    std::uint32_t depth = 0;
    std::uint64_t site = 0;  // as otf2::ContextDefinition
    void absorb(const ContextEntry&) {}
    bool operator==(const ContextEntry&) const = default;
};

struct CommunicatorEntry {
    enum class Kind : std::uint8_t {
        World,
        Self,
        Alone,  // each process that knows it is its only member
        Intra,
        Inter,
    };

    Hash128 key;
    Hash128 parent;  // zero: none
    Kind kind = Kind::Intra;
    std::vector<otf2::RankList> sides;  // World, Intra: the members; Inter: the groups known so far, sorted
    otf2::RankList knowers = {};        // Intra, Inter: the ranks that have it in their recordings
    std::vector<otf2::GridDimension> grid = {};

    void absorb(const CommunicatorEntry& other);
    bool operator==(const CommunicatorEntry&) const = default;
};

struct GeneratorEntry {
    Hash128 key;
    std::string event;
    std::uint64_t period = 0;
    void absorb(const GeneratorEntry&) {}
    bool operator==(const GeneratorEntry&) const = default;
};

struct WindowEntry {
    Hash128 key;
    Hash128 comm;
    void absorb(const WindowEntry&) {}
    bool operator==(const WindowEntry&) const = default;
};

/// World ranks that an event names, other than those of a communicator.
struct GroupEntry {
    Hash128 key;
    otf2::RankList members;
    void absorb(const GroupEntry&) {}
    bool operator==(const GroupEntry&) const = default;
};

/// The counters of a thread: those that it read at calls, or the events of its samples.
struct MetricEntry {
    Hash128 key;
    std::vector<std::string> names;
    bool is_sampled = false;
    void absorb(const MetricEntry&) {}
    bool operator==(const MetricEntry&) const = default;
};

/// Each table is sorted by key, without duplicates.
struct Tables {
    std::vector<StringEntry> strings;
    std::vector<ModuleEntry> modules;
    std::vector<RegionEntry> regions;
    std::vector<ContextEntry> contexts;
    std::vector<CommunicatorEntry> communicators;
    std::vector<GeneratorEntry> generators;
    std::vector<WindowEntry> windows;
    std::vector<GroupEntry> groups;
    std::vector<MetricEntry> metrics;

    bool operator==(const Tables&) const = default;

    /// Brings tables that were filled in any order into the form above.
    void sort();
};

/// One number an entry, by table: a position in another set of tables, or an id of the trace.
struct Numbers {
    std::vector<std::uint32_t> strings, modules, regions, contexts, communicators, generators, windows, groups, metrics;

    bool operator==(const Numbers&) const = default;
};

struct Merged {
    Tables tables;
    Numbers first, second;  // position in `tables` of each entry of the two arguments
};
Merged merge(Tables first, Tables second);

/// `through[i]` for each i of `positions`: the numbers of the entries that stand at these positions.
Numbers select(const Numbers& through, const Numbers& positions);

/// Chooses the ids of the trace and fills the tables of `definitions` in their order: parents before children, and
/// within that by what the entries are, never by who came first.
Numbers number(const Tables& tables, otf2::TraceDefinitions& definitions);

std::vector<std::byte> pack(const Tables& tables);
std::vector<std::byte> pack(const Numbers& numbers);
/// Throw Failure if the bytes are not what pack() made.
Tables unpack_tables(std::span<const std::byte> bytes);
Numbers unpack_numbers(std::span<const std::byte> bytes);

/// Position of `key` in a sorted table; the key must be there.
template <class Entry>
std::uint32_t position(const std::vector<Entry>& table, const Hash128& key);

}  // namespace critpath::archive

#include <algorithm>

template <class Entry>
std::uint32_t critpath::archive::position(const std::vector<Entry>& table, const Hash128& key)
{
    const auto at =
        std::lower_bound(table.begin(), table.end(), key, [](const Entry& e, const Hash128& k) { return e.key < k; });
    return static_cast<std::uint32_t>(at - table.begin());
}
