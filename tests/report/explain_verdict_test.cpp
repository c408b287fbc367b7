// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whose time it is, and whether always.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
    s.much_longer = 8;
    EXPECT_THAT(sentence(p),
                HasSubstr("Not always, but most of the time (transient, 10 % persistent): 8 of 10 times it takes half "
                          "as long again, or more, mostly on rank 3 (92 % of the difference): move work from there"));
    s.much_longer = 6;
    EXPECT_THAT(sentence(p), Not(HasSubstr("Most of all")));
    s.costliest_rank = 3;
    s.costliest_ns = 12 * ms;
    s.costliest_begin_ns = 3'512'345'678;
    s.costliest_length_ns = 20 * ms;
    EXPECT_THAT(sentence(p),
                HasSubstr(" Most of all once on rank 3, 12 ms longer than on its peers: cpreport hotspots --rank 3 "
                          "--from 3.512345 --to 3.532346 'the trace'"));
    s.processor_ns = 0;
    s.preempted_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("who else uses its processor"));
    s.occurrences = 2;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Rare);
    EXPECT_THAT(sentence(p), HasSubstr("too rarely"));
}

/// Two that are always slow, and have the path by turns.
TEST(Explain, TwoRanksThatAreAlwaysSlowAreBothNamed)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.slow_ranks = 2;
    p.stretch_shares = {
        {0, {1}, 20 * ms, 1, 20 * ms}, {0, {2}, 470 * ms, 5, 240 * ms}, {0, {3}, 510 * ms, 5, 260 * ms}};
    EXPECT_THAT(sentence(p), HasSubstr("Always ranks 2 and 3 (persistent, 90 %): move work from there to the others"));
    EXPECT_THAT(explain(p, 0).headline(), testing::EndsWith(", persistent ranks 2 and 3"));
    s.slowest_rank = 2;
    EXPECT_THAT(sentence(p), HasSubstr("Always ranks 2 and 3 (persistent, 90 %)"));
    s.slowest_rank = 1;  // so it is none of these
    EXPECT_THAT(sentence(p), HasSubstr("Always the same ranks, rank 1 most (persistent, 90 %)"));
    s.slowest_rank = 3;
    s.slow_ranks = 1;
    s.ranks = 4;
    EXPECT_THAT(sentence(p), HasSubstr("Always the same ranks, rank 3 most (persistent, 90 %)"));
    s.slow_ranks = 2;
    p.stretch_shares[0].longer_ns = 100 * ms;  // a third one has much of it, too
    EXPECT_THAT(sentence(p), HasSubstr("Always the same ranks, rank 3 most (persistent, 90 %)"));
}

/// Times of next to nothing say nothing of how often it is so.
TEST(Explain, OnlyTimesThatTellAreCounted)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.rank_variance = 10;
    s.noise_variance = 90;
    s.compared = s.gaps = 44;
    s.telling = 4;
    s.much_longer = 3;
    EXPECT_THAT(sentence(p), HasSubstr("3 of 4 times it takes half as long again, or more (40 more of next to nothing "
                                       "do not count), mostly on rank 3"));
    EXPECT_FALSE(explain(p, 0).is_much_longer_each_time());
    s.much_longer = 4;
    EXPECT_TRUE(explain(p, 0).is_much_longer_each_time());
    s.telling = s.much_longer = 1;
    EXPECT_FALSE(explain(p, 0).is_much_longer_each_time()) << "once of many times";
    s.telling = s.compared;
    s.much_longer = 30;
    EXPECT_THAT(sentence(p), HasSubstr("30 of 44 times it takes half as long again, or more, mostly on rank 3"));
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
    s.fastest_time = 3'000;
    EXPECT_THAT(sentence(p), HasSubstr("rank 3 takes more than 1,000 times as long as rank 2."));
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

/// As a part of one_stretch(), whose gaps on the path are of ranks 1 and 3; `blocked_ns` of what it takes longer by
/// that.
model::StretchRank rank_of_stretch(std::uint32_t rank, std::int64_t compared_ns, std::int64_t peers_ns,
                                   std::int64_t blocked_ns)
{
    model::StretchRank r;
    r.process = {rank};
    r.compared = 1;
    r.looked_at_ns = r.compared_ns = compared_ns;
    r.peers_ns = peers_ns;
    r.blocked_ns = blocked_ns;
    r.own_blocked_ns = std::max<std::int64_t>(blocked_ns, 0);
    r.processor_ns = r.longer_ns() - blocked_ns;
    return r;
}

/// Rank 3 is blocked always and rank 1 works more now and then; each is the peer of the other.
model::Profile two_reasons()
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    p.stretch_shares = {{0, {1}, 600 * ms, 1, 320 * ms}, {0, {3}, 400 * ms, 9, 180 * ms}};
    p.stretch_ranks = {rank_of_stretch(1, 600 * ms, 280 * ms, -100 * ms),
                       rank_of_stretch(3, 400 * ms, 220 * ms, 180 * ms)};
    s.blocked_ns = 80 * ms;
    s.processor_ns = 420 * ms;
    s.own_blocked_ns = 180 * ms;
    return p;
}

// The sums say "more time on the processor", of which rank 3 has none.
TEST(Explain, WhatIsSaidOfARankIsItsOwnReason)
{
    model::Profile p = two_reasons();
    const Explanation e = explain(p, 0);
    ASSERT_TRUE(e.named && e.other);
    EXPECT_EQ(e.named->rank, 3U);
    EXPECT_EQ(e.cause, Factor::Blocked);
    EXPECT_EQ(e.other->rank, 1U);
    EXPECT_EQ(e.other->cause, Factor::Processor);
    EXPECT_DOUBLE_EQ(e.other->share, 0.64);
    EXPECT_THAT(sentence(p),
                HasSubstr("It takes 100 % longer than on its peers (geometric mean), but not by the same on all ranks. "
                          "Rank 3 takes 82 % longer than its peers: +82 % by more of its time blocked. Rank 1 takes "
                          "114 % longer than its peers: +150 % by more time on the processor, -36 % by less of its "
                          "time blocked. On the path, all ranks together were blocked for 180 ms of the 1.000 s."));
    EXPECT_THAT(sentence(p),
                HasSubstr("Always the same ranks, rank 3 most (persistent, 90 %): find out what it waits for outside "
                          "of MPI: files, locks, memory, or a stop (SIGSTOP, a debugger). Rank 1 has 64 % of the "
                          "difference for its own reason, in 1 of "
                          "10 times: look at what it does then and not at other times, and what disturbs it."));
    EXPECT_THAT(sentence(p), Not(HasSubstr("move work")));
    EXPECT_THAT(e.headline(), testing::EndsWith("100 % longer than its peers, persistent ranks, rank 3 most (blocked), "
                                                "rank 1 for another reason"));
    EXPECT_THAT(sentence(p), Not(HasSubstr("Most of all")));
    p.stretches[0].costliest_rank = 3;
    EXPECT_THAT(sentence(p), Not(HasSubstr("Most of all")));
    p.stretches[0].costliest_rank = 1;
    p.stretches[0].costliest_length_ns = 20 * ms;
    EXPECT_THAT(sentence(p), HasSubstr(" Most of all once on rank 1, "));
    // It works more in most of the times.
    p.stretch_shares[0].gaps = 6;
    EXPECT_THAT(sentence(p), HasSubstr("in 6 of 10 times: move work from there to the others"));
}

TEST(Explain, RanksAreToldApartOnlyIfThatMatters)
{
    model::Profile p = two_reasons();
    // The same reason.
    p.stretch_ranks[1] = rank_of_stretch(3, 400 * ms, 220 * ms, 0);
    EXPECT_FALSE(explain(p, 0).named);
    EXPECT_THAT(sentence(p), HasSubstr("(geometric mean): +84 % by more time on the processor, +16 % by more of"));
    // The other one has next to nothing of the difference.
    p = two_reasons();
    p.stretch_shares = {{0, {1}, 200 * ms, 1, 100 * ms}, {0, {3}, 800 * ms, 9, 400 * ms}};
    p.stretch_ranks = {rank_of_stretch(1, 200 * ms, 100 * ms, 0), rank_of_stretch(3, 800 * ms, 400 * ms, 400 * ms)};
    p.stretches[0].blocked_ns = 400 * ms;
    p.stretches[0].processor_ns = 100 * ms;
    EXPECT_FALSE(explain(p, 0).named);
    EXPECT_THAT(sentence(p), HasSubstr("+80 % by more of its time blocked, +20 % by more time on the processor."));
    // Many ranks have the most of it together, none of them by itself.
    p.stretches[0].blocked_ns = 100 * ms;
    p.stretches[0].processor_ns = 400 * ms;
    p.stretch_shares = {
        {0, {0}, 300 * ms, 3, 100 * ms}, {0, {1}, 300 * ms, 3, 100 * ms}, {0, {3}, 400 * ms, 4, 300 * ms}};
    p.stretch_ranks = {rank_of_stretch(3, 400 * ms, 100 * ms, 300 * ms)};
    const Explanation many = explain(p, 0);
    ASSERT_TRUE(many.named);
    EXPECT_FALSE(many.other);
    EXPECT_EQ(many.cause, Factor::Blocked);
    EXPECT_THAT(sentence(p), HasSubstr("+80 % by more time on the processor, +20 % by more of its time blocked. Rank 3 "
                                       "takes 4.0 times as long as its peers: +300 % by more of its time blocked."));
    // Nobody knows of which rank it is that threads are waited for.
    p = two_reasons();
    p.stretch_code = threaded_stretch(0, 100 * ms).stretch_code;
    p.rows = threaded_stretch(0, 100 * ms).rows;
    p.call_paths = threaded_stretch(0, 100 * ms).call_paths;
    EXPECT_FALSE(explain(p, 0).named);
}

TEST(Explain, OfWhatIsTransientTheRankWithTheMostIsToldByItself)
{
    model::Profile p = two_reasons();
    p.stretches[0].rank_variance = 10;
    p.stretches[0].noise_variance = 90;
    const Explanation e = explain(p, 0);
    ASSERT_EQ(e.verdict, Verdict::Transient);
    ASSERT_TRUE(e.named && e.other);
    EXPECT_EQ(e.named->rank, 1U);
    EXPECT_EQ(e.cause, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("Now this rank, now that (transient, 10 % persistent), rank 1 most (64 % of the "
                                       "difference): noise, or work that moves between ranks. Rank 3 has 36 % of the "
                                       "difference for its own reason, in 9 of 10 times: find out what it waits for"));
    p.stretches[0].occurrences = 2;
    EXPECT_THAT(sentence(p), HasSubstr("too rarely to tell whether that is always so; if it is, of rank 1: move work"));
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
    EXPECT_THAT(
        sentence(p),
        HasSubstr("No peers for 60 % of it: no other rank comes here between the same two MPI calls as often."));
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
