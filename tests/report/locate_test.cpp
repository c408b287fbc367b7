// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/locate.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"
#include "tests/as_nobody.hpp"
#include "tests/result/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace critpath::report
{
namespace
{

namespace fs = std::filesystem;
using testing::HasSubstr;

class Locate : public testing::Test
{
protected:
    /// A file of a trace, `age` seconds old.
    void make(const std::string& file, int age)
    {
        const fs::path path = here() / file;
        fs::create_directories(path.parent_path());
        samples::write_bytes(path, {'x'});
        fs::last_write_time(path, start_ - std::chrono::seconds(age));
    }

    [[nodiscard]] const fs::path& here() const { return directory_.path(); }

    fs::file_time_type start_ = fs::file_time_type::clock::now();
    samples::TemporaryDirectory directory_;
};

TEST_F(Locate, TakesTheNewestTrace)
{
    make("old/critpath/critpath.sqlite", 50);
    make("old/traces.otf2", 90);
    make("new/critpath/critpath.sqlite", 10);
    make("recorded/traces.otf2", 30);
    make("other/file", 0);
    make("traces.txt", 0);
    EXPECT_EQ(newest_trace(here()), here() / "new");
    // A replay makes a trace new again, however old the recording is.
    make("old/critpath/critpath.sqlite", 5);
    EXPECT_EQ(newest_trace(here()), here() / "old");
    make("latest/traces.otf2", 1);
    EXPECT_EQ(newest_trace(here()), here() / "latest");
}

TEST_F(Locate, TheNameDecidesBetweenEqualTimes)
{
    for (const char* name : {"b", "c", "a"})
        make(std::string(name) + "/traces.otf2", 10);
    EXPECT_EQ(newest_trace(here()), here() / "c");
}

TEST_F(Locate, TheDirectoryItselfMayBeTheTrace)
{
    make("traces.otf2", 10);
    make("below/traces.otf2", 0);
    EXPECT_EQ(newest_trace(here()), here());
}

TEST_F(Locate, TakesDirectoriesAndAnchors)
{
    make("trace/traces.otf2", 0);
    make("replayed/critpath/critpath.sqlite", 0);
    make("foreign/epik.otf2", 0);
    for (const char* name : {"trace", "replayed", "trace/traces.otf2"})
        EXPECT_TRUE(is_trace(here() / name)) << name;
    for (const char* name : {"", "nosuch", "nosuch.otf2"})
        EXPECT_FALSE(is_trace(here() / name)) << name;
    EXPECT_EQ(find_trace(here() / "trace"), here() / "trace");
    EXPECT_EQ(find_trace(here() / "replayed"), here() / "replayed");
    EXPECT_EQ(find_trace(here() / "trace/traces.otf2"), here() / "trace");
    EXPECT_EQ(find_trace(here() / "foreign/epik.otf2"), here() / "foreign");
}

TEST_F(Locate, RefusesWhatIsNoTrace)
{
    make("empty/file.txt", 0);
    for (const auto& [argument, words] : {std::pair{here() / "missing", "no such trace"},
                                          {here() / "empty", "not a trace"},
                                          {here() / "empty/file.txt", "not a trace"},
                                          {here() / "missing.otf2", "no such trace"}}) {
        try {
            find_trace(argument.string());
            ADD_FAILURE() << argument << " was taken";
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), ExitCode::BadTrace);
            EXPECT_THAT(failure.what(), HasSubstr(argument.string() + ": " + words));
        }
    }
    try {
        newest_trace(here());
        ADD_FAILURE() << "found a trace";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.code(), ExitCode::Usage);
    }
}

TEST_F(Locate, SaysThatATraceMayNotBeRead)
{
    make("trace/traces.otf2", 1);
    const auto said = [&] {
        const test::AsNobody nobody;
        try {
            if (nobody.is_other())
                find_trace(here() / "trace");
        } catch (const Failure& failure) {
            return std::string(failure.what());
        }
        return std::string(nobody.is_other() ? "found" : "Permission denied; check (not tested)");
    };
    fs::permissions(here(), fs::perms::all);
    EXPECT_EQ(said().substr(0, 5), test::AsNobody().is_other() ? "found" : "Permi");
    for (const fs::path& path : {here() / "trace", here()}) {
        fs::permissions(path, fs::perms::none);
        EXPECT_THAT(said(), testing::AllOf(HasSubstr("Permission denied"), HasSubstr("; check ")));
        fs::permissions(path, fs::perms::all);
    }
}

}  // namespace
}  // namespace critpath::report
