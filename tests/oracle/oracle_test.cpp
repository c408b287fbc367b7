// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The oracle itself against formulas, and the analysis against the oracle.
#include "tests/oracle/check.hpp"
#include "tests/oracle/needed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace critpath::oracle
{
namespace
{

using testing::ElementsAre;

MATCHER_P2(From, enter, leave, "")
{
    return arg.enter == enter && arg.leave == leave;
}

Step send(int to, std::uint64_t bytes, SendMode mode = SendMode::Standard)
{
    return {.kind = Kind::Send, .function = FunctionId::MPI_Send, .mode = mode, .peer = to, .bytes = bytes};
}
Step receive(int from)
{
    return {.kind = Kind::Recv, .function = FunctionId::MPI_Recv, .peer = from};
}
Step collective(FunctionId function, int root = -1)
{
    return {.kind = Kind::Collective, .function = function, .root = root};
}

Program program(std::vector<std::vector<Step>> steps)
{
    Program result{static_cast<int>(steps.size()), {{}}, std::move(steps)};
    for (int r = 0; r < result.ranks; ++r)
        result.comms[0].push_back(r);
    return result;
}

// ---- the graph

TEST(Graph, KnowsWhatCanBeLater)
{
    // Rank 1 waits for the message of rank 0, which goes on for less time.
    const Graph graph({0, 0}, {{{10, 11}, {15, 15}}, {{3, 30}, {50, 50}}},
                      {{{0, 0, false}, {0, 0, true}, 1},
                       {{0, 1, false}, {0, 1, true}, 0},
                       {{1, 0, false}, {1, 0, true}, 1},
                       {{0, 0, false}, {1, 0, true}, 20},
                       {{1, 1, false}, {1, 1, true}, 0}});
    EXPECT_EQ(graph.last(), 50);
    EXPECT_EQ(graph.slack(Node{0, 0, false}), 0);
    EXPECT_EQ(graph.slack(Node{0, 0, true}), 50 - 15);
    EXPECT_EQ(graph.slack(Node{1, 0, false}), 30 - 1 - 3);
    EXPECT_EQ(graph.slack_of_gap(1, 1), 0);
    EXPECT_EQ(graph.slack_of_work(1, 0), 30 - 1 - 3);
}

TEST(Graph, RefusesWhatCannotBe)
{
    const std::vector<std::vector<Times>> calls{{{10, 12}}, {{10, 12}}};
    const Edge work0{{0, 0, false}, {0, 0, true}, 2}, work1{{1, 0, false}, {1, 0, true}, 2};
    EXPECT_NO_THROW(Graph({0, 0}, calls, {work0, work1}));
    EXPECT_THROW(Graph({0, 0}, calls, {work0}), std::logic_error);  // nothing says why it ended at 12
    EXPECT_THROW(Graph({0, 0}, calls, {work0, work1, {{0, 0, false}, {1, 0, true}, 3}}), std::logic_error);
    EXPECT_THROW(Graph({0, 0}, calls, {work0, work1, {{0, 0, true}, {1, 0, true}, 0}, {{1, 0, true}, {0, 0, true}, 0}}),
                 std::logic_error);
}

// ---- the simulation, on a machine whose costs are those of Machine's declaration

TEST(Simulation, MessagesTakeTheirTime)
{
    const Machine machine;
    const Execution eager = simulate(program({{compute(100), send(1, 2000)}, {receive(0)}}), machine);
    EXPECT_THAT(eager.graph.calls(0), ElementsAre(From(100, 101), From(101, 101)));
    EXPECT_THAT(eager.graph.calls(1), ElementsAre(From(0, 100 + 20 + 2), From(122, 122)));
    const Execution rendezvous = simulate(program({{send(1, 50'000)}, {compute(300), receive(0)}}), machine);
    EXPECT_THAT(rendezvous.graph.calls(0), ElementsAre(From(0, 300 + 20 + 50), From(370, 370)));
    const Execution there = simulate(program({{send(1, 8)}, {compute(300), receive(0)}}), machine);
    EXPECT_THAT(there.graph.calls(0), ElementsAre(From(0, 1), From(1, 1)));
    EXPECT_THAT(there.graph.calls(1), ElementsAre(From(300, 301), From(301, 301)));
    const Execution synchronous =
        simulate(program({{send(1, 0, SendMode::Synchronous)}, {compute(300), receive(0)}}), machine);
    EXPECT_THAT(synchronous.graph.calls(0), ElementsAre(From(0, 320), From(320, 320)));
}

TEST(Simulation, CollectivesWaitForWhomTheyNeed)
{
    const Machine machine;
    const auto run = [&](const Step& step) {
        const Execution e =
            simulate(program({{compute(100), step}, {compute(200), step}, {compute(300), step}}), machine);
        return std::vector{e.graph.calls(0)[0].leave, e.graph.calls(1)[0].leave, e.graph.calls(2)[0].leave};
    };
    EXPECT_THAT(run(collective(FunctionId::MPI_Allreduce)), ElementsAre(312, 312, 312));
    EXPECT_THAT(run(collective(FunctionId::MPI_Bcast, 1)), ElementsAre(212, 201, 301));
    EXPECT_THAT(run(collective(FunctionId::MPI_Reduce, 1)), ElementsAre(101, 312, 301));
    EXPECT_THAT(run(collective(FunctionId::MPI_Scan)), ElementsAre(112, 212, 312));
    EXPECT_THAT(run(collective(FunctionId::MPI_Exscan)), ElementsAre(101, 201, 301));
}

TEST(Simulation, BetweenGroupsTheOthersAreWaitedFor)
{
    const Machine machine;
    const auto run = [&](const Step& step) {
        Program p = program({{compute(100), step}, {compute(200), step}, {compute(300), step}});
        p.first_groups[0] = 2;
        const Execution e = simulate(p, machine);
        return std::vector{e.graph.calls(0)[0].leave, e.graph.calls(1)[0].leave, e.graph.calls(2)[0].leave};
    };
    EXPECT_THAT(run(collective(FunctionId::MPI_Barrier)), ElementsAre(312, 312, 301));
    EXPECT_THAT(run(collective(FunctionId::MPI_Bcast, 2)), ElementsAre(312, 312, 301));
    EXPECT_THAT(run(collective(FunctionId::MPI_Bcast, 0)), ElementsAre(101, 201, 301));
    EXPECT_THAT(run(collective(FunctionId::MPI_Reduce, 0)), ElementsAre(312, 201, 301));
}

TEST(Simulation, NeighboursWaitForEachOther)
{
    EXPECT_THAT(grid_sources({{4, true}}, 0), ElementsAre(3, 1));
    EXPECT_THAT(grid_sources({{4, false}}, 0), ElementsAre(1));
    EXPECT_THAT(grid_sources({{2, false}, {3, true}}, 4), ElementsAre(1, 3, 5));
    const Step step = collective(FunctionId::MPI_Neighbor_allgather);
    Program p = program({{compute(100), step}, {compute(200), step}, {compute(300), step}});
    p.grids[0] = {{3, false}};
    const Execution e = simulate(p, {});
    EXPECT_THAT(e.graph.calls(0), ElementsAre(From(100, 212), From(212, 212)));
    EXPECT_THAT(e.graph.calls(1), ElementsAre(From(200, 312), From(312, 312)));
    EXPECT_THAT(e.graph.calls(2), ElementsAre(From(300, 301), From(301, 301)));
    p.grids.clear();
    p.graphs[0] = {{2}, {0}, {}};
    const Execution of_graph = simulate(p, {});
    EXPECT_THAT(of_graph.graph.calls(0), ElementsAre(From(100, 312), From(312, 312)));
    EXPECT_THAT(of_graph.graph.calls(1), ElementsAre(From(200, 201), From(201, 201)));
    EXPECT_THAT(of_graph.graph.calls(2), ElementsAre(From(300, 301), From(301, 301)));
}

TEST(Simulation, WhoGetsNothingWaitsForNobody)
{
    Step gets = collective(FunctionId::MPI_Reduce_scatter), gets_nothing = gets;
    gets_nothing.part = Part{true, false, {}};
    const Execution e =
        simulate(program({{compute(100), gets}, {compute(200), gets_nothing}, {compute(300), gets}}), {});
    EXPECT_THAT(e.graph.calls(0), ElementsAre(From(100, 312), From(312, 312)));
    EXPECT_THAT(e.graph.calls(1), ElementsAre(From(200, 201), From(201, 201)));
}

TEST(Simulation, LazyMachinesMoveDataOnlyWhileBothAreInCalls)
{
    Machine lazy;
    lazy.progress = false;
    const Step post_send{
        .kind = Kind::Isend, .function = FunctionId::MPI_Isend, .peer = 1, .bytes = 50'000, .request = 0};
    const Step wait{.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {0}};
    const Program p = program({{post_send, compute(500), wait}, {receive(0)}});
    EXPECT_EQ(simulate(p, {}).graph.calls(1)[0].leave, 70);
    const Execution e = simulate(p, lazy);
    EXPECT_THAT(e.graph.calls(1), ElementsAre(From(0, 501 + 70), From(571, 571)));
    EXPECT_EQ(e.graph.slack_of_gap(0, 1), 0);
}

/// Rank 0 posts a receive, and looks at what is under way when it waits.
TEST(Simulation, OnLazyMachinesCallsThatOnlyPostMayMoveNothing)
{
    Machine lazy;
    lazy.progress = false;
    const Step post_send{
        .kind = Kind::Isend, .function = FunctionId::MPI_Isend, .peer = 1, .bytes = 50'000, .request = 0};
    const Step post_receive{.kind = Kind::Irecv, .function = FunctionId::MPI_Irecv, .peer = 1, .request = 1};
    const Step wait{.kind = Kind::Waitall, .function = FunctionId::MPI_Waitall, .requests = {0, 1}};
    const Program p = program({{post_send, compute(300), post_receive, compute(200), wait}, {receive(0), send(0, 8)}});
    EXPECT_EQ(simulate(p, lazy).graph.calls(1)[0].leave, 301 + 70);
    lazy.posts_look = false;
    EXPECT_EQ(simulate(p, lazy).graph.calls(1)[0].leave, 502 + 70);
}

TEST(Simulation, HeldSendsAreOverWhenTheirReceiverIsInACall)
{
    Machine held;
    held.local_limit = 1024;
    const Program p = program({{send(1, 2000), send(1, 1000)}, {compute(500), receive(0), receive(0)}});
    EXPECT_EQ(simulate(p, {}).graph.calls(0)[0].leave, 1);
    const Execution e = simulate(p, held);
    EXPECT_THAT(e.graph.calls(0), ElementsAre(From(0, 501), From(501, 502), From(502, 502)));
    EXPECT_EQ(e.graph.slack_of_gap(1, 0), 0);
}

TEST(Simulation, OnSynchronousMachinesWhoGivesWaitsForWhoGets)
{
    Machine synchronous;
    synchronous.synchronous = true;
    Step rooted = collective(FunctionId::MPI_Bcast);
    rooted.root = 0;
    Program p = program({{compute(100), rooted}, {compute(200), rooted}, {compute(300), rooted}});
    Execution e = simulate(p, synchronous);
    EXPECT_THAT(e.graph.calls(0), ElementsAre(From(100, 312), From(312, 312)));
    EXPECT_THAT(e.graph.calls(1), ElementsAre(From(200, 201), From(201, 201)));
    EXPECT_EQ(simulate(p, {}).graph.calls(0)[0].leave, 101);
    rooted.function = FunctionId::MPI_Reduce;
    rooted.root = 2;
    p = program({{compute(100), rooted}, {compute(200), rooted}, {compute(300), rooted}});
    EXPECT_THAT(simulate(p, synchronous).graph.calls(0), ElementsAre(From(100, 312), From(312, 312)));

    // Posted at 0, and taken where both are in calls.
    synchronous.progress = false;
    const Step post{.kind = Kind::Icollective, .function = FunctionId::MPI_Ibcast, .root = 0, .request = 0};
    const Step wait{.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {0}};
    e = simulate(program({{post, compute(5), wait}, {compute(10), post, compute(500), wait}}), synchronous);
    EXPECT_EQ(e.graph.calls(0)[1].leave, 10 + 12);
    e = simulate(program({{compute(10), post, wait}, {post, compute(500), wait}}), synchronous);
    EXPECT_EQ(e.graph.calls(0)[1].leave, 501 + 12);
}

TEST(Simulation, WhatIsHeldOfARootedCollectiveIsTakenInAnyCallOfWhoGetsIt)
{
    Machine machine;
    machine.synchronous = true;
    machine.local_limit = 1024;
    for (Step body : {collective(FunctionId::MPI_Bcast, 0), collective(FunctionId::MPI_Reduce, 1)}) {
        body.bytes = 2000;
        const Execution e = simulate(
            program({{send(1, 8), body, compute(1000)}, {compute(500), receive(0), compute(300), body}}), machine);
        EXPECT_THAT(e.graph.calls(0), ElementsAre(From(0, 1), From(1, 500 + 12 + 2), From(1514, 1514)));
        EXPECT_EQ(e.graph.slack_of_gap(1, 0), 0);
        EXPECT_GT(e.graph.slack_of_gap(1, 1), 0);
    }
}

Step poll(FunctionId function, const std::vector<int>& requests, std::int64_t work)
{
    return {.kind = Kind::PollLoop, .ticks = work, .function = function, .requests = requests};
}

Step post_receive(int from, int request)
{
    return {.kind = Kind::Irecv, .function = FunctionId::MPI_Irecv, .peer = from, .request = request};
}

TEST(Simulation, PollsBetweenWorkAreCallsOfTheirOwn)
{
    const std::vector<Step> sender{compute(100), send(1, 8)};  // there at 120
    const Execution e = simulate(program({sender, {post_receive(0, 0), poll(FunctionId::MPI_Test, {0}, 50)}}), {});
    EXPECT_THAT(e.graph.calls(1),
                ElementsAre(From(0, 1), From(1, 2), From(52, 53), From(103, 104), From(154, 155), From(155, 155)));
    EXPECT_EQ(e.calls[1][3].completed.size(), 0);
    EXPECT_EQ(e.calls[1][4].completed.size(), 1);
    const Execution close = simulate(program({sender, {post_receive(0, 0), poll(FunctionId::MPI_Test, {0}, 1)}}), {});
    EXPECT_THAT(close.graph.calls(1), ElementsAre(From(0, 1), From(1, 120), From(121, 122), From(122, 122)));
}

TEST(Simulation, LoopsOfPollsEndWhenAllOrAnyAreDone)
{
    const auto run = [&](FunctionId function) {
        const Execution e =
            simulate(program({{compute(100), send(2, 8)},
                              {compute(200), send(2, 8)},
                              {post_receive(0, 0),
                               post_receive(1, 1),
                               poll(function, {0, 1}, 0),
                               {.kind = Kind::Waitall, .function = FunctionId::MPI_Waitall, .requests = {0, 1}}}}),
                     {});
        return e.graph.calls(2)[3].leave;
    };
    EXPECT_EQ(run(FunctionId::MPI_Testall), 221);
    EXPECT_EQ(run(FunctionId::MPI_Testany), 121);
    EXPECT_EQ(run(FunctionId::MPI_Testsome), 121);
}

Step probe_loop(FunctionId function, std::int64_t work)
{
    return {
        .kind = Kind::ProbeLoop, .ticks = work, .function = function, .peer = any_source, .tag = any_tag, .request = 0};
}

TEST(Simulation, LoopsOfProbesEndWhenAMessageIsThere)
{
    const std::vector<Step> sender{compute(100), send(1, 8)};  // there at 120
    const Execution e =
        simulate(program({sender, {probe_loop(FunctionId::MPI_Iprobe, 50), compute(7), receive(0)}}), {});
    EXPECT_THAT(e.graph.calls(1),
                ElementsAre(From(0, 1), From(51, 52), From(102, 103), From(153, 154), From(161, 162), From(162, 162)));
    EXPECT_FALSE(e.calls[1][2].has_probed);
    EXPECT_TRUE(e.calls[1][3].has_probed);
    EXPECT_EQ(e.calls[1][3].probed.peer, 0);
    EXPECT_EQ(e.calls[1][3].probed.probed, 0);
    EXPECT_EQ(e.calls[1][4].completed.size(), 1);
}

/// What a matched probe has found is taken by who asks for that, and by nobody else.
TEST(Simulation, LoopsOfMatchedProbesTakeTheMessage)
{
    const std::vector<Step> sender{compute(100), send(1, 8), send(1, 16)};  // there at 120 and 121
    const Step take{.kind = Kind::Mrecv, .function = FunctionId::MPI_Mrecv, .message = 0};
    const Execution e = simulate(program({sender, {probe_loop(FunctionId::MPI_Improbe, 0), receive(0), take}}), {});
    EXPECT_THAT(e.graph.calls(1),
                ElementsAre(From(0, 120), From(120, 121), From(121, 122), From(122, 123), From(123, 123)));
    EXPECT_EQ(e.calls[1][1].probed.bytes, 8);
    EXPECT_EQ(e.calls[1][2].completed.at(0).bytes, 16);
    EXPECT_EQ(e.calls[1][3].completed.at(0).bytes, 8);
    EXPECT_EQ(e.calls[1][3].completed.at(0).probed, e.calls[1][1].probed.probed);
}

/// A transfer that meets its receiver begins when that asks for it.
TEST(Simulation, WhatAMatchedProbeHasFoundCanBeTakenByARequest)
{
    const Step probe{.kind = Kind::Mprobe, .function = FunctionId::MPI_Mprobe, .request = 0};
    const Step take{.kind = Kind::Imrecv, .function = FunctionId::MPI_Imrecv, .request = 1, .message = 0};
    const Step wait{.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {1}};
    const Execution e = simulate(program({{send(1, 50'000)}, {probe, compute(100), take, compute(10), wait}}), {});
    // The envelope is there at 20, the message is taken at 120 and takes 70.
    EXPECT_THAT(e.graph.calls(0), ElementsAre(From(0, 120 + 70), From(190, 190)));
    EXPECT_THAT(e.graph.calls(1), ElementsAre(From(0, 20), From(120, 121), From(131, 190), From(190, 190)));
    EXPECT_EQ(e.calls[1][1].posted.at(0).probed, e.calls[1][0].probed.probed);
    EXPECT_EQ(e.calls[1][2].completed.at(0).bytes, 50'000);
    EXPECT_EQ(e.graph.slack_of_gap(1, 1), 0);
    EXPECT_EQ(e.graph.slack_of_gap(1, 2), 190 - 1 - 131);  // the wait itself takes one
}

/// Of receives that fit the same messages, the one that is started first gets the first.
TEST(Simulation, WhatIsStartedTogetherBeginsInThatOrder)
{
    const auto receiving = [](int request) {
        return Step{.kind = Kind::Irecv, .peer = 0, .request = request, .persistent = true};
    };
    const auto sending = [](int request, std::uint64_t bytes) {
        return Step{.kind = Kind::Isend, .peer = 1, .bytes = bytes, .request = request, .persistent = true};
    };
    const auto start_all = [](std::vector<Step> starts) {
        return Step{.kind = Kind::Startall, .function = FunctionId::MPI_Startall, .starts = std::move(starts)};
    };
    const auto wait = [](int request) {
        return Step{.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {request}};
    };
    const Execution e =
        simulate(program({{compute(40), start_all({sending(0, 50'000), sending(1, 8)}), wait(0), wait(1)},
                          {start_all({receiving(1), receiving(0)}), wait(0), wait(1)}}),
                 {});
    EXPECT_THAT(e.graph.calls(0), ElementsAre(From(40, 41), From(41, 40 + 70), From(110, 111), From(111, 111)));
    EXPECT_THAT(e.graph.calls(1), ElementsAre(From(0, 1), From(1, 40 + 20), From(60, 40 + 70), From(110, 110)));
    EXPECT_EQ(e.calls[1][0].posted.size(), 2);
    EXPECT_EQ(e.calls[1][1].completed.at(0).bytes, 8);
}

TEST(Simulation, CollectivesOfMoreBytesTakeLonger)
{
    Step step = collective(FunctionId::MPI_Allreduce);
    step.bytes = 60'000;
    const Execution e = simulate(program({{compute(100), step}, {compute(200), step}}), {});
    EXPECT_THAT(e.graph.calls(0), ElementsAre(From(100, 200 + 12 + 60), From(272, 272)));
}

/// Who asks for a copy goes on until it needs it, and nobody waits for those who free theirs.
TEST(Simulation, CommunicatorsAreMadeByRequestsAndFreedByEachForItself)
{
    const Step copy{.kind = Kind::Icollective, .function = FunctionId::MPI_Comm_idup, .request = 0, .makes = 1};
    const Step wait{.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {0}};
    Step use = collective(FunctionId::MPI_Barrier), free = collective(FunctionId::MPI_Comm_free);
    use.comm = free.comm = 1;
    Program p = program({{compute(100), copy, wait, use, free}, {compute(300), copy, wait, use, compute(50), free}});
    p.comms.push_back(p.comms[0]);
    const Execution e = simulate(p, {});
    EXPECT_THAT(e.graph.calls(0),
                ElementsAre(From(100, 101), From(101, 312), From(312, 324), From(324, 325), From(325, 325)));
    EXPECT_THAT(e.graph.calls(1),
                ElementsAre(From(300, 301), From(301, 312), From(312, 324), From(374, 375), From(375, 375)));
    EXPECT_EQ(e.graph.slack_of_gap(0, 0), 200);
    EXPECT_EQ(e.calls[0][0].makes, 1);
    const tests::Replayed found = analyze(p, {}, e, Weights::Known);
    EXPECT_THAT(judge(e, {}, found.segments).faults, ElementsAre());
    EXPECT_EQ(found.fact("mismatched_collectives"), 0);
}

/// Each for all, for nobody, or for those before it, and then for the file system.
TEST(Simulation, FilesAreWrittenByWhomTheyWaitFor)
{
    const auto run = [](const std::vector<int>& of_first, const std::vector<int>& of_second, std::int64_t file_system) {
        const auto step = [](std::int64_t ticks, const std::vector<int>& sources) {
            return Step{.kind = Kind::Collective,
                        .ticks = ticks,
                        .function = FunctionId::MPI_File_write_all,
                        .part = Part{true, true, sources}};
        };
        Machine machine;
        machine.file_system = file_system;
        const Execution e =
            simulate(program({{compute(100), step(50, of_first)}, {compute(200), step(70, of_second)}}), machine);
        return std::vector{e.graph.calls(0)[0].leave, e.graph.calls(1)[0].leave};
    };
    EXPECT_THAT(run({0, 1}, {0, 1}, 0), ElementsAre(200 + 12 + 50, 200 + 12 + 70));
    EXPECT_THAT(run({}, {}, 0), ElementsAre(101, 201));
    EXPECT_THAT(run({}, {}, 60), ElementsAre(101 + 50, 201 + 60));
    EXPECT_THAT(run({0}, {0, 1}, 0), ElementsAre(100 + 12, 200 + 12 + 70));
}

TEST(Simulation, ThreadsGoOnBesideEachOther)
{
    const Step any_call{.kind = Kind::Waitall, .function = FunctionId::MPI_Waitall};
    Program p = program({{compute(100), any_call, {.kind = Kind::Fork, .thread = 2}, compute(50), receive(1)},
                         {compute(400), receive(0), send(0, 8)}});
    p.forked = {0};
    p.steps.push_back({any_call, compute(500), send(1, 8)});
    const Execution e = simulate(p, {});
    EXPECT_THAT(e.locations, ElementsAre(0, 2, 1));
    EXPECT_THAT(e.graph.calls(2), ElementsAre(From(101, 102), From(602, 603)));
    EXPECT_THAT(e.graph.calls(1), ElementsAre(From(400, 622), From(622, 623), From(623, 623)));
    EXPECT_THAT(e.graph.calls(0), ElementsAre(From(100, 101), From(151, 642), From(642, 642)));
    EXPECT_EQ(e.graph.slack_of_gap(2, 1), 0);  // all wait for what the thread computes
    const tests::Replayed found = analyze(p, {}, e, Weights::Known);
    EXPECT_THAT(judge(e, {}, found.segments).faults, ElementsAre());
    EXPECT_EQ(found.profile.processes[0].path_ns,
              (602 + 20) * Machine{}.tick_ns);  // and the last transfer, to its main thread
}

TEST(Simulation, SaysWhatCannotEnd)
{
    EXPECT_THROW(simulate(program({{receive(1)}, {receive(0)}}), {}), std::logic_error);
}

// ---- the analysis

#ifdef CRITPATH_SANITIZED
constexpr std::uint32_t judged_programs = 8;
#else
constexpr std::uint32_t judged_programs = 150;
#endif

/// Where few programs are wrong. Sanitizers look for other things.
constexpr std::uint32_t many_programs(std::uint32_t times)
{
    return judged_programs < 100 ? 2 * judged_programs : times * judged_programs;
}

/// Where a rule is a guess, a few programs say little.
constexpr double at_most(double share)
{
    return judged_programs < 100 ? 10 * share : share;
}

/// Which part of the paths of so many programs is false-critical.
template <class MachineOf>
double false_critical_share(MachineOf machine_of, Weights weights, Recipe (*recipe_of)(std::uint32_t) = random_recipe,
                            replayer::Rules rules = replayer::Rules::Arrival, std::uint32_t count = judged_programs)
{
    std::int64_t path = 0, false_critical = 0;
    for (std::uint32_t seed = 1; seed <= count; ++seed) {
        const Outcome outcome = check(recipe_of(seed), machine_of(seed), weights, rules);
        EXPECT_EQ(outcome.broken, "") << "seed " << seed;
        path += outcome.verdict.makespan;
        false_critical += outcome.verdict.false_critical;
    }
    return static_cast<double>(false_critical) / static_cast<double>(path);
}

double false_critical_share(const Machine& machine, Weights weights, Recipe (*recipe_of)(std::uint32_t) = random_recipe,
                            replayer::Rules rules = replayer::Rules::Arrival, std::uint32_t count = judged_programs)
{
    return false_critical_share([&](std::uint32_t /*seed*/) { return machine; }, weights, recipe_of, rules, count);
}

TEST(Analysis, PutsNothingOnThePathThatHasSlackWhereCostsAreKnown)
{
    for (std::uint32_t seed = 1; seed <= judged_programs; ++seed) {
        const Outcome outcome = check(random_recipe(seed), {}, Weights::Known);
        EXPECT_EQ(outcome.broken, "") << "seed " << seed;
        EXPECT_THAT(outcome.verdict.faults, ElementsAre()) << "seed " << seed << "; run oracle " << seed << " 1";
    }
}

TEST(Analysis, IsHardlyEverWrongWithTheCostsThatItLearns)
{
    EXPECT_LE(false_critical_share(Machine{}, Weights::Learned), 0.005);
}

/// Exchanges of large messages in which each call waits, so that none tells what it costs. Where the shortest wait was
/// taken for that, 17 % of the path was wrong.
TEST(Analysis, IsHardlyEverWrongWhereAllWaitForLargeMessages)
{
    EXPECT_EQ(false_critical_share(Machine{}, Weights::Known, exchange_recipe), 0);
    EXPECT_LE(false_critical_share(Machine{}, Weights::Learned, exchange_recipe), at_most(0.005));
}

/// To somebody beside it, who posts when that is under way, and is not needed for it.
TEST(Analysis, KnowsThatWhatAnotherGroupGivesIsUnderWayBeforeItIsAskedFor)
{
    for (const FunctionId function : {FunctionId::MPI_Ireduce, FunctionId::MPI_Iallreduce}) {
        const bool is_rooted = function == FunctionId::MPI_Ireduce;
        const Step post{.kind = Kind::Icollective,
                        .function = function,
                        .comm = 1,
                        .bytes = 400'000,
                        .root = is_rooted ? 0 : -1,
                        .request = 0};
        const Step wait{.kind = Kind::Waitall, .function = FunctionId::MPI_Wait, .requests = {0}};
        Program p = program(
            {{compute(500), post, wait, compute(1000)}, {compute(100), post, wait}, {compute(200), post, wait}});
        p.comms.push_back(p.comms[0]);
        p.first_groups[1] = 1;
        const Execution e = simulate(p, {});
        EXPECT_EQ(e.graph.calls(0)[1].leave, 200 + 412);
        EXPECT_THAT(judge(e, {}, analyze(p, {}, e, Weights::Known).segments).faults, ElementsAre());
    }
}

/// Between processes of different nodes messages take longer.
TEST(Analysis, KnowsNodes)
{
    Machine machine;
    machine.ranks_a_node = 2;
    for (std::uint32_t seed = 1; seed <= judged_programs / 3; ++seed) {
        const Outcome outcome = check(random_recipe(seed), machine, Weights::Known);
        EXPECT_EQ(outcome.broken, "") << "seed " << seed;
        EXPECT_THAT(outcome.verdict.faults, ElementsAre()) << "seed " << seed;
    }
}

TEST(Analysis, TimesTwiceAsLongMakeAPathTwiceAsLong)
{
    for (std::uint32_t seed = 1; seed <= judged_programs / 5; ++seed) {
        const Program simulated = expand(random_recipe(seed));
        Machine machine;
        const Execution execution = simulate(simulated, machine);
        const auto once = analyze(simulated, machine, execution, Weights::Known).segments;
        machine.tick_ns *= 2;
        const auto twice = analyze(simulated, machine, execution, Weights::Known).segments;
        ASSERT_EQ(once.size(), twice.size()) << "seed " << seed;
        for (std::size_t i = 0; i < once.size(); ++i) {
            EXPECT_EQ(twice[i].end, 2 * once[i].end) << "seed " << seed;
            EXPECT_EQ(twice[i].location, once[i].location) << "seed " << seed;
        }
    }
}

/// Each program on a machine of its own, with noise.
TEST(Analysis, IsHardlyEverWrongWhereTimesAreNoisy)
{
    EXPECT_LE(false_critical_share(random_machine, Weights::Known), at_most(0.001));
}

/// What meets its receiver stands still while one side is outside of MPI, and a non-blocking collective while one
/// member is. Without a rule for the latter, 1.6 % of the path is wrong. Few programs are wrong, by a poll mostly, but
/// then by all of their path.
TEST(Analysis, IsHardlyEverWrongWhereTransfersStandStill)
{
    Machine lazy;
    lazy.progress = false;
    constexpr std::uint32_t count = many_programs(10);
    EXPECT_LE(false_critical_share(lazy, Weights::Known, random_recipe, replayer::Rules::Arrival, count),
              at_most(0.004));
}

/// All of them, so that no message shows what one takes. Where the fastest were believed to do so, 0.5 % of the path
/// was wrong by much.
TEST(Analysis, IsSeldomWrongByMuchWhereEachTransferStandsStill)
{
    Machine lazy;
    lazy.progress = false;
    std::int64_t path = 0, misleading = 0;
    for (std::uint32_t seed = 1; seed <= many_programs(3); ++seed) {
        const Outcome outcome = check(standing_recipe(seed), lazy, Weights::Learned);
        EXPECT_EQ(outcome.broken, "") << "seed " << seed;
        path += outcome.verdict.makespan;
        misleading += outcome.verdict.misleading;
    }
    EXPECT_LE(static_cast<double>(misleading), at_most(0.002) * static_cast<double>(path));
    EXPECT_LE(false_critical_share(Machine{}, Weights::Learned, standing_recipe), at_most(0.001));
}

/// Buffered sends that wait until the receiver's rank is in MPI, as large ones do in some MPIs. Without a rule for
/// that, 0.6 % of the path is wrong.
TEST(Analysis, IsHardlyEverWrongWhereBufferedSendsAreHeld)
{
    Machine machine;
    machine.local_limit = 1024;
    // Few are wrong, by a few ticks, but by all of their path, so that many programs have to be judged.
    constexpr std::uint32_t count = many_programs(20);
    EXPECT_LE(false_critical_share(machine, Weights::Known, random_recipe, replayer::Rules::Arrival, count),
              at_most(0.001));
}

/// Collectives between groups that wait for the own group, too, as implementations have it. Without the release rule,
/// 1.9 % of the path is wrong.
TEST(Analysis, IsHardlyEverWrongWhereGroupsAreGatheredByThemselves)
{
    Machine machine;
    go_by_groups(machine);
    EXPECT_LE(false_critical_share(machine, Weights::Known), at_most(0.003));
}

/// Rooted collectives in which nothing is given before it can be taken. Without a rule for non-blocking ones, 0.3 % of
/// the path is wrong.
TEST(Analysis, IsHardlyEverWrongWhereRootsWaitForTheOthers)
{
    Machine machine;
    go_synchronous(machine);
    EXPECT_LE(false_critical_share(machine, Weights::Known), at_most(0.001));
}

/// Likewise, but what does not fit into buffers is taken in any call, also one before the operation.
TEST(Analysis, IsHardlyEverWrongWhereRootsWaitForAnyCallOfTheOthers)
{
    Machine machine;
    go_synchronous(machine);
    machine.local_limit = 1024;
    EXPECT_LE(false_critical_share(machine, Weights::Known), at_most(0.003));
}

/// Calls on files that overlap may have waited for each other: the times alone do not tell.
TEST(Analysis, IsHardlyEverWrongWhereFilesAreSlow)
{
    Machine machine;
    machine.file_system = longest_in_file_system;
    EXPECT_LE(false_critical_share(machine, Weights::Known), at_most(0.005));
}

/// Who takes the machine for twice as fast, or half as fast, as it is.
TEST(Analysis, IsHardlyEverWrongWithCostsThatAreOffByTwo)
{
    EXPECT_LE(false_critical_share(Machine{}, Weights::TwiceAsFast), 0.005);
    EXPECT_LE(false_critical_share(Machine{}, Weights::HalfAsFast), 0.005);
}

/// The classical rule takes a message that is on its way for no wait, and a collective for one of all: the judge sees
/// it.
TEST(Judge, SeesWhatIsWrong)
{
    EXPECT_GT(false_critical_share(Machine{}, Weights::Learned, random_recipe, replayer::Rules::Enter, 20), 0.01);
}

TEST(Shrink, LeavesTheBlockThatFails)
{
    const Recipe recipe{6, {{BlockKind::Halo, 1}, {BlockKind::Farm, 2}, {BlockKind::Sweep, 3}}};
    const Recipe smallest = shrink(recipe, [](const Recipe& r) {
        return r.ranks >= 3 && std::ranges::any_of(r.blocks, [](const Block& b) { return b.kind == BlockKind::Farm; });
    });
    EXPECT_EQ(text(smallest), "3 ranks: farm(2)");
}

}  // namespace
}  // namespace critpath::oracle
