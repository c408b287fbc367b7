// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A trace that Score-P wrote. The expected numbers were counted with otf2-print.
#include "replayer/load/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace critpath::test
{
namespace
{

using namespace model;
using functions::FunctionId;
using replayer::Replay;
using testing::ElementsAre;

class ScoreP : public testing::Test
{
protected:
    void SetUp() override
    {
        const std::filesystem::path trace = std::filesystem::path(CRITPATH_SHARED_TRACES) / "scorep84-halo-4";
        if (!std::filesystem::exists(trace)) {
            GTEST_SKIP() << "no trace in " << trace << "; set CRITPATH_SHARED_TRACES";
        }
        summary_ = replayer::load::load(trace / "traces.otf2", replay_);
    }

    Replay replay_;
    replayer::load::Summary summary_;
};

TEST_F(ScoreP, EveryRecordHasItsPlace)
{
    EXPECT_EQ(summary_.events, 163'296);
    ASSERT_EQ(replay_.processes.size(), 4);
    std::map<FunctionId, int> calls;
    std::size_t sends = 0;
    std::size_t receives = 0;
    std::size_t collectives = 0;
    std::size_t changes = 0;
    for (const auto& process : replay_.processes) {
        ASSERT_EQ(process.locations.size(), 1);
        const auto& location = process.locations[0];
        for (std::size_t i = 0; i < location.calls.size(); ++i) {
            ++calls[replay_.definitions.region(location.calls.context(i)).function];
        }
        sends += process.sends.size();
        receives += process.receives.size();
        collectives += process.collectives.size();
        changes += location.user_regions.size();
        const auto& a = process.anomalies;
        EXPECT_EQ(a.ignored_records + a.cancelled_receives + a.unfinished_requests + a.open_calls + a.clock_violations,
                  0);
    }
    EXPECT_EQ(sends, 16'000);
    EXPECT_EQ(receives, 16'000);
    EXPECT_EQ(collectives, 812);
    EXPECT_EQ(changes, 2 * (4 + 2'000 + 6'000));  // main, heavy, light: 48,824 ENTER less 40,820 of MPI
    const std::map<FunctionId, int> expected = {
        {FunctionId::MPI_Init, 4},        {FunctionId::none, 8},  // Comm_rank, Comm_size
        {FunctionId::MPI_Irecv, 16'000},  {FunctionId::MPI_Isend, 16'000}, {FunctionId::MPI_Waitall, 8'000},
        {FunctionId::MPI_Allreduce, 800}, {FunctionId::MPI_Reduce, 4},     {FunctionId::MPI_Finalize, 4},
    };
    EXPECT_EQ(calls, expected);
}

TEST_F(ScoreP, DefinitionsAreTheApplications)
{
    const auto& definitions = replay_.definitions;
    EXPECT_FALSE(definitions.has_samples);
    EXPECT_TRUE(definitions.event.empty());
    ASSERT_EQ(definitions.communicators.size(), 2);  // Score-P's own is none of MPI's
    EXPECT_EQ(definitions.communicators[0].name, "MPI_COMM_WORLD");
    EXPECT_THAT(definitions.communicators[0].members,
                ElementsAre(ProcessId{0}, ProcessId{1}, ProcessId{2}, ProcessId{3}));
    EXPECT_TRUE(definitions.communicators[1].is_self);
    EXPECT_EQ(definitions.processes[3].node, "vm");
    EXPECT_EQ(definitions.processes[0].clock_domain, definitions.processes[3].clock_domain);
    EXPECT_FALSE(summary_.clock_domains_known);
}

TEST_F(ScoreP, TimesAreNanoseconds)
{
    // 9524560098069 ticks of 2600022260 a second: 3663260982261.3 ns
    const auto& location = replay_.processes[0].locations[0];
    EXPECT_EQ(location.begin.count(), 3'663'260'982'261);
    EXPECT_EQ(location.calls.enter(0).count(), 3'663'261'136'453);  // 9524560498973
    EXPECT_TRUE(location.has_finalize);
    EXPECT_EQ(location.end.count(), 3'663'948'096'135);  // 9526346609436
    EXPECT_EQ(location.end, location.calls.enters().back());
}

TEST_F(ScoreP, MessagesKnowTheirPosts)
{
    const auto& process = replay_.processes[0];
    const auto& calls = process.locations[0].calls;
    for (std::size_t i = 0; i < process.receives.size(); ++i) {
        const auto& receive = process.receives[i];
        ASSERT_EQ(receive.source, i % 2 == 0 ? 3 : 1);
        ASSERT_EQ(receive.tag, i % 2 == 0 ? 1 : 2);
        ASSERT_EQ(receive.bytes, 512);
        const auto post = replay_.definitions.region(calls.context(receive.post.call.value)).function;
        const auto completion = replay_.definitions.region(calls.context(receive.completion.call.value)).function;
        ASSERT_EQ(post, FunctionId::MPI_Irecv);
        ASSERT_EQ(completion, FunctionId::MPI_Waitall);
    }
}

}  // namespace
}  // namespace critpath::test
