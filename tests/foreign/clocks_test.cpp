// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Clocks of any resolution, that began to run at any time.
#include "formats/support/error.hpp"
#include "tests/foreign/foreign.hpp"

namespace critpath::test
{
namespace
{

constexpr std::uint64_t resolutions[] = {
    1,              // seconds
    7,              // a prime, coarser than any event
    1'000'000,      // gettimeofday
    999'999'937,    // a prime, slower than a tick a ns
    1'000'000'000,  // the identity
    2'400'000'000,  // a time stamp counter,
    2'600'022'260,  // as measured,
    4'999'999'999,  // a prime, faster
};

/// Whole seconds and the rest apart, so that nothing is rounded twice and nothing overflows.
std::int64_t exact_ns(std::uint64_t ticks, std::uint64_t resolution)
{
    constexpr std::uint64_t ns_per_second = 1'000'000'000;
    return static_cast<std::int64_t>(ticks / resolution * ns_per_second +
                                     ticks % resolution * ns_per_second / resolution);
}

TEST_F(Foreign, ClocksOfAnyResolutionFarFromZero)
{
    for (const std::uint64_t resolution : resolutions) {
        // The last is 28 years; 5e9 ticks a second are then near 2^62, behind which times are refused.
        for (const std::uint64_t start : {std::uint64_t{0}, resolution * 86'400 * 365, resolution * 900'000'000}) {
            const std::uint64_t third = start + 1 + resolution / 3;
            const std::uint64_t ticks[] = {
                start, start + 1, third, third + 1, start + 2 + resolution, start + 3 + 3 * resolution};
            Scratch scratch;
            TinyTrace trace(scratch.path() / "trace", 1, resolution, start);
            for (std::size_t i = 0; i < std::size(ticks); i += 2) {
                trace.thread(0).enter(ticks[i], "MPI_Barrier").leave(ticks[i + 1], "MPI_Barrier");
            }
            trace.close();
            replayer::Replay loaded;
            replayer::load::load(trace.anchor(), loaded);
            const auto& calls = loaded.processes[0].locations[0].calls;
            ASSERT_EQ(calls.size(), std::size(ticks) / 2);
            for (std::size_t i = 0; i < calls.size(); ++i) {
                EXPECT_EQ(calls.enter(i).count(), exact_ns(ticks[2 * i], resolution)) << resolution;
                EXPECT_EQ(calls.leave(i).count(), exact_ns(ticks[2 * i + 1], resolution)) << resolution;
            }
            EXPECT_EQ(loaded.definitions.begin.count(), exact_ns(start, resolution));
        }
    }
}

/// A late sender, in ticks of 1/`resolution` s.
void write_late_sender(TinyTrace& t, std::uint64_t start, std::uint64_t unit)
{
    const auto at = [&](std::uint64_t time) { return start + time * unit; };
    for (std::uint64_t i = 0; i < 3; ++i) {
        const std::uint64_t b = 100 * i;
        t.thread(0).enter(at(b + 50), "MPI_Send").send(at(b + 50), "world", 1, 0, 8).leave(at(b + 51), "MPI_Send");
        t.thread(1).enter(at(b + 10), "MPI_Recv").recv(at(b + 52), "world", 0, 0, 8).leave(at(b + 52), "MPI_Recv");
    }
    for (std::uint32_t r = 0; r < 2; ++r) {
        t.thread(r).enter(at(300 + r), "MPI_Finalize").leave(at(310), "MPI_Finalize");
    }
}

TEST_F(Foreign, ThePathDoesNotDependOnTheResolution)
{
    for (const std::uint64_t resolution : {1ULL, 1'000'000ULL, 2'400'000'000ULL, 4'000'000'000ULL}) {
        const std::uint64_t unit = resolution == 1 ? 1 : resolution / 1'000'000;  // s, or us
        const std::int64_t ns = resolution == 1 ? 1'000'000'000 : 1000;
        Scratch scratch;
        TinyTrace trace(scratch.path() / "trace", 2, resolution);
        trace.thread(0);
        trace.thread(1);
        write_late_sender(trace, resolution * 1'000'000'000, unit);
        trace.close();
        replayer::Replay loaded;
        loaded.comm = MPI_COMM_SELF;
        replayer::load::load(trace.anchor(), loaded);
        const tests::Replayed r = tests::replay(loaded);
        // From the first enter (10): rank 0 is not there yet, it begins at 50 and carries the path from then on.
        std::vector<std::tuple<std::int64_t, std::int64_t, int>> compute;
        for (const model::Segment& s : r.segments) {
            if (s.kind == static_cast<std::uint8_t>(model::SegmentKind::Compute)) {
                compute.emplace_back(s.begin / ns, s.end / ns, s.location);
            }
        }
        using Piece = std::tuple<std::int64_t, std::int64_t, int>;
        EXPECT_THAT(compute, testing::ElementsAre(Piece(41, 140, 0), Piece(141, 240, 0), Piece(242, 291, 1)))
            << resolution << ": " << r.path();
        EXPECT_EQ(r.fact("begin_ns"), exact_ns(resolution * 1'000'000'000 + 10 * unit, resolution));
    }
}

TEST_F(Foreign, AClockBeyondAnyTimeIsRefused)
{
    for (const auto& [resolution, start] : {std::pair{std::uint64_t{1}, std::uint64_t{10'000'000'000}},
                                            std::pair{std::uint64_t{5'000'000'000}, std::uint64_t{1} << 63}}) {
        Scratch scratch;
        TinyTrace trace(scratch.path() / "trace", 1, resolution, start);
        trace.thread(0).enter(start, "MPI_Barrier").leave(start, "MPI_Barrier");
        trace.close();
        replayer::Replay loaded;
        try {
            replayer::load::load(trace.anchor(), loaded);
            FAIL() << resolution;
        } catch (const Failure& failure) {
            EXPECT_THAT(failure.what(), testing::HasSubstr("292 years")) << resolution;
        }
    }
}

}  // namespace
}  // namespace critpath::test
