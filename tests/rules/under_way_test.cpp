// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the path waits for may be under way before the call is entered that waits for it. The times of all ranks have
// that, too, below the call: the path is a part of them. Times are in us.
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

/// The first message teaches what a transfer takes, 30; the second one is under way for 18 when its receiver comes.
void send_two(Program& p)
{
    p[0].called_from({"main"});
    p[1].called_from({"main"});
    p[0].send({100, 101}, 1);
    p[1].recv({70, 130}, 0);
    p[0].called_from({"main", "next"});
    p[1].called_from({"main", "next"});
    p[0].send({200, 201}, 1);
    p[1].recv({218, 230}, 0);
}

TEST(UnderWay, MessageBeforeTheCall)
{
    Program p(2);
    send_two(p);
    p[0].finish(240);
    p[1].finish(300);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-100 | mpi 0: 100-101 | compute 0: 101-200 | transfer 0>1: 200-230 | "
                        "compute 1: 230-300");
    EXPECT_EQ(r.call_paths(), "[compute]: 269 | main;MPI_Send: 1 | main;next;MPI_Recv;[transfer]: 30");
    EXPECT_EQ(r.all_call_paths(), "[compute]: 466 | main;MPI_Recv: 60 | main;MPI_Send: 1 | main;next;MPI_Recv: 12 | "
                                  "main;next;MPI_Recv;[transfer]: 18 | main;next;MPI_Send: 1");
    // And in the parts of the run in which it was under way.
    std::int64_t first = 1000, last = 0, sum = 0;
    for (const model::TotalPart& part : r.totals)
        if (model::CallPathId{part.call_path}.valid() && r.profile.row({part.call_path}).name == "[transfer]") {
            first = std::min<std::int64_t>(first, part.slot);
            last = std::max<std::int64_t>(last, part.slot);
            sum += part.ns;
        }
    EXPECT_EQ(sum, 18'000);
    EXPECT_EQ(first, 1000 * 200 / 300);
    EXPECT_EQ(last, 1000 * 218 / 300);
}

/// A collective takes 30, of which 20 are over when the call is entered that waits for it. For a while, its rank has no
/// processor.
Replayed collective(bool preempted, Span off = {0, 0})
{
    Program p(1);
    p[0].called_from({"main"});
    const Request posted = p[0].icollective(FunctionId::MPI_Iallreduce, {100, 101});
    if (off.leave > off.enter)
        p[0].off(off, preempted);
    p[0].wait_collective({120, 130}, posted);
    const Request over = p[0].icollective(FunctionId::MPI_Iallreduce, {200, 201});
    p[0].wait_collective({300, 301}, over);
    p.finish(400);
    Replayed r = replay(load(p, MPI_COMM_SELF, replayer::Rules::Arrival), iallreduce_takes(30));
    EXPECT_EQ(r.path(), "compute 0: 0-100 | collective 0: 100-130 | compute 0: 130-200 | mpi 0: 200-201 | "
                        "compute 0: 201-300 | mpi 0: 300-301 | compute 0: 301-400");
    return r;
}

TEST(UnderWay, CollectiveBeforeTheCall)
{
    const Replayed r = collective(false);
    EXPECT_EQ(r.call_paths(), "[compute]: 368 | main;MPI_Iallreduce: 1 | main;MPI_Wait: 31");
    EXPECT_EQ(r.all_call_paths(), "[compute]: 387 | main;MPI_Iallreduce: 2 | main;MPI_Wait: 31");
}

TEST(UnderWay, CollectiveWhoseMemberLacksAProcessorBeforeTheCall)
{
    const Replayed r = collective(true, {105, 112});
    EXPECT_EQ(r.call_paths(),
              "[compute]: 368 | main;MPI_Iallreduce: 1 | main;MPI_Wait: 24 | main;MPI_Wait;[preempted]: 7");
    EXPECT_EQ(r.all_call_paths(),
              "[compute]: 387 | main;MPI_Iallreduce: 2 | main;MPI_Wait: 24 | main;MPI_Wait;[preempted]: 7");
}

TEST(UnderWay, CollectiveWhoseMemberIsBlockedBeforeTheCallAndInIt)
{
    const Replayed r = collective(false, {110, 127});
    EXPECT_EQ(r.call_paths(), "[compute]: 368 | main;MPI_Iallreduce: 1 | main;MPI_Wait: 31");
    EXPECT_EQ(r.all_call_paths(), "[compute]: 387 | main;MPI_Iallreduce: 2 | main;MPI_Wait: 31");
}

}  // namespace
}  // namespace critpath::tests
