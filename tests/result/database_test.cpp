// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is written comes back, in bytes that depend on nothing else, and a write that fails leaves the old result.
#include "formats/result/result.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"
#include "tests/result/compare.hpp"
#include "tests/result/samples.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <csignal>

#include <sys/resource.h>
#include <unistd.h>

namespace critpath
{
namespace
{

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> names_in(const fs::path& directory)
{
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Failure failure_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const Failure& failure) {
        return failure;
    }
    return {ExitCode::Done, "nothing failed"};
}

TEST(Database, ReturnsWhatWasWritten)
{
    for (const samples::Sample& sample : {samples::sampled_run(), samples::traced_run(), samples::awkward_run(),
                                          samples::empty_run(), samples::large_run(8, 300, 1)}) {
        const samples::TemporaryDirectory directory;
        result::write(directory.path(), sample.profile);
        const model::Profile read = result::read(directory.path());
        EXPECT_TRUE(samples::equal(read, samples::sorted(sample.profile)));
        EXPECT_EQ(names_in(directory.path() / "critpath"), std::vector<std::string>{"critpath.sqlite"});
    }
}

TEST(Database, EqualProfilesGiveEqualBytes)
{
    const samples::TemporaryDirectory first;
    const samples::TemporaryDirectory second;
    model::Profile profile = samples::sampled_run().profile;
    result::write(first.path(), profile);
    // Neither the order in which the times were found nor a file that is already there makes a difference.
    std::reverse(profile.path.begin(), profile.path.end());
    std::reverse(profile.totals.begin(), profile.totals.end());
    std::reverse(profile.kinds.begin(), profile.kinds.end());
    std::reverse(profile.stretch_shares.begin(), profile.stretch_shares.end());
    std::reverse(profile.stretch_ranks.begin(), profile.stretch_ranks.end());
    std::reverse(profile.stretch_code.begin(), profile.stretch_code.end());
    std::reverse(profile.stretch_addresses.begin(), profile.stretch_addresses.end());
    result::write(second.path(), samples::awkward_run().profile);
    result::write(second.path(), profile);
    EXPECT_EQ(samples::read_bytes(result::database_path(first.path())),
              samples::read_bytes(result::database_path(second.path())));
}

TEST(Database, ChecksumSeesEveryValue)
{
    const samples::TemporaryDirectory directory;
    const model::Profile profile = samples::sampled_run().profile;
    const fs::path path = result::database_path(directory.path());
    for (const char* change : {"UPDATE facts SET value = value + 1 WHERE key = 'path_ns'",
                               "DELETE FROM facts WHERE key = 'checksum'",
                               "UPDATE properties SET value = 'x' WHERE key = 'event'",
                               "UPDATE row SET name = 'other' WHERE id = 2",
                               "UPDATE row SET line = 3 WHERE id = 2",
                               "UPDATE process SET calls = calls + 1 WHERE id = 3",
                               "UPDATE location SET process = 0 WHERE id = 1",
                               "UPDATE path_time SET ns = ns + 1 WHERE call_path = 0",
                               "DELETE FROM path_time WHERE call_path = 0",
                               "UPDATE total_time SET samples = 0 WHERE call_path = 4",
                               "UPDATE total_time SET in_calls_ns = 1 WHERE call_path = 4",
                               "UPDATE kind_time SET kind = 'tool' WHERE kind = 'mpi'",
                               "DELETE FROM total_time",
                               "DROP TABLE kind_time",
                               "UPDATE path_time SET call_path = 99 WHERE call_path = 0",
                               "UPDATE call_path SET parent = 5 WHERE id = 3",
                               "UPDATE call_path SET site = site + 1 WHERE id = 3",
                               "UPDATE address_time SET ns = 1 WHERE address = 4409",
                               "DELETE FROM module",
                               "UPDATE stretch SET peers_ns = peers_ns + 1 WHERE id = 0",
                               "UPDATE stretch SET call_after = 4 WHERE id = 1",
                               "UPDATE stretch SET call_before = 99 WHERE id = 1",
                               "DELETE FROM stretch WHERE id = 0",
                               "DELETE FROM stretch_time",
                               "UPDATE stretch_time SET gaps = gaps + 1 WHERE stretch = 1",
                               "DELETE FROM stretch_rank WHERE process = 2",
                               "UPDATE stretch_rank SET blocked_ns = blocked_ns + 1 WHERE process = 1",
                               "UPDATE stretch_rank SET process = 99 WHERE process = 1",
                               "UPDATE stretch_code SET spinning_ns = spinning_ns + 1 WHERE stretch = 0",
                               "UPDATE stretch_code SET call_path = 99 WHERE stretch = 1",
                               "UPDATE stretch_address SET peers_ns = peers_ns + 1 WHERE stretch = 1",
                               "UPDATE stretch_address SET row = 99 WHERE stretch = 1",
                               "UPDATE module SET has_lines = 1 - has_lines",
                               "UPDATE module SET lacks_split_units = 1",
                               "UPDATE source_file SET path = 'x' WHERE id = 1",
                               "UPDATE source_function SET name = 'x' WHERE id = 0",
                               "UPDATE source_function SET file = 99 WHERE id = 0",
                               "UPDATE source_frame SET line = line + 1 WHERE depth = 1",
                               "UPDATE source_frame SET function = 99 WHERE depth = 1",
                               "UPDATE source_frame SET module = 99 WHERE depth = 1",
                               "UPDATE row SET kind = 'what' WHERE id = 0"}) {
        result::write(directory.path(), profile);
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
        ASSERT_EQ(sqlite3_exec(database, change, nullptr, nullptr, nullptr), SQLITE_OK) << change;
        sqlite3_close(database);
        const Failure failure = failure_of([&] { result::read(directory.path()); });
        EXPECT_EQ(failure.code(), ExitCode::BadTrace) << change;
        EXPECT_THAT(failure.what(), AllOf(HasSubstr(path.string()), HasSubstr("damaged"), HasSubstr("cpreplay")))
            << change;
    }
}

TEST(Database, RefusesAnotherSchemaVersion)
{
    const samples::TemporaryDirectory directory;
    result::write(directory.path(), samples::sampled_run().profile);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(result::database_path(directory.path()).c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, "UPDATE facts SET value = value + 1 WHERE key = 'schema_version'", nullptr,
                           nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(database);
    const Failure failure = failure_of([&] { result::read(directory.path()); });
    EXPECT_EQ(failure.code(), ExitCode::BadTrace);
    EXPECT_THAT(failure.what(), AllOf(HasSubstr(fmt::format("schema version {}", result::schema_version + 1)),
                                      HasSubstr(fmt::format("reads {}", result::schema_version))));
}

TEST(Database, SaysWhatToRunIfThereIsNoResult)
{
    const samples::TemporaryDirectory directory;
    const std::string trace = directory.path().string();
    const Failure failure = failure_of([&] { result::read(trace); });
    EXPECT_EQ(failure.code(), ExitCode::BadTrace);
    EXPECT_EQ(failure.what(), trace + ": no result yet; run: mpirun -n N cpreplay " + trace);
    const Failure missing = failure_of([&] { result::read(directory.path() / "nothing"); });
    EXPECT_EQ(missing.code(), ExitCode::BadTrace);
    EXPECT_THAT(missing.what(), HasSubstr("no such trace"));
}

TEST(Database, AFailedWriteLeavesTheOldResult)
{
    const samples::TemporaryDirectory directory;
    const model::Profile old = samples::sampled_run().profile;
    result::write(directory.path(), old);
    const auto bytes = samples::read_bytes(result::database_path(directory.path()));

    // A file may not grow beyond a page: as on a full disk, write() stops halfway.
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limited{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
    const Failure failure = failure_of([&] { result::write(directory.path(), samples::awkward_run().profile); });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);

    EXPECT_EQ(failure.code(), ExitCode::Failed);
    EXPECT_THAT(failure.what(),
                AllOf(HasSubstr("critpath.sqlite: cannot be written"), HasSubstr("run cpreplay again")));
    EXPECT_EQ(samples::read_bytes(result::database_path(directory.path())), bytes);
    EXPECT_EQ(names_in(directory.path() / "critpath"), std::vector<std::string>{"critpath.sqlite"});
}

TEST(Database, SaysThatTheDirectoryCannotBeMade)
{
    const samples::TemporaryDirectory directory;
    samples::write_bytes(directory.path() / "critpath", {1, 2, 3});
    const Failure failure = failure_of([&] { result::write(directory.path(), samples::empty_run().profile); });
    EXPECT_EQ(failure.code(), ExitCode::Failed);
    EXPECT_THAT(failure.what(), HasSubstr((directory.path() / "critpath").string()));
}

}  // namespace
}  // namespace critpath
