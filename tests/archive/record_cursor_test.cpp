// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/record_cursor.hpp"
#include "tests/archive/spool_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

namespace critpath::archive
{
namespace
{

using functions::FunctionId;
using test::CallsBuilder;

// Records `first`, first + 1 ...: each says its number.
std::vector<std::byte> body(std::uint64_t first, std::uint64_t count)
{
    CallsBuilder calls;
    for (std::uint64_t i = first; i < first + count; ++i) {
        calls.call(FunctionId::MPI_Send, 10 * i, 10 * i + 5);
    }
    return calls.bytes();
}

std::vector<std::byte> frame(std::uint64_t first, std::uint64_t count)
{
    return test::packed_frame(first, body(first, count));
}

std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte>& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// How many records there are, which must be 0, 1, 2 ...
std::uint64_t read(RecordCursor& cursor)
{
    std::uint64_t number = 0;
    for (; cursor.kind() == spool::RecordKind::Call; ++number) {
        EXPECT_EQ(cursor.peek<spool::Record>().enter, 10 * number);
        EXPECT_EQ(cursor.take<spool::Record>().leave, 10 * number + 5);
    }
    return number;
}

std::uint64_t read(const std::vector<std::byte>& calls, const std::vector<std::byte>& packed, std::uint64_t first)
{
    RecordCursor cursor(calls, packed, first);
    return read(cursor);
}

TEST(RecordCursor, ReadsPackedRecordsAndThoseBehindThemAsOne)
{
    EXPECT_EQ(read(body(9, 3), frame(0, 4) + frame(4, 5), 9), 12U);
    EXPECT_EQ(read(body(9, 0), frame(0, 4) + frame(4, 5), 9), 9U);
    EXPECT_EQ(read({}, frame(0, 4), 0), 4U);
}

// The process ended between the packing and the beginning of the file anew.
TEST(RecordCursor, ReadsRecordsThatStandInBothFilesOnce)
{
    EXPECT_EQ(read(body(0, 7), frame(0, 4), 0), 7U);
    EXPECT_EQ(read(body(4, 7), frame(0, 4) + frame(4, 5), 4), 11U);
    EXPECT_EQ(read({}, frame(0, 4) + frame(4, 5), 4), 9U);  // the file was empty, but did not say so
}

TEST(RecordCursor, StopsAtAGap)
{
    const std::vector<std::byte> calls = body(9, 3);
    const std::vector<std::byte> packed = frame(0, 4);
    RecordCursor gap(calls, packed, 9);
    EXPECT_EQ(read(gap), 4U);
    EXPECT_EQ(gap.missing(), 5U);
}

TEST(RecordCursor, ACutOrDamagedFrameEndsThePackedRecords)
{
    const std::vector<std::byte> calls = body(4, 2);
    const std::vector<std::byte> packed = frame(0, 4) + frame(4, 4);
    for (std::size_t size = frame(0, 4).size(); size < packed.size(); ++size) {
        RecordCursor cursor(calls, std::span(packed).first(size), 4);
        EXPECT_EQ(read(cursor), 6U);  // the process ended while it packed these
    }
    for (std::size_t i = frame(0, 4).size(); i < packed.size(); ++i) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::vector<std::byte> damaged = packed;
            damaged[i] ^= std::byte{1} << bit;
            EXPECT_EQ(read(calls, damaged, 4), 6U) << "byte " << i << " bit " << bit;
        }
    }
}

TEST(RecordCursor, StopsBehindWhatIsTrusted)
{
    const std::vector<std::byte> calls = body(9, 3);
    const std::vector<std::byte> packed = frame(0, 4) + frame(4, 5);
    for (std::uint64_t trusted = 0; trusted < 15; ++trusted) {
        RecordCursor cursor(calls, packed, 9);
        cursor.stop_behind(trusted);
        EXPECT_EQ(read(cursor), std::min<std::uint64_t>(trusted, 12));
        EXPECT_EQ(cursor.missing(), 0U);
        EXPECT_FALSE(cursor.open_call(0));
    }
}

TEST(RecordCursor, FindsTheCallThatWasOpen)
{
    CallsBuilder calls;
    calls.call(FunctionId::MPI_Send, 1, 2);
    calls.call(FunctionId::MPI_Recv, 7, 0).kind = spool::RecordKind::Empty;
    RecordCursor cursor(calls.bytes());
    ASSERT_EQ(cursor.kind(), spool::RecordKind::Call);
    cursor.skip();
    ASSERT_EQ(cursor.kind(), spool::RecordKind::Empty);
    const auto open = cursor.open_call(2);
    ASSERT_TRUE(open);
    EXPECT_EQ(FunctionId{open->function}, FunctionId::MPI_Recv);
    EXPECT_EQ(open->enter, 7U);
    EXPECT_FALSE(cursor.open_call(7));  // a poll that made the record before it longer
}

TEST(RecordCursor, AnEmptyOrSenselessPlaceIsNoOpenCall)
{
    CallsBuilder calls;
    calls.call(FunctionId::MPI_Send, 0, 0).kind = spool::RecordKind::Empty;
    RecordCursor empty(calls.bytes());
    EXPECT_EQ(empty.kind(), spool::RecordKind::Empty);
    EXPECT_FALSE(empty.open_call(0));
    CallsBuilder senseless;
    spool::Record& record = senseless.call(FunctionId::MPI_Send, 9, 0);
    record.kind = spool::RecordKind::Empty;
    record.function = 0xfff0;
    RecordCursor cursor(senseless.bytes());
    EXPECT_EQ(cursor.kind(), spool::RecordKind::Empty);
    EXPECT_FALSE(cursor.open_call(0));
}

}  // namespace
}  // namespace critpath::archive
