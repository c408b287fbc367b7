// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of figures whose meaning is plain.
#include "analysis/report/explain/beside.hpp"
#include "analysis/report/explain/misses.hpp"
#include "analysis/report/lines.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::report
{
namespace
{

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace tests;

TEST(Explain, SaysWhereAndWho)
{
    const model::Profile p = one_stretch();
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.caller, "main > step");
    EXPECT_EQ(e.before, "exchange > MPI_Waitall");
    EXPECT_EQ(e.after, "MPI_Allreduce");
    EXPECT_EQ(e.rank, 3U);
    EXPECT_DOUBLE_EQ(e.rank_share, 0.92);
    EXPECT_EQ(e.node, "b");
    EXPECT_DOUBLE_EQ(e.path_share, 0.25);
    EXPECT_DOUBLE_EQ(e.excess, 1);
    EXPECT_THAT(sentence(p),
                HasSubstr("1.000 s of the path (25.0 %): computation from exchange > MPI_Waitall to MPI_Allreduce "
                          "in main > step, mostly on rank 3 (92 %). It takes 100 % longer than on its peers"));
}

/// Functions far from the calls are not named, but the first one in which stretches differ is.
TEST(Explain, NamesTheFunctionInWhichStretchesDiffer)
{
    model::Profile p = two_alike();
    EXPECT_EQ(explain(p, 0).caller, "... > forward > outer > inner > inner");
    EXPECT_EQ(explain(p, 1).caller, "... > backward > outer > inner > inner");
    EXPECT_NE(sentence(p), explain(p, 1).sentence(p, "the trace"));
    p.stretches.pop_back();
    EXPECT_EQ(explain(p, 0).caller, "... > outer > inner > inner");
    EXPECT_EQ(explain(p, 0).apart, "");
}

/// Calls that two functions make at several places.
TEST(Explain, NamesTheAddressesInWhichStretchesDiffer)
{
    model::Profile p = one_stretch();
    for (model::Row& row : p.rows)
        row.module = "/bin/app";
    p.stretches.resize(2, p.stretches[0]);
    for (std::uint32_t i = 0; i < 2; ++i) {
        p.stretches[i].before_site = 0x1230 + i;
        p.stretches[i].after_site = 0x4560;
    }
    binary::SourceLines lines = source_lines(p);
    const Explanation second = explain(p, 1, &lines);
    EXPECT_EQ(second.apart, "from app+0x1231");
    EXPECT_THAT(second.sentence(p, "the trace"),
                HasSubstr("computation from exchange > MPI_Waitall (app+0x1231) to MPI_Allreduce in main > step"));
    p.stretches.pop_back();
    EXPECT_THAT(explain(p, 0, &lines).sentence(p, "the trace"),
                HasSubstr("exchange > MPI_Waitall to MPI_Allreduce in"));
}

/// Several calls of one function in a line.
TEST(Explain, NamesTheAddressesOfCallsInOneLine)
{
    model::Profile p = one_stretch();
    for (model::Row& row : p.rows)
        row.module = "/bin/app";
    p.modules = {{"/bin/app", "", true}};
    p.source_files = {"/src/farm.c"};
    p.source_functions = {{"exchange", 0, 10}};
    p.stretches.resize(2, p.stretches[0]);
    for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint64_t site = 0x1230 + i;
        p.source_frames.push_back({0, site, 0, 0, 15});
        p.call_paths.push_back({{3}, {2}, site});
        p.stretches[i].before = {static_cast<std::uint32_t>(p.call_paths.size() - 1)};
        p.stretches[i].before_site = static_cast<std::int64_t>(site);
    }
    binary::SourceLines lines = source_lines(p);
    const Explanation second = explain(p, 1, &lines);
    EXPECT_EQ(second.before, "exchange > MPI_Waitall");
    EXPECT_EQ(second.before_shown_site, " (farm.c:15, app+0x1231)");
    EXPECT_EQ(second.apart, "from farm.c:15, app+0x1231");
    p.stretches.pop_back();
    EXPECT_EQ(explain(p, 0, &lines).before_shown_site, " (farm.c:15)");
}

/// Of the function that makes the calls, lines are what is to be looked at.
TEST(Explain, ShowsTheLinesOfTheFunctionThatMakesTheCalls)
{
    model::Profile p = one_stretch();
    for (model::Row& row : p.rows)
        row.module = "/bin/app";
    p.modules = {{"/bin/app", "", true}};
    p.source_files = {"/src/farm.c"};
    p.source_functions = {{"step", 0, 10}};
    p.source_frames = {{0, 0x1230, 0, 0, 15}};
    p.stretches[0].after_site = 0x1230;
    set_code(p, {{sampled("step"), {0, {}, 900 * ms, 90}}, {sampled("other"), {0, {}, 100 * ms, 10}}});
    const auto words = [&] {
        binary::SourceLines lines = source_lines(p);
        return explain(p, 0, &lines).sentence(p, "the trace");
    };
    EXPECT_THAT(words(), EndsWith(" Lines of step: cpreport annotate --rank 3 step 'the trace'"));
    p.stretches[0].after_site = 0x1240;  // nobody knows its line
    EXPECT_THAT(words(), Not(HasSubstr("annotate")));
    p.stretches[0].after_site = 0x1230;
    p.stretch_code[0].ns = 400 * ms;
    p.stretch_code[1].ns = 600 * ms;
    EXPECT_THAT(words(), Not(HasSubstr("annotate"))) << "the other function has a name to look for";
}

/// A function that another one calls at several places.
TEST(Explain, NamesTheCallInWhichStretchesDiffer)
{
    model::Profile p = two_alike();
    for (model::Row& row : p.rows)
        row.module = "/bin/app";
    std::uint64_t site = 0x20;
    for (model::CallPath& path : p.call_paths)
        if (const std::string& name = p.rows[path.row.value].name; name == "forward" || name == "backward")
            path.site = site += 0x10;
    for (model::Row& row : p.rows)
        if (row.name == "backward")
            row.name = "forward";
    binary::SourceLines lines = source_lines(p);
    EXPECT_EQ(explain(p, 0, &lines).caller, "... > forward (app+0x30) > outer > inner > inner");
    EXPECT_EQ(explain(p, 1, &lines).apart, "by forward (app+0x40)");
}

TEST(Explain, TimersDoNotTellWhatIsTimeOnTheProcessor)
{
    model::Profile p = one_stretch();
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    p.properties["event"] = "cpu-timer";
    EXPECT_EQ(explain(p, 0).cause, Factor::Time);
    EXPECT_FALSE(explain(p, 0).knows(Factor::Blocked));
    EXPECT_THAT(sentence(p), HasSubstr("+100 % by more time, with a processor or without"));
    EXPECT_THAT(sentence(p), HasSubstr("move work from there to the others, if it is work: whether it had a processor "
                                       "is not known."));
    p.stretches[0].instructions_ns = 400 * ms;  // that is known all the same
    p.stretches[0].processor_ns = 100 * ms;
    p.stretches[0].counted_instructions = p.stretches[0].compared;
    EXPECT_EQ(explain(p, 0).cause, Factor::Instructions);
}

TEST(Explain, SaysWhatThePathHasBesideComputation)
{
    model::Profile p;
    EXPECT_EQ(beside_computation(p).sentence(), "");
    p.rows = {{model::RowKind::Sampled, "work", "a.out", "", 0},
              {model::RowKind::Mpi, "MPI_Recv", "MPI", "", 0},
              {model::RowKind::Pseudo, "[preempted]", "", "", 0},
              {model::RowKind::Pseudo, "[transfer]", "", "", 0}};
    const auto none = model::CallPathId::none();
    p.call_paths = {{{0}, none}, {{1}, none}, {{2}, {1}}, {{3}, {1}}, {{2}, none}};
    p.path = {
        {{0}, {0}, 500 * ms}, {{1}, {0}, 10 * ms}, {{2}, {0}, 300 * ms}, {{3}, {0}, 9 * ms}, {{4}, {0}, 181 * ms}};
    EXPECT_EQ(beside_computation(p).sentence(),
              "Beside computation, the path has calls of MPI (1.0 %: MPI_Recv 1.0 %) and calls of MPI that could have "
              "gone on, but had no processor (30.0 %, most of it on rank 0). Find out who else uses these processors: "
              "more ranks or threads than processors, other programs.");
}

TEST(Explain, TheLackOfProcessorsComesFirstWhereItIsTheLargestPart)
{
    model::Profile p = one_stretch();
    const auto call_path = [&](model::CallPathId parent) {
        p.rows.push_back(pseudo("[preempted]"));
        p.call_paths.push_back({{static_cast<std::uint32_t>(p.rows.size() - 1)}, parent});
        return model::CallPathId{static_cast<std::uint32_t>(p.call_paths.size() - 1)};
    };
    p.path = {{{1}, {3}, 2700 * ms}, {call_path({3}), {3}, 900 * ms}, {call_path({1}), {3}, 400 * ms}};
    p.stretches[0].path_ns = p.stretches[0].looked_at_ns = 2000 * ms;
    p.stretches[0].own_preempted_ns = 400 * ms;
    EXPECT_FALSE(lack_of_processors(p, beside_computation(p)).is_main_finding())
        << "1.3 s, and the stretch has 1.6 s besides";
    p.stretches[0].path_ns = p.stretches[0].looked_at_ns = 1600 * ms;
    const Lack lack = lack_of_processors(p, beside_computation(p));
    EXPECT_TRUE(lack.is_main_finding());
    EXPECT_EQ(
        lack.sentence(),
        "Most of all, the path lacks processors: for 1.300 s of it (32.5 %, most of it on rank 3), in calls of MPI "
        "that could have gone on (22.5 %) and in computation (10.0 %). Find out who else uses these processors: "
        "more ranks or threads than processors, other programs.");
    EXPECT_THAT(beside_computation(p).sentence(), HasSubstr("Find out"));
    EXPECT_THAT(beside_computation(p).sentence(true), Not(HasSubstr("Find out")));
}

TEST(Explain, NamesTheRanksThatLackAProcessorInMpi)
{
    model::Profile p;
    p.rows = {{model::RowKind::Mpi, "MPI_Recv", "MPI", "", 0}, {model::RowKind::Pseudo, "[preempted]", "", "", 0}};
    p.call_paths = {{{0}, model::CallPathId::none()}, {{1}, {0}}};
    const auto sentence = [&](const std::vector<std::int64_t>& of_rank) {
        p.path.clear();
        for (std::uint32_t rank = 0; rank < of_rank.size(); ++rank)
            p.path.push_back({{1}, {rank}, of_rank[rank] * ms});
        return beside_computation(p).sentence();
    };
    EXPECT_THAT(sentence({1, 9, 1}), HasSubstr("had no processor (100.0 %, most of it on rank 1)."));
    EXPECT_THAT(sentence({9, 1, 1, 9}), HasSubstr("(100.0 %, most of it on ranks 0, 3)."));
    EXPECT_THAT(sentence({1, 1, 1, 1}), HasSubstr("(100.0 %)."));  // everywhere
    EXPECT_THAT(sentence({1, 1}), HasSubstr("(100.0 %)."));
}

// What no rank does better than the others may be done better by all.
TEST(Explain, WhereAllRanksLoseTheSameThereIsARemedy)
{
    const auto balanced = [](model::Profile p) {
        p.stretches[0].peers_ns = 990 * ms;
        p.stretches[0].processor_ns = 10 * ms;
        return p;
    };
    model::Profile p = balanced(one_stretch());
    EXPECT_THAT(sentence(p), HasSubstr("Only what makes all ranks faster makes this faster."));
    p.stretches[0].own_preempted_ns = 600 * ms;
    EXPECT_THAT(sentence(p),
                HasSubstr("Only what makes all ranks faster makes this faster: find out who else uses their "
                          "processors: more ranks or threads"));
    p.stretches[0].own_preempted_ns = 0;
    p.stretches[0].own_blocked_ns = 600 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("makes this faster: find out what they wait for outside of MPI"));
    p = balanced(threaded_stretch(0, 600 * ms));
    p.stretches[0].own_blocked_ns = 600 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("makes this faster: share the work of loop out evenly among its threads, "
                                       "outside of critical sections, or"));
    p.stretches[0].compared = p.stretches[0].compared_ns = p.stretches[0].peers_ns = 0;
    EXPECT_THAT(sentence(p), HasSubstr("to one of them as often; share the work of loop out evenly"));
    p.processes.resize(1);
    p.stretch_shares = {{0, {0}, 1000 * ms, 10}};
    EXPECT_THAT(sentence(p), HasSubstr("There is no other rank: share the work of loop out evenly"));
}

TEST(Explain, NamesTheFactorsWithTheLargestFirst)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.counted = s.counted_instructions = s.counted_cycles = 10;
    s.processor_ns = 0;
    s.instructions_ns = 100 * ms;
    s.cycles_ns = 450 * ms;
    s.frequency_ns = -55 * ms;
    s.preempted_ns = 5 * ms;  // too little to be told
    EXPECT_THAT(sentence(p), HasSubstr(": +90 % by more cycles per instruction, +20 % by more instructions, -11 % by "
                                       "a higher frequency of the processor."));
    EXPECT_EQ(explain(p, 0).cause, Factor::Cycles);
    EXPECT_THAT(sentence(p), HasSubstr("memory accesses"));
}

TEST(Explain, WhetherMissesAreTheReason)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.counted = s.counted_instructions = s.counted_cycles = 10;
    s.processor_ns = 0;
    s.cycles_ns = 500 * ms;
    s.branch_misses_ns = s.cache_misses_ns = s.path_ns;
    s.branch_misses = s.peers_branch_misses = 1'000'000;
    s.cache_misses = 9'000'000;
    s.peers_cache_misses = 6'000'000;
    s.cache_misses_error = 300'000'000;  // of ln 1.5: 1.11 to 2.02 times as many
    EXPECT_THAT(sentence(p),
                AllOf(HasSubstr(" Cache misses in 1,000 instructions: 9, on its peers 6. Branch misses in 1,000 "
                                "instructions: 1, on its peers 1 (not more)."),
                      HasSubstr("look at its memory accesses: where its data lie, and who shares its caches.")));
    EXPECT_EQ(missed(explain(p, 0)), "cache misses");
    s.cache_misses_error = 320'000'000;  // 1.09
    EXPECT_THAT(sentence(p), AllOf(HasSubstr("on its peers 6 (which may be chance)."),
                                   HasSubstr("who shares its caches; or at slow instructions: divisions")));
    EXPECT_EQ(missed(explain(p, 0)), "");
    s.cache_misses = 7'000'000;
    s.cache_misses_error = 60'000'000;  // 1.099 to 1.24
    EXPECT_THAT(sentence(p), AllOf(HasSubstr("on its peers 6 (hardly more)."), HasSubstr("data in a further cache")));
    s.cache_misses = 90'000;  // too few to matter, whatever they are to those of the peers
    s.peers_cache_misses = 10;
    EXPECT_THAT(sentence(p), HasSubstr("data in a further cache"));
    s.cache_misses = 500'000;  // a tenth of a miss more, which is next to nothing, although it is certain
    s.peers_cache_misses = 410'000;
    s.cache_misses_error = 10'000'000;
    EXPECT_THAT(sentence(p), HasSubstr("Cache misses in 1,000 instructions: 0.5, on its peers 0.41 (hardly more)."));
    EXPECT_EQ(missed(explain(p, 0)), "");
    s.peers_cache_misses = 10;
    s.cache_misses = 900'000;
    s.branch_misses = 5'000'000;
    EXPECT_EQ(missed(explain(p, 0)), "cache and branch misses");
    EXPECT_THAT(sentence(p), HasSubstr("who shares its caches; and at branches that depend on data."));
    s.instructions_ns = 510 * ms;  // more of the difference
    EXPECT_THAT(sentence(p), Not(HasSubstr("Cache misses")));
    EXPECT_EQ(missed(explain(p, 0)), "");
}

// However much longer it takes, it is said by what.
TEST(Explain, OfManyTimesAsLongFactorsArePartsOfTheDifference)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.counted = s.counted_instructions = s.counted_cycles = 10;
    s.peers_ns = 4 * ms;
    s.instructions_ns = 700 * ms;
    s.cycles_ns = 350 * ms;
    s.cycles_error_ns = 20 * ms;
    s.preempted_ns = -54 * ms;
    s.frequency_ns = 10 * ms;  // twice the time of the peers, but too little of the difference
    s.processor_ns = 0;
    EXPECT_THAT(sentence(p),
                HasSubstr(" It takes 250 times as long as on its peers (geometric mean: 4 ms): +70 % of the "
                          "difference by more instructions, +35 % (± 2) by more cycles per instruction, "
                          "-5 % by less of its time preempted."));
    s.peers_ns = 100 * ms;  // from ten times on
    EXPECT_THAT(sentence(p), HasSubstr("10.0 times as long as on its peers (geometric mean): +78 % of the difference"));
    s.peers_ns = 101 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("9.9 times as long as on its peers (geometric mean): +693 % by more instr"));
    s.slow_ranks = 3;
    s.peers_ns = 4 * ms;
    EXPECT_THAT(sentence(p),
                HasSubstr("What is on the path takes 250 times as long as the geometric mean of all others: "
                          "+70 % of the difference by more instructions, "));
}

/// As one_stretch, where samples have told so much.
model::Profile sampled_stretch(std::int64_t error)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.sampled = 10;
    s.fewest_samples = 31;
    s.fewest_samples_rank = 2;
    s.processor_ns = 0;
    s.instructions_ns = 10 * ms;
    s.cycles_ns = 400 * ms;
    s.frequency_ns = 90 * ms;
    s.instructions_error_ns = s.frequency_error_ns = 20 * ms;
    s.cycles_error_ns = error;
    return p;
}

TEST(Explain, SamplesTellFactorsWithTheirError)
{
    model::Profile p = sampled_stretch(25 * ms);
    EXPECT_THAT(sentence(p), HasSubstr(": +80 % (± 5) by more cycles per instruction, +18 % (± 4) by a lower frequency "
                                       "of the processor. Always"));
    EXPECT_EQ(explain(p, 0).cause, Factor::Cycles);
    EXPECT_FALSE(explain(p, 0).untold);
    p = sampled_stretch(410 * ms);  // it could be nothing
    EXPECT_THAT(sentence(p), Not(HasSubstr("more cycles")));
    EXPECT_EQ(explain(p, 0).cause, Factor::Frequency);
    p.stretches[0].frequency_error_ns = 95 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
}

/// Parts of less than 2 % are left out, but where the others would not add up without them.
TEST(Explain, PartsThatAreNamedAddUpToTheDifference)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.peers_ns = 926 * ms;  // of 1000: 8 %
    s.preempted_ns = 52 * ms;
    s.processor_ns = 40 * ms;
    s.blocked_ns = -18 * ms;
    EXPECT_THAT(sentence(p),
                HasSubstr("It takes 8 % longer than on its peers (geometric mean): +6 % by more of its time "
                          "preempted, +4 % by more time on the processor, -2 % by less of its time "
                          "blocked."));
    s.processor_ns = 31 * ms;
    s.blocked_ns = -9 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("preempted, +3 % by more time on the processor. "));  // by rounding
    s.processor_ns = 0;
    s.instructions_ns = 40 * ms;
    s.cycles_ns = -18 * ms;
    s.cycles_error_ns = 50 * ms;  // nobody knows whether it is that
    s.blocked_ns = 0;
    EXPECT_THAT(sentence(p), HasSubstr("+4 % by more instructions, -2 % by all else."));
}

TEST(Explain, WhatCannotBeToldAndWhy)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    ASSERT_TRUE(explain(p, 0).untold);
    EXPECT_TRUE(explain(p, 0).untold->by_nothing);
    EXPECT_THAT(sentence(p), Not(HasSubstr("cannot be told")));  // of all alike: once is enough
    s.fewest_samples = 3;
    s.fewest_samples_rank = 2;
    EXPECT_FALSE(explain(p, 0).untold->by_nothing);
    EXPECT_THAT(sentence(p), HasSubstr("Which of instructions, cycles per instruction and frequency it is cannot be "
                                       "told: rank 2 has 3 samples that count them there, and 20 are needed."));
    s.own_instructions = s.own_cycles = 9;
    s.counted = s.counted_instructions = s.counted_cycles = 2;
    EXPECT_THAT(sentence(p), HasSubstr("cannot be told: counters were read around 9 of 10 gaps there on the path, "
                                       "around 2 on all other ranks, too."));
    s.counted = s.counted_instructions = s.counted_cycles = 9;
    s.fewest_samples_rank = -1;  // and no samples that count
    EXPECT_THAT(sentence(p), HasSubstr("around 9 of 10 gaps there on the path, around 9 on all other ranks, too."));
    s.counted = s.counted_cycles = 2;
    s.counted_instructions = 10;
    s.instruction_time_ns = 500 * ms;
    s.processor_ns = 0;
    EXPECT_THAT(sentence(p),
                HasSubstr("+100 % by slower instructions. Which of cycles per instruction and frequency it is "
                          "cannot be told: cycles were not counted on all ranks."));
    EXPECT_THAT(sentence(p), AllOf(HasSubstr("look at its memory accesses: where its data lie"),
                                   HasSubstr("; and at what slows its processor down")));
    s.instruction_time_ns = s.counted_instructions = s.counted = 0;
    s.counted_cycles = 10;
    s.all_cycles_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("+100 % by more cycles. Which of instructions and cycles per instruction it is "
                                       "cannot be told: instructions were not counted on all ranks."));
    s.all_cycles_ns = -400 * ms;  // it is none of them
    s.preempted_ns = 900 * ms;
    EXPECT_THAT(sentence(p), Not(HasSubstr("cannot be told")));
    s.compared = s.counted_cycles = 0;
    EXPECT_FALSE(explain(p, 0).untold);
}

TEST(Explain, LackOfAProcessor)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    EXPECT_THAT(sentence(p), Not(HasSubstr("lacked")));
    s.processor_ns = 100 * ms;
    s.preempted_ns = 400 * ms;
    s.own_preempted_ns = 420 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("It lacked a processor for 420 ms of that."));
    EXPECT_THAT(sentence(p), HasSubstr("who else uses its processor"));
}

/// A remedy for a thousandth of the run is none.
TEST(Explain, NoAdviceWhereNothingIsToBeGained)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    const auto of_path = [&](std::int64_t path_ns) {
        p.facts["path_ns"] = path_ns;
        return sentence(p);
    };
    EXPECT_THAT(of_path(100'000 * ms), HasSubstr("Always rank 3 (persistent, 90 %): move work from there"));
    EXPECT_THAT(of_path(101'000 * ms),
                EndsWith("Always rank 3 (persistent, 90 %). What it takes longer makes 0.5 % of the path: too "
                         "little to act on."));
    s.occurrences = 1;
    EXPECT_THAT(of_path(1'000'000 * ms),
                EndsWith(" It happens too rarely to tell whether that is always so. What it takes longer makes "
                         "0.1 % of the path: too little to act on."));
    s.peers_ns = 990 * ms;
    s.processor_ns = 10 * ms;
    s.own_preempted_ns = 600 * ms;
    EXPECT_THAT(of_path(100'000 * ms), HasSubstr("faster: find out who else uses"));
    EXPECT_THAT(of_path(1'000'000 * ms), EndsWith("Only what makes all ranks faster makes this faster."));
}

TEST(Explain, AlwaysIsSaidOfNearlyAll)
{
    model::Profile p = one_stretch();
    EXPECT_THAT(sentence(p), HasSubstr("Always rank 3 (persistent, 90 %)"));
    p.stretches[0].rank_variance = 60;
    p.stretches[0].noise_variance = 40;
    EXPECT_THAT(sentence(p), HasSubstr("Mostly rank 3 (persistent, 60 %)"));
}

/// It is blocked for nearly all of its time, and its peers work for nearly all of theirs; or the other way round.
TEST(Explain, WhatIsBlockedIsNoMoreThanThatTime)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 999 * ms;
    s.preempted_ns = 0;
    s.processor_ns = -499 * ms;
    s.blocked_ns = 999 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Blocked);
    EXPECT_EQ(explain(p, 0).longer_on_processor_ns(), -499 * ms);
    EXPECT_THAT(sentence(p), HasSubstr("(geometric mean): +200 % by more of its time blocked, -100 % by less time on "
                                       "the processor."));
    s.own_blocked_ns = 0;
    s.processor_ns = 1000 * ms;
    s.blocked_ns = -500 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("+200 % by more time on the processor, -100 % by less of its time blocked."));
}

// Peers may lack a processor as well: what makes the difference is to be told from what takes most of the time.
TEST(Explain, WhatMakesTheDifferenceGoesBeforeWhatTakesMostOfTheTime)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.processor_ns = 450 * ms;
    s.preempted_ns = 50 * ms;
    s.own_preempted_ns = 810 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("It lacked a processor for 810 ms of that. Always rank 3 (persistent, 90 %): "
                                       "move work from there to the others; or, if it is no more work, look at its "
                                       "memory accesses and at what slows its processor down. "
                                       "Besides, it lacks a processor for most of that time: find out who else uses "
                                       "its processor: more ranks or threads"));
    s.slow_ranks = 3;
    EXPECT_THAT(sentence(p), HasSubstr("Besides, it lacks a processor for most of that time: find out who else uses "
                                       "the processors of the slow ones"));
    s.slow_ranks = 1;
    s.own_preempted_ns = 0;
    s.own_blocked_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("Besides, it is blocked for most of that time: find out what it waits for"));
    s.own_blocked_ns = 460 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("Besides, it is blocked for 46 % of that time: find out what it waits for"));
    s.own_blocked_ns = 240 * ms;
    EXPECT_THAT(sentence(p), Not(HasSubstr("Besides")));
    s.own_preempted_ns = 810 * ms;
    s.own_blocked_ns = 0;
    s.processor_ns = 50 * ms;
    s.preempted_ns = 450 * ms;  // once is enough
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted);
    EXPECT_THAT(sentence(p), Not(HasSubstr("Besides")));
}

TEST(Explain, NothingIsSaidOfWhatCallsMain)
{
    model::Profile p = one_stretch();
    p.rows.push_back({model::RowKind::Sampled, "app+0x1040", "", "", 0});  // _start of a stripped program
    p.rows.push_back({model::RowKind::Sampled, "__libc_start_main", "", "", 0});
    p.call_paths.push_back({{5}, model::CallPathId::none()});
    p.call_paths.push_back({{6}, {5}});
    p.call_paths[0].parent = {6};
    EXPECT_EQ(explain(p, 0).caller, "main > step");
}

TEST(Explain, PageFaultsThatOthersDoNotHave)
{
    model::Profile p = one_stretch();
    p.stretches[0].page_faults = 20'000;
    p.stretches[0].peers_page_faults = 15'000;
    EXPECT_THAT(sentence(p), Not(HasSubstr("page fault")));
    p.stretches[0].peers_page_faults = 40;
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);  // 25 us each: there is something else, unless they take longer
    EXPECT_THAT(sentence(p), HasSubstr("It had 20,000 page faults, its peers 40 each: 25.05 µs more time on the "
                                       "processor for each that they did not have, by work that goes with the memory "
                                       "or by the faults."));
    EXPECT_THAT(sentence(p), HasSubstr("; or avoid its page faults, if they take the time"));
    // 5 us each: more than a fault takes, so that there may be more work, on as much more memory.
    p.stretches[0].page_faults = 100'040;
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    EXPECT_THAT(explain(p, 0).headline(), Not(HasSubstr("page faults")));
    EXPECT_THAT(sentence(p), HasSubstr(": 5 µs more time on the processor for each that they did not have, by work "));
    EXPECT_THAT(sentence(p), HasSubstr(" Always rank 3 (persistent, 90 %): move work from there to the others; or"));
    EXPECT_THAT(sentence(p), HasSubstr("; or avoid its page faults, if they take the time"));
    p.stretches[0].page_faults = 200'040;
    EXPECT_THAT(sentence(p),
                HasSubstr("It had 200,040 page faults, its peers 40 each: 2.5 µs more time on the processor "
                          "for each that they did not have. Always rank 3 (persistent, 90 %): avoid its page "
                          "faults"));
    EXPECT_EQ(explain(p, 0).cause, Factor::PageFaults);
    // Four times as long, by twice the time on the processor, 400 ms of the 1000, and by lacking one: of the logarithm
    // each is a half, and each adds half of the difference. By itself it is 200 ms longer on the processor.
    model::Profile q = p;
    q.stretches[0].peers_ns = 250 * ms;
    q.stretches[0].own_preempted_ns = 600 * ms;
    q.stretches[0].processor_ns = q.stretches[0].preempted_ns = 375 * ms;
    EXPECT_EQ(explain(q, 0).longer_on_processor_ns(), 200 * ms);
    EXPECT_THAT(sentence(q), HasSubstr(": 1 µs more time on the processor for each"));
    for (const bool are_timers : {true, false}) {
        q.properties["event"] = are_timers ? "cpu-timer" : "cpu-clock";
        EXPECT_EQ(sentence(q).find("time on the processor for each") == std::string::npos, are_timers);
        EXPECT_THAT(sentence(q), HasSubstr("It had 200,040 page faults, its peers 40 each"));
    }
    p.stretches[0].processor_ns = 200 * ms;
    p.stretches[0].blocked_ns = 300 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Blocked);
}

// Of 1000 ms, 2 % are 200 migrations of 0.1 ms.
TEST(Explain, MigrationsThatOthersDoNotHave)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.migrations = 190;
    EXPECT_THAT(sentence(p), Not(HasSubstr("another processor"))) << "too little to matter";
    s.migrations = 1210;
    EXPECT_THAT(sentence(p), HasSubstr("It came back on another processor 1,210 times, its peers never: see whether"));
    s.peers_migrations = 605;
    EXPECT_THAT(sentence(p), HasSubstr("1,210 times, its peers 605 times each: see whether ranks are bound to "
                                       "processors."));
    s.peers_migrations = 606;
    EXPECT_THAT(sentence(p), Not(HasSubstr("another processor"))) << "less than twice as many";
    s.peers_migrations = 0;
    s.compared_ns = s.peers_ns = 10'000;
    s.migrations = 9;
    EXPECT_THAT(sentence(p), Not(HasSubstr("another processor"))) << "few are chance";
}

TEST(Explain, SaysWhoThePeersAreWhereTheyCallSomethingElse)
{
    model::Profile p = one_stretch();
    EXPECT_THAT(sentence(p), Not(HasSubstr("Compared is all")));
    EXPECT_THAT(sentence(p), Not(HasSubstr("the same work")));
    p.stretches[0].compared_by = static_cast<std::int64_t>(model::ComparedBy::CallAfter);
    EXPECT_THAT(sentence(p), HasSubstr("(persistent, 90 %): if the others do the same work there, move work"));
    EXPECT_THAT(sentence(p), HasSubstr(" Compared is all that a rank does before the same MPI_Allreduce since its "
                                       "last call that can wait (MPI_Irecv, MPI_Test and the like cannot). It takes "
                                       "100 % longer than on its peers"));
    p.stretches[0].compared_by = static_cast<std::int64_t>(model::ComparedBy::CallBefore);
    EXPECT_THAT(sentence(p), HasSubstr(" Compared is all that a rank does from the same MPI_Waitall to its next call "
                                       "that can wait (MPI_Irecv, MPI_Test and the like cannot). It takes 100 % "
                                       "longer"));
    p.stretches[0].compared_by = static_cast<std::int64_t>(model::ComparedBy::Meetings);
    EXPECT_THAT(sentence(p),
                HasSubstr(" Compared is all that a rank computes from the collective before it to the next "));
    p.stretches[0].compared_by = static_cast<std::int64_t>(model::ComparedBy::CallBefore);
    p.rows[p.call_paths[p.stretches[0].before.value].row.value].name = "MPI_Irecv";
    EXPECT_THAT(sentence(p), HasSubstr(" Compared is all that a rank does between calls that can wait (MPI_Irecv, "));
    p.stretches[0].compared = 8;
    p.stretches[0].compared_ns = 800 * ms;
    EXPECT_THAT(sentence(p), HasSubstr(" For 20 % of it there are no peers."));
    p.stretches[0].compared_by = static_cast<std::int64_t>(model::ComparedBy::BothCalls);
    EXPECT_THAT(sentence(p), HasSubstr(" For 20 % of it there are no peers: the others come here less often."));
}

TEST(Explain, AnEmptyStretchIsNoReasonToFail)
{
    model::Profile p = one_stretch();
    const model::CallPathId before = p.stretches[0].before;
    p.stretches[0] = {};
    p.stretches[0].before = p.stretches[0].after = before;
    p.stretch_shares.clear();
    EXPECT_EQ(explain(p, 0).verdict, Verdict::NoPeers);
    EXPECT_FALSE(sentence(p).empty());
}

TEST(Explain, SaysHowMuchComputationIsNotCompared)
{
    model::Profile p = one_stretch();
    const auto none = model::RowId::none();
    p.kinds = {{model::SegmentKind::Compute, none, {0}, 1500 * ms, 5},
               {model::SegmentKind::Compute, none, {1}, 1000 * ms, 5},
               {model::SegmentKind::Mpi, {3}, {0}, 1500 * ms, 5}};
    EXPECT_EQ(computation_of(p).all_ns, 2500 * ms);
    EXPECT_EQ(computation_of(p).not_compared_ns, 1500 * ms);
    EXPECT_EQ(computation_of(p).sentence("t"),
              "Other computation (37.5 % of the path) is not compared with other ranks: only places of first "
              "threads that end in an MPI call are, with 0.5 % of it or more each. Its functions are among those of: "
              "cpreport hotspots t");
    p.stretches.resize(20);
    EXPECT_THAT(computation_of(p).sentence("t"),
                HasSubstr("ranks: only the 20 costliest places of first threads that end in an MPI call are."));
    p.stretches[1].path_ns = 1470 * ms;
    EXPECT_EQ(computation_of(p).sentence("t"), "") << "too little";
    p.stretches[1].path_ns = 1600 * ms;
    EXPECT_EQ(computation_of(p).not_compared_ns, 0);
}

/// From the start of the processes, where no call is before it.
TEST(Explain, WhatIsBeforeTheFirstCallHasItsFunctionsNamedByACommand)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.before = model::CallPathId::none();
    s.occurrences = 1;
    p.stretch_shares = {{0, {3}, 1000 * ms, 1, 500 * ms}};
    s.costliest_rank = 3;
    s.costliest_ns = 500 * ms;
    s.costliest_begin_ns = 2'000'100;
    s.costliest_length_ns = 1010 * ms;
    EXPECT_THAT(sentence(p), StartsWith("1.000 s of the path (25.0 %): computation from the start of the process to "
                                        "main > step > MPI_Allreduce, on rank 3. It takes 100 % longer"));
    EXPECT_THAT(sentence(p), HasSubstr("It happens once, too rarely to tell whether that is always so; if it is, "));
    EXPECT_THAT(sentence(p),
                EndsWith(" All of its functions: cpreport hotspots --rank 3 --from 0 --to 1.012001 'the trace'"));
    EXPECT_EQ(explain(p, 0).headline(), "rank 3, start to MPI_Allreduce: 100 % longer than its peers, rare");
    s.peers_ns = 1000 * ms;
    s.processor_ns = 0;
    s.costliest_rank = -1;  // nothing takes longer
    EXPECT_THAT(sentence(p), EndsWith(" --from 0 --to 1 'the trace'"));
}

}  // namespace
}  // namespace critpath::report
