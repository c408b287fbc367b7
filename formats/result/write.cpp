// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/checksum.hpp"
#include "formats/result/file.hpp"
#include "formats/result/result.hpp"
#include "formats/result/schema.hpp"
#include "formats/result/segments.hpp"
#include "formats/result/sqlite.hpp"
#include "formats/support/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <tuple>

namespace critpath::result
{

namespace
{

constexpr const char* schema = R"(
CREATE TABLE facts(key TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE properties(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE process(id INTEGER PRIMARY KEY, name TEXT NOT NULL, node TEXT NOT NULL, lifetime_ns INTEGER NOT NULL,
    mpi_ns INTEGER NOT NULL, path_ns INTEGER NOT NULL, sampled_ns INTEGER NOT NULL, calls INTEGER NOT NULL,
    samples INTEGER NOT NULL);
CREATE TABLE clock(id INTEGER PRIMARY KEY, node TEXT NOT NULL, processes INTEGER NOT NULL, path_ns INTEGER NOT NULL,
    decided_ns INTEGER NOT NULL, doubted_ns INTEGER NOT NULL, last_arrivals INTEGER NOT NULL, correction_ns INTEGER NOT NULL,
    uncertainty_ns INTEGER NOT NULL, is_known INTEGER NOT NULL);
CREATE TABLE location(id INTEGER PRIMARY KEY, name TEXT NOT NULL, process INTEGER NOT NULL REFERENCES process,
    computed_ns INTEGER NOT NULL);
CREATE TABLE row(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, module TEXT NOT NULL,
    file TEXT NOT NULL, line INTEGER NOT NULL);
CREATE TABLE module(id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT NOT NULL, has_lines INTEGER NOT NULL,
    lacks_split_units INTEGER NOT NULL);
CREATE TABLE call_path(id INTEGER PRIMARY KEY, row INTEGER NOT NULL REFERENCES row, parent INTEGER REFERENCES call_path,
    site INTEGER NOT NULL);
CREATE TABLE path_time(call_path INTEGER NOT NULL REFERENCES call_path, process INTEGER NOT NULL REFERENCES process,
    ns INTEGER NOT NULL, samples INTEGER NOT NULL, found_ns INTEGER NOT NULL, PRIMARY KEY(call_path, process))
    WITHOUT ROWID;
CREATE TABLE total_time(call_path INTEGER PRIMARY KEY REFERENCES call_path, ns INTEGER NOT NULL,
    samples INTEGER NOT NULL, other_threads_ns INTEGER NOT NULL, in_calls_ns INTEGER NOT NULL);
CREATE TABLE address_time(call_path INTEGER NOT NULL REFERENCES call_path, address INTEGER NOT NULL,
    ns INTEGER NOT NULL, samples INTEGER NOT NULL, PRIMARY KEY(call_path, address)) WITHOUT ROWID;
CREATE TABLE total_address_time(call_path INTEGER NOT NULL REFERENCES call_path, address INTEGER NOT NULL,
    ns INTEGER NOT NULL, samples INTEGER NOT NULL, PRIMARY KEY(call_path, address)) WITHOUT ROWID;
CREATE TABLE event(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE path_events(call_path INTEGER NOT NULL REFERENCES call_path, process INTEGER NOT NULL REFERENCES process,
    event INTEGER NOT NULL REFERENCES event, count INTEGER NOT NULL, ns INTEGER NOT NULL, known_ns INTEGER NOT NULL,
    scaled_ns INTEGER NOT NULL, sample_count INTEGER NOT NULL,
    PRIMARY KEY(call_path, process, event)) WITHOUT ROWID;
CREATE TABLE kind_time(kind TEXT NOT NULL, function INTEGER REFERENCES row, process INTEGER NOT NULL
    REFERENCES process, ns INTEGER NOT NULL, segments INTEGER NOT NULL);
CREATE TABLE stretch_time(stretch INTEGER NOT NULL REFERENCES stretch, process INTEGER NOT NULL REFERENCES process,
    ns INTEGER NOT NULL, gaps INTEGER NOT NULL, longer_ns INTEGER NOT NULL, PRIMARY KEY(stretch, process)) WITHOUT ROWID;
CREATE TABLE stretch_code(stretch INTEGER NOT NULL REFERENCES stretch, call_path INTEGER NOT NULL
    REFERENCES call_path, ns INTEGER NOT NULL, samples INTEGER NOT NULL, spinning_ns INTEGER NOT NULL,
    blocked_ns INTEGER NOT NULL, peers_ns INTEGER NOT NULL, PRIMARY KEY(stretch, call_path)) WITHOUT ROWID;
CREATE TABLE stretch_address(stretch INTEGER NOT NULL REFERENCES stretch, row INTEGER NOT NULL REFERENCES row,
    address INTEGER NOT NULL, ns INTEGER NOT NULL, samples INTEGER NOT NULL, peers_ns INTEGER NOT NULL,
    PRIMARY KEY(stretch, row, address)) WITHOUT ROWID;
CREATE TABLE source_file(id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE source_function(id INTEGER PRIMARY KEY, name TEXT NOT NULL, file INTEGER NOT NULL REFERENCES source_file,
    line INTEGER NOT NULL);
CREATE TABLE source_frame(module INTEGER NOT NULL REFERENCES module, address INTEGER NOT NULL, depth INTEGER NOT NULL,
    function INTEGER NOT NULL REFERENCES source_function, file INTEGER NOT NULL REFERENCES source_file,
    line INTEGER NOT NULL, PRIMARY KEY(module, address, depth)) WITHOUT ROWID;
)";

/// A column for each of model::stretch_numbers, or model::difference_numbers.
template <class Numbers>
std::string number_columns(const Numbers& numbers)
{
    std::string columns;
    for (const auto& number : numbers)
        columns += fmt::format(", {} INTEGER NOT NULL", number.name);
    return columns;
}

/// The tables whose columns are numbers of the model, behind those that say what they are of.
std::string stretch_schema()
{
    return fmt::format("CREATE TABLE stretch(id INTEGER PRIMARY KEY, call_before INTEGER REFERENCES call_path, "
                       "call_after INTEGER NOT NULL REFERENCES call_path{});"
                       "CREATE TABLE stretch_rank(stretch INTEGER NOT NULL REFERENCES stretch, process INTEGER NOT "
                       "NULL REFERENCES process{}, PRIMARY KEY(stretch, process)) WITHOUT ROWID;",
                       number_columns(model::stretch_numbers), number_columns(model::difference_numbers));
}

/// A place for each of them in an INSERT.
template <class Numbers>
std::string number_places(const Numbers& numbers)
{
    std::string places;
    for (std::size_t i = 0; i < std::size(numbers); ++i)
        places += ", ?";
    return places;
}

void insert_names(const Database& database, const model::Profile& profile)
{
    Statement fact(database, "INSERT INTO facts VALUES(?, ?)");
    for (const auto& [key, value] : profile.facts)
        fact.run(key, value);
    Statement property(database, "INSERT INTO properties VALUES(?, ?)");
    for (const auto& [key, value] : profile.properties)
        property.run(key, value);

    Statement process(database, "INSERT INTO process VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    std::int64_t id = 0;
    for (const model::ProcessTotals& p : profile.processes)
        process.run(id++, p.name, p.node, p.lifetime_ns, p.mpi_ns, p.path_ns, p.sampled_ns, p.calls, p.samples);

    Statement clock(database, "INSERT INTO clock VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    id = 0;
    for (const model::ClockTotals& c : profile.clocks)
        clock.run(id++, c.node, c.processes, c.path_ns, c.decided_ns, c.doubted_ns, c.last_arrivals, c.correction_ns,
                  c.uncertainty_ns, std::int64_t{c.is_known});

    Statement location(database, "INSERT INTO location VALUES(?, ?, ?, ?)");
    for (std::size_t i = 0; i < profile.locations.size(); ++i)
        location.run(static_cast<std::int64_t>(i), profile.locations[i], profile.location_process.at(i),
                     profile.computed_ns.at(i));

    Statement row(database, "INSERT INTO row VALUES(?, ?, ?, ?, ?, ?)");
    id = 0;
    for (const model::Row& r : profile.rows)
        row.run(id++, name(r.kind), r.name, r.module, r.file, r.line);

    Statement module(database, "INSERT INTO module VALUES(?, ?, ?, ?, ?)");
    id = 0;
    for (const model::Module& m : profile.modules)
        module.run(id++, m.path, m.build_id, std::int64_t{m.has_lines}, std::int64_t{m.lacks_split_units});

    Statement event(database, "INSERT INTO event VALUES(?, ?)");
    id = 0;
    for (const std::string& name : profile.events)
        event.run(id++, name);

    Statement call_path(database, "INSERT INTO call_path VALUES(?, ?, ?, ?)");
    id = 0;
    for (const model::CallPath& c : profile.call_paths)
        call_path.run(id++, c.row.value, c.parent.valid() ? Statement::Value(c.parent.value) : Statement::Value(),
                      std::bit_cast<std::int64_t>(c.site));
}

void insert_times(const Database& database, const model::Profile& profile)
{
    Statement path(database, "INSERT INTO path_time VALUES(?, ?, ?, ?, ?)");
    for (const model::CallPathTime& time : profile.path)
        path.run(time.call_path.value, time.process.value, time.ns, time.samples, time.found_ns);
    Statement total(database, "INSERT INTO total_time VALUES(?, ?, ?, ?, ?)");
    for (const model::CallPathTime& time : profile.totals)
        total.run(time.call_path.value, time.ns, time.samples, time.other_threads_ns, time.in_calls_ns);
    const auto insert_addresses = [&](const char* sql, const std::vector<model::AddressTime>& times) {
        Statement address(database, sql);
        for (const model::AddressTime& time : times)
            address.run(time.call_path.value, std::bit_cast<std::int64_t>(time.address), time.ns, time.samples);
    };
    insert_addresses("INSERT INTO address_time VALUES(?, ?, ?, ?)", profile.addresses);
    insert_addresses("INSERT INTO total_address_time VALUES(?, ?, ?, ?)", profile.total_addresses);
    Statement counted(database, "INSERT INTO path_events VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    for (const model::EventCount& e : profile.path_events)
        counted.run(e.call_path.value, e.process.value, e.event, e.count, e.ns, e.known_ns, e.scaled_ns,
                    e.sample_count);
    Statement kind(database, "INSERT INTO kind_time VALUES(?, ?, ?, ?, ?)");
    for (const model::KindTime& time : profile.kinds) {
        const Statement::Value function =
            time.function.valid() ? Statement::Value(time.function.value) : Statement::Value();
        kind.run(name(time.kind), function, time.process.value, time.ns, time.segments);
    }
}

void insert_stretches(const Database& database, const model::Profile& profile)
{
    Statement stretch(database,
                      fmt::format("INSERT INTO stretch VALUES(?, ?, ?{})", number_places(model::stretch_numbers)));
    std::int64_t id = 0;
    for (const model::Stretch& s : profile.stretches) {
        const Statement::Value before = s.before.valid() ? Statement::Value(s.before.value) : Statement::Value();
        std::vector<Statement::Value> values = {id++, before, s.after.value};
        for (const model::StretchNumber& number : model::stretch_numbers)
            values.emplace_back(s.*number.member);
        stretch.run(values);
    }
    Statement share(database, "INSERT INTO stretch_time VALUES(?, ?, ?, ?, ?)");
    for (const model::StretchShare& s : profile.stretch_shares)
        share.run(s.stretch, s.process.value, s.ns, s.gaps, s.longer_ns);
    Statement rank(database,
                   fmt::format("INSERT INTO stretch_rank VALUES(?, ?{})", number_places(model::difference_numbers)));
    for (const model::StretchRank& r : profile.stretch_ranks) {
        std::vector<Statement::Value> values = {r.stretch, r.process.value};
        for (const model::DifferenceNumber& number : model::difference_numbers)
            values.emplace_back(r.*number.member);
        rank.run(values);
    }
    Statement code(database, "INSERT INTO stretch_code VALUES(?, ?, ?, ?, ?, ?, ?)");
    for (const model::StretchCode& c : profile.stretch_code)
        code.run(c.stretch, c.call_path.value, c.ns, c.samples, c.spinning_ns, c.blocked_ns, c.peers_ns);
    Statement address(database, "INSERT INTO stretch_address VALUES(?, ?, ?, ?, ?, ?)");
    for (const model::StretchAddress& a : profile.stretch_addresses)
        address.run(a.stretch, a.row.value, std::bit_cast<std::int64_t>(a.address), a.ns, a.samples, a.peers_ns);
}

void insert_sources(const Database& database, const model::Profile& profile)
{
    Statement file(database, "INSERT INTO source_file VALUES(?, ?)");
    std::int64_t id = 0;
    for (const std::string& path : profile.source_files)
        file.run(id++, path);
    Statement function(database, "INSERT INTO source_function VALUES(?, ?, ?, ?)");
    id = 0;
    for (const model::SourceFunction& f : profile.source_functions)
        function.run(id++, f.name, f.file, f.line);
    Statement frame(database, "INSERT INTO source_frame VALUES(?, ?, ?, ?, ?, ?)");
    std::int64_t depth = 0;
    const model::SourceFrame* before = nullptr;
    for (const model::SourceFrame& f : profile.source_frames) {
        const bool same = before != nullptr && before->module == f.module && before->address == f.address;
        depth = same ? depth + 1 : 0;
        frame.run(f.module, std::bit_cast<std::int64_t>(f.address), depth, f.function, f.file, f.line);
        before = &f;
    }
}

/// As the model promises them; the caller need not have sorted, so that the bytes depend on the content only.
void sort_times(model::Profile& profile)
{
    const auto by_call_path = [](const model::CallPathTime& a, const model::CallPathTime& b) {
        return std::tie(a.call_path, a.process) < std::tie(b.call_path, b.process);
    };
    std::sort(profile.path.begin(), profile.path.end(), by_call_path);
    std::sort(profile.totals.begin(), profile.totals.end(), by_call_path);
    for (model::CallPathTime& time : profile.totals)
        time.process = model::ProcessId::none();
    std::sort(profile.path_events.begin(), profile.path_events.end(),
              [](const model::EventCount& a, const model::EventCount& b) {
                  return std::tie(a.call_path, a.process, a.event) < std::tie(b.call_path, b.process, b.event);
              });
    const auto by_address = [](const model::AddressTime& a, const model::AddressTime& b) {
        return std::tie(a.call_path, a.address) < std::tie(b.call_path, b.address);
    };
    std::sort(profile.addresses.begin(), profile.addresses.end(), by_address);
    std::sort(profile.total_addresses.begin(), profile.total_addresses.end(), by_address);
    std::sort(profile.kinds.begin(), profile.kinds.end(), [](const model::KindTime& a, const model::KindTime& b) {
        return std::tie(a.kind, a.function, a.process) < std::tie(b.kind, b.function, b.process);
    });
    std::sort(profile.stretch_shares.begin(), profile.stretch_shares.end(),
              [](const model::StretchShare& a, const model::StretchShare& b) {
                  return std::tie(a.stretch, a.process) < std::tie(b.stretch, b.process);
              });
    std::sort(profile.stretch_ranks.begin(), profile.stretch_ranks.end(),
              [](const model::StretchRank& a, const model::StretchRank& b) {
                  return std::tie(a.stretch, a.process) < std::tie(b.stretch, b.process);
              });
    std::sort(profile.stretch_code.begin(), profile.stretch_code.end(),
              [](const model::StretchCode& a, const model::StretchCode& b) {
                  return std::tie(a.stretch, a.call_path) < std::tie(b.stretch, b.call_path);
              });
    std::sort(profile.stretch_addresses.begin(), profile.stretch_addresses.end(),
              [](const model::StretchAddress& a, const model::StretchAddress& b) {
                  return std::tie(a.stretch, a.row, a.address) < std::tie(b.stretch, b.row, b.address);
              });
    std::stable_sort(profile.source_frames.begin(), profile.source_frames.end(),
                     [](const model::SourceFrame& a, const model::SourceFrame& b) {
                         return std::tie(a.module, a.address) < std::tie(b.module, b.address);
                     });
}

std::vector<unsigned char> to_bytes(const model::Profile& profile)
{
    Database database;
    const std::string start = fmt::format("PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8';"
                                          "PRAGMA application_id = 0x43505250; PRAGMA user_version = {}; BEGIN",
                                          schema_version);
    database.execute(start.c_str());
    database.execute(stretch_schema().c_str());
    database.execute(schema);
    insert_names(database, profile);
    insert_times(database, profile);
    insert_stretches(database, profile);
    insert_sources(database, profile);
    database.execute("COMMIT");
    return database.content();
}

}  // namespace

void write(const std::filesystem::path& trace, const model::Profile& profile, const std::function<void()>& before)
{
    const std::filesystem::path path = database_path(trace);
    model::Profile sorted = profile;
    sort_times(sorted);
    sorted.facts["schema_version"] = schema_version;
    sorted.facts[std::string(checksum_fact)] = checksum(sorted);
    std::vector<unsigned char> bytes;
    try {
        bytes = to_bytes(sorted);
    } catch (const DatabaseError& error) {
        fail(ExitCode::Failed, "{}: cannot be made: {}; please report this", path.string(), error.what());
    }
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
        fail(ExitCode::Failed, "{}: cannot be made: {}; make the trace's directory writable and run cpreplay again",
             path.parent_path().string(), error.message());
    replace_file(path, bytes, before);
}

}  // namespace critpath::result
