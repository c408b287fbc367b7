// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/recover.hpp"
#include "formats/spool/packed.hpp"
#include "tests/archive/spool_builder.hpp"
#include "tests/scratch.hpp"

#include <gtest/gtest.h>

#include <filesystem>

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

TEST(Recover, KnowsWhatASpoolHolds)
{
    for (const char* name : {"0.0.calls", "12.3.samples", "7.maps", "7.unloads", "kept"}) {
        EXPECT_TRUE(is_spool_file(name)) << name;
    }
    for (const char* name : {"notes.calls", "0.calls", "0.0.0.calls", "1.maps.bak", "1.unloads.maps", ".unloads",
                             "x1.maps", ".maps", "0.0.call", ""}) {
        EXPECT_FALSE(is_spool_file(name)) << name;
    }
}

}  // namespace
}  // namespace critpath::archive
