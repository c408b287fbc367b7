// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What was done inside of MPI while the path was there: who worked when is known, and each sample stands for so much.
#include "analysis/division/inside.hpp"
#include "replayer/attribute/spin.hpp"
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

using division::Side;
using replayer::SpinEvidence;

/// "begin pack 5 | end unpack 3": times in us; of calls, "MPI_Send 0: pack 5" with the rank.
std::string inside(const Replayed& r, std::int64_t begin = 0, std::int64_t end = 1'000'000)
{
    std::vector<std::string> words;
    for (const division::InsideTime& t :
         division::inside_mpi(r.profile, {r.segments, r.attributions}, {begin * 1000, end * 1000})) {
        const std::string what = t.function.valid() ? r.profile.rows[t.function.value].name : "[spinning]";
        std::string who = t.side == Side::From ? fmt::format("{} for {}", t.of.from.value, t.of.to.value)
                                               : fmt::format("{} from {}", t.of.to.value, t.of.from.value);
        if (!t.of.is_transfer)
            who = fmt::format("{} in {}", t.of.to.value, r.profile.row(t.of.call).name);
        words.push_back(fmt::format("{}: {} {}", who, what, static_cast<double>(t.ns) / 1000));
    }
    return fmt::format("{}", fmt::join(words, " | "));
}

TEST(Inside, BothSidesOfAMessage)
{
    Program p(2);
    p[0].sample(95, "work", 10);
    p[0].send({100, 110}, 1);
    p[0].sample(105, "pack", 5);
    p[0].sample(115, "work", 10);  // meanwhile, and not of the message
    p[1].recv({10, 130}, 0);
    for (int t = 20; t < 130; t += 10)
        p[1].sample(t, "opal_progress", 10);
    p[1].sample(125, "unpack", 5);
    p[1].sample(135, "work", 10);
    p.finish(200);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-100 | transfer 0>1: 100-130 | compute 1: 130-200");
    EXPECT_EQ(inside(r), "0 for 1: pack 5 | 1 from 0: unpack 5");
    EXPECT_EQ(r.path_us("[transfer]"), 30);
    EXPECT_EQ(r.path_us("pack"), 0);
    EXPECT_EQ(r.path_us("work"), 20);
}

TEST(Inside, OfALateReceiver)
{
    Program p(2);
    p[0].ssend({10, 130}, 1);
    for (int t = 20; t < 130; t += 10)
        p[0].sample(t, "sched_yield", 10);
    p[0].sample(105, "pack", 2);
    p[1].recv({100, 128}, 0);
    p[1].sample(115, "process_vm_readv", 20);
    p[0].finish(200);
    p[1].finish(190);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-100 | transfer 1>0: 100-130 | compute 0: 130-200");
    EXPECT_EQ(inside(r), "0 for 1: pack 1 | 1 from 0: process_vm_readv 20");  // both at a time
    EXPECT_EQ(inside(r, 0, 110), "0 for 1: pack 1");
    EXPECT_EQ(inside(r, 110, 200), "1 from 0: process_vm_readv 20");
}

TEST(Inside, WhatCompletesASendMayBeWorkOfIt)
{
    Program p(2);
    const Request sent = p[0].isend({100, 101}, 1);
    p[0].sample(105, "work", 10);
    p[0].call(FunctionId::MPI_Iprobe, {106, 108});
    p[0].sample(107, "another call", 10);
    p[0].wait({110, 135}, sent);
    p[0].sample(120, "pack", 10);
    p[0].sample(132, "pack", 10);  // behind it
    p[1].recv({10, 130}, 0);
    p.finish(200);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path().substr(0, 45), "compute 0: 0-100 | transfer 0>1: 100-130 | co");
    EXPECT_EQ(inside(r), "0 for 1: pack 10");
}

TEST(Inside, ComputationThatOverlapsATransferIsNotOfIt)
{
    Program p(2);
    p[0].ssend({10, 118}, 1);
    const Request received = p[1].irecv({50, 52}, 0);
    p[1].sample(51, "post", 2);
    p[1].sample(60, "work", 10);
    p[1].sample(70, "work", 10);
    p[1].wait({80, 120}, received);
    p[1].sample(90, "opal_progress", 10);
    p[1].sample(110, "unpack", 10);
    p.finish(200);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-50 | transfer 1: 50-120 | compute 1: 120-200");
    EXPECT_EQ(r.path_us("work"), 0);
    EXPECT_EQ(inside(r), "1 from 0: post 2 | 1 from 0: unpack 10");
    EXPECT_EQ(inside(r, 52, 200), "1 from 0: unpack 10");
}

TEST(Inside, ReductionsComputeInCollectives)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Allreduce, {10, 140});
    for (int t = 20; t < 100; t += 10)
        p[0].sample(t, "opal_progress", 10);
    p[0].sample(110, "opal_progress", 10);
    p[0].sample(120, "add", 10);
    p[0].sample(130, "add", 10);
    p[0].sample(150, "work", 10);
    p[1].collective(FunctionId::MPI_Allreduce, {100, 138});
    p[1].sample(115, "add", 10);  // of the other one, on which the path is not
    p[0].finish(200);
    p[1].finish(190);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-100 | collective 1>0: 100-140 | compute 0: 140-200");
    EXPECT_EQ(inside(r), "0 in MPI_Allreduce: add 20 | 0 in MPI_Allreduce: [spinning] 10");
    EXPECT_EQ(r.path_us("MPI_Allreduce"), 40);
    EXPECT_EQ(inside(r, 0, 125), "0 in MPI_Allreduce: add 10 | 0 in MPI_Allreduce: [spinning] 10");
    EXPECT_EQ(inside(r, 125, 200), "0 in MPI_Allreduce: add 10");
}

TEST(Inside, CallsThatWaitForNobody)
{
    Program p(1);
    p[0].call(FunctionId::MPI_File_write, {10, 40});
    p[0].sample(5, "work", 10);
    p[0].sample(15, "gather", 10);
    p[0].sample(25, "gather", 10);
    p[0].finish(50);
    EXPECT_EQ(inside(replay(p)), "0 in MPI_File_write: gather 20");
}

TEST(Inside, WithNothingButSpinningThereIsNoWork)
{
    Program p(2);
    p[0].send({100, 101}, 1);
    p[1].recv({10, 130}, 0);
    for (int t = 20; t < 130; t += 10)
        p[1].sample(t, "nothing known", 10);
    for (int t = 1010; t < 1990; t += 10)
        p[1].sample(t, "nothing known", 10);
    p[0].send({2000, 2001}, 1);
    p[1].recv({1000, 2020}, 0);
    p[1].sample(2010, "nothing known", 10);
    p.finish(3000);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path_us("[transfer]"), 20);
    EXPECT_EQ(inside(r), "");
}

TEST(Inside, AnyNumberOfProcessesFindsTheSame)
{
    Program p(6);
    for (int rank = 0; rank < 6; ++rank) {  // down the line
        if (rank > 0)
            p[rank].recv({1, 100 * rank + 20}, rank - 1);
        p[rank].sample(100 * rank + 15, "unpack", 5);
        p[rank].sample(100 * rank + 50, "work", 30);
        if (rank < 5)
            p[rank].send({100 * rank + 100, 100 * rank + 110}, rank + 1);
        p[rank].sample(100 * rank + 105, "pack", 5);
    }
    p.finish(700);
    const Replayed together = replay(p);
    EXPECT_EQ(inside(together, 0, 250), "0 for 1: pack 5 | 1 from 0: unpack 5 | 1 for 2: pack 5 | 2 from 1: unpack 5");
    EXPECT_TRUE(same_bytes(together.attributions, replay_alone(p, replayer::Rules::Arrival).attributions));
}

TEST(Inside, WhatIsCalledByWhatSpinsMaySpinAsWell)
{
    const SpinEvidence callers{400, 200, 200};
    EXPECT_TRUE(replayer::spins_for_callers({3, 3, 3}, callers));
    EXPECT_TRUE(replayer::spins_for_callers({3, 12, 0}, callers));
    EXPECT_FALSE(replayer::spins_for_callers({3, 10, 3}, callers));  // mostly there once something has come
    EXPECT_FALSE(replayer::spins_for_callers({2, 0, 0}, callers));   // too few to tell
    EXPECT_TRUE(replayer::spins_for_callers({3, 0, 0}, {400, 0, 0}));
    EXPECT_FALSE(replayer::spins_for_callers({3, 1, 0}, {400, 0, 0}));
}

/// Rank 1 waits until `from`, and for a message from then until 400; of what the loop of `called` calls, in turn.
std::string inside_of_loop(std::int64_t from, const std::string& loop, const std::vector<std::string>& called)
{
    Program p(2);
    p[0].send({from, from + 1}, 1);
    p[1].recv({10, 400}, 0);
    std::size_t next = 0;
    for (std::int64_t t = 20; t < 400; t += 10)
        p[1].sample(t, {"main", loop, called[next++ % called.size()]}, 10);
    p[1].sample(395, {"main", loop, "on_arrival"}, 10);
    p.finish(500);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path_us("[transfer]"), 400 - from);
    return inside(r, 0, 500);
}

TEST(Inside, PollersWithoutSymbolsSpinAsTheirCallersDo)
{
    // Most of the polling is within the transfer, and the poller is seen in few waits.
    EXPECT_EQ(inside_of_loop(100, "wait_progress", {"btl.so+0x10", "wait_progress"}), "1 from 0: on_arrival 10");
    // As ever, who copies is no poller, and neither is who is there only after the message has been sent.
    EXPECT_EQ(inside_of_loop(390, "wait_progress", {"memcpy"}), "1 from 0: memcpy 10 | 1 from 0: on_arrival 10");
    // Nothing else is known to call both.
    EXPECT_EQ(inside_of_loop(380, "main_loop", {"btl.so+0x10"}).find("btl.so+0x10") != std::string::npos, false);
    EXPECT_NE(inside_of_loop(100, "main_loop", {"btl.so+0x10", "another"}).find("btl.so+0x10"), std::string::npos);
    // This loop calls nothing but pollers, whenever it was seen.
    EXPECT_EQ(inside_of_loop(20, "opal_progress", {"btl.so+0x10"}), "");
}

TEST(Inside, FunctionsThatSpinAreLearned)
{
    const SpinEvidence all{1000, 500, 5000};
    EXPECT_TRUE(replayer::spins("f", {95, 40, 5}, all));
    EXPECT_FALSE(replayer::spins("f", {94, 40, 6}, all));     // it does other things as well
    EXPECT_FALSE(replayer::spins("f", {19, 9, 0}, all));      // too few to tell,
    EXPECT_TRUE(replayer::spins("f_poll", {19, 9, 0}, all));  // but for its name
    EXPECT_TRUE(replayer::spins("f_poll", {10, 9, 10}, all));
    EXPECT_FALSE(replayer::spins("f", {20, 200, 0}, all));  // it is needed for what is on its way
    EXPECT_FALSE(replayer::spins("__memmove_avx", {100, 0, 0}, all));
}

}  // namespace
}  // namespace critpath::tests
