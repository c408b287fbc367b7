// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tables as bytes; see tables.hpp.
#include "collector/archive/pack.hpp"
#include "collector/archive/tables.hpp"

namespace critpath::archive
{

namespace
{

void write(Packer& out, const StringEntry& e)
{
    out << e.key << e.text;
}

void write(Packer& out, const ModuleEntry& e)
{
    out << e.key << e.path << e.build_id;
}

void write(Packer& out, const RegionEntry& e)
{
    out << e.key << e.function << e.canonical_name << e.module << e.mark;
}

void write(Packer& out, const ContextEntry& e)
{
    out << e.key << e.region << e.parent << e.depth << e.site;
}

void write(Packer& out, const otf2::RankList& ranks)
{
    out << static_cast<std::uint64_t>(ranks.size());
    for (const otf2::RankRun& run : ranks) {
        out << run;
    }
}

void write(Packer& out, const CommunicatorEntry& e)
{
    out << e.key << e.parent << e.kind << static_cast<std::uint64_t>(e.sides.size());
    for (const otf2::RankList& side : e.sides) {
        write(out, side);
    }
    write(out, e.knowers);
    out << static_cast<std::uint64_t>(e.grid.size());
    for (const otf2::GridDimension& dimension : e.grid) {
        out << dimension.size << dimension.is_periodic;
    }
}

void write(Packer& out, const GeneratorEntry& e)
{
    out << e.key << e.event << e.period;
}

void write(Packer& out, const WindowEntry& e)
{
    out << e.key << e.comm;
}

void write(Packer& out, const GroupEntry& e)
{
    out << e.key;
    write(out, e.members);
}

void write(Packer& out, const MetricEntry& e)
{
    out << e.key << static_cast<std::uint8_t>(e.is_sampled) << static_cast<std::uint64_t>(e.names.size());
    for (const std::string& name : e.names) {
        out << name;
    }
}

void write(Packer& out, std::uint32_t number)
{
    out << number;
}

void read(Unpacker& in, StringEntry& e)
{
    in >> e.key >> e.text;
}

void read(Unpacker& in, ModuleEntry& e)
{
    in >> e.key >> e.path >> e.build_id;
}

void read(Unpacker& in, RegionEntry& e)
{
    in >> e.key >> e.function >> e.canonical_name >> e.module >> e.mark;
}

void read(Unpacker& in, ContextEntry& e)
{
    in >> e.key >> e.region >> e.parent >> e.depth >> e.site;
}

void read(Unpacker& in, otf2::RankList& ranks)
{
    ranks.resize(in.length());
    for (otf2::RankRun& run : ranks) {
        in >> run;
    }
}

void read(Unpacker& in, CommunicatorEntry& e)
{
    in >> e.key >> e.parent >> e.kind;
    e.sides.resize(in.length());
    for (otf2::RankList& side : e.sides) {
        read(in, side);
    }
    read(in, e.knowers);
    e.grid.resize(in.length());
    for (otf2::GridDimension& dimension : e.grid) {
        in >> dimension.size >> dimension.is_periodic;
    }
}

void read(Unpacker& in, GeneratorEntry& e)
{
    in >> e.key >> e.event >> e.period;
}

void read(Unpacker& in, WindowEntry& e)
{
    in >> e.key >> e.comm;
}

void read(Unpacker& in, GroupEntry& e)
{
    in >> e.key;
    read(in, e.members);
}

void read(Unpacker& in, MetricEntry& e)
{
    std::uint8_t is_sampled = 0;
    in >> e.key >> is_sampled;
    e.is_sampled = is_sampled != 0;
    e.names.resize(in.length());
    for (std::string& name : e.names) {
        in >> name;
    }
}

void read(Unpacker& in, std::uint32_t& number)
{
    in >> number;
}

template <class Entry>
void write_table(Packer& out, const std::vector<Entry>& table)
{
    out << static_cast<std::uint64_t>(table.size());
    for (const Entry& entry : table) {
        write(out, entry);
    }
}

template <class Entry>
void read_table(Unpacker& in, std::vector<Entry>& table)
{
    table.resize(in.length());
    for (Entry& entry : table) {
        read(in, entry);
    }
}

template <class Set>
std::vector<std::byte> pack_set(const Set& set)
{
    Packer out;
    write_table(out, set.strings);
    write_table(out, set.modules);
    write_table(out, set.regions);
    write_table(out, set.contexts);
    write_table(out, set.communicators);
    write_table(out, set.generators);
    write_table(out, set.windows);
    write_table(out, set.groups);
    write_table(out, set.metrics);
    return out.take();
}

template <class Set>
Set unpack_set(std::span<const std::byte> bytes)
{
    Unpacker in(bytes);
    Set set;
    read_table(in, set.strings);
    read_table(in, set.modules);
    read_table(in, set.regions);
    read_table(in, set.contexts);
    read_table(in, set.communicators);
    read_table(in, set.generators);
    read_table(in, set.windows);
    read_table(in, set.groups);
    read_table(in, set.metrics);
    return set;
}

}  // namespace

std::vector<std::byte> pack(const Tables& tables)
{
    return pack_set(tables);
}

std::vector<std::byte> pack(const Numbers& numbers)
{
    return pack_set(numbers);
}

Tables unpack_tables(std::span<const std::byte> bytes)
{
    return unpack_set<Tables>(bytes);
}

Numbers unpack_numbers(std::span<const std::byte> bytes)
{
    return unpack_set<Numbers>(bytes);
}

}  // namespace critpath::archive
