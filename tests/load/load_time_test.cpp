// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Clocks, samples, and what was not measured, as they are loaded.
#include "tests/load/load_fixture.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace critpath::test
{
namespace
{

using namespace model;
using replayer::Replay;
using testing::ElementsAre;

std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const std::vector<model::Interval>& intervals)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    for (const auto& interval : intervals) {
        result.emplace_back(interval.begin.count(), interval.end.count());
    }
    return result;
}

/// A run in which rank 1 has a clock of its own; `local` is what that shows.
void write_two_clocks(TinyTrace& t, const std::function<std::uint64_t(std::uint64_t)>& local)
{
    t.thread(0);
    t.thread(1);
    t.thread(1, 1);
    for (std::uint64_t i = 1; i <= 20; ++i) {
        const std::uint64_t time = i * 1'000'000'000;
        t.thread(0).enter(time, "MPI_Send").send(time, "world", 1, 7, 800).leave(time + 300, "MPI_Send");
        t.thread(1).enter(local(time - 900), "MPI_Recv").recv(local(time + 500), "world", 0, 7, 800);
        t.thread(1).leave(local(time + 500), "MPI_Recv");
        t.thread(1, 1).flush(local(time), local(time + 100));
    }
}

TEST_F(Load, ClocksWithOffsetAndDriftBecomeOne)
{
    const auto local = [](std::uint64_t t) { return t + 1'000'000'000'000 + t * 37 / 1'000'000; };
    const auto& one = load(2, [](TinyTrace& t) { write_two_clocks(t, [](std::uint64_t time) { return time; }); });
    const Replay truth = one;
    Scratch scratch;
    TinyTrace trace(scratch.path() / "trace", 2);
    write_two_clocks(trace, local);
    for (const std::uint64_t time : {std::uint64_t{2'000'000'000}, std::uint64_t{20'000'000'000}}) {
        const auto offset = static_cast<std::int64_t>(time) - static_cast<std::int64_t>(local(time));
        trace.clock_offset(1, local(time), offset, 2);
        trace.clock_offset(0, time, 0, 0);
    }
    trace.close();
    Replay corrected;
    replayer::load::load(trace.anchor(), corrected);
    ASSERT_EQ(corrected.processes.size(), truth.processes.size());
    const auto near = [](const std::vector<Ns>& a, const std::vector<Ns>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_NEAR(static_cast<double>((a[i] - b[i]).count()), 0, 1) << i;
        }
    };
    for (std::size_t p = 0; p < 2; ++p) {
        near(truth.processes[p].locations[0].calls.enters(), corrected.processes[p].locations[0].calls.enters());
        near(leaves(truth.processes[p].locations[0].calls), leaves(corrected.processes[p].locations[0].calls));
    }
    const auto& tool = corrected.processes[1].locations[1].tool;
    ASSERT_EQ(tool.size(), 20U);
    EXPECT_NEAR(static_cast<double>((tool[4].begin - truth.processes[1].locations[1].tool[4].begin).count()), 0, 1);
    EXPECT_NEAR(static_cast<double>((tool[4].end - tool[4].begin).count()), 100, 1);
    EXPECT_EQ(corrected.processes[0].clock_uncertainty, Ns{9});  // nothing but wander: 1e-9 of 9 s
    ASSERT_TRUE(corrected.processes[1].clock_uncertainty.has_value());
    EXPECT_NEAR(static_cast<double>(corrected.processes[1].clock_uncertainty->count()), 2 + 9, 1);
    EXPECT_FALSE(truth.processes[1].clock_uncertainty.has_value());
}

TEST_F(Load, ClockOffsetsAreInTicks)
{
    const auto& replay = load(
        1,
        [](TinyTrace& t) {
            t.thread(0).enter(10, "MPI_Barrier").leave(20, "MPI_Barrier");
            t.clock_offset(0, 0, -12, 3);
        },
        1'000'000);
    EXPECT_THAT(ns(replay.processes[0].locations[0].calls.enters()), ElementsAre(-2000));
    EXPECT_THAT(ns(leaves(replay.processes[0].locations[0].calls)), ElementsAre(8000));
}

TEST_F(Load, ClockDomainsAreThoseOfTheTrace)
{
    const auto& replay = load(3, [](TinyTrace& t) {
        for (std::uint32_t r = 0; r < 3; ++r) {
            t.thread(r);
        }
        t.process_property(0, "critpath.boot_id", "first");
        t.process_property(1, "critpath.boot_id", "second");
        t.process_property(2, "critpath.boot_id", "first");
        t.process_property(0, "critpath.command", "./app -n 4");
        t.process_property(2, "critpath.host", "elsewhere");
    });
    const auto& processes = replay.definitions.processes;
    EXPECT_EQ(processes[0].clock_domain, processes[2].clock_domain);
    EXPECT_NE(processes[0].clock_domain, processes[1].clock_domain);
    EXPECT_EQ(processes[2].node, "elsewhere");
    EXPECT_EQ(replay.definitions.command, "./app -n 4");
}

TEST_F(Load, TicksBecomeNanosecondsWithoutChangingTheOrder)
{
    // 2.6 ticks a ns, far from zero, so that a product of 64 bits would overflow.
    constexpr std::uint64_t start = 9'524'560'098'069'000;
    const auto& replay = load(
        1,
        [&](TinyTrace& t) {
            t.thread(0);
            t.thread(0).enter(start, "MPI_Barrier").leave(start + 1, "MPI_Barrier");
            t.thread(0).enter(start + 26, "MPI_Barrier").leave(start + 2600, "MPI_Barrier");
        },
        2'600'000'000);
    const auto& calls = replay.processes[0].locations[0].calls;
    constexpr std::int64_t start_ns = 3'663'292'345'411'153;  // start * 10 / 26
    EXPECT_THAT(ns(calls.enters()), ElementsAre(start_ns, start_ns + 10));
    EXPECT_THAT(ns(leaves(calls)), ElementsAre(start_ns + 1, start_ns + 1000));
}

TEST_F(Load, SamplesWeighTheirPeriodInTime)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.generator("cpu-clock", OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -6, 1000);
        t.paradigm("kernel_loop", OTF2_PARADIGM_SAMPLING);
        t.paradigm("MPI_Send", OTF2_PARADIGM_SAMPLING);  // a sampled function, not a call
        t.thread(0).sample(10, "kernel_loop", 0x1234).sample(20, "MPI_Send", 0x99, 7);
    });
    const auto& samples = replay.processes[0].locations[0].samples;
    ASSERT_EQ(samples.size(), 2);
    EXPECT_EQ(samples[0].weight, 1'000'000);
    EXPECT_EQ(samples[0].offset, 0x1234);
    EXPECT_EQ(samples[1].weight, 7'000);
    const auto& context = replay.definitions.contexts[samples[0].context.value];
    const auto& region = replay.definitions.regions[context.region.value];
    EXPECT_EQ(region.name, "kernel_loop");
    EXPECT_EQ(region.module, "/bin/app");
    EXPECT_EQ(region.role, RegionRole::Sampled);
    EXPECT_TRUE(replay.definitions.has_samples);
    EXPECT_EQ(replay.definitions.event, "cpu-clock");
    EXPECT_EQ(replay.definitions.period, 1'000'000);
    EXPECT_EQ(replay.definitions.period_unit, "ns");
}

// What is damaged may say anything; sums of it must not overflow.
constexpr std::int64_t longest_sample = std::int64_t{1} << 40;

void write_huge_samples(TinyTrace& t, OTF2_InterruptGeneratorMode mode, std::int64_t exponent)
{
    t.thread(0);
    t.generator("g", mode, OTF2_BASE_DECIMAL, exponent, 1);
    t.location_property(0, "critpath.ns_per_count", 1e300);
    t.thread(0).sample(10, "f", 0, std::uint64_t{1} << 63).sample(20, "f", 0, std::uint64_t{1} << 62);
}

TEST_F(Load, APeriodIsMinutesAtMost)
{
    const auto& replay = load(1, [](TinyTrace& t) { write_huge_samples(t, OTF2_INTERRUPT_GENERATOR_MODE_TIME, -9); });
    const auto& samples = replay.processes[0].locations[0].samples;
    EXPECT_EQ(samples[0].weight, 0) << "2^63 periods are no number of periods";
    EXPECT_EQ(samples[1].weight, longest_sample);
}

TEST_F(Load, ACountOfEventsIsMinutesAtMost)
{
    const auto& replay = load(1, [](TinyTrace& t) { write_huge_samples(t, OTF2_INTERRUPT_GENERATOR_MODE_COUNT, 0); });
    EXPECT_EQ(replay.processes[0].locations[0].samples[1].weight, longest_sample);
}

TEST_F(Load, SamplesOfEventsUseTheirDuration)
{
    const auto& replay = load(2, [](TinyTrace& t) {
        t.thread(0);
        t.thread(1);
        t.generator("cycles", OTF2_INTERRUPT_GENERATOR_MODE_COUNT, OTF2_BASE_DECIMAL, 0, 3000);
        t.paradigm("f", OTF2_PARADIGM_SAMPLING);
        t.location_property(0, "critpath.ns_per_count", 0.5);
        t.thread(0).sample(10, "f", 0).sample(20, "f", 0);
        t.thread(1).sample(0, "f", 0).sample(1000, "f", 0).sample(2000, "f", 0);  // nothing said: 3000 counts a 1000 ns
    });
    EXPECT_EQ(replay.processes[0].locations[0].samples[1].weight, 1500);
    EXPECT_EQ(replay.processes[1].locations[0].samples[1].weight, 1000);
    EXPECT_EQ(replay.definitions.period, 3000);
    EXPECT_EQ(replay.definitions.period_unit, "count");
}

TEST_F(Load, ToolTimeAndUnknownRecords)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.location_property(0, "critpath.lost_records", std::uint64_t{5});
        t.location_property(0, "critpath.unresolved_records", std::uint64_t{2});
        t.location_property(0, "critpath.foreign_operations", std::uint64_t{3});
        t.location_property(0, "critpath.lost_samples", std::uint64_t{6});
        t.location_property(0, "critpath.stopped_timers", std::uint64_t{1});
        t.location_property(0, "critpath.thread_name", std::string("solver"));
        t.thread(0).task_create(5).flush(10, 25).measurement(30, false).measurement(45, true).measurement(60, false);
        t.thread(0).enter(70, "MPI_Barrier").leave(80, "MPI_Barrier");
    });
    const auto& process = replay.processes[0];
    EXPECT_THAT(pairs(process.locations[0].tool), ElementsAre(std::pair(10, 25), std::pair(30, 45), std::pair(60, 80)));
    EXPECT_EQ(process.locations[0].begin.count(), 5);
    EXPECT_EQ(process.anomalies.ignored_thread_records, 1);
    EXPECT_EQ(process.anomalies.ignored_records, 0);
    EXPECT_EQ(process.anomalies.lost_records, 5);
    EXPECT_EQ(process.anomalies.unresolved_records, 2);
    EXPECT_EQ(process.anomalies.foreign_operations, 3);
    EXPECT_EQ(process.anomalies.lost_samples, 6);
    EXPECT_EQ(process.anomalies.stopped_timers, 1);
    EXPECT_EQ(replay.definitions.locations[0].name, "rank 0 (solver)");
}

TEST_F(Load, WhatWasRefusedIsCountedByRank)
{
    const auto& replay = load(3, [](TinyTrace& t) {
        for (const std::uint32_t rank : {0U, 1U, 2U})
            t.thread(rank).enter(10, "MPI_Barrier").leave(20, "MPI_Barrier");
        t.process_property(0, "critpath.refused_events", "cycles=not supported,perf::X:u=1=not permitted");
        t.process_property(2, "critpath.refused_events", "cycles=not supported,,odd,");
        t.location_property(1, "critpath.no_run_delay", std::uint64_t{1});
    });
    EXPECT_THAT(replay.definitions.refused_events,
                ElementsAre(std::pair(std::pair("cycles", "not supported"), 2),
                            std::pair(std::pair("perf::X:u=1", "not permitted"), 1)));
    EXPECT_EQ(replay.processes[1].anomalies.no_run_delay, 1);
}

TEST_F(Load, FlushEndsBeforeWhatIsRecordedNext)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0).enter(1, "main").flush(10, 1'000'000).enter(20, "MPI_Barrier").leave(30, "MPI_Barrier");
        t.thread(0).flush(40, 50).leave(60, "main");
    });
    const auto& process = replay.processes[0];
    EXPECT_THAT(pairs(process.locations[0].tool), ElementsAre(std::pair(10, 20), std::pair(40, 50)));
    EXPECT_EQ(process.anomalies.clock_violations, 1);
}

TEST_F(Load, WhatWasSkippedLeavesMeasurementAsItWas)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0).enter(1, "MPI_Init").leave(2, "MPI_Init");
        t.thread(0).skipped_sends(10, 3, 0, 7, "world").measurement(10, true);  // on
        t.thread(0).switched_off(10, "user").measurement(15, true).skipped_sends(15, 4, 0, 7, "world");
        t.thread(0).measurement(20, true).skipped_sends(20, 5, 0, 8, "world").measurement(20, true);
        t.thread(0).measurement(30, false).measurement(35, true).skipped_sends(35, 6, 0, 9, "world");
        t.thread(0).measurement(40, true);
    });
    const auto& process = replay.processes[0];
    EXPECT_THAT(pairs(process.locations[0].unrecorded), ElementsAre(std::pair(10, 15), std::pair(15, 20)));
    EXPECT_THAT(pairs(process.locations[0].tool), ElementsAre(std::pair(30, 35), std::pair(35, 40)));
    std::vector<int> counts;
    for (const Skipped& skipped : process.skipped) {
        counts.push_back(skipped.count);
    }
    EXPECT_THAT(counts, ElementsAre(3, 4, 5, 6));
}

TEST_F(Load, WhatTheUserSwitchedOffIsNoToolTime)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0).enter(1, "MPI_Init").leave(2, "MPI_Init").switched_off(10, "user").measurement(20, true);
        t.thread(0).switched_off(30, "another").measurement(40, true).measurement(50, false).measurement(60, true);
        t.thread(0).switched_off(70, "user").enter(80, "MPI_Barrier").leave(90, "MPI_Barrier");
    });
    const auto& location = replay.processes[0].locations[0];
    EXPECT_THAT(pairs(location.unrecorded), ElementsAre(std::pair(10, 20), std::pair(70, 90)));
    EXPECT_THAT(pairs(location.tool), ElementsAre(std::pair(30, 40), std::pair(50, 60)));
}

TEST_F(Load, OtherToolsSwitchOffWhereTheUserDoes)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.define_no_attributes();
        t.thread(0).enter(1, "MPI_Init").leave(2, "MPI_Init").measurement(10, false).measurement(20, true);
        t.thread(0).flush(25, 30).enter(80, "MPI_Barrier").leave(90, "MPI_Barrier");
    });
    const auto& location = replay.processes[0].locations[0];
    EXPECT_THAT(pairs(location.unrecorded), ElementsAre(std::pair(10, 20)));
    EXPECT_THAT(pairs(location.tool), ElementsAre(std::pair(25, 30)));
}

TEST_F(Load, TimeOffTheProcessorIsNoRegionOfTheProgram)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.paradigm("[preempted]", OTF2_PARADIGM_NONE);
        t.paradigm("[blocked]", OTF2_PARADIGM_NONE);
        auto& thread = t.thread(0);
        thread.enter(1, "main").enter(2, "[preempted]").leave(5, "[preempted]");
        thread.enter(10, "MPI_Barrier").enter(12, "[blocked]").leave_on(19, "[blocked]", 7).leave(20, "MPI_Barrier");
        thread.enter(30, "[blocked]");  // the recording ends meanwhile
    });
    const auto& location = replay.processes[0].locations[0];
    using Off = std::tuple<std::int64_t, std::int64_t, bool, bool>;
    std::vector<Off> off;
    for (const auto& o : location.off) {
        off.emplace_back(o.begin.count(), o.end.count(), o.preempted, o.migrated);
    }
    EXPECT_THAT(off, ElementsAre(Off(2, 5, true, false), Off(12, 19, false, true), Off(30, 30, false, false)));
    EXPECT_THAT(ns(location.calls.enters()), ElementsAre(10));
    EXPECT_THAT(ns(leaves(location.calls)), ElementsAre(20));
    EXPECT_EQ(location.user_regions.size(), 1);  // main, which was never left
    EXPECT_EQ(replay.processes[0].anomalies.ignored_records, 0);
}

TEST_F(Load, WhoHasNoProcessorRightBehindBeingBlockedWasWoken)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.paradigm("[preempted]", OTF2_PARADIGM_NONE);
        t.paradigm("[blocked]", OTF2_PARADIGM_NONE);
        auto& thread = t.thread(0);
        thread.enter(1, "[blocked]").leave(5, "[blocked]").enter(5, "[preempted]").leave(7, "[preempted]");
        thread.enter(10, "[preempted]").leave(11, "[preempted]").enter(11, "[preempted]").leave(12, "[preempted]");
        thread.enter(20, "[blocked]").leave(25, "[blocked]").enter(26, "[preempted]").leave(29, "[preempted]");
    });
    const model::LocationTrace& location = replay.processes[0].locations[0];
    std::vector<bool> woken;
    std::vector<std::int64_t> back;
    for (const auto& off : location.off) {
        woken.push_back(off.is_woken);
        back.push_back(back_on_processor(location, off).count());
    }
    EXPECT_THAT(woken, ElementsAre(false, true, false, false, false, false));
    EXPECT_THAT(back, ElementsAre(7, 7, 11, 12, 25, 29));
}

/// A loop may find there what was stored meanwhile. Behind other calls, and where the stop was short, it may not.
TEST_F(Load, WhereAThreadGoesOnBehindALookIsAPoint)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.paradigm("[preempted]", OTF2_PARADIGM_NONE);
        auto& thread = t.thread(0);
        thread.enter(1000, "MPI_Win_sync").leave(2000, "MPI_Win_sync");
        thread.measurement(2000, false).measurement(30'000, true);
        thread.enter(31'000, "[preempted]").leave(60'000, "[preempted]");
        thread.enter(61'000, "[preempted]").leave(62'000, "[preempted]");
        thread.enter(70'000, "MPI_Barrier").leave(71'000, "MPI_Barrier");
        thread.enter(72'000, "[preempted]").leave(99'000, "[preempted]");
    });
    const model::Calls& calls = replay.processes[0].locations[0].calls;
    EXPECT_THAT(ns(calls.enters()), ElementsAre(1000, 30'000, 60'000, 70'000));
    EXPECT_TRUE(calls.is_point(1));
    EXPECT_TRUE(calls.is_point(2));
    EXPECT_FALSE(calls.is_point(3));
}

/// A thread that calls no MPI has points where it went on behind a wait, and looks at no memory of others.
TEST_F(Load, WhereAThreadGoesOnInFrontOfItsFirstCallIsNoLook)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.paradigm("[preempted]", OTF2_PARADIGM_NONE);
        t.paradigm("[blocked]", OTF2_PARADIGM_NONE);
        t.thread(0).enter(1000, "MPI_Barrier").leave(2000, "MPI_Barrier");
        t.thread(0, 1).enter(1000, "[blocked]").leave(50'000, "[blocked]");
        t.thread(0, 1).enter(60'000, "[preempted]").leave(99'000, "[preempted]");
    });
    ASSERT_EQ(replay.processes[0].locations.size(), 2U);
    EXPECT_THAT(ns(replay.processes[0].locations[1].calls.enters()), ElementsAre(50'000));
}

}  // namespace
}  // namespace critpath::test
