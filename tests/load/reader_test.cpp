// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/reader.hpp"
#include "replayer/load/load.hpp"
#include "tests/as_nobody.hpp"
#include "tests/load/tiny_trace.hpp"
#include "tests/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <random>

#include <sys/stat.h>

#ifdef CRITPATH_SANITIZED
/// libotf2 forgets its own allocations when it refuses an anchor file.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions()
{
    return "leak:libopen-trace-format2";
}
#endif

namespace critpath::test
{
namespace
{

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Damaged : public testing::Test
{
protected:
    void SetUp() override
    {
        TinyTrace trace(directory_, 2);
        trace.thread(0);
        trace.thread(1);
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            for (std::uint64_t i = 0; i < 100; ++i) {
                trace.thread(rank).enter(10 * i, "MPI_Barrier").leave(10 * i + 5, "MPI_Barrier");
            }
        }
        trace.close();
        anchor_ = trace.anchor();
        events_ = directory_ / "traces" / fmt::format("{}.evt", trace.location(1));
    }

    /// Loads as cpreplay does; what it says, which must be about a bad trace. "" if it succeeds.
    static std::string message(const fs::path& trace)
    {
        replayer::Replay replay;
        try {
            replayer::load::load(otf2::find_anchor(trace), replay);
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), ExitCode::BadTrace) << failure.what();
            EXPECT_THAT(failure.what(), HasSubstr("; "));
            EXPECT_THAT(failure.what(), testing::Not(HasSubstr("\n")));
            return failure.what();
        }
        return {};
    }

    static void overwrite(const fs::path& file, std::streamoff at, const std::string& bytes)
    {
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(at);
        stream << bytes;
    }

    static void append(const fs::path& file, const std::string& bytes)
    {
        std::ofstream(file, std::ios::app | std::ios::binary) << bytes;
    }

    Scratch scratch_;
    fs::path directory_ = scratch_.path() / "trace";
    fs::path anchor_;
    fs::path events_;
};

TEST_F(Damaged, NotAtAll)
{
    EXPECT_EQ(message(directory_), "");
    EXPECT_EQ(message(anchor_), "");
}

TEST_F(Damaged, AnchorWithAnotherNameIsFoundInItsDirectory)
{
    fs::rename(anchor_, directory_ / "other.otf2");
    EXPECT_EQ(otf2::find_anchor(directory_), directory_ / "other.otf2");
}

TEST_F(Damaged, NoSuchTrace)
{
    EXPECT_THAT(message(scratch_.path() / "none"), AllOf(HasSubstr("none: no such file")));
}

TEST_F(Damaged, DirectoryWithoutAnchor)
{
    fs::remove(anchor_);
    EXPECT_THAT(message(directory_), HasSubstr("no .otf2 file in this directory"));
    fs::create_directory(directory_ / "spool");
    EXPECT_THAT(message(directory_), HasSubstr("did not reach MPI_Finalize"));
    const fs::path empty = scratch_.path() / "empty";
    fs::create_directory(empty);
    EXPECT_THAT(message(empty), HasSubstr("empty: an empty directory: if cpcollect has made it"));
}

TEST_F(Damaged, SeveralAnchors)
{
    fs::copy(anchor_, directory_ / "a.otf2");
    EXPECT_EQ(message(directory_), "");  // traces.otf2 is ours
    fs::rename(anchor_, directory_ / "b.otf2");
    EXPECT_THAT(message(directory_), HasSubstr("2 .otf2 files"));
}

TEST_F(Damaged, FileThatIsNoAnchor)
{
    for (const std::string& content : {std::string("hello"), std::string(), std::string(5000, 'x')}) {
        std::ofstream(anchor_, std::ios::trunc) << content;
        EXPECT_THAT(message(directory_), HasSubstr("traces.otf2: not an OTF2 anchor file"));
    }
}

TEST_F(Damaged, AnchorCutShort)
{
    fs::resize_file(anchor_, 40);
    EXPECT_THAT(message(directory_), HasSubstr("traces.otf2: cannot be read"));
}

TEST_F(Damaged, CompressedArchive)
{
    overwrite(anchor_, 29, "\x02");
    EXPECT_THAT(message(directory_), HasSubstr("compression=ZLIB"));
}

TEST_F(Damaged, SionArchive)
{
    overwrite(anchor_, 28, "\x02");
    EXPECT_THAT(message(directory_), HasSubstr("SIONlib"));
}

TEST_F(Damaged, NoDefinitions)
{
    fs::remove(directory_ / "traces.def");
    EXPECT_THAT(message(directory_), HasSubstr("traces.def: missing"));
}

TEST_F(Damaged, DefinitionsCutShort)
{
    const fs::path definitions = directory_ / "traces.def";
    const auto whole = fs::file_size(definitions);
    for (const auto size : {whole - 1, whole / 2, std::uintmax_t{20}, std::uintmax_t{1}, std::uintmax_t{0}}) {
        fs::resize_file(definitions, size);
        EXPECT_THAT(message(directory_), HasSubstr("traces.def: ")) << size;
    }
}

// To open it would wait for somebody who writes.
TEST_F(Damaged, PipeInsteadOfAFile)
{
    for (const fs::path& file : {anchor_, directory_ / "traces.def", events_}) {
        fs::rename(file, directory_ / "kept");
        ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
        EXPECT_THAT(message(directory_), HasSubstr("not a file")) << file;
        fs::rename(directory_ / "kept", file);
    }
}

TEST_F(Damaged, EventFileMissing)
{
    fs::remove(events_);
    EXPECT_THAT(message(directory_), AllOf(HasSubstr(events_.string() + ": missing"), HasSubstr("promise 200 events")));
}

TEST_F(Damaged, EventFileCutShort)
{
    const auto whole = fs::file_size(events_);
    fs::resize_file(events_, whole / 2);
    EXPECT_THAT(message(directory_),
                AllOf(HasSubstr(events_.string()), HasSubstr("promise 200 events, 9"), HasSubstr("could be read")));
    for (std::uintmax_t size = whole / 2; size-- > 0;) {
        fs::resize_file(events_, size);
        ASSERT_THAT(message(directory_), HasSubstr(events_.string())) << size;
    }
}

TEST_F(Damaged, EventFileWithoutItsLastByte)
{
    fs::resize_file(events_, fs::file_size(events_) - 1);
    EXPECT_THAT(message(directory_), HasSubstr(events_.string()));
}

TEST_F(Damaged, GarbageBehindTheEvents)
{
    append(events_, "garbage");
    EXPECT_THAT(message(directory_), AllOf(HasSubstr(events_.string()), HasSubstr("something was appended")));
}

TEST_F(Damaged, GarbageInTheEventsNeverCrashes)
{
    const auto whole = fs::file_size(events_);
    const fs::path copy = scratch_.path() / "copy.evt";
    fs::copy(events_, copy);
    std::mt19937 random(42);
    int refused = 0;
    for (int round = 0; round < 300; ++round) {
        fs::copy(copy, events_, fs::copy_options::overwrite_existing);
        std::string bytes(1 + random() % 8, '\0');
        for (char& byte : bytes) {
            byte = static_cast<char>(random());
        }
        overwrite(events_, static_cast<std::streamoff>(random() % (whole - bytes.size())), bytes);
        refused += message(directory_).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 0);
}

TEST_F(Damaged, LocalDefinitionsOfOneLocationMissing)
{
    EXPECT_EQ(message(directory_), "");  // the archive has none at all
    std::ofstream(directory_ / "traces" / "999.def") << "of another location";
    EXPECT_THAT(message(directory_), HasSubstr(".def: missing, though other locations have theirs"));
}

/// To look through the directory for each location takes as long as the square of their number: hours for 100,000.
TEST_F(Damaged, LocalDefinitionsAreSoughtOnceWhereThereAreNone)
{
    otf2::Reader reader(anchor_);
    otf2::EventHandler nobody;
    const auto location = static_cast<OTF2_LocationRef>(std::stoull(events_.stem().string()));
    reader.read_events(location, 200, nobody);
    append(directory_ / "traces" / "0.def", "");
    EXPECT_NO_THROW(reader.read_events(location, 200, nobody));
    otf2::Reader another(anchor_);
    EXPECT_THROW(another.read_events(location, 200, nobody), Failure);
}

TEST_F(Damaged, WhatMayNotBeReadIsNotMissing)
{
    const auto said_of = [&](const fs::path& path) {
        const fs::perms before = fs::status(path).permissions();
        fs::permissions(path, fs::perms::none);
        std::string said = "Permission denied; check permissions (not tested)";
        if (const AsNobody nobody; nobody.is_other()) {
            said = message(directory_);
        }
        fs::permissions(path, before);
        return said;
    };
    fs::permissions(directory_.parent_path(), fs::perms::all);
    for (const fs::path& path : {directory_.parent_path(), directory_, anchor_, events_.parent_path(), events_}) {
        EXPECT_THAT(said_of(path), AllOf(HasSubstr("Permission denied"), HasSubstr("; check "))) << path;
    }
    EXPECT_EQ(message(directory_), "");
}

TEST_F(Damaged, WhatIsNoDirectoryIsSaid)
{
    fs::remove_all(events_.parent_path());
    append(events_.parent_path(), "a file");
    EXPECT_THAT(message(directory_), HasSubstr(events_.parent_path().string() + ": not a directory; "));
}

/// All events are there: it is the rest that is wrong.
TEST_F(Damaged, FilesThatHaveBecomeLonger)
{
    fs::resize_file(events_, std::uintmax_t{4} << 30);
    EXPECT_THAT(message(directory_), AllOf(HasSubstr(events_.string()), HasSubstr("something was appended")));
}

TEST(Promise, TooManyEvents)
{
    const Scratch scratch;
    TinyTrace trace(scratch.path() / "trace", 1);
    trace.thread(0).enter(1, "main").leave(2, "main");
    trace.promise_more(3);
    trace.close();
    replayer::Replay replay;
    try {
        replayer::load::load(trace.anchor(), replay);
        FAIL() << "accepted";
    } catch (const Failure& failure) {
        EXPECT_THAT(failure.what(), HasSubstr("promise 5 events, 2 could be read"));
    }
}

TEST(Handlers, ExceptionsPassThroughTheLibrary)
{
    const Scratch scratch;
    TinyTrace trace(scratch.path() / "trace", 1);
    trace.thread(0).enter(1, "main").leave(2, "main");
    trace.close();
    struct Thrower : otf2::EventHandler, otf2::DefinitionHandler {
        using DefinitionHandler::on;
        using EventHandler::on;
        void on(const otf2::Moment&, const otf2::event::Leave&) override { throw std::bad_alloc(); }
        void on(const otf2::definition::Location&) override { throw std::length_error("location"); }
    };
    Thrower thrower;
    otf2::Reader reader(trace.anchor());
    EXPECT_THROW(reader.read_definitions(thrower), std::length_error);
    EXPECT_THROW(reader.read_events(trace.location(0), 2, thrower), std::bad_alloc);
}

/// What loading says of a trace of one rank; "" if it succeeds.
std::string said_of(const std::function<void(TinyTrace&)>& write)
{
    const Scratch scratch;
    TinyTrace trace(scratch.path() / "trace", 1);
    write(trace);
    trace.close();
    replayer::Replay replay;
    try {
        replayer::load::load(trace.anchor(), replay);
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.code(), ExitCode::BadTrace);
        return failure.what();
    }
    return {};
}

TEST(Refusal, OfCommunicatorsWithoutMembers)
{
    const std::string said = said_of([](TinyTrace& trace) {
        trace.thread(0).enter(1, "main").leave(2, "main");
        trace.communicator("too large", {0, 1});
    });
    EXPECT_THAT(said, HasSubstr("a communicator has rank 1 of 1"));
}

TEST(Refusal, OfMoreMembersOfCommunicatorsThanAnyMemoryHolds)
{
    constexpr std::uint32_t many = 50'000;
    const std::string said = said_of([](TinyTrace& trace) {
        trace.thread(0).enter(1, "main").leave(2, "main");
        trace.define([&](OTF2_GlobalDefWriter* out) {
            const std::vector<std::uint64_t> members(many, 0);
            OTF2_GlobalDefWriter_WriteGroup(out, 1000, trace.string(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, many, members.data());
            for (OTF2_CommRef comm = 0; comm < many; ++comm) {
                OTF2_GlobalDefWriter_WriteComm(out, 1000 + comm, trace.string(""), 1000, OTF2_UNDEFINED_COMM,
                                               OTF2_COMM_FLAG_NONE);
            }
        });
    });
    EXPECT_THAT(said, HasSubstr("its communicators have 250000000"));
}

/// Nobody may follow them for ever.
TEST(Refusal, OfCallingContextsThatAreTheirOwnAncestors)
{
    const std::string said = said_of([](TinyTrace& trace) {
        trace.thread(0).context_enter(1, "work").context_leave(2, "work");
        trace.context_parent("work", "caller");
        trace.context_parent("caller", "work");
    });
    EXPECT_THAT(said, HasSubstr("is an ancestor of itself"));
}

/// What loading says of a rank whose second event is at `time`, with a clock that is off by `offset`.
std::string said_of_times(std::uint64_t time, std::int64_t offset)
{
    return said_of([=](TinyTrace& trace) {
        trace.thread(0).enter(1, "main").leave(time, "main");
        trace.clock_offset(0, 0, offset, 1);
    });
}

TEST(Refusal, OfTimesThatNoClockShows)
{
    constexpr std::uint64_t year = 365ULL * 24 * 3600 * 1'000'000'000;
    EXPECT_EQ(said_of_times(year, -5), "");
    EXPECT_THAT(said_of_times(5 * year, 0), HasSubstr("rank 0: an event at"));
    EXPECT_THAT(said_of_times(UINT64_MAX, 0), HasSubstr("years away"));
    EXPECT_THAT(said_of_times((std::uint64_t{1} << 63) + 5, -(std::int64_t{1} << 60)), HasSubstr("years away"));
    EXPECT_THAT(said_of_times(2, INT64_MAX), HasSubstr("years away"));
    EXPECT_THAT(said_of_times(2, INT64_MIN), HasSubstr("years away"));
}

}  // namespace
}  // namespace critpath::test
