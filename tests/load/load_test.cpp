// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/load.hpp"
#include "tests/load/tiny_trace.hpp"
#include "tests/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace critpath::test
{
namespace
{

using namespace model;
using functions::FunctionId;
using replayer::Replay;
using ::testing::ElementsAre;

class Load : public ::testing::Test
{
protected:
    /// Writes an archive on `ranks` ranks and loads all of it.
    const Replay& load(std::uint32_t ranks, const std::function<void(TinyTrace&)>& write,
                       std::uint64_t ticks_per_second = 1'000'000'000)
    {
        TinyTrace trace(scratch_.path() / "trace", ranks, ticks_per_second);
        write(trace);
        trace.close();
        replay_ = {};
        replayer::load::load(trace.anchor(), replay_);
        return replay_;
    }

    static FunctionId function(const Replay& replay, const LocationTrace& location, std::size_t call)
    {
        return replay.definitions.regions[location.calls.region(call).value].function;
    }

    Scratch scratch_;
    Replay replay_;
};

std::vector<Ns> leaves(const model::Calls& calls)
{
    std::vector<Ns> result;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        result.push_back(calls.leave(i));
    }
    return result;
}

std::vector<std::int64_t> ns(const std::vector<Ns>& times)
{
    std::vector<std::int64_t> result;
    for (const Ns time : times) {
        result.push_back(time.count());
    }
    return result;
}

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

TEST_F(Load, BlockingMessageGoesFromPostToCompletionOfOneCall)
{
    const auto& replay = load(2, [](TinyTrace& t) {
        t.thread(0);
        t.thread(1);
        t.thread(0).enter(10, "MPI_Ssend").send(10, "world", 1, 7, 800).leave(30, "MPI_Ssend");
        t.thread(1).enter(5, "MPI_Recv").recv(29, "world", 0, 7, 800).leave(31, "MPI_Recv");
    });
    ASSERT_EQ(replay.processes.size(), 2);
    EXPECT_EQ(replay.definitions.processes[1].name, "rank 1");
    EXPECT_EQ(replay.definitions.processes[1].node, "host a");
    const auto& sender = replay.processes[0];
    ASSERT_EQ(sender.sends.size(), 1);
    EXPECT_EQ(sender.sends[0].post, sender.sends[0].completion);
    EXPECT_EQ(sender.sends[0].mode, functions::SendMode::Synchronous);
    EXPECT_EQ(sender.sends[0].dest, 1);
    EXPECT_EQ(sender.sends[0].tag, 7);
    EXPECT_EQ(sender.sends[0].bytes, 800);
    EXPECT_EQ(replay.definitions.communicators[sender.sends[0].comm.value].name, "world");
    EXPECT_EQ(function(replay, sender.locations[0], 0), FunctionId::MPI_Ssend);
    EXPECT_THAT(ns(sender.locations[0].calls.enters()), ElementsAre(10));
    EXPECT_THAT(ns(leaves(sender.locations[0].calls)), ElementsAre(30));

    const auto& receiver = replay.processes[1];
    ASSERT_EQ(receiver.receives.size(), 1);
    EXPECT_EQ(receiver.receives[0].post, (CallRef{receiver.locations[0].location, CallId{0}}));
    EXPECT_EQ(receiver.receives[0].post, receiver.receives[0].completion);
    EXPECT_FALSE(receiver.receives[0].matched.valid());
    EXPECT_EQ(receiver.receives[0].source, 0);
    EXPECT_EQ(receiver.anomalies.ignored_records, 0);
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

TEST_F(Load, WildcardReceivesKeepPostingOrderAndGetTheActualSource)
{
    const auto& replay = load(3, [](TinyTrace& t) {
        for (std::uint32_t r = 0; r < 3; ++r) {
            t.thread(r);
        }
        // The second post completes first.
        t.thread(0).enter(1, "MPI_Irecv").irecv_request(1, 70).leave(2, "MPI_Irecv");
        t.thread(0).enter(3, "MPI_Irecv").irecv_request(3, 71).leave(4, "MPI_Irecv");
        t.thread(0).enter(5, "MPI_Waitany").irecv(9, "world", 2, 4, 16, 71).leave(9, "MPI_Waitany");
        t.thread(0).enter(10, "MPI_Waitany").irecv(19, "world", 1, 4, 8, 70).leave(19, "MPI_Waitany");
    });
    const auto& receives = replay.processes[0].receives;
    ASSERT_EQ(receives.size(), 2);
    EXPECT_EQ(receives[0].source, 1);
    EXPECT_EQ(receives[0].bytes, 8);
    EXPECT_EQ(receives[0].post.call, CallId{0});
    EXPECT_EQ(receives[0].completion.call, CallId{3});
    EXPECT_EQ(receives[1].source, 2);
    EXPECT_EQ(receives[1].post.call, CallId{1});
    EXPECT_EQ(receives[1].completion.call, CallId{2});
}

TEST_F(Load, CancelledAndUnfinishedReceivesAreLeftOut)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.thread(0).enter(1, "MPI_Irecv").irecv_request(1, 1).leave(2, "MPI_Irecv");
        t.thread(0).enter(3, "MPI_Irecv").irecv_request(3, 2).leave(4, "MPI_Irecv");
        t.thread(0).enter(5, "MPI_Irecv").irecv_request(5, 3).leave(6, "MPI_Irecv");
        t.thread(0).enter(7, "MPI_Isend").isend(7, "world", 0, 9, 1, 4).leave(8, "MPI_Isend");
        t.thread(0).enter(9, "MPI_Wait").cancelled(10, 1).leave(10, "MPI_Wait");
        t.thread(0).enter(11, "MPI_Wait").irecv(12, "world", 0, 9, 1, 3).leave(12, "MPI_Wait");
    });
    const auto& process = replay.processes[0];
    ASSERT_EQ(process.receives.size(), 1);
    EXPECT_EQ(process.receives[0].post.call, CallId{2});
    EXPECT_EQ(process.anomalies.cancelled_receives, 1);
    EXPECT_EQ(process.anomalies.unfinished_requests, 2);  // request 2, and the send
    ASSERT_EQ(process.sends.size(), 1);
    EXPECT_FALSE(process.sends[0].completion.valid());
}

TEST_F(Load, ReusedRequestIdsBelongToTheLastPost)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        for (std::uint64_t i = 0; i < 3; ++i) {
            const std::uint64_t at = 100 * i;
            t.thread(0).enter(at, "MPI_Isend").isend(at, "world", 0, 5, i, 7).leave(at + 1, "MPI_Isend");
            if (i != 1) {  // the second is never completed
                t.thread(0).enter(at + 2, "MPI_Wait").isend_complete(at + 3, 7).leave(at + 3, "MPI_Wait");
            }
        }
    });
    const auto& sends = replay.processes[0].sends;
    ASSERT_EQ(sends.size(), 3);
    EXPECT_EQ(sends[0].completion.call, CallId{1});
    EXPECT_FALSE(sends[1].completion.valid());
    EXPECT_EQ(sends[2].completion.call, CallId{4});
    EXPECT_EQ(replay.processes[0].anomalies.unfinished_requests, 1);
}

TEST_F(Load, ManyOpenRequestsWithIdsThatCollide)
{
    constexpr std::uint64_t count = 10'000;
    constexpr std::uint64_t stride = 4096;
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        for (std::uint64_t i = 0; i < count; ++i) {
            t.thread(0).enter(i, "MPI_Irecv").irecv_request(i, i * stride).leave(i, "MPI_Irecv");
        }
        t.thread(0).enter(count, "MPI_Waitall");
        for (std::uint64_t i = count; i-- > 0;) {
            t.thread(0).irecv(count, "world", 0, static_cast<std::uint32_t>(i), i, i * stride);
        }
        t.thread(0).leave(count, "MPI_Waitall");
    });
    const auto& receives = replay.processes[0].receives;
    ASSERT_EQ(receives.size(), count);
    for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_EQ(receives[i].bytes, i);
        ASSERT_EQ(receives[i].post.call, CallId{static_cast<std::uint32_t>(i)});
    }
}

TEST_F(Load, ThreadsShareRequestsAndPostingOrder)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0, 0);
        t.thread(0, 1);
        // Thread 1 posts between the posts of thread 0; each completes what the other posted.
        t.thread(0, 0).enter(10, "MPI_Irecv").irecv_request(10, 1).leave(11, "MPI_Irecv");
        t.thread(0, 0).enter(30, "MPI_Irecv").irecv_request(30, 3).leave(31, "MPI_Irecv");
        t.thread(0, 0).enter(40, "MPI_Wait").irecv(45, "world", 0, 2, 2, 2).leave(45, "MPI_Wait");
        t.thread(0, 1).enter(20, "MPI_Irecv").irecv_request(20, 2).leave(21, "MPI_Irecv");
        t.thread(0, 1).enter(50, "MPI_Waitall").irecv(55, "world", 0, 2, 3, 3);
        t.thread(0, 1).irecv(55, "world", 0, 2, 1, 1).leave(55, "MPI_Waitall");
    });
    const auto& process = replay.processes[0];
    ASSERT_EQ(process.locations.size(), 2);
    const LocationId master = process.locations[0].location;
    const LocationId worker = process.locations[1].location;
    EXPECT_EQ(replay.definitions.locations[master.value].name, "rank 0");
    EXPECT_EQ(replay.definitions.locations[worker.value].name, "rank 0 thread 1");
    ASSERT_EQ(process.receives.size(), 3);
    EXPECT_EQ(process.receives[0].bytes, 1);
    EXPECT_EQ(process.receives[0].completion, (CallRef{worker, CallId{1}}));
    EXPECT_EQ(process.receives[1].bytes, 2);
    EXPECT_EQ(process.receives[1].post, (CallRef{worker, CallId{0}}));
    EXPECT_EQ(process.receives[1].completion, (CallRef{master, CallId{2}}));
    EXPECT_EQ(process.receives[2].bytes, 3);
    EXPECT_EQ(process.anomalies.unfinished_requests, 0);
    EXPECT_EQ(process.anomalies.ignored_records, 0);
}

TEST_F(Load, MatchedProbesJoinTheirReceives)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.thread(0).enter(1, "MPI_Mprobe").leave_mprobe(2, "MPI_Mprobe", 31);
        t.thread(0).enter(3, "MPI_Improbe").leave_mprobe(4, "MPI_Improbe", 32);
        t.thread(0).enter(5, "MPI_Imrecv").irecv_request(5, 9, 32).leave(6, "MPI_Imrecv");
        t.thread(0).enter(7, "MPI_Mrecv").recv(8, "world", 0, 1, 100, 31).leave(8, "MPI_Mrecv");
        t.thread(0).enter(9, "MPI_Wait").irecv(10, "world", 0, 1, 200, 9).leave(10, "MPI_Wait");
    });
    const auto& process = replay.processes[0];
    ASSERT_EQ(process.receives.size(), 2);
    EXPECT_EQ(process.receives[0].matched.call, CallId{1});
    EXPECT_EQ(process.receives[0].bytes, 200);
    EXPECT_EQ(process.receives[1].matched.call, CallId{0});
    EXPECT_TRUE(process.probes.empty());
}

TEST_F(Load, ProbesReferToTheNextReceiveOfTheirChannel)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.thread(0).enter(1, "MPI_Recv").recv(2, "world", 0, 5, 1).leave(2, "MPI_Recv");
        t.thread(0).enter(3, "MPI_Iprobe").leave(3, "MPI_Iprobe");  // found nothing
        t.thread(0).enter(4, "MPI_Probe").leave_probe(5, "MPI_Probe", "world", 0, 5);
        t.thread(0).enter(6, "MPI_Recv").recv(7, "world", 0, 6, 2).leave(7, "MPI_Recv");
        t.thread(0).enter(8, "MPI_Recv").recv(9, "world", 0, 5, 3).leave(9, "MPI_Recv");
        t.thread(0).enter(10, "MPI_Probe").leave_probe(11, "MPI_Probe", "world", 0, 5);
    });
    const auto& probes = replay.processes[0].probes;
    ASSERT_EQ(probes.size(), 2);
    EXPECT_EQ(probes[0].call.call, CallId{2});
    EXPECT_EQ(probes[0].receive, 2);
    EXPECT_EQ(probes[1].receive, static_cast<std::uint32_t>(-1));
}

TEST_F(Load, OnlyTheOutermostMpiRegionIsACall)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.thread(0).enter(1, "main").enter(2, "MPI_Allreduce").enter(3, "MPI_Isend").isend(3, "world", 0, 1, 8, 1);
        t.thread(0).leave(4, "MPI_Isend").enter(5, "reduce").leave(6, "reduce").enter(7, "MPI_Wait");
        t.thread(0).isend_complete(8, 1).leave(8, "MPI_Wait");
        t.thread(0).collective(8, 9, OTF2_COLLECTIVE_OP_ALLREDUCE, "world", OTF2_COLLECTIVE_ROOT_NONE, 8, 8);
        t.thread(0).leave(9, "MPI_Allreduce").leave(10, "main");
    });
    const auto& process = replay.processes[0];
    const auto& location = process.locations[0];
    ASSERT_EQ(location.calls.size(), 1);
    EXPECT_EQ(function(replay, location, 0), FunctionId::MPI_Allreduce);
    ASSERT_EQ(process.sends.size(), 1);
    EXPECT_EQ(process.sends[0].post.call, CallId{0});
    EXPECT_EQ(process.sends[0].completion.call, CallId{0});
    ASSERT_EQ(process.collectives.size(), 1);
    EXPECT_EQ(process.collectives[0].root, -1);
    EXPECT_EQ(process.collectives[0].sent, 8);
    std::vector<std::pair<std::int64_t, std::string>> changes;
    for (const auto& change : location.user_regions) {
        changes.emplace_back(change.time.count(),
                             change.region.valid() ? replay.definitions.regions[change.region.value].name : "");
    }
    EXPECT_THAT(changes,
                ElementsAre(std::pair(1, "main"), std::pair(5, "reduce"), std::pair(6, "main"), std::pair(10, "")));
}

TEST_F(Load, CallsOfUnknownMpiFunctionsStayCalls)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.paradigm("MPI_Not_yet_invented", OTF2_PARADIGM_MPI);
        t.paradigm("MPI_Send", OTF2_PARADIGM_UNKNOWN);  // a known function, whatever the tool says
        t.paradigm("PMPI_progress", OTF2_PARADIGM_COMPILER);
        t.thread(0).enter(1, "MPI_Not_yet_invented").leave(2, "MPI_Not_yet_invented");
        t.thread(0).enter(3, "MPI_Send").leave(4, "MPI_Send");
        t.thread(0).enter(5, "PMPI_progress").leave(6, "PMPI_progress");
    });
    const auto& location = replay.processes[0].locations[0];
    ASSERT_EQ(location.calls.size(), 2);
    EXPECT_EQ(function(replay, location, 0), FunctionId::none);
    EXPECT_EQ(function(replay, location, 1), FunctionId::MPI_Send);
    EXPECT_EQ(location.user_regions.size(), 2);
}

TEST_F(Load, ApplicationEndsWhereFinalizeBegins)
{
    const auto& replay = load(2, [](TinyTrace& t) {
        t.thread(0);
        t.thread(1);
        t.thread(0).enter(1, "MPI_Init").leave(2, "MPI_Init").enter(50, "MPI_Finalize").leave(90, "MPI_Finalize");
        t.thread(1).enter(3, "MPI_Init").leave(4, "MPI_Init").enter(60, "MPI_Barrier");  // died in it
    });
    const auto& finished = replay.processes[0].locations[0];
    EXPECT_TRUE(finished.has_finalize);
    EXPECT_EQ(finished.begin.count(), 1);
    EXPECT_EQ(finished.end.count(), 50);
    const auto& died = replay.processes[1].locations[0];
    EXPECT_FALSE(died.has_finalize);
    EXPECT_EQ(died.end.count(), 60);
    EXPECT_THAT(ns(leaves(died.calls)), ElementsAre(4, 60));
    EXPECT_EQ(replay.processes[1].anomalies.open_calls, 1);
}

TEST_F(Load, SendModesComeFromTheFunctionOrTheRecord)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.thread(0).enter(1, "MPI_Issend").isend(1, "world", 0, 1, 8, 1).leave(2, "MPI_Issend");
        t.thread(0).enter(3, "MPI_Start").isend(3, "world", 0, 1, 8, 2).leave(4, "MPI_Start");
        t.thread(0).enter(5, "MPI_Start").isend(5, "world", 0, 1, 8, 3, 2).leave(6, "MPI_Start");
    });
    const auto& sends = replay.processes[0].sends;
    ASSERT_EQ(sends.size(), 3);
    EXPECT_EQ(sends[0].mode, functions::SendMode::Synchronous);
    EXPECT_EQ(sends[1].mode, functions::SendMode::Standard);
    EXPECT_EQ(sends[2].mode, functions::SendMode::Buffered);
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
        t.location_property(0, "critpath.lost_samples", std::uint64_t{6});
        t.thread(0).thread_begin(5).flush(10, 25).measurement(30, false).measurement(45, true).measurement(60, false);
        t.thread(0).enter(70, "MPI_Barrier").leave(80, "MPI_Barrier");
    });
    const auto& process = replay.processes[0];
    EXPECT_THAT(pairs(process.locations[0].tool), ElementsAre(std::pair(10, 25), std::pair(30, 45), std::pair(60, 80)));
    EXPECT_EQ(process.locations[0].begin.count(), 5);
    EXPECT_EQ(process.anomalies.ignored_thread_records, 1);
    EXPECT_EQ(process.anomalies.ignored_records, 0);
    EXPECT_EQ(process.anomalies.lost_records, 5);
    EXPECT_EQ(process.anomalies.unresolved_records, 2);
    EXPECT_EQ(process.anomalies.lost_samples, 6);
}

TEST_F(Load, RequestsThatAreCompletedTwice)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0).enter(1, "MPI_Isend").isend(1, "world", 0, 7, 8, 5).leave(2, "MPI_Isend");
        t.thread(0).enter(3, "MPI_Irecv").irecv_request(3, 6).leave(4, "MPI_Irecv");
        t.thread(0).enter(5, "MPI_Waitall").isend_complete(6, 5).irecv(6, "world", 0, 7, 8, 6);
        t.thread(0).isend_complete(6, 5).cancelled(6, 6).leave(6, "MPI_Waitall");
    });
    const auto& process = replay.processes[0];
    EXPECT_EQ(process.sends.size(), 1);
    EXPECT_EQ(process.receives.size(), 1);
    EXPECT_EQ(process.anomalies.ignored_records, 2);
    EXPECT_EQ(process.anomalies.unfinished_requests, 0);
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

TEST_F(Load, NonBlockingCollectivesStandWhereTheyWerePosted)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0).enter(1, "MPI_Ibcast").collective_request(1, 7).leave(2, "MPI_Ibcast");
        t.thread(0).enter(3, "MPI_Ibarrier").collective_request(3, 8).leave(4, "MPI_Ibarrier");
        t.thread(0).enter(5, "MPI_Barrier");
        t.thread(0).collective(5, 6, OTF2_COLLECTIVE_OP_BARRIER, "world", OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
        t.thread(0).leave(6, "MPI_Barrier").enter(7, "MPI_Iscan").collective_request(7, 9).leave(8, "MPI_Iscan");
        t.thread(0).enter(9, "MPI_Ireduce").collective_request(9, 10).leave(10, "MPI_Ireduce");
        t.thread(0).enter(11, "MPI_Waitall");
        t.thread(0).collective_complete(12, OTF2_COLLECTIVE_OP_BARRIER, "world", OTF2_COLLECTIVE_ROOT_NONE, 0, 0, 8);
        t.thread(0).collective_complete(12, OTF2_COLLECTIVE_OP_BCAST, "world", 0, 40, 50, 7).leave(12, "MPI_Waitall");
        // By another thread; and one that nobody posted.
        t.thread(0, 1).enter(13, "MPI_Wait");
        t.thread(0, 1).collective_complete(14, OTF2_COLLECTIVE_OP_REDUCE, "world", 0, 4, 0, 10);
        t.thread(0, 1).collective_complete(14, OTF2_COLLECTIVE_OP_REDUCE, "world", 0, 4, 0, 11).leave(14, "MPI_Wait");
    });
    const auto& process = replay.processes[0];
    ASSERT_EQ(process.collectives.size(), 4);  // the scan was never completed
    EXPECT_EQ(process.anomalies.unfinished_requests, 1);
    EXPECT_EQ(process.anomalies.ignored_records, 1);
    const auto& bcast = process.collectives[0];
    EXPECT_FALSE(bcast.is_blocking());
    EXPECT_EQ(bcast.begin().call, CallId{0});
    EXPECT_EQ(bcast.call.call, CallId{5});
    EXPECT_EQ(bcast.root, 0);
    EXPECT_EQ(bcast.sent, 40);
    EXPECT_EQ(bcast.received, 50);
    EXPECT_EQ(process.collectives[1].begin().call, CallId{1});
    EXPECT_EQ(process.collectives[1].root, -1);
    EXPECT_TRUE(process.collectives[2].is_blocking());
    EXPECT_EQ(process.collectives[2].begin().call, CallId{2});
    EXPECT_EQ(process.collectives[3].begin().call, CallId{4});
    EXPECT_EQ(process.collectives[3].call.location, process.locations[1].location);
}

TEST_F(Load, OneSidedRecordsAndCountersAreCounted)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0).metric(1).enter(1, "MPI_Put").put(1).metric(2).leave(2, "MPI_Put").thread_begin(3);
    });
    const auto& anomalies = replay.processes[0].anomalies;
    EXPECT_EQ(anomalies.ignored_rma_records, 1);
    EXPECT_EQ(anomalies.ignored_metric_records, 2);
    EXPECT_EQ(anomalies.ignored_thread_records, 1);
    EXPECT_EQ(anomalies.ignored_records, 0);
}

TEST_F(Load, TimeOffTheProcessorIsNoRegionOfTheProgram)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.paradigm("[preempted]", OTF2_PARADIGM_NONE);
        t.paradigm("[blocked]", OTF2_PARADIGM_NONE);
        auto& thread = t.thread(0);
        thread.enter(1, "main").enter(2, "[preempted]").leave(5, "[preempted]");
        thread.enter(10, "MPI_Barrier").enter(12, "[blocked]").leave(19, "[blocked]").leave(20, "MPI_Barrier");
        thread.enter(30, "[blocked]");  // the recording ends meanwhile
    });
    const auto& location = replay.processes[0].locations[0];
    using Off = std::tuple<std::int64_t, std::int64_t, bool>;
    std::vector<Off> off;
    for (const auto& o : location.off) {
        off.emplace_back(o.begin.count(), o.end.count(), o.preempted);
    }
    EXPECT_THAT(off, ElementsAre(Off(2, 5, true), Off(12, 19, false), Off(30, 30, false)));
    EXPECT_THAT(ns(location.calls.enters()), ElementsAre(10));
    EXPECT_THAT(ns(leaves(location.calls)), ElementsAre(20));
    EXPECT_EQ(location.user_regions.size(), 1);  // main, which was never left
    EXPECT_EQ(replay.processes[0].anomalies.ignored_records, 0);
}

TEST_F(Load, RegionsByCallingContext)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0);
        t.thread(0).context_enter(1, "main").context_enter(2, "MPI_Barrier").context_leave(5, "MPI_Barrier");
    });
    const auto& location = replay.processes[0].locations[0];
    EXPECT_THAT(ns(leaves(location.calls)), ElementsAre(5));
    EXPECT_EQ(location.user_regions.size(), 1);
}

TEST_F(Load, CommunicatorsOfAllKinds)
{
    const auto& replay = load(4, [](TinyTrace& t) {
        for (std::uint32_t r = 0; r < 4; ++r) {
            t.thread(r);
        }
        t.communicator("odd", {3, 1});
        t.inter_communicator("bridge", {0, 2}, {3, 1});
        t.thread(2).enter(1, "MPI_Bcast");
        t.thread(2).collective(1, 2, OTF2_COLLECTIVE_OP_BCAST, "bridge", OTF2_COLLECTIVE_ROOT_SELF, 8, 0);
        t.thread(2).leave(2, "MPI_Bcast").enter(3, "MPI_Bcast");
        t.thread(2).collective(3, 4, OTF2_COLLECTIVE_OP_BCAST, "odd", 1, 8, 0).leave(4, "MPI_Bcast");
    });
    const auto& comms = replay.definitions.communicators;
    ASSERT_EQ(comms.size(), 4);
    EXPECT_TRUE(comms[0].is_self);
    EXPECT_THAT(comms[1].members, ElementsAre(ProcessId{0}, ProcessId{1}, ProcessId{2}, ProcessId{3}));
    EXPECT_THAT(comms[2].members, ElementsAre(ProcessId{3}, ProcessId{1}));
    const auto& bridge = comms[3];
    EXPECT_TRUE(bridge.is_inter);
    EXPECT_THAT(bridge.members, ElementsAre(ProcessId{0}, ProcessId{2}));
    EXPECT_THAT(bridge.remote, ElementsAre(ProcessId{3}, ProcessId{1}));
    const auto& collectives = replay.processes[2].collectives;
    ASSERT_EQ(collectives.size(), 2);
    EXPECT_EQ(collectives[0].root, -2);
    EXPECT_EQ(collectives[1].root, 1);
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

TEST(Distribute, GivesContiguousBlocksThatDifferByOne)
{
    using replayer::load::distribute;
    EXPECT_THAT(distribute(4, 1), ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(distribute(5, 2), ElementsAre(0, 0, 0, 1, 1));
    EXPECT_THAT(distribute(4, 4), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(distribute(2, 6), ElementsAre(0, 1));
    for (std::size_t processes = 1; processes < 40; ++processes) {
        for (int size = 1; size < 40; ++size) {
            const auto owner = distribute(processes, size);
            std::vector<int> count(size);
            ASSERT_TRUE(std::is_sorted(owner.begin(), owner.end()));
            for (const int o : owner) {
                ++count[o];
            }
            const int users = std::min(static_cast<int>(processes), size);
            for (int p = 0; p < size; ++p) {
                ASSERT_EQ(count[p] > 0, p < users);
                ASSERT_LE(count[p], static_cast<int>((processes + users - 1) / users));
            }
        }
    }
}

TEST(LoadOnSeveral, EachProcessHoldsItsBlock)
{
    const Scratch scratch;
    TinyTrace trace(scratch.path() / "trace", 5);
    for (std::uint32_t r = 0; r < 5; ++r) {
        trace.thread(r);
    }
    for (std::uint32_t r = 0; r < 5; ++r) {
        trace.thread(r).enter(r, "MPI_Barrier").leave(r + 10, "MPI_Barrier");
    }
    trace.close();
    std::vector<std::uint32_t> seen;
    for (int rank = 0; rank < 3; ++rank) {
        Replay replay;
        replay.rank = rank;
        replay.size = 3;
        replayer::load::load(trace.anchor(), replay);
        EXPECT_EQ(replay.definitions.processes.size(), 5);
        for (const auto& process : replay.processes) {
            EXPECT_TRUE(replay.owns(process.process));
            EXPECT_EQ(&replay.trace_of(process.process), &process);
            EXPECT_EQ(&replay.trace_of(process.locations[0].location), process.locations.data());
            EXPECT_EQ(process.locations[0].begin.count(), process.process.value);
            seen.push_back(process.process.value);
        }
    }
    EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace critpath::test
