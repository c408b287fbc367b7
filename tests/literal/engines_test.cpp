// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Both engines say the same of simulated programs, of recordings that end wherever they like, and of collectives on
// communicators that overlap.
#include "replayer/literal/messages.hpp"
#include "replayer/load/load.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/lookup.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/oracle/archive.hpp"
#include "tests/oracle/grammar.hpp"
#include "tests/oracle/simulate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include <unistd.h>

namespace critpath::tests
{
namespace
{

using replayer::Replay;
using replayer::Rules;

#ifdef CRITPATH_SANITIZED
constexpr std::uint32_t programs = 2;
#else
constexpr std::uint32_t programs = 8;
#endif

/// A directory that all processes of the test know and the first one makes and removes.
class SharedDirectory
{
public:
    SharedDirectory()
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        std::array<char, 256> name{};
        if (rank_ == 0) {
            fmt::format_to_n(name.data(), name.size() - 1, "{}/critpath-engines-{}",
                             std::filesystem::temp_directory_path().string(), getpid());
            std::filesystem::create_directory(name.data());
        }
        MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
        path_ = name.data();
    }
    SharedDirectory(const SharedDirectory&) = delete;
    SharedDirectory& operator=(const SharedDirectory&) = delete;
    ~SharedDirectory()
    {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0)
            std::filesystem::remove_all(path_);
    }

    [[nodiscard]] bool is_mine() const { return rank_ == 0; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    int rank_ = 0;
    std::filesystem::path path_;
};

/// The random program of `seed`, simulated, written and read.
Replay simulated(std::uint32_t seed)
{
    const SharedDirectory directory;
    if (directory.is_mine()) {
        const oracle::Program program = oracle::expand(oracle::random_recipe(seed));
        oracle::write_archive(directory.path(), program, {}, oracle::simulate(program, {}));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    Replay loaded;
    loaded.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(loaded.comm, &loaded.rank);
    MPI_Comm_size(loaded.comm, &loaded.size);
    replayer::load::load(directory.path() / "traces.otf2", loaded);
    return loaded;
}

void expect_same_result(const Replay& loaded)
{
    const Replayed bulk = replay(loaded);
    const Replayed literal = replay(loaded, knows_nothing, replayer::literal_engine);
    EXPECT_EQ(text(literal.profile), text(bulk.profile));
    EXPECT_TRUE(same_bytes(literal.segments, bulk.segments));
    EXPECT_TRUE(same_bytes(literal.attributions, bulk.attributions));
    EXPECT_TRUE(same_bytes(literal.counts, bulk.counts));
    EXPECT_TRUE(same_bytes(literal.totals, bulk.totals));
    EXPECT_TRUE(same_bytes(literal.computed, bulk.computed));
}

/// And what really happened never lets the replay stand still: that is the proof in messages.hpp.
TEST(Engines, AgreeOnSimulatedPrograms)
{
    for (std::uint32_t seed = 1; seed <= programs; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        Replay loaded = simulated(seed);
        for (const Rules rules : {Rules::Arrival, Rules::Enter}) {
            loaded.rules = rules;
            expect_same_result(loaded);
        }
        replayer::rules::Calibration calibration;
        calibration.calls = replayer::calibrate_calls(loaded);
        const auto messages = replayer::literal::replay_messages(loaded, calibration, {.receives = 0});
        EXPECT_EQ(messages.standstills, 0U);
    }
}

/// Forgets what began at `end` or later.
void end_early(model::ProcessTrace& trace, model::Ns end)
{
    const auto keep = [&](auto& operations, auto begin) {
        std::vector<std::uint32_t> kept;
        for (std::uint32_t i = 0; i < operations.size(); ++i)
            if (replayer::enter_of(trace, begin(operations[i])).time < end)
                kept.push_back(i);
        operations.select(kept);
    };
    keep(trace.sends, [](const model::Send& send) { return send.post; });
    keep(trace.receives, [](const model::Receive& receive) { return receive.post; });
    keep(trace.collectives, [](const model::CollectiveCall& call) { return call.begin(); });
    trace.probes.clear();
}

/// Each process ends at a moment of its own, so that messages and collectives lack partners on all sides.
TEST(Engines, AgreeOnRecordingsThatEndAnywhere)
{
    for (std::uint32_t seed = 1; seed <= programs; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        Replay loaded = simulated(seed);
        for (model::ProcessTrace& trace : loaded.processes) {
            const model::LocationTrace& first = trace.locations.front();
            const std::int64_t part = 3 + (seed + 5 * trace.process.value) % 7;  // of tenths
            end_early(trace, first.begin + (first.end - first.begin) * part / 10);
        }
        expect_same_result(loaded);
    }
}

/// Rows and columns of a square, each rank first in its row or first in its column, and two halves that talk; all of
/// them made by their members. And a file that is written in two steps.
TEST(Engines, AgreeOnCommunicatorsThatOverlap)
{
    Program p(4);
    const model::CommId rows[] = {p.comm({0, 1}), p.comm({2, 3})};
    const model::CommId columns[] = {p.comm({0, 2}), p.comm({1, 3})};
    const model::CommId halves = p.intercomm({0, 1}, {2, 3});
    for (int r = 0; r < 4; ++r) {
        const bool row_first = r == 0 || r == 3;
        p[r].collective(FunctionId::MPI_Comm_create_group, {9 * ((3 * r + 1) % 4), 30}, rows[r / 2]);
        p[r].collective(FunctionId::MPI_Comm_create_group, {31 + 3 * ((r + 1) % 4), 50}, columns[r % 2]);
        p[r].collective(FunctionId::MPI_Intercomm_create, {51 + 7 * ((r + 2) % 4), 80}, halves);
        const Request file = p[r].split_begin(FunctionId::MPI_File_write_all_begin, {81 + r, 85});
        p[r].split_end(FunctionId::MPI_File_write_all_end, {86 + 2 * ((r + 3) % 4), 95}, file);
        for (int i = 1; i <= 20; ++i) {
            const int time = 100 * i + 7 * ((r + i) % 4);
            const int end = 100 * i + 30;
            const model::CommId row = rows[r / 2], column = columns[r % 2];
            p[r].collective(FunctionId::MPI_Allreduce, {time, end}, row_first ? row : column);
            p[r].rooted(FunctionId::MPI_Bcast, {end + 1, end + 2 + r}, i % 4);
            p[r].collective(FunctionId::MPI_Barrier, {end + 10, end + 20}, row_first ? column : row);
            p[r].collective(FunctionId::MPI_Barrier, {end + 21 + r, end + 30}, halves);
        }
    }
    p.finish(5000);
    expect_same_result(load(p, MPI_COMM_WORLD, Rules::Arrival));
}

/// A damaged trace: rank 2 takes part in collectives of a communicator that does not list it.
TEST(Engines, AgreeOnWhoIsNotAMember)
{
    Program p(3);
    const model::CommId pair = p.comm({0, 1});
    p[0].collective(FunctionId::MPI_Barrier, {10, 102}, pair);
    p[1].collective(FunctionId::MPI_Barrier, {90, 102}, pair);
    p[2].collective(FunctionId::MPI_Barrier, {100, 102}, pair);
    p[0].finish(200);
    p.finish(150);
    const Replayed alone = replay_alone(p, Rules::Arrival);
    EXPECT_EQ(alone.path(), "compute 1: 0-90 | collective 1>0: 90-102 | compute 0: 102-200");
    const Replay loaded = load(p, MPI_COMM_WORLD, Rules::Arrival);
    expect_same_result(loaded);
    const Replayed together = replay(loaded);
    EXPECT_EQ(loaded.rank == 0 ? together.path() : alone.path(), alone.path());
}

TEST(Engines, AgreeOnNothing)
{
    Program p(1);
    expect_same_result(load(p, MPI_COMM_WORLD, Rules::Arrival));
}

}  // namespace
}  // namespace critpath::tests
