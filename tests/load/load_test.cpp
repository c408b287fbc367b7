// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls, collectives, communicators and the distribution of the locations as they are loaded.
#include "tests/load/load_fixture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

namespace critpath::test
{
namespace
{

using namespace model;
using functions::FunctionId;
using replayer::Replay;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

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
                             change.context.valid() ? replay.definitions.region(change.context).name : "");
    }
    EXPECT_THAT(changes,
                ElementsAre(std::pair(1, "main"), std::pair(5, "reduce"), std::pair(6, "main"), std::pair(10, "")));
}

/// Memory is reserved for what the events so far make likely, not for what there may be.
TEST_F(Load, LittleIsReservedThatIsNotUsed)
{
    constexpr int many = 20000;
    const auto work = [](TinyTrace& t, std::uint64_t time) { t.thread(0).enter(time, "work").leave(time + 1, "work"); };
    const auto send = [](TinyTrace& t, std::uint64_t time) {
        t.thread(0).enter(time, "MPI_Send").send(time, "world", 0, 1, 8).leave(time + 1, "MPI_Send");
    };
    // All the time, at the end only, and at the beginning only.
    for (const auto& [first, end] : {std::pair(0, many), std::pair(many / 4 * 3, many), std::pair(0, many / 4)}) {
        std::filesystem::remove_all(scratch_.path() / "trace");
        const auto& replay = load(1, [&, first = first, end = end](TinyTrace& t) {
            t.thread(0);
            for (int i = 0; i < many; ++i) {
                const auto time = static_cast<std::uint64_t>(10 * i + 1);
                work(t, time);
                if (first <= i && i < end) {
                    send(t, time + 5);
                }
            }
        });
        const auto& process = replay.processes[0];
        const Calls& calls = process.locations[0].calls;
        ASSERT_EQ(calls.size(), end - first);
        ASSERT_EQ(process.sends.size(), end - first);
        const std::size_t bound = first == 0 && end == many ? calls.size() + calls.size() / 8 : 4 * calls.size();
        EXPECT_LT(calls.capacity(), bound) << first;
        EXPECT_LT(process.sends.capacity(), bound) << first;
        EXPECT_LT(process.receives.capacity(), many / 100) << first;
    }
}

/// As other tools write the names of MPI's functions, if they say that they are.
TEST_F(Load, FunctionsHaveOtherSpellings)
{
    const std::vector<std::string> spellings = {"MPI_Recv()", "PMPI_Recv",  "MPI_RECV",   "mpi_recv_",
                                                "mpi_recv__", "MPI_Recv_c", "mpi_recv_c_"};
    const auto& replay = load(1, [&](TinyTrace& t) {
        t.thread(0);
        std::uint64_t time = 1;
        for (const std::string& name : spellings) {
            t.paradigm(name, OTF2_PARADIGM_MPI);
            t.thread(0).enter(time, name).leave(time + 1, name);
            time += 2;
        }
        t.thread(0).enter(time, "pmpi_send_").leave(time + 1, "pmpi_send_");  // somebody's own
    });
    std::size_t found = 0;
    for (const Region& region : replay.definitions.regions)
        if (std::ranges::find(spellings, region.name) != spellings.end()) {
            EXPECT_EQ(region.function, FunctionId::MPI_Recv) << region.name;
            EXPECT_EQ(region.role, RegionRole::Mpi) << region.name;
            ++found;
        } else {
            EXPECT_NE(region.function, FunctionId::MPI_Send) << region.name;
        }
    EXPECT_EQ(found, spellings.size());
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

TEST_F(Load, PersistentCollectivesAreWhatWasStarted)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0).enter(1, "MPI_Startall").collective_request(1, 7, OTF2_COLLECTIVE_OP_BCAST);
        t.thread(0).collective_request(1, 8, 128 + OTF2_COLLECTIVE_OP_ALLTOALL).leave(2, "MPI_Startall");
        t.thread(0).enter(3, "MPI_Start").collective_request(3, 9).leave(4, "MPI_Start");
        t.thread(0).enter(5, "MPI_Start").collective_request(5, 10, 127).leave(6, "MPI_Start");
        t.thread(0).enter(11, "MPI_Waitall");
        t.thread(0).collective_complete(12, OTF2_COLLECTIVE_OP_BCAST, "world", 0, 40, 50, 7);
        for (const std::uint64_t request : {8U, 9U, 10U}) {
            t.thread(0).collective_complete(12, OTF2_COLLECTIVE_OP_ALLTOALL, "world", OTF2_COLLECTIVE_ROOT_NONE, 0, 0,
                                            request);
        }
        t.thread(0).leave(12, "MPI_Waitall");
    });
    const auto& process = replay.processes[0];
    std::vector<FunctionId> operations;
    for (const auto& collective : process.collectives) {
        operations.push_back(collective.operation);
    }
    // What the post does not say, or by a number that nobody knows, the completion does.
    EXPECT_THAT(operations, ElementsAre(FunctionId::MPI_Ibcast, FunctionId::MPI_Ineighbor_alltoall,
                                        FunctionId::MPI_Ialltoall, FunctionId::MPI_Ialltoall));
    EXPECT_EQ(process.collectives[0].root, 0);
    EXPECT_EQ(process.collectives[0].begin().call, CallId{0});
}

TEST_F(Load, GraphsAreKnownWhereAllOfThemIsThere)
{
    const auto& replay = load(2, [](TinyTrace& t) {
        t.communicator("two", {0, 1});
        t.communicator("three", {0, 1});
        t.communicator("four", {0, 1});
        t.thread(0).graph(1, "two", 2).parameter(1, 1).parameter(1, 0).parameter(1, 1).graph(2, "three", 0);
        t.thread(0, 1).graph(3, "four", 1).put(3).parameter(3, 1);
        // No member; cut short.
        t.thread(1).graph(1, "two", 1).parameter(1, 2).graph(2, "three", 1).parameter(2, std::uint64_t{1} << 32);
        t.thread(1).graph(3, "four", 3).parameter(3, 0).parameter(3, 1);
    });
    std::map<std::string, std::vector<std::uint32_t>> known;
    for (const auto& [comm, in_neighbours] : replay.processes[0].graphs)
        known[replay.definitions.communicators[comm.value].name] = in_neighbours;
    EXPECT_THAT(known,
                ElementsAre(Pair("four", ElementsAre(1)), Pair("three", IsEmpty()), Pair("two", ElementsAre(0, 1))));
    EXPECT_EQ(replay.processes[0].anomalies.ignored_records, 1);  // another tool's
    EXPECT_THAT(replay.processes[1].graphs, IsEmpty());
    EXPECT_EQ(replay.processes[1].anomalies.ignored_records, 2);
}

TEST_F(Load, OneSidedRecordsAndCountersAreCounted)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.thread(0).metric(1).enter(1, "MPI_Put").put(1).metric(2).leave(2, "MPI_Put").task_create(3);
    });
    const auto& anomalies = replay.processes[0].anomalies;
    EXPECT_EQ(anomalies.ignored_rma_records, 1);
    EXPECT_EQ(anomalies.ignored_metric_records, 2);
    EXPECT_EQ(anomalies.ignored_thread_records, 1);
    EXPECT_EQ(anomalies.ignored_records, 0);
}

/// "instructions/cycles ..." by call.
std::string counted(const LocationTrace& location)
{
    std::string words;
    for (const Counted& c : location.counted)
        words += fmt::format("{}{}/{}", words.empty() ? "" : " ", c.instructions, c.cycles);
    return words;
}

TEST_F(Load, CountersSayWhatIsBetweenCalls)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.metric_class(3, {"PAPI_L1_DCM", "PAPI_TOT_CYC", "PAPI_TOT_INS"});
        t.metric_class(5, {"PAPI_L1_DCM"});
        auto& thread = t.thread(0);
        thread.enter(1, "MPI_Init").leave(5, "MPI_Init");  // without counters, as ours is
        const auto call = [&](std::uint64_t enter, std::vector<std::int64_t> first, std::vector<std::int64_t> second) {
            thread.metric(enter, 3, first).enter(enter, "MPI_Barrier");
            thread.metric(enter + 1, 3, second).leave(enter + 1, "MPI_Barrier");
        };
        call(10, {1, 20, 30}, {1, 25, 36});
        call(20, {2, 125, 236}, {2, 130, 240});
        thread.enter(30, "MPI_Test").metric(31, 3, {3, 500, 600}).leave(31, "MPI_Test");  // only the leave
        thread.metric(40, 3, {3, 550, 700}).enter(40, "MPI_Test").leave(41, "MPI_Test");  // only the enter
        call(50, {3, 800, 900}, {3, 900, 1000});
        thread.metric(60, 5, {9});
        call(70, {3, 100, 1010}, {3, 200, 1020});                                                // one was reset
        thread.metric(75, 3, {3, 300, 1030}).enter(80, "MPI_Barrier").leave(81, "MPI_Barrier");  // not of its moment
    });
    const auto& process = replay.processes[0];
    ASSERT_EQ(process.locations[0].calls.size(), 8U);
    EXPECT_EQ(counted(process.locations[0]), "-1/-1 -1/-1 200/100 -1/-1 100/50 -1/-1 10/-1");
    EXPECT_EQ(process.anomalies.ignored_metric_records, 1);  // the one at 60
}

TEST_F(Load, CountersOfOtherKindsAreIgnored)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.metric_class(1, {"PAPI_TOT_INS"}, OTF2_METRIC_ABSOLUTE_POINT);
        t.thread(0).enter(1, "MPI_Init").metric(2, 1, {7}).leave(2, "MPI_Init");
        t.thread(0).metric(3, 1, {9}).enter(3, "MPI_Barrier").leave(4, "MPI_Barrier");
    });
    EXPECT_TRUE(replay.processes[0].locations[0].counted.empty());
    EXPECT_EQ(replay.processes[0].anomalies.ignored_metric_records, 2);
}

TEST_F(Load, SamplesSayThePageFaults)
{
    const auto& replay = load(1, [](TinyTrace& t) {
        t.generator("cpu-clock", OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9, 1000);
        t.thread(0).sample(10, "work", 0x10, 0, 17).sample(20, "work", 0x10);
    });
    const auto& samples = replay.processes[0].locations[0].samples;
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(samples[0].page_faults, 17U);
    EXPECT_EQ(samples[1].page_faults, 0U);
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

TEST_F(Load, NodesAreFoundInTreesAndNoneInCircles)
{
    const auto& replay = load(2, [](TinyTrace& t) {
        t.thread(0).enter(1, "main").leave(2, "main");
        t.thread(1);
        t.define([&](OTF2_GlobalDefWriter* out) {
            // 1000 -> 1001 -> 1002 -> 1001, and 1003 -> 1004.
            const OTF2_SystemTreeNodeRef parents[] = {1001, 1002, 1001, 1004, OTF2_UNDEFINED_SYSTEM_TREE_NODE};
            for (OTF2_SystemTreeNodeRef i = 0; i < std::size(parents); ++i) {
                const char* const kind = i == 4 ? "node" : "part";
                OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 1000 + i, t.string(fmt::format("{}{}", kind, i)),
                                                         t.string(kind), parents[i]);
            }
            for (std::uint32_t rank = 0; rank < 2; ++rank) {
                OTF2_GlobalDefWriter_WriteLocationGroup(out, t.process(rank), t.string("rank"),
                                                        OTF2_LOCATION_GROUP_TYPE_PROCESS, rank == 0 ? 1000 : 1003,
                                                        OTF2_UNDEFINED_LOCATION_GROUP);
            }
        });
    });
    EXPECT_EQ(replay.definitions.processes[0].node, "part0");
    EXPECT_EQ(replay.definitions.processes[1].node, "node4");
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
