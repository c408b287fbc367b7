// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/checksum.hpp"
#include "formats/result/file.hpp"
#include "formats/result/result.hpp"
#include "formats/result/schema.hpp"
#include "formats/result/segments.hpp"
#include "formats/result/sqlite.hpp"
#include "formats/support/error.hpp"
#include "formats/support/terminal.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>

namespace critpath::result
{

namespace
{

[[noreturn]] void damaged(const std::string& how)
{
    throw DatabaseError(SQLITE_CORRUPT, how);
}

/// Reads the tables of one database. Trusts nothing: a damaged b-tree may even be a cycle.
class TableReader
{
public:
    TableReader(const Database& database, std::size_t file_size) : database_(database), rows_left_(file_size) {}

    template <class OnRow>
    void each(const std::string& sql, OnRow on_row)
    {
        Statement statement(database_, sql);
        while (statement.step()) {
            // A row takes more than a byte.
            if (rows_left_-- == 0)
                damaged("more rows than the file has room for");
            on_row(statement);
        }
    }

private:
    const Database& database_;
    std::size_t rows_left_;
};

std::uint32_t index(const Statement& row, int column, std::size_t size)
{
    const std::int64_t value = row.integer(column);
    if (value < 0 || static_cast<std::uint64_t>(value) >= size)
        damaged("a reference leads nowhere");
    return static_cast<std::uint32_t>(value);
}

std::uint64_t count(const Statement& row, int column)
{
    return static_cast<std::uint64_t>(row.integer(column));
}

std::uint32_t small(const Statement& row, int column)
{
    const std::int64_t value = row.integer(column);
    if (value < 0 || value > std::numeric_limits<std::uint32_t>::max())
        damaged("a number is out of range");
    return static_cast<std::uint32_t>(value);
}

void read_facts(TableReader& tables, model::Profile& profile)
{
    tables.each("SELECT key, value FROM facts",
                [&](const Statement& row) { profile.facts[row.text(0)] = row.integer(1); });
}

void read_names(TableReader& tables, model::Profile& profile)
{
    tables.each("SELECT key, value FROM properties",
                [&](const Statement& row) { profile.properties[row.text(0)] = row.text(1); });
    tables.each("SELECT id, name, node, lifetime_ns, mpi_ns, path_ns, sampled_ns, calls, samples FROM process "
                "ORDER BY id",
                [&](const Statement& row) {
                    if (row.integer(0) != static_cast<std::int64_t>(profile.processes.size()))
                        damaged("processes are missing");
                    profile.processes.push_back({row.text(1), row.text(2), row.integer(3), row.integer(4),
                                                 row.integer(5), row.integer(6), count(row, 7), count(row, 8)});
                });
    tables.each("SELECT id, node, processes, path_ns, decided_ns, doubted_ns, last_arrivals, correction_ns, "
                "uncertainty_ns, is_known FROM clock ORDER BY id",
                [&](const Statement& row) {
                    if (row.integer(0) != static_cast<std::int64_t>(profile.clocks.size()))
                        damaged("clocks are missing");
                    profile.clocks.push_back({row.text(1), count(row, 2), row.integer(3), row.integer(4),
                                              row.integer(5), count(row, 6), row.integer(7), row.integer(8),
                                              row.integer(9) != 0});
                });
    tables.each("SELECT id, name, process, computed_ns FROM location ORDER BY id", [&](const Statement& row) {
        if (row.integer(0) != static_cast<std::int64_t>(profile.locations.size()))
            damaged("locations are missing");
        profile.locations.push_back(row.text(1));
        profile.location_process.push_back(index(row, 2, profile.processes.size()));
        profile.computed_ns.push_back(row.integer(3));
    });
    tables.each("SELECT id, kind, name, module, file, line FROM row ORDER BY id", [&](const Statement& row) {
        const auto kind = row_kind(row.text(1));
        if (!kind || row.integer(0) != static_cast<std::int64_t>(profile.rows.size()))
            damaged("rows are missing");
        profile.rows.push_back({*kind, row.text(2), row.text(3), row.text(4), small(row, 5)});
    });
}

void read_call_tree(TableReader& tables, model::Profile& profile)
{
    tables.each("SELECT id, path, build_id, has_lines, lacks_split_units FROM module ORDER BY id",
                [&](const Statement& row) {
                    if (row.integer(0) != static_cast<std::int64_t>(profile.modules.size()))
                        damaged("modules are missing");
                    profile.modules.push_back({row.text(1), row.text(2), row.integer(3) != 0, row.integer(4) != 0});
                });
    tables.each("SELECT id, name FROM event ORDER BY id", [&](const Statement& row) {
        if (row.integer(0) != static_cast<std::int64_t>(profile.events.size()))
            damaged("events are missing");
        profile.events.push_back(row.text(1));
    });
    tables.each("SELECT id, row, parent, site FROM call_path ORDER BY id", [&](const Statement& row) {
        const std::size_t before = profile.call_paths.size();
        if (row.integer(0) != static_cast<std::int64_t>(before))
            damaged("call paths are missing");
        const auto parent = row.is_null(2) ? model::CallPathId::none() : model::CallPathId{index(row, 2, before)};
        profile.call_paths.push_back(
            {model::RowId{index(row, 1, profile.rows.size())}, parent, std::bit_cast<std::uint64_t>(row.integer(3))});
    });
}

void read_times(TableReader& tables, model::Profile& profile)
{
    const std::size_t rows = profile.rows.size();
    const std::size_t processes = profile.processes.size();
    const std::size_t call_paths = profile.call_paths.size();
    tables.each("SELECT call_path, process, ns, samples, found_ns FROM path_time ORDER BY call_path, process",
                [&](const Statement& row) {
                    profile.path.push_back({model::CallPathId{index(row, 0, call_paths)},
                                            model::ProcessId{index(row, 1, processes)}, row.integer(2), count(row, 3),
                                            0, row.integer(4)});
                });
    tables.each("SELECT call_path, ns, samples, other_threads_ns, in_calls_ns FROM total_time ORDER BY call_path",
                [&](const Statement& row) {
                    profile.totals.push_back({model::CallPathId{index(row, 0, call_paths)}, model::ProcessId::none(),
                                              row.integer(1), count(row, 2), row.integer(3), 0, row.integer(4)});
                });
    // Addresses of the kernel are negative in the database: they come last.
    const auto read_addresses = [&](const char* sql, std::vector<model::AddressTime>& times) {
        tables.each(sql, [&](const Statement& row) {
            times.push_back({model::CallPathId{index(row, 0, call_paths)}, std::bit_cast<std::uint64_t>(row.integer(1)),
                             row.integer(2), count(row, 3)});
        });
    };
    read_addresses("SELECT call_path, address, ns, samples FROM address_time ORDER BY call_path, address < 0, address",
                   profile.addresses);
    read_addresses(
        "SELECT call_path, address, ns, samples FROM total_address_time ORDER BY call_path, address < 0, address",
        profile.total_addresses);
    tables.each("SELECT call_path, process, event, count, ns, known_ns, scaled_ns, sample_count FROM path_events "
                "ORDER BY call_path, process, event",
                [&](const Statement& row) {
                    profile.path_events.push_back({{index(row, 0, call_paths)},
                                                   {index(row, 1, processes)},
                                                   index(row, 2, profile.events.size()),
                                                   row.integer(3),
                                                   row.integer(4),
                                                   row.integer(5),
                                                   row.integer(6),
                                                   row.integer(7)});
                });
    tables.each("SELECT kind, function, process, ns, segments FROM kind_time", [&](const Statement& row) {
        const auto kind = segment_kind(row.text(0));
        if (!kind)
            damaged("a kind of segment is unknown");
        const auto function = row.is_null(1) ? model::RowId::none() : model::RowId{index(row, 1, rows)};
        profile.kinds.push_back(
            {*kind, function, model::ProcessId{index(row, 2, processes)}, row.integer(3), count(row, 4)});
    });
}

void read_stretches(TableReader& tables, model::Profile& profile)
{
    const std::size_t call_paths = profile.call_paths.size();
    std::string columns;
    for (const model::StretchNumber& number : model::stretch_numbers)
        columns += fmt::format(", {}", number.name);
    tables.each(fmt::format("SELECT id, call_before, call_after{} FROM stretch ORDER BY id", columns),
                [&](const Statement& row) {
                    if (row.integer(0) != static_cast<std::int64_t>(profile.stretches.size()))
                        damaged("stretches are missing");
                    model::Stretch& stretch = profile.stretches.emplace_back();
                    stretch.before =
                        row.is_null(1) ? model::CallPathId::none() : model::CallPathId{index(row, 1, call_paths)};
                    stretch.after = {index(row, 2, call_paths)};
                    int column = 3;
                    for (const model::StretchNumber& number : model::stretch_numbers)
                        stretch.*number.member = row.integer(column++);
                });
    tables.each("SELECT stretch, process, ns, gaps, longer_ns FROM stretch_time ORDER BY stretch, process",
                [&](const Statement& row) {
                    profile.stretch_shares.push_back({index(row, 0, profile.stretches.size()),
                                                      model::ProcessId{index(row, 1, profile.processes.size())},
                                                      row.integer(2), row.integer(3), row.integer(4)});
                });
    std::string differences;
    for (const model::DifferenceNumber& number : model::difference_numbers)
        differences += fmt::format(", {}", number.name);
    tables.each(fmt::format("SELECT stretch, process{} FROM stretch_rank ORDER BY stretch, process", differences),
                [&](const Statement& row) {
                    model::StretchRank& rank = profile.stretch_ranks.emplace_back();
                    rank.stretch = index(row, 0, profile.stretches.size());
                    rank.process = {index(row, 1, profile.processes.size())};
                    int column = 2;
                    for (const model::DifferenceNumber& number : model::difference_numbers)
                        rank.*number.member = row.integer(column++);
                });
    tables.each(
        "SELECT stretch, call_path, ns, samples, spinning_ns, blocked_ns, peers_ns FROM stretch_code ORDER BY stretch, "
        "call_path",
        [&](const Statement& row) {
            profile.stretch_code.push_back({index(row, 0, profile.stretches.size()),
                                            model::CallPathId{index(row, 1, call_paths)}, row.integer(2), count(row, 3),
                                            row.integer(4), row.integer(5), row.integer(6)});
        });
    tables.each("SELECT stretch, row, address, ns, samples, peers_ns FROM stretch_address ORDER BY stretch, row, "
                "address < 0, address",
                [&](const Statement& row) {
                    profile.stretch_addresses.push_back(
                        {index(row, 0, profile.stretches.size()), model::RowId{index(row, 1, profile.rows.size())},
                         std::bit_cast<std::uint64_t>(row.integer(2)), row.integer(3), count(row, 4), row.integer(5)});
                });
}

void read_sources(TableReader& tables, model::Profile& profile)
{
    tables.each("SELECT id, path FROM source_file ORDER BY id", [&](const Statement& row) {
        if (row.integer(0) != static_cast<std::int64_t>(profile.source_files.size()))
            damaged("source files are missing");
        profile.source_files.push_back(row.text(1));
    });
    const std::size_t files = profile.source_files.size();
    tables.each("SELECT id, name, file, line FROM source_function ORDER BY id", [&](const Statement& row) {
        if (row.integer(0) != static_cast<std::int64_t>(profile.source_functions.size()))
            damaged("source functions are missing");
        profile.source_functions.push_back({row.text(1), index(row, 2, files), small(row, 3)});
    });
    tables.each("SELECT module, address, function, file, line FROM source_frame ORDER BY module, address < 0, address, "
                "depth",
                [&](const Statement& row) {
                    profile.source_frames.push_back(
                        {index(row, 0, profile.modules.size()), std::bit_cast<std::uint64_t>(row.integer(1)),
                         index(row, 2, profile.source_functions.size()), index(row, 3, files), small(row, 4)});
                });
}

void check_version(const std::filesystem::path& trace, const model::Profile& profile)
{
    const auto version = profile.facts.find("schema_version");
    if (version == profile.facts.end())
        damaged("the schema version is missing");
    if (version->second != schema_version)
        fail(ExitCode::BadTrace,
             "{}: the result has schema version {}, this program reads {}; use the cpreport that came with the "
             "cpreplay that made it, or run: mpirun -n N cpreplay {}",
             trace.string(), version->second, schema_version, shell_quoted(trace.string()));
}

model::Profile from_bytes(const std::filesystem::path& trace, std::span<unsigned char> bytes)
{
    const Database database(bytes);
    TableReader tables(database, bytes.size());
    model::Profile profile;
    read_facts(tables, profile);
    check_version(trace, profile);
    read_names(tables, profile);
    read_call_tree(tables, profile);
    read_times(tables, profile);
    read_stretches(tables, profile);
    read_sources(tables, profile);
    const auto expected = profile.facts.find(std::string(checksum_fact));
    if (expected == profile.facts.end() || expected->second != checksum(profile))
        damaged("the checksum does not fit");
    profile.facts.erase(expected);
    return profile;
}

}  // namespace

model::Profile read(const std::filesystem::path& trace)
{
    std::vector<unsigned char> bytes = read_file(trace, database_name);
    constexpr char magic[] = "SQLite format 3";
    if (bytes.size() < sizeof magic || std::memcmp(bytes.data(), magic, sizeof magic) != 0)
        fail(ExitCode::BadTrace, "{}: not a result of cpreplay; run: mpirun -n N cpreplay {}",
             database_path(trace).string(), shell_quoted(trace.string()));
    try {
        return from_bytes(trace, bytes);
    } catch (const DatabaseError& error) {
        if (error.code() == SQLITE_NOMEM)
            fail(ExitCode::Failed, "{}: cannot be read: {}; use a machine with more memory",
                 database_path(trace).string(), error.what());
        fail(ExitCode::BadTrace, "{}: damaged ({}); run again: mpirun -n N cpreplay {}", database_path(trace).string(),
             error.what(), shell_quoted(trace.string()));
    }
}

}  // namespace critpath::result
