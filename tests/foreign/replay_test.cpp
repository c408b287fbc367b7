// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The conventions of other measurement systems, through all phases: the path is known from the program's text. Times
// are us.
#include "tests/foreign/foreign.hpp"

namespace critpath::test
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> anomalies(const tests::Replayed& r)
{
    std::vector<std::string> found;
    for (const char* key : {"unmatched_sends", "unmatched_receives", "unfinished_requests", "incomplete_collectives",
                            "mismatched_collectives", "unknown_collectives", "clock_violations", "ignored_records"}) {
        if (r.fact(key) != 0) {
            found.emplace_back(key);
        }
    }
    return found;
}

void finalize_all(TinyTrace& t, std::uint32_t ranks, std::uint64_t time)
{
    for (std::uint32_t r = 0; r < ranks; ++r) {
        t.thread(r).enter(time, "MPI_Finalize").leave(time + 1, "MPI_Finalize");
    }
}

/// By OpenMP's regions, only the main thread calls MPI (MPI_THREAD_FUNNELED).
TEST_F(Foreign, OpenMpWhereTheMasterCommunicates)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            t.thread(rank, 1);
            t.thread(rank, 2);
        }
        t.paradigm("!$omp parallel @app.c:7", OTF2_PARADIGM_OPENMP);
        t.paradigm("!$omp implicit barrier @app.c:9", OTF2_PARADIGM_OPENMP);
        t.role("!$omp implicit barrier @app.c:9", OTF2_REGION_ROLE_IMPLICIT_BARRIER);
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            const std::uint64_t work = rank == 0 ? 500 : 100;  // of the slowest thread
            auto& master = t.thread(rank);
            master.enter(0, "main").write(
                [](OTF2_EvtWriter* w) { return OTF2_EvtWriter_ThreadFork(w, nullptr, 10, OTF2_PARADIGM_OPENMP, 3); });
            for (std::uint32_t thread = 0; thread < 3; ++thread) {
                auto& worker = t.thread(rank, thread);
                worker.write([](OTF2_EvtWriter* w) { return OTF2_EvtWriter_ThreadTeamBegin(w, nullptr, 10, 99); });
                worker.enter(10, "!$omp parallel @app.c:7");
                worker.enter(thread == 2 ? 10 + work : 50, "!$omp implicit barrier @app.c:9");
                worker.leave(10 + work, "!$omp implicit barrier @app.c:9").leave(10 + work, "!$omp parallel @app.c:7");
                worker.write(
                    [work](OTF2_EvtWriter* w) { return OTF2_EvtWriter_ThreadTeamEnd(w, nullptr, 10 + work, 99); });
            }
            master.write([work](OTF2_EvtWriter* w) {
                return OTF2_EvtWriter_ThreadJoin(w, nullptr, 10 + work, OTF2_PARADIGM_OPENMP);
            });
        }
        t.thread(0).enter(600, "MPI_Send").send(600, "world", 1, 0, 8).leave(601, "MPI_Send").leave(610, "main");
        t.thread(1).enter(150, "MPI_Recv").recv(603, "world", 0, 0, 8).leave(603, "MPI_Recv").leave(700, "main");
        finalize_all(t, 2, 800);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-10 | compute 2: 10-510 | compute 0: 510-600 | transfer 0>3: 600-603 | "
                        "compute 3: 603-800");
    EXPECT_THAT(r.profile.locations, ElementsAre("rank 0", "rank 0 thread 1", "rank 0 thread 2", "rank 1",
                                                 "rank 1 thread 1", "rank 1 thread 2"));
    EXPECT_EQ(r.path_us("!$omp parallel @app.c:7"), 500);
    EXPECT_EQ(r.path_us("!$omp implicit barrier @app.c:9"), 0);
    EXPECT_EQ(r.fact("ignored_thread_records"), 0);
    EXPECT_THAT(anomalies(r), ElementsAre());
}

/// Any thread communicates (MPI_THREAD_MULTIPLE): the path leads through the worker that sent, and from its begin to
/// the thread that was there before.
TEST_F(Foreign, OpenMpWhereWorkersCommunicate)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        t.thread(0, 1);
        t.thread(1, 1);
        t.thread(0).enter(0, "main").enter(450, "MPI_Recv").recv(603, "world", 1, 8, 8).leave(603, "MPI_Recv");
        t.thread(0).leave(790, "main");
        t.thread(0, 1).enter(100, "!$omp parallel").enter(500, "MPI_Send").send(500, "world", 1, 7, 8);
        t.thread(0, 1).leave(501, "MPI_Send").leave(510, "!$omp parallel");
        t.thread(1).enter(0, "main").enter(400, "MPI_Irecv").irecv_request(400, 9).leave(401, "MPI_Irecv");
        t.thread(1).leave(780, "main");
        // Posted by the main thread, completed by another.
        t.thread(1, 1).enter(300, "!$omp parallel").enter(410, "MPI_Wait").irecv(503, "world", 0, 7, 8, 9);
        t.thread(1, 1).leave(503, "MPI_Wait").enter(600, "MPI_Send").send(600, "world", 0, 8, 8).leave(601, "MPI_Send");
        t.thread(1, 1).leave(610, "!$omp parallel");
        t.thread(0).enter(800, "MPI_Finalize").leave(801, "MPI_Finalize");
        t.thread(1).enter(799, "MPI_Finalize").leave(801, "MPI_Finalize");
    });
    // Locations 0 and 1 are rank 0, 2 and 3 are rank 1.
    EXPECT_EQ(r.path(), "compute 0: 0-100 | compute 1: 100-500 | transfer 1>3: 500-503 | compute 3: 503-600 | "
                        "transfer 3>0: 600-603 | compute 0: 603-800");
    EXPECT_EQ(r.fact("messages"), 2);
    EXPECT_THAT(anomalies(r), ElementsAre());
}

TEST_F(Foreign, RegionsByCallingContextOnly)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        t.thread(0).context_enter(0, "main").context_enter(10, "heavy").context_leave(300, "heavy");
        t.thread(0).context_enter(300, "MPI_Send").send(300, "world", 1, 0, 8).context_leave(301, "MPI_Send");
        t.thread(1).context_enter(0, "main").context_enter(20, "MPI_Recv").recv(303, "world", 0, 0, 8);
        t.thread(1).context_leave(303, "MPI_Recv").context_leave(400, "main");
        t.thread(0).context_leave(310, "main").context_enter(310, "MPI_Finalize").context_leave(311, "MPI_Finalize");
        t.thread(1).context_enter(400, "MPI_Finalize").context_leave(401, "MPI_Finalize");
    });
    EXPECT_EQ(r.path(), "compute 0: 0-300 | transfer 0>1: 300-303 | compute 1: 303-400");
    EXPECT_EQ(r.path_us("heavy"), 290);
    EXPECT_EQ(r.path_us("main"), 10 + 97);
    EXPECT_THAT(anomalies(r), ElementsAre());
}

TEST_F(Foreign, NeitherInitNorFinalizeAndFilteredRegions)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        // Measurement began within `outer`, whose enter is missing; the leave of `filtered` is, too.
        t.thread(0).enter(0, "inner").leave(100, "inner").leave(150, "outer").enter(150, "filtered");
        t.thread(0).enter(200, "MPI_Send").send(200, "world", 1, 0, 8).leave(201, "MPI_Send").enter(210, "last");
        t.thread(0).leave(220, "last");
        t.thread(1).enter(10, "MPI_Recv").recv(203, "world", 0, 0, 8).leave(203, "MPI_Recv");
        t.thread(1).enter(210, "after").leave(260, "after");
    });
    EXPECT_EQ(r.path(), "compute 0: 0-200 | transfer 0>1: 200-203 | compute 1: 203-260");
    EXPECT_EQ(r.path_us("inner"), 100);
    EXPECT_EQ(r.path_us("filtered"), 50);
    EXPECT_EQ(r.path_us("after"), 50);
    EXPECT_THAT(anomalies(r), ElementsAre("ignored_records"));  // the leave of what was not entered
    EXPECT_EQ(r.fact("ignored_records"), 1);
}

/// An operation that OTF2 did not know yet, in a function that we do not know: nothing is known of who needs whom. That
/// all left after the last one came says that it synchronised.
TEST_F(Foreign, CollectiveOperationsThatNobodyKnows)
{
    const OTF2_CollectiveOp of_a_later_version = 177;
    const auto write = [&](std::uint64_t leave_of_first) {
        return [=](TinyTrace& t) {
            t.paradigm("MPI_Not_yet_invented", OTF2_PARADIGM_MPI);
            const auto call = [&](std::uint32_t rank, std::uint64_t enter, std::uint64_t leave) {
                t.thread(rank).enter(enter, "MPI_Not_yet_invented");
                t.thread(rank).collective(enter, leave, of_a_later_version, "world", OTF2_COLLECTIVE_ROOT_NONE, 8, 8);
                t.thread(rank).leave(leave, "MPI_Not_yet_invented");
            };
            call(0, 100, leave_of_first);
            call(1, 300, 305);
            t.thread(0).enter(600, "MPI_Finalize").leave(600, "MPI_Finalize");
            t.thread(1).enter(500, "MPI_Finalize").leave(500, "MPI_Finalize");
        };
    };
    const tests::Replayed waited = replay(2, write(306));
    EXPECT_EQ(waited.path(), "start delay 1: 0-200 | collective 1>0: 200-206 | compute 0: 206-500");
    EXPECT_THAT(anomalies(waited), ElementsAre("unknown_collectives"));
    std::filesystem::remove_all(scratch_.path() / "trace");
    const tests::Replayed went = replay(2, write(106));
    EXPECT_EQ(went.path(), "mpi 0: 0-6 | compute 0: 6-500");
}

/// Score-P writes MPI_REQUEST_TEST for each request that MPI_Waitany or MPI_Test leaves open.
TEST_F(Foreign, RequestsThatAreTestedOnTheWay)
{
    const tests::Replayed r = replay(3, [](TinyTrace& t) {
        t.thread(0).enter(0, "MPI_Irecv").irecv_request(0, 1).leave(1, "MPI_Irecv");
        t.thread(0).enter(1, "MPI_Irecv").irecv_request(1, 2).leave(2, "MPI_Irecv");
        t.thread(0).enter(10, "MPI_Waitany").request_test(203, 1).irecv(203, "world", 2, 0, 8, 2);
        t.thread(0).leave(203, "MPI_Waitany").enter(210, "MPI_Waitany").irecv(503, "world", 1, 0, 8, 1);
        t.thread(0).leave(503, "MPI_Waitany");
        t.thread(1).enter(0, "main").enter(500, "MPI_Send").send(500, "world", 0, 0, 8).leave(501, "MPI_Send");
        t.thread(2).enter(0, "main").enter(200, "MPI_Send").send(200, "world", 0, 0, 8).leave(201, "MPI_Send");
        t.thread(1).enter(502, "MPI_Finalize").leave(503, "MPI_Finalize");
        t.thread(2).enter(502, "MPI_Finalize").leave(503, "MPI_Finalize");
        t.thread(0).enter(600, "MPI_Finalize").leave(601, "MPI_Finalize");
    });
    EXPECT_EQ(r.path(), "compute 1: 0-500 | transfer 1>0: 500-503 | compute 0: 503-600");
    EXPECT_THAT(anomalies(r), ElementsAre());
}

/// Ranks in records are ranks of the communicator, which reverses those of the world; COMM_CREATE and _DESTROY.
TEST_F(Foreign, SubCommunicators)
{
    const tests::Replayed r = replay(4, [](TinyTrace& t) {
        t.communicator("odd", {3, 1});
        const OTF2_CommRef odd = t.comm_reference("odd");
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            auto& thread = t.thread(rank).enter(0, "MPI_Comm_split");
            if (rank % 2 == 1) {
                thread.write([odd](OTF2_EvtWriter* w) { return OTF2_EvtWriter_CommCreate(w, nullptr, 5, odd); });
            }
            thread.collective(5, 5, OTF2_COLLECTIVE_OP_CREATE_HANDLE, "world", OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
            thread.leave(5, "MPI_Comm_split");
        }
        t.thread(3).enter(400, "MPI_Send").send(400, "odd", 1, 0, 8).leave(401, "MPI_Send");
        t.thread(1).enter(10, "MPI_Recv").recv(403, "odd", 0, 0, 8).leave(403, "MPI_Recv").enter(500, "MPI_Bcast");
        // The root is rank 1 of the communicator.
        t.thread(1).collective(500, 501, OTF2_COLLECTIVE_OP_BCAST, "odd", 1, 8, 0).leave(501, "MPI_Bcast");
        t.thread(3).enter(410, "MPI_Bcast").collective(410, 504, OTF2_COLLECTIVE_OP_BCAST, "odd", 1, 0, 8);
        t.thread(3).leave(504, "MPI_Bcast");
        for (const std::uint32_t rank : {1U, 3U}) {
            auto& thread = t.thread(rank).enter(505, "MPI_Comm_free");
            thread.write([odd](OTF2_EvtWriter* w) { return OTF2_EvtWriter_CommDestroy(w, nullptr, 506, odd); });
            thread.collective(506, 506, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, "odd", OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
            thread.leave(506, "MPI_Comm_free");
        }
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            const std::uint64_t end = rank == 3 ? 700 : 600;
            t.thread(rank).enter(end, "MPI_Finalize").leave(end, "MPI_Finalize");
        }
    });
    EXPECT_THAT(r.path(), HasSubstr("compute 3: 5-400 | transfer 3>1: 400-403 | compute 1: 403-500 | "
                                    "collective 1>3: 500-504 | compute 3: 504-505"));
    EXPECT_EQ(r.fact("collectives"), 3);
    EXPECT_THAT(anomalies(r), ElementsAre());
}

/// Some tools put the creation of a communicator by its members down as a collective of the parent, which it is not,
/// others of the new one.
TEST_F(Foreign, CommunicatorsThatTheirMembersMake)
{
    const tests::Replayed r = replay(4, [](TinyTrace& t) {
        t.communicator("odd", {3, 1});
        t.inter_communicator("bridge", {3, 1}, {0});
        const auto make = [&](std::uint32_t rank, const std::string& function, std::uint64_t enter, std::uint64_t leave,
                              const std::string& made, const std::string& said) {
            const OTF2_CommRef comm = t.comm_reference(made);
            auto& thread = t.thread(rank).enter(enter, function);
            thread.write([=](OTF2_EvtWriter* w) { return OTF2_EvtWriter_CommCreate(w, nullptr, leave, comm); });
            if (!said.empty())
                thread.collective(leave, leave, OTF2_COLLECTIVE_OP_CREATE_HANDLE, said, OTF2_COLLECTIVE_ROOT_NONE, 0,
                                  0);
            thread.leave(leave, function);
        };
        for (std::uint32_t rank = 0; rank < 4; ++rank)
            t.thread(rank).enter(0, "main");
        make(1, "MPI_Comm_create_group", 10, 203, "odd", "world");
        make(3, "MPI_Comm_create_group", 200, 203, "odd", "odd");
        make(0, "MPI_Intercomm_create", 20, 403, "bridge", "world");
        make(1, "MPI_Intercomm_create", 400, 403, "bridge", "odd");
        make(3, "MPI_Intercomm_create", 210, 403, "bridge", "");
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            t.thread(rank).enter(rank == 3 ? 500 : 410, "MPI_Barrier");
            t.thread(rank).collective(500, 503, OTF2_COLLECTIVE_OP_BARRIER, "world", OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
            const std::uint64_t end = rank == 2 ? 700 : 600;
            t.thread(rank).leave(503, "MPI_Barrier").enter(end, "MPI_Finalize").leave(end, "MPI_Finalize");
        }
    });
    EXPECT_EQ(r.path(), "compute 3: 0-200 | collective 3>1: 200-203 | compute 1: 203-400 | collective 1>3: 400-403 | "
                        "compute 3: 403-500 | collective 3>2: 500-503 | compute 2: 503-700");
    EXPECT_EQ(r.fact("collectives"), 3);
    EXPECT_THAT(anomalies(r), ElementsAre());
}

/// Ranks 0 and 1 accept, the others connect. Those who accept are known from those who connect.
void meet(TinyTrace& t, const std::vector<std::uint64_t>& known_acceptors, std::uint64_t acceptors_leave)
{
    t.communicator("side", {0, 1});
    t.communicator("others", {2, 3});
    t.inter_communicator("bridge", {2, 3}, known_acceptors);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        const char* function = rank < 2 ? "MPI_Comm_accept" : "MPI_Comm_connect";
        const std::uint64_t enter = rank == 1 ? 200 : rank == 2 ? 300 : 10;
        const std::uint64_t leave = rank < 2 ? acceptors_leave : 303;
        const std::uint64_t end = rank == 0 ? 700 : 600;
        const OTF2_CommRef comm = t.comm_reference("bridge");
        auto& thread = t.thread(rank).enter(0, "main").enter(enter, function);
        thread.write([=](OTF2_EvtWriter* w) { return OTF2_EvtWriter_CommCreate(w, nullptr, leave, comm); });
        thread.collective(leave, leave, OTF2_COLLECTIVE_OP_CREATE_HANDLE, rank < 2 ? "side" : "others", 0, 0, 0);
        thread.leave(leave, function).enter(end, "MPI_Finalize").leave(end, "MPI_Finalize");
    }
}

TEST_F(Foreign, GroupsThatMeetWaitForEachOther)
{
    const tests::Replayed r = replay(4, [](TinyTrace& t) { meet(t, {0, 1}, 303); });
    EXPECT_EQ(r.path(), "compute 2: 0-300 | collective 2>0: 300-303 | compute 0: 303-700");
    EXPECT_THAT(anomalies(r), ElementsAre());
}

TEST_F(Foreign, OfGroupsThatMeetOneMayBeMissing)
{
    const tests::Replayed r = replay(4, [](TinyTrace& t) { meet(t, {}, 203); });
    EXPECT_EQ(r.path(), "compute 1: 0-200 | collective 1>0: 200-203 | compute 0: 203-700");
    EXPECT_THAT(anomalies(r), ElementsAre());
}

/// Between groups, ranks in records are those of the other group.
TEST_F(Foreign, InterCommunicators)
{
    const tests::Replayed r = replay(4, [](TinyTrace& t) {
        t.inter_communicator("bridge", {0, 1}, {3, 2});
        t.thread(3).enter(300, "MPI_Send").send(300, "bridge", 1, 0, 8).leave(301, "MPI_Send");
        t.thread(1).enter(10, "MPI_Recv").recv(303, "bridge", 0, 0, 8).leave(303, "MPI_Recv");
        const auto barrier = [&](std::uint32_t rank, std::uint64_t enter, std::uint64_t leave) {
            t.thread(rank).enter(enter, "MPI_Barrier");
            t.thread(rank).collective(enter, leave, OTF2_COLLECTIVE_OP_BARRIER, "bridge", OTF2_COLLECTIVE_ROOT_NONE, 0,
                                      0);
            t.thread(rank).leave(leave, "MPI_Barrier");
        };
        barrier(0, 310, 505);
        barrier(1, 500, 503);  // waits for nobody of its own side
        barrier(2, 330, 504);
        barrier(3, 320, 506);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            const std::uint64_t end = rank == 2 ? 700 : 600;
            t.thread(rank).enter(end, "MPI_Finalize").leave(end, "MPI_Finalize");
        }
    });
    EXPECT_EQ(r.path(), "start delay 3: 0-290 | transfer 3>1: 290-293 | compute 1: 293-490 | collective 1>2: 490-494 | "
                        "compute 2: 494-690");
    EXPECT_THAT(anomalies(r), ElementsAre());
}

/// A tool that wraps the internals of MPI as well: the outermost region is the call.
TEST_F(Foreign, NestedMpiRegionsWithUserCodeInside)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        const auto allreduce = [&](std::uint32_t rank, std::uint64_t enter, std::uint64_t leave) {
            auto& thread = t.thread(rank).enter(enter, "MPI_Allreduce").enter(enter + 1, "MPI_Isend");
            thread.isend(enter + 1, "world", 1 - rank, 1, 8, 5).leave(enter + 2, "MPI_Isend");
            thread.enter(enter + 2, "MPI_Recv").recv(leave - 3, "world", 1 - rank, 1, 8).leave(leave - 3, "MPI_Recv");
            thread.enter(leave - 3, "user_op").leave(leave - 2, "user_op");
            thread.enter(leave - 2, "MPI_Wait").isend_complete(leave - 1, 5).leave(leave - 1, "MPI_Wait");
            thread.collective(leave, leave, OTF2_COLLECTIVE_OP_ALLREDUCE, "world", OTF2_COLLECTIVE_ROOT_NONE, 8, 8);
            thread.leave(leave, "MPI_Allreduce");
        };
        t.thread(0).enter(0, "main");
        t.thread(1).enter(0, "main");
        allreduce(0, 100, 310);
        allreduce(1, 300, 309);
        t.thread(0).leave(490, "main").enter(500, "MPI_Finalize").leave(501, "MPI_Finalize");
        t.thread(1).leave(390, "main").enter(400, "MPI_Finalize").leave(401, "MPI_Finalize");
    });
    EXPECT_EQ(r.path(), "compute 1: 0-300 | collective 1>0: 300-310 | compute 0: 310-500");
    EXPECT_EQ(r.fact("calls"), 4);
    EXPECT_THAT(anomalies(r), ElementsAre());
}

/// What a tool does by itself is nobody's computation: a full buffer. The application switches the recording off.
TEST_F(Foreign, FlushedBuffersOnThePath)
{
    const tests::Replayed r = replay(2, [](TinyTrace& t) {
        t.define_no_attributes();
        t.thread(0).enter(0, "main").flush(100, 250).leave(290, "main");
        t.thread(0).enter(300, "MPI_Send").send(300, "world", 1, 0, 8).leave(301, "MPI_Send");
        t.thread(1).enter(0, "MPI_Recv").recv(303, "world", 0, 0, 8).leave(303, "MPI_Recv");
        t.thread(1).measurement(350, false).measurement(370, true);
        finalize_all(t, 2, 400);
    });
    EXPECT_EQ(r.path(), "compute 0: 0-100 | tool 0: 100-250 | compute 0: 250-300 | transfer 0>1: 300-303 | "
                        "compute 1: 303-350 | not recorded 1: 350-370 | compute 1: 370-400");
    EXPECT_EQ(r.path_us("[measurement]"), 150);
}

/// Rank 0 holds the lock of a window from 101 to 400; rank 1, which asked for it at 150, has it at 402.
std::string path_of_locks(TinyTrace& t, bool are_requested)
{
    constexpr OTF2_RmaWinRef window = 7;
    const OTF2_StringRef name = t.string("window");
    const OTF2_CommRef world = t.comm_reference("world");
    t.define_no_attributes();
    t.define([=](OTF2_GlobalDefWriter* w) {
        OTF2_GlobalDefWriter_WriteRmaWin(w, window, name, world, OTF2_RMA_WIN_FLAG_NONE);
    });
    const auto lock = [&](std::uint32_t rank, std::uint64_t enter, std::uint64_t leave) {
        auto& thread = t.thread(rank).enter(enter, "MPI_Win_lock");
        if (are_requested) {
            thread.write([=](OTF2_EvtWriter* w) {
                return OTF2_EvtWriter_RmaRequestLock(w, nullptr, enter, window, 0, 1, OTF2_LOCK_EXCLUSIVE);
            });
        }
        thread.write([=](OTF2_EvtWriter* w) {
            return OTF2_EvtWriter_RmaAcquireLock(w, nullptr, leave, window, 0, 1, OTF2_LOCK_EXCLUSIVE);
        });
        thread.leave(leave, "MPI_Win_lock");
    };
    const auto unlock = [&](std::uint32_t rank, std::uint64_t enter) {
        t.thread(rank).enter(enter, "MPI_Win_unlock").write([=](OTF2_EvtWriter* w) {
            return OTF2_EvtWriter_RmaReleaseLock(w, nullptr, enter + 1, window, 0, 1);
        });
        t.thread(rank).leave(enter + 1, "MPI_Win_unlock");
    };
    t.thread(0).enter(0, "main");
    t.thread(1).enter(0, "main");
    lock(0, 100, 101);
    unlock(0, 400);
    lock(1, 150, 402);
    unlock(1, 700);
    finalize_all(t, 2, 800);
    t.close();
    replayer::Replay loaded;
    loaded.comm = MPI_COMM_SELF;
    replayer::load::load(t.anchor(), loaded);
    return tests::replay(loaded).path();
}

/// A lock that is taken in one step has an acquisition and no request.
TEST_F(Foreign, LocksThatNobodyRequests)
{
    TinyTrace requested(scratch_.path() / "requested", 2, microseconds);
    TinyTrace taken(scratch_.path() / "taken", 2, microseconds);
    const std::string path = path_of_locks(requested, true);
    EXPECT_THAT(path, HasSubstr("compute 0: 101-400 | transfer 0>1: 400-402 | compute 1: 402-700"));
    EXPECT_EQ(path_of_locks(taken, false), path);
}

}  // namespace
}  // namespace critpath::test
