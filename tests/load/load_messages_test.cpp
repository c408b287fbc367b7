// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages, requests and probes as they are loaded.
#include "tests/load/load_fixture.hpp"

#include <gmock/gmock.h>

namespace critpath::test
{
namespace
{

using namespace model;
using functions::FunctionId;
using testing::ElementsAre;

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

TEST_F(Load, AReceiveThatWasPostedBeforeMeasurementComesWhereItWasCompleted)
{
    const auto& replay = load(2, [](TinyTrace& t) {
        t.thread(0);
        t.thread(1);
        t.thread(0).enter(1, "MPI_Wait").irecv(2, "world", 1, 4, 8, 70).leave(2, "MPI_Wait");
        t.thread(0).enter(3, "MPI_Recv").recv(4, "world", 1, 4, 16).leave(4, "MPI_Recv");
    });
    const auto& receives = replay.processes[0].receives;
    ASSERT_EQ(receives.size(), 2);
    EXPECT_EQ(receives[0].bytes, 8);
    EXPECT_EQ(receives[1].bytes, 16);
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

/// Of tools that do not say what a probe found.
TEST_F(Load, ProbesRightBeforeAReceiveHaveFoundItsMessage)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.define_no_attributes();
        t.thread(0);
        t.thread(0).enter(1, "MPI_Iprobe").leave(2, "MPI_Iprobe");
        t.thread(0).enter(3, "MPI_Iprobe").leave(4, "MPI_Iprobe");
        t.thread(0).enter(5, "MPI_Recv").recv(7, "world", 0, 5, 2).leave(7, "MPI_Recv");
        t.thread(0).enter(8, "MPI_Recv").recv(9, "world", 0, 5, 3).leave(9, "MPI_Recv");
        t.thread(0).enter(10, "MPI_Probe").leave(11, "MPI_Probe");
        t.thread(0).enter(12, "MPI_Get_count").leave(12, "MPI_Get_count");
        t.thread(0).enter(13, "MPI_Recv").recv(14, "world", 0, 6, 3).leave(14, "MPI_Recv");
        t.thread(0).enter(15, "MPI_Iprobe").leave(16, "MPI_Iprobe");  // in vain
        t.thread(0).enter(17, "MPI_Barrier").leave(18, "MPI_Barrier");
        t.thread(0).enter(19, "MPI_Recv").recv(20, "world", 0, 6, 3).leave(20, "MPI_Recv");
    });
    const auto& probes = replay.processes[0].probes;
    ASSERT_EQ(probes.size(), 2);
    EXPECT_EQ(probes[0].call.call, CallId{1});
    EXPECT_EQ(probes[0].receive, 0);
    EXPECT_EQ(probes[1].call.call, CallId{4});
    EXPECT_EQ(probes[1].receive, 2);
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

}  // namespace
}  // namespace critpath::test
