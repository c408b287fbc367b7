// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/clocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <vector>

namespace critpath::test
{
namespace
{

using model::NodeId;
using model::Ns;
using model::ProcessId;
using replayer::clocks::Findings;
using testing::HasSubstr;

struct OneProcess {
    std::uint32_t domain;
    std::optional<Ns> uncertainty;
};

replayer::Replay replay_of(const std::vector<OneProcess>& processes)
{
    replayer::Replay replay;
    replay.comm = MPI_COMM_SELF;
    for (const OneProcess& process : processes) {
        replay.definitions.processes.push_back({"rank", "host", NodeId{process.domain}, {}});
        replay.owner.push_back(0);
        replay.processes.emplace_back();
        replay.processes.back().process = ProcessId{static_cast<std::uint32_t>(replay.processes.size() - 1)};
        replay.processes.back().clock_uncertainty = process.uncertainty;
    }
    return replay;
}

TEST(Clocks, OneDomainIsExact)
{
    auto replay = replay_of({{0, Ns{5}}, {0, Ns{7}}});
    const Findings findings = replayer::clocks::compare(replay, true);
    EXPECT_EQ(findings.domains, 1U);
    EXPECT_EQ(findings.uncertainty, Ns{0});
    EXPECT_EQ(replay.definitions.uncertainty(ProcessId{0}, ProcessId{1}), Ns{0});
    EXPECT_EQ(replayer::clocks::warning(findings), "");
}

TEST(Clocks, UncertaintiesOfTwoDomainsAddUp)
{
    auto replay = replay_of({{0, Ns{0}}, {1, Ns{500}}, {1, Ns{700}}, {2, Ns{40}}});
    const Findings findings = replayer::clocks::compare(replay, true);
    EXPECT_EQ(findings.domains, 3U);
    EXPECT_EQ(findings.uncertainty, Ns{740});
    EXPECT_EQ(replay.definitions.uncertainty(ProcessId{1}, ProcessId{2}), Ns{0});
    EXPECT_EQ(replay.definitions.uncertainty(ProcessId{0}, ProcessId{1}), Ns{700});
    EXPECT_EQ(replay.definitions.uncertainty(ProcessId{3}, ProcessId{2}), Ns{740});
    EXPECT_EQ(replay.definitions.largest_uncertainty(), Ns{740});
    EXPECT_EQ(replayer::clocks::warning(findings), "");
}

TEST(Clocks, DomainsThatNobodyMeasuredAreWarnedOf)
{
    auto replay = replay_of({{0, Ns{0}}, {1, std::nullopt}, {2, std::nullopt}});
    EXPECT_THAT(replayer::clocks::warning(replayer::clocks::compare(replay, true)),
                testing::AllOf(HasSubstr("3 clocks"), HasSubstr("2 of them")));
    EXPECT_THAT(replayer::clocks::warning(replayer::clocks::compare(replay, false)), HasSubstr("synchronised"));
}

}  // namespace
}  // namespace critpath::test

int main(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    MPI_Init(&argc, &argv);
    const int result = RUN_ALL_TESTS();
    MPI_Finalize();
    return result;
}
