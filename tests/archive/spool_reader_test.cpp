// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/spool_reader.hpp"
#include "formats/support/error.hpp"
#include "tests/archive/spool_builder.hpp"
#include "tests/scratch.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace critpath::archive
{
namespace
{

using test::CallsBuilder;
using test::make_header;
using test::Scratch;

// The message of the Failure that reading the process throws.
std::string failure(const std::string& directory, int rank)
{
    try {
        read_process(directory, rank, 4);
    } catch (const Failure& e) {
        return e.what();
    }
    return "no failure";
}

TEST(SpoolReader, FindsAllThreadsOfOneProcess)
{
    const Scratch scratch;
    const CallsBuilder empty;
    empty.write(scratch / "3.0.calls", make_header(3, 8, 0));
    empty.write(scratch / "3.0.samples", make_header(3, 8, 0));
    empty.write(scratch / "3.7.samples", make_header(3, 8, 7));  // a gap: these threads left nothing
    empty.write(scratch / "30.0.calls", make_header(30, 8, 0));  // another process
    std::ofstream(scratch / "3.maps") << "a line";
    const ProcessSpool process = read_process(scratch.path(), 3, 9);
    ASSERT_EQ(process.threads.size(), 2U);
    EXPECT_TRUE(process.threads[0].calls && process.threads[0].samples);
    EXPECT_EQ(process.threads[1].thread, 7U);
    EXPECT_FALSE(process.threads[1].calls);
    EXPECT_EQ(process.threads[1].header().rank, 3);
    EXPECT_EQ(process.maps, "a line");
}

TEST(SpoolReader, RefusesWhatItCannotTrust)
{
    const Scratch scratch;
    const CallsBuilder empty;
    EXPECT_NE(failure(scratch.path(), 0).find("0.0.calls: missing"), std::string::npos);

    auto header = make_header(0, 1, 0);
    header.magic = 42;
    empty.write(scratch / "0.0.calls", header);
    EXPECT_NE(failure(scratch.path(), 0).find("not a spool file"), std::string::npos);

    header = make_header(0, 1, 0);
    header.functions_hash ^= 1;
    empty.write(scratch / "0.0.calls", header);
    EXPECT_NE(failure(scratch.path(), 0).find("another version"), std::string::npos);

    header = make_header(0, 1, 0);
    header.version = 99;
    empty.write(scratch / "0.0.calls", header);
    EXPECT_NE(failure(scratch.path(), 0).find("another version"), std::string::npos);
}

TEST(SpoolReader, TakesAFileThatWasNeverStartedForMissing)
{
    const Scratch scratch;
    const CallsBuilder empty;
    empty.write(scratch / "0.0.calls", make_header(0, 1, 0));
    std::ofstream(scratch / "0.1.calls") << "short";
    spool::SpoolHeader zeros{};
    empty.write(scratch / "0.2.calls", zeros);
    EXPECT_EQ(read_process(scratch.path(), 0, 3).threads.size(), 1U);
}

TEST(SpoolReader, HeadersWithoutTerminatorStayInBounds)
{
    const Scratch scratch;
    auto header = make_header(0, 1, 0);
    std::memset(header.host, 'h', sizeof header.host);
    std::memset(header.command, 'c', sizeof header.command);
    CallsBuilder().write(scratch / "0.0.calls", header);
    const ProcessSpool process = read_process(scratch.path(), 0, 1);
    EXPECT_EQ(std::strlen(process.threads[0].header().host), sizeof header.host - 1);
}

TEST(RecordCursor, StopsAtTheFirstRecordThatWasNotFinished)
{
    CallsBuilder calls;
    calls.call(functions::FunctionId::MPI_Send, 1, 2);
    calls.tool(3, 4);
    calls.call(functions::FunctionId::MPI_Send, 5, 6).kind = spool::RecordKind::Empty;
    calls.call(functions::FunctionId::MPI_Send, 7, 8);
    RecordCursor cursor(calls.bytes());
    EXPECT_EQ(cursor.kind(), spool::RecordKind::Call);
    EXPECT_EQ(cursor.take<spool::Record>().leave, 2U);
    EXPECT_EQ(cursor.kind(), spool::RecordKind::Tool);
    cursor.skip();
    EXPECT_EQ(cursor.kind(), spool::RecordKind::Empty);
}

TEST(RecordCursor, StopsAtDamageAndAtAnUnfinishedEnd)
{
    CallsBuilder calls;
    calls.call(functions::FunctionId::MPI_Send, 1, 2).kind = static_cast<spool::RecordKind>(99);
    EXPECT_EQ(RecordCursor(calls.bytes()).kind(), spool::RecordKind::Empty);
    calls = {};
    calls.tool(1, 2);
    const std::span<const std::byte> bytes = calls.bytes();
    EXPECT_EQ(RecordCursor(bytes.first(63)).kind(), spool::RecordKind::Empty);
    EXPECT_EQ(RecordCursor({}).kind(), spool::RecordKind::Empty);
}

}  // namespace
}  // namespace critpath::archive
