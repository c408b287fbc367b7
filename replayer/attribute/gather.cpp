// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/gather.hpp"

#include "analysis/division/not_sampled.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace critpath::replayer
{

namespace
{

/// EventCount::sample_count.
std::int64_t sample_count(const model::EventAmount& amount)
{
    constexpr double parts = 1000;
    return amount.count > 0 ? std::llround(parts * amount.weighted / static_cast<double>(amount.count)) : 0;
}

using division::SampledTime;

constexpr int collector = 0;  // the process that gets the profile

/// What one process says about one traced process; names are in the definitions.
struct ProcessRecord {
    std::uint32_t process;
    std::uint32_t padding;
    std::int64_t lifetime_ns, mpi_ns, path_ns, sampled_ns;
    std::uint64_t calls, samples;
    SampledTime coverage;
};

struct LocationRecord {
    std::uint32_t location, padding;
    std::int64_t computed_ns;
};

struct PathRecord {
    std::uint32_t call_path, process;
    Amount amount;
    auto key() const { return std::tuple(call_path, process); }
};

struct AddressRecord {
    std::uint64_t address;
    std::uint32_t call_path, padding;
    Amount amount;
    auto key() const { return std::tuple(call_path, address); }
};

struct EventRecord {
    std::uint32_t call_path, process, event, padding;
    model::EventAmount amount;
    auto key() const { return std::tuple(call_path, process, event); }
};

struct KindRecord {
    std::uint32_t kind, function, process, padding;
    Amount amount;
    auto key() const { return std::tuple(kind, function, process); }
};

struct TotalRecord {
    std::uint32_t slot, call_path;
    Total amount;
    auto key() const { return std::tuple(slot, call_path); }
};

struct CodeRecord {
    std::uint32_t stretch, call_path;
    CodeAmount amount;
    auto key() const { return std::tuple(stretch, call_path); }
};

struct CodeAddressRecord {
    std::uint64_t address;
    std::uint32_t stretch, row;
    CodeAmount amount;
    auto key() const { return std::tuple(stretch, row, address); }
};

/// Sorted by key, those with equal keys added up.
template <class Record>
std::vector<Record> sums_of(std::vector<Record> records)
{
    std::ranges::stable_sort(records, {}, [](const Record& r) { return r.key(); });
    std::vector<Record> sums;
    for (const Record& record : records) {
        if (!sums.empty() && sums.back().key() == record.key())
            sums.back().amount.add(record.amount);
        else
            sums.push_back(record);
    }
    return sums;
}

/// Brings all records to the process `owner_of(record)`, and adds them up there.
template <class Record, class OwnerOf>
std::vector<Record> exchange_sums(const Replay& replay, const std::vector<Record>& records, OwnerOf owner_of)
{
    auto out = lists_for<Record>(replay.size);
    for (const Record& record : records)
        out[owner_of(record)].push_back(record);
    return sums_of(replayer::exchange(replay.comm, out).items);
}

/// Brings all records to the collector, and adds them up there.
template <class Record>
std::vector<Record> collect_sums(const Replay& replay, std::vector<Record> records)
{
    auto out = lists_for<Record>(replay.size);
    out[collector] = std::move(records);
    return sums_of(replayer::exchange(replay.comm, out).items);
}

std::vector<ProcessRecord> collect_processes(const Replay& replay, const Tally& tally)
{
    auto out = lists_for<ProcessRecord>(replay.size);
    for (const auto& [id, t] : tally.processes) {
        const auto coverage = tally.coverage.find(id);
        const Coverage c = coverage == tally.coverage.end() ? Coverage{} : coverage->second;
        out[collector].push_back(
            {id, 0, t.lifetime_ns, t.mpi_ns, t.path_ns, t.sampled_ns, t.calls, t.samples, {c.time, c.sampled}});
    }
    return replayer::exchange(replay.comm, out).items;  // ascending: processes hold ascending blocks
}

std::vector<LocationRecord> collect_locations(const Replay& replay, const Tally& tally)
{
    auto out = lists_for<LocationRecord>(replay.size);
    for (const auto& [id, computed_ns] : tally.computed_ns)
        out[collector].push_back({id, 0, computed_ns});
    return replayer::exchange(replay.comm, out).items;
}

std::vector<PathRecord> path_records(const Tally& tally, const Places& places)
{
    std::vector<PathRecord> records;
    for (const auto& [key, amount] : tally.path)
        records.push_back({places.id(key.place).value, key.process, amount});
    return records;
}

std::vector<AddressRecord> address_records(const Tally::Addresses& addresses, const Places& places)
{
    std::vector<AddressRecord> records;
    for (const auto& [at, amount] : addresses)
        records.push_back({at.address, places.id({{at.context}}).value, 0, amount});
    return records;
}

/// Those of all ranks, which mostly run the same code: it is added up in parts before the collector gets it.
std::vector<AddressRecord> collect_total_addresses(const Replay& replay, const Tally& tally, const Places& places)
{
    const auto processes = static_cast<std::uint64_t>(replay.size);
    const auto owner_of = [&](const AddressRecord& r) {
        return static_cast<std::size_t>(CodeAddress::Hash{}({r.call_path, r.address}) % processes);
    };
    return collect_sums(replay, exchange_sums(replay, address_records(tally.total_addresses, places), owner_of));
}

std::vector<EventRecord> event_records(const Tally& tally, const Places& places)
{
    std::vector<EventRecord> records;
    for (const auto& [key, amounts] : tally.events)
        for (std::uint32_t event = 0; event < amounts.size(); ++event)
            if (amounts[event].ns != 0 || amounts[event].count != 0)
                records.push_back({places.id(key.place).value, key.process, event, 0, amounts[event]});
    return records;
}

std::vector<KindRecord> kind_records(const Tally& tally, const Places& places)
{
    std::vector<KindRecord> records;
    for (const auto& [key, amount] : tally.kinds) {
        const model::RowId row = key.function.valid() ? places.row(key.function) : model::RowId::none();
        records.push_back({static_cast<std::uint32_t>(key.kind), row.value, key.process, 0, amount});
    }
    return records;
}

std::uint64_t function_key(std::uint32_t stretch, model::RowId row)
{
    return std::uint64_t{stretch} << 32U | row.value;
}

std::uint64_t function_key(std::uint32_t stretch, model::CallPathId id, const Places& places)
{
    return function_key(stretch, places.call_paths()[id.value].row);
}

/// `keys` of the collector on all processes, ascending, each once.
std::vector<std::uint64_t> on_all_processes(const Replay& replay, std::vector<std::uint64_t> keys)
{
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    auto size = static_cast<int>(keys.size());
    MPI_Bcast(&size, 1, MPI_INT, collector, replay.comm);
    keys.resize(static_cast<std::size_t>(size));
    MPI_Bcast(keys.data(), size, MPI_UINT64_T, collector, replay.comm);
    return keys;
}

std::vector<CodeRecord> code_records(const Tally& tally, const Places& places)
{
    std::vector<CodeRecord> records;
    for (const auto& [key, amount] : tally.stretch_code)
        if (const model::CallPathId id = places.id(key.second); id.valid())  // a sample of an unknown place has none
            records.push_back({key.first, id.value, amount});
    return records;
}

/// By stretch and row, ascending: the functions that the path is in. The same on all processes; `path` is that of the
/// collector.
std::vector<std::uint64_t> functions_on_path(const Replay& replay, const std::vector<CodeRecord>& path,
                                             const Places& places)
{
    std::vector<std::uint64_t> keys;
    for (const CodeRecord& c : path)
        keys.push_back(function_key(c.stretch, {c.call_path}, places));
    return on_all_processes(replay, std::move(keys));
}

/// `path` with what peers have of the same functions, whoever calls them there, on the collector. They are on all
/// ranks, so it is added up in parts before the collector gets it.
std::vector<CodeRecord> with_code_of_peers(const Replay& replay, std::vector<CodeRecord> path, const CodeOfPeers& peers,
                                           const Places& places)
{
    const std::vector<std::uint64_t> functions = functions_on_path(replay, path, places);
    std::vector<CodeRecord> records;
    for (const auto& [of, ns] : peers.own)
        if (const model::CallPathId id = places.id(of.second);
            id.valid() && std::ranges::binary_search(functions, function_key(of.first, id, places)))
            records.push_back({of.first, id.value, {.peers_ns = ns}});
    const auto processes = static_cast<std::uint64_t>(replay.size);
    const auto owner_of = [&](const CodeRecord& r) { return (r.stretch + r.call_path) % processes; };
    std::ranges::copy(collect_sums(replay, exchange_sums(replay, records, owner_of)), std::back_inserter(path));
    return sums_of(std::move(path));
}

/// By instruction, likewise: what peers have at any of the same functions.
std::vector<CodeAddressRecord> collect_code_addresses(const Replay& replay, const Tally& tally,
                                                      const CodeOfPeers& peers, const Places& places)
{
    std::vector<CodeAddressRecord> own;
    const auto record = [&](const auto& key, const CodeAmount& amount) {
        const auto& [stretch, region, address] = key;
        return CodeAddressRecord{address, stretch, places.row(model::RegionId{region}).value, amount};
    };
    for (const auto& [key, amount] : tally.stretch_addresses)
        own.push_back(record(key, amount));
    std::vector<CodeAddressRecord> path = collect_sums(replay, std::move(own));
    std::vector<std::uint64_t> keys;
    for (const CodeAddressRecord& r : path)
        keys.push_back(function_key(r.stretch, model::RowId{r.row}));
    const std::vector<std::uint64_t> functions = on_all_processes(replay, std::move(keys));
    std::vector<CodeAddressRecord> of_peers;
    for (const auto& [key, ns] : peers.addresses)
        if (const CodeAddressRecord r = record(key, {.peers_ns = ns});
            std::ranges::binary_search(functions, function_key(r.stretch, model::RowId{r.row})))
            of_peers.push_back(r);
    const auto processes = static_cast<std::uint64_t>(replay.size);
    const auto owner_of = [&](const CodeAddressRecord& r) {
        return static_cast<std::size_t>(CodeAddress::Hash{}({r.row, r.address}) % processes);
    };
    std::ranges::copy(collect_sums(replay, exchange_sums(replay, of_peers, owner_of)), std::back_inserter(path));
    return sums_of(std::move(path));
}

/// Sums of totals by call path, on the collector.
std::vector<Total> collect_totals(const Replay& replay, const Tally& tally, const Places& places)
{
    std::vector<Total> sums(places.call_paths().size());
    tally.totals.for_each([&](Place place, std::uint32_t, const Total& total) {
        if (const model::CallPathId id = places.id(place); id.valid())
            sums[id.value].add(total);
    });
    constexpr std::size_t numbers = sizeof(Total) / sizeof(std::int64_t);
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size() * numbers), MPI_INT64_T, MPI_SUM,
                  replay.comm);
    return sums;
}

}  // namespace

std::vector<model::TotalPart> gather_totals(const Replay& replay, const Totals& totals, const Places& places)
{
    std::vector<TotalRecord> records;
    totals.for_each([&](Place place, std::uint32_t slot, const Total& total) {
        if (const model::CallPathId id = places.id(place); id.valid())
            records.push_back({slot, id.value, total});
    });
    for (std::uint32_t slot = 0; slot < totals.computed().size(); ++slot)
        if (const std::int64_t ns = totals.computed()[slot]; ns != 0)
            records.push_back({slot, model::CallPathId::none().value, {ns, 0, 0, 0}});
    records = sums_of(std::move(records));  // several contexts may be one call path
    const auto processes = static_cast<std::uint64_t>(replay.size);
    std::vector<model::TotalPart> parts;
    for (const TotalRecord& r : exchange_sums(replay, records, [&](const TotalRecord& record) {
             return static_cast<std::size_t>(record.slot * processes / model::TimeSlots::number);
         }))
        parts.push_back(
            {r.slot, r.call_path, r.amount.ns, r.amount.samples, r.amount.other_threads_ns, r.amount.in_calls_ns});
    return parts;
}

void gather(const Replay& replay, const Tally& tally, const CodeOfPeers& peers, const Places& places,
            model::Profile& profile)
{
    const auto processes = collect_processes(replay, tally);
    const auto locations = collect_locations(replay, tally);
    const auto path = collect_sums(replay, path_records(tally, places));
    const auto kinds = collect_sums(replay, kind_records(tally, places));
    const auto addresses = collect_sums(replay, address_records(tally.addresses, places));
    const auto total_addresses = collect_total_addresses(replay, tally, places);
    const auto events = collect_sums(replay, event_records(tally, places));
    const auto code = with_code_of_peers(replay, collect_sums(replay, code_records(tally, places)), peers, places);
    const auto code_addresses = collect_code_addresses(replay, tally, peers, places);
    const auto totals = collect_totals(replay, tally, places);
    if (replay.rank != collector)
        return;
    const model::Definitions& definitions = replay.definitions;
    for (const model::Location& location : definitions.locations) {
        profile.locations.push_back(location.name);
        profile.location_process.push_back(location.process.value);
    }
    profile.computed_ns.resize(definitions.locations.size());
    for (const LocationRecord& l : locations)
        profile.computed_ns[l.location] = l.computed_ns;
    for (const ProcessRecord& p : processes) {
        const model::Process& process = definitions.processes[p.process];
        profile.processes.push_back(
            {process.name, process.node, p.lifetime_ns, p.mpi_ns, p.path_ns, p.sampled_ns, p.calls, p.samples});
    }
    for (const PathRecord& p : path)
        profile.path.push_back({{p.call_path}, {p.process}, p.amount.ns, p.amount.count, 0, p.amount.found_ns});
    if (definitions.has_samples)
        profile.events = definitions.counted;
    for (const EventRecord& e : events)
        profile.path_events.push_back({{e.call_path},
                                       {e.process},
                                       e.event,
                                       e.amount.count,
                                       e.amount.ns,
                                       e.amount.known_ns,
                                       e.amount.scaled_ns,
                                       sample_count(e.amount)});
    for (const AddressRecord& a : addresses)
        profile.addresses.push_back({{a.call_path}, a.address, a.amount.ns, a.amount.count});
    for (const AddressRecord& a : total_addresses)
        profile.total_addresses.push_back({{a.call_path}, a.address, a.amount.ns, a.amount.count});
    for (const CodeRecord& c : code)
        profile.stretch_code.push_back({c.stretch,
                                        {c.call_path},
                                        c.amount.ns,
                                        c.amount.samples,
                                        c.amount.spinning_ns,
                                        c.amount.blocked_ns,
                                        c.amount.peers_ns});
    for (const CodeAddressRecord& c : code_addresses)
        profile.stretch_addresses.push_back(
            {c.stretch, {c.row}, c.address, c.amount.ns, c.amount.samples, c.amount.peers_ns});
    for (const KindRecord& k : kinds)
        profile.kinds.push_back(
            {static_cast<model::SegmentKind>(k.kind), {k.function}, {k.process}, k.amount.ns, k.amount.count});
    for (std::uint32_t i = 0; i < totals.size(); ++i)
        if (const Total& t = totals[i]; !t.is_zero())
            profile.totals.push_back(
                {{i}, model::ProcessId::none(), t.ns, t.samples, t.other_threads_ns, 0, t.in_calls_ns});
    if (definitions.has_samples) {
        std::vector<SampledTime> coverage;
        for (const ProcessRecord& p : processes)
            coverage.push_back(p.coverage);
        division::balance(profile, coverage, places.id({model::ContextId::none(), Pseudo::NotSampled}));
    }
}

}  // namespace critpath::replayer
