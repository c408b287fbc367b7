// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/recover.hpp"
#include "formats/spool/packed.hpp"
#include "tests/archive/spool_builder.hpp"
#include "tests/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace critpath::archive
{
namespace
{

using functions::FunctionId;
using test::CallsBuilder;
using test::make_header;
using test::Scratch;

// Of a process that was killed after `calls` of them.
CallsBuilder sends(std::uint64_t calls)
{
    CallsBuilder out;
    for (std::uint64_t i = 0; i < calls; ++i) {
        out.call(FunctionId::MPI_Send, 1000 + 10 * i, 1005 + 10 * i);
    }
    return out;
}

Recovered recover_one(const Scratch& trace, const CallsBuilder& calls, const spool::SpoolHeader& header)
{
    std::filesystem::create_directory(trace / "spool");
    calls.write(trace / "spool/0.0.calls", header);
    return recover(trace.path(), {});
}

TEST(Recover, AThreadThatWasKilledHasDied)
{
    const Scratch trace;
    const Recovered recovered = recover_one(trace, sends(4), make_header(0, 1, 0));
    EXPECT_EQ(recovered.incomplete, "died: 0");
    EXPECT_EQ(recovered.totals.calls, 4U);
    EXPECT_EQ(recovered.totals.lost_records, 0U);
}

TEST(Recover, AThreadThatWasKilledWhenItHadNoRoomHasLostRecords)
{
    const Scratch trace;
    spool::SpoolHeader header = make_header(0, 1, 0);
    header.lost = 3;
    const Recovered recovered = recover_one(trace, sends(4), header);
    EXPECT_EQ(recovered.incomplete, "records lost: 0");
    EXPECT_EQ(recovered.totals.lost_records, 3U);
}

// The frame before them is damaged: what stands on the stage may have been posted anywhere before.
TEST(Recover, ADamagedFrameIsALoss)
{
    const Scratch trace;
    spool::SpoolHeader header = make_header(0, 1, 0);
    header.first_record = 7;
    header.closed = 1;
    const Recovered recovered = recover_one(trace, sends(4), header);
    EXPECT_EQ(recovered.incomplete, "records lost: 0");
    EXPECT_EQ(recovered.totals.lost_records, 7U);
    EXPECT_EQ(recovered.totals.calls, 0U);
}

std::string read_maps_of(pid_t pid)
{
    std::ifstream file(fmt::format("/proc/{}/maps", pid));
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_rank(const Scratch& trace, int rank, int communicators)
{
    CallsBuilder calls;
    for (int id = 2; id < 2 + communicators; ++id)
        calls.comm_range({id, static_cast<std::uint64_t>(id), 0, 2, rank}, 0, 1);
    calls.call(FunctionId::MPI_Send, 1000, 1005);
    std::filesystem::remove(trace / fmt::format("spool/{}.0.calls", rank));  // who reads it has the old one
    calls.write(trace / fmt::format("spool/{}.0.calls", rank), make_header(rank, 2, 0));
}

// The numbers of definitions are those of the first time.
TEST(Recover, WhatHasChangedWhenItIsReadAgainIsRefused)
{
    const Scratch trace;
    std::filesystem::create_directory(trace / "spool");
    const auto run = [&](int communicators_later) {
        write_rank(trace, 0, 1);
        write_rank(trace, 1, 1);
        SessionRequest request{trace.path(), {0, 1}, [&](int rank) {
                                   std::vector<std::string> damage;
                                   auto process = read_remains(trace / "spool", rank, {0}, damage);
                                   EXPECT_EQ(damage, std::vector<std::string>());
                                   write_rank(trace, rank, communicators_later);
                                   return process;
                               }};
        const NoCommunication alone;
        Session(std::move(request), alone).run();
    };
    try {
        run(2);
        ADD_FAILURE() << "was not refused";
    } catch (const Agreed& failure) {
        EXPECT_THAT(failure.what(), testing::HasSubstr("what rank 0 has recorded"));
    }
    EXPECT_FALSE(is_archive(trace.path())) << "nothing stays";
    run(1);
    EXPECT_TRUE(is_archive(trace.path()));
}

// A process that ends in time makes its archive itself, which is not to be replaced by what its spool held before.
// A process of which the calls of thread 0 are there, and which has listed these files.
Recovered recover_with_list(const Scratch& trace, const char* list)
{
    std::filesystem::create_directory(trace / "spool");
    std::ofstream(trace / "spool/0.files") << list;
    std::ofstream(trace / "spool/0.maps") << "some\n";
    sends(4).write(trace / "spool/0.0.calls", make_header(0, 1, 0));
    RecoverOptions options;
    options.force = true;  // whether the process still runs is not asked
    return recover(trace.path(), options);
}

TEST(Recover, NamesTheFilesThatAreMissing)
{
    const Scratch trace;
    const Recovered recovered =
        recover_with_list(trace, "0.calls\n0.samples\n1.samples\n1.calls\nwhat?\n12.calls\n13.call");
    std::vector<std::string> notes;
    for (const char* name : {"0.0.samples", "0.1.samples", "0.1.calls", "0.12.calls"}) {
        notes.push_back(trace / (std::string("spool/") + name) + ": missing; left out");
    }
    EXPECT_EQ(recovered.notes, notes);
    EXPECT_TRUE(recovered.is_spool_kept);
    EXPECT_TRUE(std::filesystem::exists(trace / "spool/0.0.calls"));
    EXPECT_EQ(recovered.totals.calls, 4U);
}

TEST(Recover, NamesNoFilesThatAreThere)
{
    const Scratch trace;
    const Recovered recovered = recover_with_list(trace, "0.calls\n");
    EXPECT_EQ(recovered.notes, std::vector<std::string>{});
    EXPECT_FALSE(recovered.is_spool_kept);
    EXPECT_FALSE(std::filesystem::exists(trace / "spool"));
}

TEST(Recover, LeavesAnArchiveThatIsMadeWhileItWaits)
{
    using namespace std::chrono_literals;
    const Scratch trace;
    std::filesystem::create_directory(trace / "spool");
    const std::filesystem::path library = trace / "libcritpath-preload.so";  // is how its processes are known
    std::ofstream(library) << "no code";
    const pid_t child = ::fork();
    if (child == 0) {
        const int fd = ::open(library.c_str(), O_RDONLY | O_CLOEXEC);
        if (::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
            ::_exit(1);
        std::this_thread::sleep_for(500ms);
        std::ofstream(trace / "traces.otf2") << "an anchor";
        std::filesystem::remove(trace / "spool/0.0.calls");
        ::_exit(0);
    }
    ASSERT_GT(child, 0);
    while (read_maps_of(child).find(library.native()) == std::string::npos && ::waitpid(child, nullptr, WNOHANG) == 0)
        std::this_thread::sleep_for(1ms);
    spool::SpoolHeader header = make_header(0, 1, 0);
    header.pid = child;
    ::gethostname(header.host, sizeof header.host);
    std::ifstream("/proc/sys/kernel/random/boot_id").getline(header.boot_id, sizeof header.boot_id);
    sends(4).write(trace / "spool/0.0.calls", header);
    const Recovered recovered = recover(trace.path(), {});
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(recovered.is_made_already);
    std::string content;
    std::getline(std::ifstream(trace / "traces.otf2"), content);
    EXPECT_EQ(content, "an anchor");
    EXPECT_FALSE(is_abandoned(trace.path()));
}

TEST(Recover, KnowsWhatASpoolHolds)
{
    for (const char* name : {"0.0.calls", "12.3.samples", "7.maps", "7.unloads", "7.files", "kept", "copy"}) {
        EXPECT_TRUE(is_spool_file(name)) << name;
    }
    for (const char* name : {"notes.calls", "0.calls", "0.0.0.calls", "1.maps.bak", "1.unloads.maps", ".unloads",
                             "x1.maps", ".maps", "0.0.call", ""}) {
        EXPECT_FALSE(is_spool_file(name)) << name;
    }
}

}  // namespace
}  // namespace critpath::archive
