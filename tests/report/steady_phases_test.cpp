// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What of a run is neither its start nor its end.
#include "analysis/report/steady_phases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace critpath::report
{
namespace
{

using division::Window;

/// A path of one rank, call by call.
class Program
{
public:
    /// Computes, and then is in the call.
    Program& add(std::int64_t compute_ns, const std::string& call, std::int64_t call_ns)
    {
        segment(model::SegmentKind::Compute, compute_ns);
        const auto known = std::ranges::find_if(profile_.rows, [&](const model::Row& row) { return row.name == call; });
        call_ = static_cast<std::uint32_t>(known - profile_.rows.begin());
        if (known == profile_.rows.end()) {
            profile_.rows.push_back({model::RowKind::Mpi, call, "MPI", "", 0});
            profile_.call_paths.push_back({{call_}, model::CallPathId::none()});
        }
        segment(model::SegmentKind::Mpi, call_ns);
        return *this;
    }
    Program& loop(int rounds, std::int64_t compute_ns, const std::string& call, std::int64_t call_ns)
    {
        for (int i = 0; i < rounds; ++i)
            add(compute_ns, call, call_ns);
        return *this;
    }
    [[nodiscard]] Window steady(std::int64_t phases) const { return steady(phases, 0, now_); }
    [[nodiscard]] Window steady(std::int64_t phases, std::int64_t from, std::int64_t to) const
    {
        std::vector<Window> windows;
        for (std::int64_t i = 0; i < phases; ++i)
            windows.push_back({from + (to - from) * i / phases, from + (to - from) * (i + 1) / phases});
        return steady_part(profile_, segments_, windows);
    }

private:
    void segment(model::SegmentKind kind, std::int64_t ns)
    {
        segments_.push_back({now_, now_ + ns, 0, 0, 0, call_, static_cast<std::uint8_t>(kind), 0, 0});
        now_ += ns;
    }

    model::Profile profile_;
    std::vector<model::Segment> segments_;
    std::uint32_t call_ = model::CallPathId::none().value;
    std::int64_t now_ = 0;
};

void expect_window(const Window& found, std::int64_t begin, std::int64_t end)
{
    EXPECT_EQ(found.begin, begin);
    EXPECT_EQ(found.end, end);
}

/// The program reads its input, with calls of its own, and writes its result.
TEST(SteadyPhases, BeginAndEndWithTheCallsOfMostPhases)
{
    const Program run = Program()
                            .add(10, "MPI_Init", 190)
                            .loop(3, 80, "MPI_Bcast", 20)
                            .loop(100, 4, "MPI_Allreduce", 1)
                            .add(200, "MPI_Finalize", 0);
    expect_window(run.steady(10), 504, 1000);
    EXPECT_TRUE(is_steady({504, 600}, {504, 1000}));
    EXPECT_TRUE(is_steady({500, 600}, {504, 1000}));
    EXPECT_FALSE(is_steady({480, 600}, {504, 1000}));
    EXPECT_FALSE(is_steady({900, 1050}, {504, 1000}));
}

/// Phases without a call of their own are what lies behind the last one.
TEST(SteadyPhases, MayHaveFewerCallsThanPhases)
{
    const Program run = Program().add(10, "MPI_Init", 90).loop(4, 200, "MPI_Allreduce", 25).add(0, "MPI_Finalize", 0);
    expect_window(run.steady(10), 300, 1000);
}

TEST(SteadyPhases, LieBetweenInitAndFinalizeAtLeast)
{
    Program run = Program().add(10, "MPI_Init_thread", 190);
    for (const char* call : {"MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Scan", "MPI_Reduce", "MPI_Alltoall"})
        run.add(90, call, 10);
    run.add(0, "MPI_Finalize", 200);
    expect_window(run.steady(10), 200, 800);
    expect_window(Program().add(1000, "MPI_Finalize", 0).steady(10), 1000, 1000);
    expect_window(Program().steady(0), 0, 0);
}

TEST(SteadyPhases, OfAPartOfTheRunAreAllOfIt)
{
    const Program run = Program().add(10, "MPI_Init", 190).loop(160, 4, "MPI_Allreduce", 1).add(0, "MPI_Finalize", 0);
    expect_window(run.steady(10, 399, 800), 399, 800);
    expect_window(run.steady(10, 0, 602), 204, 600);
}

}  // namespace
}  // namespace critpath::report
