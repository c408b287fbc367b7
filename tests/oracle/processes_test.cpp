// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random programs of everything that the oracle can simulate, replayed by all processes of the test and by one: the
// outcome is the same to the last byte.
#include "tests/oracle/check.hpp"
#include "tests/oracle/mixed/mixed.hpp"
#include "tests/oracle/off_clocks.hpp"
#include "tests/oracle/windows/check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

namespace critpath::oracle
{
namespace
{

#ifdef CRITPATH_SANITIZED
constexpr std::uint32_t programs = 6;
#else
constexpr std::uint32_t programs = 25;
#endif

void expect_same_outcome(const std::function<replayer::Replay(MPI_Comm)>& load)
{
    const replayer::Replay loaded = load(MPI_COMM_WORLD);
    const tests::Replayed together = tests::replay(loaded);
    if (loaded.rank != 0)
        return;
    const tests::Replayed alone = tests::replay(load(MPI_COMM_SELF));
    EXPECT_FALSE(alone.segments.empty());
    EXPECT_THAT(differences(together, alone), testing::IsEmpty());
}

class OneOutcome : public testing::TestWithParam<std::uint32_t>
{
};

TEST_P(OneOutcome, OfMessagesAndCollectives)
{
    const Program program = expand(random_recipe(GetParam()));
    const Execution execution = simulate(program, {});
    expect_same_outcome([&](MPI_Comm comm) { return load(program, {}, execution, {}, comm); });
}

TEST_P(OneOutcome, WhereDataMovesOnlyDuringCalls)
{
    Machine lazy;
    lazy.progress = false;
    const Program program = expand(standing_recipe(GetParam()));
    const Execution execution = simulate(program, lazy);
    expect_same_outcome([&](MPI_Comm comm) { return load(program, lazy, execution, {}, comm); });
}

TEST_P(OneOutcome, OfLargeMessagesForWhichAllWait)
{
    const Program program = expand(exchange_recipe(GetParam()));
    const Execution execution = simulate(program, {});
    expect_same_outcome([&](MPI_Comm comm) { return load(program, {}, execution, {}, comm); });
}

TEST_P(OneOutcome, WhateverIsSaidOfTheClocks)
{
    Machine nodes;
    nodes.ranks_a_node = 2;
    const Program program = expand(alike_recipe(GetParam()));
    const Execution execution = simulate(program, nodes);
    const Clocks silent = random_clocks((program.ranks + 1) / 2, GetParam());
    for (const Clocks& clocks : {silent, measured(silent)}) {
        SCOPED_TRACE(clocks.said == Clocks::Said::Nothing ? "nothing is said" : "measured");
        expect_same_outcome([&](MPI_Comm comm) { return load(program, nodes, execution, clocks, comm); });
    }
}

TEST_P(OneOutcome, OfOneSidedCommunication)
{
    const windows::Program program = windows::random_program(GetParam());
    for (const bool progress : {true, false}) {
        SCOPED_TRACE(progress ? "with progress" : "without");
        Machine machine;
        machine.progress = progress;
        const windows::WindowExecution execution = simulate(program, machine);
        expect_same_outcome([&](MPI_Comm comm) { return load(program, machine, execution, comm); });
    }
}

TEST_P(OneOutcome, OfOneSidedCommunicationWhereClocksAreOff)
{
    const windows::Program program = windows::random_program(GetParam());
    Machine nodes;
    nodes.ranks_a_node = 2;
    const windows::WindowExecution execution = simulate(program, nodes);
    Clocks clocks = measured(random_clocks((program.ranks + 1) / 2, GetParam()));
    clocks.half_width_ns = 60'000;
    clocks.error_ns = 40'000;
    expect_same_outcome([&](MPI_Comm comm) { return load(program, nodes, execution, comm, clocks); });
}

TEST_P(OneOutcome, OfBothInTurn)
{
    const mixed::MixedExecution execution = simulate(mixed::random_recipe(GetParam()), {});
    expect_same_outcome([&](MPI_Comm comm) {
        return load(comm, [&](const std::string& directory) { write_archive(directory, execution, {}); });
    });
}

INSTANTIATE_TEST_SUITE_P(Seeds, OneOutcome, testing::Range(1U, 1 + programs));

}  // namespace
}  // namespace critpath::oracle
