// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whose time it is, and whether always.
#include "analysis/report/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using testing::Not;
using namespace tests;

TEST(Explain, PersistentRankOrNodeOrTransient)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    EXPECT_THAT(sentence(p), HasSubstr("Always rank 3 (persistent, 90 %): move work"));
    s.slowest_rank = 2;  // the path is on another one
    EXPECT_THAT(sentence(p), HasSubstr("Always the same ranks, rank 2 most (persistent, 90 %): move work"));
    s.slowest_rank = 3;
    p.stretch_shares = {{0, {2}, 480 * ms, 5, 240 * ms}, {0, {3}, 520 * ms, 5, 260 * ms}};
    EXPECT_THAT(sentence(p), HasSubstr("Always the same ranks, rank 3 most (persistent, 90 %): move work"));
    s.node_variance = 80;
    s.node_rest_variance = 20;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentNode);
    EXPECT_THAT(sentence(p), HasSubstr("same node, most on b (persistent, 90 %; 80 % of that by node)"));
    s.nodes = 1;  // then there is nothing to tell from
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    s.rank_variance = 10;
    s.noise_variance = 90;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
    s.carrier_variance = 910;  // one of many ranks, always
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    EXPECT_THAT(sentence(p), HasSubstr("(persistent, 91 %)"));
    s.carrier_variance = 0;
    s.much_longer = 6;
    EXPECT_THAT(sentence(p),
                HasSubstr("Now this rank, now that (transient, 10 % persistent): 6 of 10 times it takes half "
                          "as long again, or more: noise, or work that moves between ranks."));
    s.much_longer = 0;
    EXPECT_THAT(sentence(p), HasSubstr("Now this rank, now that (transient, 10 % persistent): noise, or"));
    s.much_longer = 6;
    p.stretch_shares = one_stretch().stretch_shares;
    EXPECT_THAT(sentence(p),
                HasSubstr("Not always, but now and then (transient, 10 % persistent): 6 of 10 times it takes "
                          "half as long again, or more, mostly on rank 3 (92 % of the difference): look at "
                          "what it does then"));
    EXPECT_THAT(sentence(p), Not(HasSubstr("Most of all")));
    s.costliest_rank = 3;
    s.costliest_ns = 12 * ms;
    s.costliest_begin_ns = 3'512'345'678;
    s.costliest_length_ns = 20 * ms;
    EXPECT_THAT(sentence(p),
                HasSubstr(" Most of all once on rank 3, 12 ms longer than on its peers: cpreport hotspots --rank 3 "
                          "--from 3.512345 --to 3.532346."));
    s.processor_ns = 0;
    s.preempted_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("who else uses its processor"));
    s.occurrences = 2;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Rare);
    EXPECT_THAT(sentence(p), HasSubstr("too rarely"));
}

/// Ranks that are on the path by turns are the peers of each other: what one takes longer, the other takes less.
TEST(Explain, RanksByTurnsAreNotBalanced)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.peers_ns = 1000 * ms;
    s.processor_ns = 0;
    s.slowest_rank = 3;
    s.fastest_rank = 2;
    s.fastest_time = 200'000'000;
    p.stretch_shares = {{0, {2}, 170 * ms, 10, -660 * ms}, {0, {3}, 830 * ms, 10, 660 * ms}};
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Unequal);
    EXPECT_THAT(sentence(p),
                HasSubstr("Together, what the ranks have on the path takes as long as on their peers, for "
                          "they are on it by turns; but they are not equal: rank 3 takes 5.0 times as long "
                          "as rank 2. Always the same ranks (persistent, 90 %). While they wait for each "
                          "other, to move work between them gains nothing, unless one is slower at the same work; "
                          "let them work at the same time"));
    s.fastest_time = 800'000'000;
    EXPECT_THAT(sentence(p), HasSubstr("rank 3 takes 25 % longer than rank 2."));
    s.fastest_time = 1'000'000;
    EXPECT_THAT(sentence(p), HasSubstr("rank 3 takes 1,000 times as long as rank 2."));
    // Of several that take less, the peers of each other together do not take as long as they do.
    s.peers_ns = 700 * ms;
    s.processor_ns = 300 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    EXPECT_THAT(sentence(p), HasSubstr("But ranks that take less are on the path by turns, too: while they wait"));
    p.stretch_shares[0].longer_ns = -30 * ms;
    EXPECT_THAT(sentence(p), Not(HasSubstr("by turns")));
    p.stretch_shares[0].longer_ns = -660 * ms;
    s.peers_ns = 1000 * ms;
    s.processor_ns = 0;
    s.fastest_time = 960'000'000;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
    s.fastest_time = 200'000'000;
    s.rank_variance = 10;
    s.noise_variance = 90;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);  // chance
    s.rank_variance = 90;
    s.noise_variance = 10;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Unequal);
    // One of many ranks has less to do, and no part in it.
    p.stretch_shares = {{0, {2}, 170 * ms, 10, 6 * ms}, {0, {3}, 830 * ms, 10, 30 * ms}};
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
}

TEST(Explain, OneTimeDoesNotSayHowOften)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.gaps = s.compared = s.slowest = s.much_longer = 1;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);  // all times of all ranks tell
    s.rank_variance = 10;
    s.noise_variance = 90;
    s.slow_ranks = 3;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Rare);
    EXPECT_THAT(sentence(p), HasSubstr("It takes 100 % longer than on its peers (geometric mean): +100 % by more time "
                                       "on the processor. It happens too rarely to tell whether that is always so"));
    s.sampled = 1;
    s.instructions_ns = s.processor_ns;
    s.processor_ns = 0;
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);  // what samples count of all times says nothing of this one
    s.compared = 2;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
}

TEST(Explain, BalancedShorterAndAlone)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.peers_ns = 980 * ms;
    s.processor_ns = 20 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
    EXPECT_THAT(sentence(p), HasSubstr("Its peers take as long"));
    s.peers_ns = 1500 * ms;
    s.processor_ns = -500 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Shorter);
    EXPECT_THAT(sentence(p), HasSubstr("33 % less than on its peers"));
    s.peers_ns = 1 * ms;
    s.processor_ns = 999 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("It takes 1,000 times as long as on its peers (geometric mean: 1 ms): +100 % of "
                                       "the difference by more time on the processor."));
    s.peers_ns = 200 * ms;
    s.processor_ns = 800 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("5.0 times as long as on its peers"));
    s.compared = 4;
    s.compared_ns = 400 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::NoPeers);
    EXPECT_THAT(sentence(p),
                HasSubstr("No peers for 60 % of it: no other rank comes here between the same two MPI calls,"));
    s.compared = s.compared_ns = s.peers_ns = s.processor_ns = 0;
    EXPECT_THAT(
        sentence(p),
        HasSubstr("No peers: no other rank comes here between the same two MPI calls, or to one of them as often."));
    EXPECT_THAT(sentence(p), Not(HasSubstr("share")));  // who knows whether others do the same elsewhere
    p.processes.resize(1);
    p.stretch_shares = {{0, {0}, 1000 * ms, 10}};
    EXPECT_THAT(sentence(p), HasSubstr("on rank 0. There is no other rank."));
}

// All occurrences had the same instructions, and some take much longer: what samples count of all of them, these do
// not.
TEST(Explain, SamplesOfAllOccurrencesSayNothingOfSome)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.sampled = 10;
    s.instructions_ns = 300 * ms;
    s.cycles_ns = 200 * ms;
    s.instructions_error_ns = s.cycles_error_ns = 5 * ms;
    s.processor_ns = 0;
    EXPECT_EQ(explain(p, 0).cause, Factor::Instructions);
    s.rank_variance = 10;
    s.noise_variance = 90;
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::Transient);
    EXPECT_EQ(e.cause, Factor::Processor);
    EXPECT_EQ(e.stretch->processor_ns, 500 * ms);
    EXPECT_FALSE(e.knows(Factor::Instructions));
    EXPECT_THAT(sentence(p),
                HasSubstr("+100 % by more time on the processor. Which of instructions, cycles per instruction "
                          "and frequency it is cannot be told: samples count all times together, and some "
                          "differ from the others."));
    s.counted = s.counted_instructions = s.counted_cycles = 10;  // counters tell of each
    EXPECT_EQ(explain(p, 0).cause, Factor::Instructions);
}

TEST(Explain, WhereMostAreSlowTheFewFastOnesGetMore)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.slow_ranks = 2;  // of 4: then it is a matter of taste
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    s.slow_ranks = 3;
    s.fastest_rank = 2;
    s.fastest_time = 120'000'000;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::FasterRanks);
    EXPECT_THAT(sentence(p), HasSubstr("Most ranks take as long (3 of 4); only rank 2 takes less, 12 % of it. What is "
                                       "on the path takes 100 % longer than the geometric mean of all others: +100 % "
                                       "by more time on the processor. Always the same ranks take less (persistent, "
                                       "90 %): move work from the others to these, or make faster what all do."));
    s.fewest_samples = 3;
    s.fewest_samples_rank = 2;
    EXPECT_THAT(sentence(p), HasSubstr("it is cannot be told: rank 2 has 3 samples"));
    EXPECT_THAT(sentence(p), Not(HasSubstr("longer than on its peers")));
    p.processes.push_back(p.processes.back());
    s.ranks = 5;
    s.fastest_time = 100;
    EXPECT_THAT(sentence(p), HasSubstr("Most ranks take as long (3 of 5); the others take less, rank 2 least, next to "
                                       "nothing."));
    s.node_variance = 80;  // the same if they are on one node
    EXPECT_EQ(explain(p, 0).verdict, Verdict::FasterRanks);
    s.processor_ns = 0;
    s.preempted_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("who else uses the processors of the slow ones"));
    s.occurrences = 1;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Rare);
    EXPECT_THAT(sentence(p), HasSubstr("Most ranks take as long (3 of 5)"));
    s.fastest_time = 970'000'000;  // too little to be told
    EXPECT_FALSE(explain(p, 0).has_faster_ranks());
}

TEST(Explain, SaysHowManyRanksAVerdictLeavesOut)
{
    model::Profile p = one_stretch();
    EXPECT_THAT(sentence(p), Not(HasSubstr("leaves out")));
    p.stretches[0].ranks = 3;
    EXPECT_THAT(sentence(p), HasSubstr("move work from there to the others; or, if it is no more work, look at its "
                                       "memory accesses and at what slows its processor down. "
                                       "That leaves out 1 of 4 ranks, which comes here less often, or never."));
    p.stretches[0].slow_ranks = 2;
    p.stretches[0].ranks = 3;
    EXPECT_THAT(sentence(p), HasSubstr("or make faster what all do. That leaves out 1 of 4 ranks"));
    p.processes.push_back(p.processes.back());
    EXPECT_THAT(sentence(p), HasSubstr("That leaves out 2 of 5 ranks, which come here less often, or never."));
    p.stretches[0].occurrences = 1;  // nothing is said of ranks
    EXPECT_THAT(sentence(p), Not(HasSubstr("leaves out")));
}

// A rank whose thread waits in MPI for the slow one takes as long as that: both are blocked until the thread is done.
TEST(Explain, WhoWaitsForAThreadThatIsInMpiMayNotBeSlow)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.peers_ns = 990 * ms;
    s.processor_ns = 10 * ms;
    s.own_blocked_ns = 950 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
    p.facts["threads_calling_mpi"] = 4;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::ThreadsInMpi);
    EXPECT_THAT(sentence(p),
                HasSubstr("It takes as long on its peers. It was blocked for 950 ms of that. Whether a rank "
                          "is slow here cannot be told: in this run other threads than the first of a "
                          "process call MPI, too, and who waits for these may wait for another rank."));
    EXPECT_THAT(sentence(p), Not(HasSubstr("find out")));
    s.own_blocked_ns = 0;  // nothing waits
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
    s.processor_ns = 910 * ms;
    s.blocked_ns = -900 * ms;  // the peers do
    EXPECT_EQ(explain(p, 0).verdict, Verdict::ThreadsInMpi);
    s.blocked_ns = 0;
    s.peers_spinning_ns = 900 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::ThreadsInMpi);

    s.peers_spinning_ns = 0;
    s.peers_ns = s.processor_ns = 500 * ms;
    s.own_blocked_ns = 300 * ms;  // without that, it takes longer all the same
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    s.own_blocked_ns = 500 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::ThreadsInMpi);
    EXPECT_EQ(explain(p, 0).cause, std::nullopt);
    EXPECT_THAT(sentence(p), HasSubstr("It takes 100 % longer than on its peers"));
    s.compared = s.compared_ns = s.peers_ns = s.processor_ns = 0;
    EXPECT_THAT(sentence(p), HasSubstr("as often; what it waits for may be another rank, since other threads than the "
                                       "first call MPI, too."));
    // But who lacks a processor does so.
    p = one_stretch();
    set_code(p, {{sampled("loop"), {0, {}, 200 * ms, 90, 0, 200 * ms}},
                 {pseudo("[preempted]"), {0, {}, 700 * ms, 0, 0, 700 * ms}}});
    p.stretches[0].own_blocked_ns = 900 * ms;
    p.facts["threads_calling_mpi"] = 1;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::ThreadsInMpi);
    EXPECT_THAT(sentence(p), HasSubstr("may wait for another rank. Besides, its threads lack a processor for most of "
                                       "that time: find out who else uses its processor"));
}

}  // namespace
}  // namespace critpath::report
