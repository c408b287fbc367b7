// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/support/error.hpp"
#include "replayer/restore/blocks.hpp"
#include "replayer/restore/walk.hpp"
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <random>
#include <vector>

namespace critpath::tests
{
namespace
{

using model::Ns;
using replayer::Jump;
using replayer::LocationSpan;
using replayer::Piece;

TEST(Restore, StartDelayIsWhatPassesBeforeTheFirstEventOfThePathsFirstLocation)
{
    Program p(2);
    p[0].begin(0);
    p[1].begin(15);
    p[1].finish(100);
    p[0].finish(90);
    EXPECT_EQ(path(p), "start delay 1: 0-15 | compute 1: 15-100");
}

TEST(Restore, TimesCountFromTheFirstMomentOfTheRun)
{
    Program p(2);
    p[0].begin(1000);
    p[1].begin(1010);
    p[0].send({1050, 1051}, 1);
    p[1].recv({1020, 1053}, 0);
    p.finish(1080);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-80");
    EXPECT_EQ(r.fact("begin_ns"), 1'000'000);
    EXPECT_EQ(r.fact("makespan_ns"), 80'000);
    EXPECT_EQ(r.fact("path_ns"), 80'000);
    EXPECT_EQ(r.fact("hops"), 1);
}

TEST(Restore, EndIsTheLastApplicationEventAndTiesGoToTheLargerRank)
{
    Program p(3);
    p[0].finish(50);
    p[1].finish(60);
    p[2].finish(60);
    EXPECT_EQ(path(p), "compute 2: 0-60");
}

TEST(Restore, ToolTimeIsCarvedOutOfTheSegments)
{
    Program p(1);
    p[0].call(FunctionId::MPI_Isend, {20, 30});
    p[0].tool({5, 8});
    p[0].tool({18, 22});
    p.finish(50);
    EXPECT_EQ(path(p), "compute 0: 0-5 | tool 0: 5-8 | compute 0: 8-18 | tool 0: 18-22 | mpi 0: 22-30 | "
                       "compute 0: 30-50");
}

TEST(Restore, WhatTheUserSwitchedOffIsNeitherWorkNorToolTime)
{
    Program p(1);
    p[0].call(FunctionId::MPI_Isend, {20, 30});
    p[0].tool({3, 5});
    p[0].switched_off({10, 25});
    p[0].tool({12, 13});
    p.finish(50);
    EXPECT_EQ(path(p), "compute 0: 0-3 | tool 0: 3-5 | compute 0: 5-10 | not recorded 0: 10-25 | "
                       "mpi 0: 25-30 | compute 0: 30-50");
}

TEST(Restore, TraceOfARankThatStoppedEarly)
{
    Program p(2);
    p[0].send({10, 11}, 1);
    p[1].recv({5, 13}, 0);
    p[1].recv({20, 90}, 0);  // open when the recording ended: closed there, without a message
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-10 | transfer 0>1: 10-13 | compute 1: 13-20 | delay? 1: 20-90");
    EXPECT_EQ(r.fact("unmatched_receives"), 1);
}

TEST(Restore, AProgramWithoutMpiIsOneSegment)
{
    Program p(1);
    p.finish(50);
    EXPECT_EQ(path(p), "compute 0: 0-50");
}

// ------------------------------------------------------------------------------------------------- the walk

Jump jump(std::uint32_t location, std::uint32_t call, int leave, std::uint32_t to, std::uint32_t to_call, int enter)
{
    return {{{location}, {call}}, Ns{leave}, {{to}, {to_call}}, Ns{enter}};
}

struct Walk {
    std::vector<Piece> pieces;
    std::uint64_t hops;
    std::uint64_t clock_violations;
};

/// `jumps`: at most one of each location.
Walk walk(std::span<const LocationSpan> spans, std::span<const Jump> jumps)
{
    std::vector<replayer::ArrivedJumps> arrived(spans.size());
    replayer::JumpsByLocation by_location(spans.size());
    for (const Jump& j : jumps) {
        replayer::ArrivedJumps& here = arrived[j.call.location.value];
        here = replayer::ArrivedJumps(1);
        here.push_back(j);
        by_location[j.call.location.value] = replayer::JumpList(here);
    }
    replayer::Walker walker(spans, by_location);
    replayer::Position position = replayer::start_of_walk(replayer::find_ends(spans));
    while (walker.step(position)) {
    }
    return {std::move(walker.pieces), position.hops, position.clock_violations};
}

std::int64_t sum(const Walk& walk)
{
    std::int64_t ns = 0;
    for (const Piece& piece : walk.pieces)
        ns += piece.end - piece.begin;
    return ns;
}

TEST(Walk, WalksBackFromTheLastLocation)
{
    const LocationSpan spans[] = {{Ns{0}, Ns{90}, {0}, false}, {Ns{5}, Ns{100}, {1}, false}};
    const Jump jumps[] = {jump(1, 3, 60, 0, 2, 50)};
    const auto walked = walk(spans, jumps);
    ASSERT_EQ(walked.pieces.size(), 2U);
    EXPECT_EQ(walked.pieces[0].location, 1U);
    EXPECT_EQ(walked.pieces[0].lead, 0U);
    EXPECT_EQ(walked.pieces[0].first_call, 4U);
    EXPECT_EQ(walked.pieces[0].stretch, 60);
    EXPECT_EQ(walked.pieces[0].begin, 50);
    EXPECT_EQ(walked.pieces[1].location, 0U);
    EXPECT_EQ(walked.pieces[1].end_call, 2U);
    EXPECT_EQ(walked.pieces[1].end, 50);
    EXPECT_EQ(walked.pieces[1].lead, Piece::start_delay);
    EXPECT_EQ(sum(walked), 100);
    EXPECT_EQ(walked.hops, 1U);
}

// Matching that contradicts itself could lead in a circle; no jump is taken twice.
TEST(Walk, ACircleOfJumpsEnds)
{
    const LocationSpan spans[] = {{Ns{0}, Ns{90}, {0}, false}, {Ns{0}, Ns{100}, {1}, false}};
    const Jump jumps[] = {jump(0, 1, 60, 1, 3, 70), jump(1, 2, 60, 0, 2, 70)};
    const auto walked = walk(spans, jumps);
    EXPECT_EQ(sum(walked), 100);
    EXPECT_EQ(walked.clock_violations, 2U);
}

// A thread that has no event before goes on at the main thread of its process.
TEST(Walk, AThreadBeginsInItsProcess)
{
    const LocationSpan spans[] = {
        {Ns{0}, Ns{90}, {0}, false}, {Ns{40}, Ns{80}, {0}, false}, {Ns{0}, Ns{100}, {2}, false}};
    const Jump jumps[] = {jump(0, 0, 20, 2, 1, 10), jump(2, 5, 70, 1, 3, 60)};
    const auto walked = walk(spans, jumps);
    std::vector<std::uint32_t> locations;
    for (const Piece& piece : walked.pieces)
        locations.push_back(piece.location);
    EXPECT_EQ(locations, (std::vector<std::uint32_t>{2, 1, 0, 2}));
    EXPECT_EQ(sum(walked), 100);
}

TEST(Walk, NothingRecordedHasNoEnd)
{
    EXPECT_FALSE(replayer::find_ends({}).last.valid());
    const LocationSpan nothing;
    EXPECT_FALSE(replayer::find_ends(std::span(&nothing, 1)).last.valid());
}

// Whatever the walk finds: the segments must be one chain.
TEST(NumberSegments, RefusesAChainWithAHole)
{
    replayer::Replay replay;
    replay.comm = MPI_COMM_SELF;
    replayer::Path path;
    path.begin = Ns{1000};
    path.makespan = Ns{100};
    const auto piece = [](std::int64_t begin, std::int64_t end) { return Piece{begin, begin, end, 0, 0, 0, 0}; };
    path.pieces = replayer::Pieces({piece(1000, 1040), piece(1040, 1100)});
    replayer::CutPieces cut(path);
    cut.segments = {3, 7};
    EXPECT_EQ(number_segments(replay, path, cut).segments, 10U);
    EXPECT_EQ(number_segments(replay, path, cut).first, (std::vector<std::uint64_t>{0, 3}));
    cut.are_whole = false;
    EXPECT_THROW(number_segments(replay, path, cut), Failure);
    cut.are_whole = true;
    path.pieces = replayer::Pieces({piece(1000, 1040), piece(1050, 1100)});
    EXPECT_THROW(number_segments(replay, path, cut), Failure);
    path.pieces = replayer::Pieces({piece(1000, 1040)});
    cut.segments = {3};
    EXPECT_THROW(number_segments(replay, path, cut), Failure);
}

// More pieces than travel at a time, some of which are nothing, in parts of the run that few processes have.
TEST(NumberSegments, CountsThoseOfAllProcesses)
{
    replayer::Replay replay;
    replay.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(replay.comm, &replay.rank);
    MPI_Comm_size(replay.comm, &replay.size);
    std::mt19937 random(1);
    replayer::Path path;
    path.begin = Ns{5000};
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> first;
    std::int64_t end = 5000;
    std::uint64_t segments = 0;
    for (int i = 0; i < 120'000; ++i) {
        const bool is_alone = i / 40'000 == 1;  // one process has all of these
        const auto owner = static_cast<int>(is_alone ? 0 : random() % static_cast<unsigned>(replay.size));
        const auto ns = static_cast<std::int64_t>(random() % (is_alone ? 2 : 1'000));
        const std::uint64_t here = ns == 0 ? 0 : 1 + random() % 3;
        if (owner == replay.rank) {
            path.pieces.push_back({end, end, end + ns, 0, 0, 0, 0});
            counts.push_back(here);
            first.push_back(ns == 0 ? 0 : segments);
        }
        segments += here;
        end += ns;
    }
    path.makespan = Ns{end - 5000};
    replayer::CutPieces cut(path);
    cut.segments = counts;
    const replayer::Numbers numbers = number_segments(replay, path, cut);
    EXPECT_EQ(numbers.segments, segments);
    EXPECT_EQ(numbers.first, first);
    path.makespan += Ns{1};
    EXPECT_THROW(number_segments(replay, path, cut), Failure);
}

// Pieces of no length have no segments; all others must have theirs.
TEST(CutCounter, FindsAPieceThatIsNotWhole)
{
    replayer::Path path;
    const auto piece = [](std::int64_t begin, std::int64_t end) { return Piece{begin, begin, end, 0, 0, 0, 0}; };
    path.pieces = replayer::Pieces({piece(0, 10), piece(10, 10), piece(10, 30), piece(30, 35)});
    const auto segments = [](std::int64_t begin, std::int64_t middle, std::int64_t end) {
        std::vector<model::Segment> both(2);
        both[0].begin = begin;
        both[0].end = both[1].begin = middle;
        both[1].end = end;
        return both;
    };
    const auto count = [&](std::int64_t middle, std::int64_t end, bool has_last) {
        replayer::CutCounter counter(path);
        counter.add({0, segments(0, 4, 10)});
        counter.add({2, segments(10, 12, middle)});  // in two parts
        counter.add({2, segments(20, 25, end)});
        if (has_last)
            counter.add({3, segments(30, 34, 35)});
        return counter.take();
    };
    EXPECT_TRUE(count(20, 30, true).are_whole);
    EXPECT_EQ(count(20, 30, true).segments, (std::vector<std::uint64_t>{2, 0, 4, 2}));
    EXPECT_FALSE(count(19, 30, true).are_whole);
    EXPECT_FALSE(count(20, 31, true).are_whole);
    EXPECT_FALSE(count(20, 30, false).are_whole);
}

}  // namespace
}  // namespace critpath::tests
