// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/spool_check.hpp"
#include "tests/archive/spool_builder.hpp"
#include "tests/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::archive
{
namespace
{

using functions::FunctionId;
using test::CallsBuilder;
using test::make_header;
using test::Scratch;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t second = 1'000'000'000;

struct Checked {
    std::vector<std::string> damage;
    std::uint64_t calls = 0;    // that are left
    std::uint64_t damaged = 0;  // records
    bool has_calls = true;
};

// Of a file with a stage of `stage` bytes, and what is behind it.
Checked check(const Bytes& body, std::size_t stage, spool::SpoolHeader header = make_header(0, 1, 0))
{
    const Scratch scratch;
    header.stage_bytes = stage;
    CallsBuilder::write_file(scratch / "0.0.calls", header, body);
    Checked result;
    auto process = read_remains(scratch.path(), 0, {0}, result.damage);
    if (!process) {
        ADD_FAILURE() << "is not read";
        return result;
    }
    result.has_calls = check_records(scratch.path(), 0, *process, result.damage);
    RecordCursor cursor = process->threads.front().records();
    for (; cursor.kind() != spool::RecordKind::Empty; cursor.skip()) {
        result.calls += cursor.kind() == spool::RecordKind::Call ? 1 : 0;
    }
    result.damaged = process->threads.front().damaged_records;
    return result;
}

Checked check(const CallsBuilder& calls, spool::SpoolHeader header = make_header(0, 1, 0))
{
    return check(calls.bytes(), calls.bytes().size(), header);
}

// One a second, from the first on.
CallsBuilder sends(std::uint64_t first, std::uint64_t count)
{
    CallsBuilder calls;
    for (std::uint64_t i = first; i < first + count; ++i) {
        calls.call(FunctionId::MPI_Send, i * second, i * second + second / 2);
    }
    return calls;
}

Bytes with_zeros(Bytes bytes, std::size_t size)
{
    bytes.resize(size);
    return bytes;
}

Bytes joined(Bytes a, const Bytes& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// -------------------------------------------------------------------------------- what a writer leaves is no damage

TEST(SpoolCheck, AStageThatIsNotFull)
{
    const Checked checked = check(with_zeros(sends(1, 5).bytes(), 640), 640);
    EXPECT_THAT(checked.damage, IsEmpty());
    EXPECT_EQ(checked.calls, 5U);
}

TEST(SpoolCheck, ACallThatWasNotFinished)
{
    CallsBuilder calls = sends(1, 5);
    calls.call(FunctionId::MPI_Recv, 7 * second, 0).kind = spool::RecordKind::Empty;
    EXPECT_THAT(check(with_zeros(calls.bytes(), 640), 640).damage, IsEmpty());
}

TEST(SpoolCheck, AFrameThatIsBeingWritten)
{
    const Bytes frame = test::packed_frame(0, sends(1, 10).bytes());
    for (std::size_t size = 0; size <= frame.size(); ++size) {
        const Checked checked = check(joined(sends(1, 10).bytes(), Bytes(frame.begin(), frame.begin() + size)), 640);
        EXPECT_THAT(checked.damage, IsEmpty()) << size;
        EXPECT_EQ(checked.calls, 10U) << size;
    }
}

TEST(SpoolCheck, AStageThatIsBeingCleared)
{
    const Bytes frame = test::packed_frame(0, sends(1, 10).bytes());
    for (std::size_t cleared = 8; cleared <= 640; cleared += 8) {
        Bytes stage = sends(1, 10).bytes();
        std::fill_n(stage.begin(), cleared, std::byte{0});
        const Checked checked = check(joined(stage, frame), 640);
        EXPECT_THAT(checked.damage, IsEmpty()) << cleared;
        EXPECT_EQ(checked.calls, 10U) << cleared;
    }
}

TEST(SpoolCheck, RecordsBehindPackedOnes)
{
    spool::SpoolHeader header = make_header(0, 1, 0);
    header.first_record = 10;
    const Bytes frame = test::packed_frame(0, sends(1, 10).bytes());
    const Checked checked = check(joined(with_zeros(sends(11, 3).bytes(), 640), frame), 640, header);
    EXPECT_THAT(checked.damage, IsEmpty());
    EXPECT_EQ(checked.calls, 13U);
}

TEST(SpoolCheck, AStageThatWasGivenBack)
{
    spool::SpoolHeader header = make_header(0, 1, 0);
    header.closed = 1;
    header.records = 5;
    EXPECT_THAT(check(sends(1, 5).bytes(), 640, header).damage, IsEmpty());
}

// The record of polls grows, while a pause was recorded behind it.
TEST(SpoolCheck, APauseAmongPolls)
{
    CallsBuilder calls;
    calls.call(FunctionId::MPI_Test, second, 9 * second);
    calls.tool(2 * second, 3 * second);
    calls.call(FunctionId::MPI_Send, 10 * second, 11 * second);
    EXPECT_THAT(check(calls).damage, IsEmpty());
}

// ------------------------------------------------------------------------------------------------------------- damage

TEST(SpoolCheck, OneOfTwoThatContradictEachOtherIsToBlame)
{
    CallsBuilder late = sends(1, 4);
    late.call(FunctionId::MPI_Recv, 5 * second, 900 * second);
    for (std::uint64_t i = 6; i < 9; ++i) {
        late.call(FunctionId::MPI_Send, i * second, i * second + 1);
    }
    const Checked later = check(late);
    EXPECT_THAT(later.damage, ElementsAre(HasSubstr("0.0.calls: damaged at record 5, where times run backwards")));
    EXPECT_EQ(later.calls, 4U);
    EXPECT_EQ(later.damaged, 4U);

    CallsBuilder early = sends(100, 4);
    early.call(FunctionId::MPI_Recv, 2 * second, 3 * second);
    for (std::uint64_t i = 104; i < 109; ++i) {
        early.call(FunctionId::MPI_Send, i * second, i * second + 1);
    }
    const Checked earlier = check(early);
    EXPECT_THAT(earlier.damage, ElementsAre(HasSubstr("damaged at record 5, where times run backwards")));
    EXPECT_EQ(earlier.calls, 4U);
    EXPECT_EQ(earlier.damaged, 6U);
}

TEST(SpoolCheck, AHoleInTheStage)
{
    Bytes bytes = sends(1, 10).bytes();
    std::fill_n(bytes.begin() + 3 * 64, 2 * 64, std::byte{0});
    const Checked checked = check(bytes, 640);
    EXPECT_THAT(checked.damage, ElementsAre(HasSubstr("damaged at record 4, which is empty")));
    EXPECT_EQ(checked.calls, 3U);
    EXPECT_EQ(checked.damaged, 7U);
}

TEST(SpoolCheck, FewerRecordsThanTheHeaderCounts)
{
    spool::SpoolHeader header = make_header(0, 1, 0);
    header.closed = 1;
    header.records = 8;
    const Checked checked = check(with_zeros(sends(1, 5).bytes(), 640), 640, header);
    EXPECT_THAT(checked.damage, ElementsAre(HasSubstr("damaged at record 6, where one of 8 should be")));
    EXPECT_EQ(checked.damaged, 3U);
}

TEST(SpoolCheck, AFrameThatNobodyBegan)
{
    spool::SpoolHeader header = make_header(0, 1, 0);
    header.first_record = 10;
    Bytes frame = test::packed_frame(0, sends(1, 10).bytes());
    frame.push_back(std::byte{1});  // the stage is not full
    EXPECT_THAT(check(joined(with_zeros(sends(11, 3).bytes(), 640), frame), 640, header).damage,
                ElementsAre(HasSubstr("damaged at record 14, where packed records do not go on")));
}

TEST(SpoolCheck, WithoutACallBeforeTheDamageNothingIsKnown)
{
    CallsBuilder calls;
    calls.predefined(0, 1);
    calls.call(FunctionId::MPI_Send, 1, 1ULL << 62);
    EXPECT_FALSE(check(calls).has_calls);
    EXPECT_FALSE(check(Bytes(640), 640).has_calls);
}

TEST(SpoolCheck, TimesThatTheReplayRefuses)
{
    for (const std::uint64_t time : {std::uint64_t{1} << 56, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
        CallsBuilder calls = sends(1, 3);
        calls.call(FunctionId::MPI_Recv, time, 0).kind = spool::RecordKind::Empty;
        EXPECT_THAT(check(with_zeros(calls.bytes(), 640), 640).damage, ElementsAre(EndsWith("behind it"))) << time;
        CallsBuilder skipped = sends(1, 3);
        skipped.skipped(time, 0, 0, 1);
        EXPECT_THAT(check(skipped).damage, ElementsAre(HasSubstr("damaged at record 4, whose time"))) << time;
    }
}

}  // namespace
}  // namespace critpath::archive
