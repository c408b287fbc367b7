// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::tests
{

namespace
{

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string headline(const model::Profile& profile)
{
    return report::explain(profile, 0).headline();
}

}  // namespace

TEST(Headline, SaysWhoWhereByHowMuchAndTheVerdict)
{
    model::Profile p = one_stretch();
    EXPECT_EQ(headline(p),
              "mostly rank 3, MPI_Waitall to MPI_Allreduce in step: 100 % longer than its peers, persistent rank");
    p.stretches[0].processor_ns = 0;
    p.stretches[0].cycles_ns = p.stretches[0].peers_ns;
    p.stretches[0].counted = p.stretches[0].counted_instructions = p.stretches[0].counted_cycles = 10;
    EXPECT_THAT(headline(p), HasSubstr("peers (more cycles per instruction), "));
    p.stretch_shares = {{0, {1}, 500 * ms, 5, 250 * ms}, {0, {3}, 500 * ms, 5, 250 * ms}};
    EXPECT_THAT(headline(p), StartsWith("2 ranks, MPI"));
}

/// A function that has half of it or more is the place.
TEST(Headline, NamesTheFunctionThatHasMostOfIt)
{
    model::Profile p = one_stretch();
    set_code(p, {{sampled("relax"), {0, {}, 600 * ms, 60}}, {sampled("other"), {0, {}, 400 * ms, 40}}});
    EXPECT_THAT(headline(p), StartsWith("mostly rank 3, mostly in relax: "));
    p.stretch_code.clear();
    set_code(p, {{sampled("step", ""), {0, {}, 600 * ms, 60}}});  // it calls both: they say more
    EXPECT_THAT(headline(p), StartsWith("mostly rank 3, MPI_Waitall to MPI_Allreduce in step: "));
    p.stretch_code.clear();
    set_code(p, {{sampled("relax"), {0, {}, 490 * ms, 49}}, {sampled("other"), {0, {}, 490 * ms, 49}}});
    EXPECT_THAT(headline(p), StartsWith("mostly rank 3, MPI_Waitall to MPI_Allreduce in step: "));
}

/// One that makes the calls says no more than these do, but what is inlined into it does.
TEST(Headline, NamesWhatIsInlinedIntoWhoMakesTheCalls)
{
    model::Profile p = one_stretch();
    set_code(p, {{sampled("step", ""), {0, {}, 600 * ms, 60}}});
    report::Explanation e = report::explain(p, 0);
    e.code.functions.front().inlined = e.code.functions.front().headline.inlined = "kernel";
    EXPECT_THAT(e.headline(), StartsWith("mostly rank 3, mostly in kernel, inlined into step: "));
}

/// What lacks a processor does so wherever it is, so that no function has most of such a stretch.
TEST(Headline, NamesTheFunctionThatHasMostOfTheWork)
{
    model::Profile p = one_stretch();
    p.stretches[0].own_preempted_ns = 600 * ms;
    set_code(p, {{sampled("relax"), {0, {}, 250 * ms, 25}}, {sampled("other"), {0, {}, 150 * ms, 15}}});
    EXPECT_THAT(headline(p), StartsWith("mostly rank 3, its work mostly in relax: "));
    p.stretch_shares = {{0, {1}, 500 * ms, 5, 250 * ms}, {0, {3}, 500 * ms, 5, 250 * ms}};
    EXPECT_THAT(headline(p), StartsWith("2 ranks, their work mostly in relax: "));
    p.stretches[0].own_preempted_ns = 400 * ms;
    EXPECT_THAT(headline(p), StartsWith("2 ranks, MPI_Waitall to MPI_Allreduce in step: "));
}

/// One that is called elsewhere, by functions that are not named of other stretches.
TEST(Headline, TellsStretchesApartThatWouldReadAlike)
{
    const model::Profile p = two_alike();
    EXPECT_THAT(headline(p), StartsWith("mostly rank 3, MPI_Waitall to MPI_Allreduce in inner (by forward): "));
    EXPECT_THAT(report::explain(p, 1).headline(), HasSubstr("MPI_Waitall to MPI_Allreduce in inner (by backward): "));
}

/// The sentences differ in functions that the headline does not name.
TEST(Headline, TellsCallsOfTheSameFunctionsApart)
{
    model::Profile p = one_stretch();
    p.stretches.push_back(p.stretches[0]);
    p.rows.push_back({model::RowKind::Sampled, "reduce", "", "", 0});
    p.call_paths.push_back({{static_cast<std::uint32_t>(p.rows.size() - 1)}, {1}});
    p.call_paths.push_back({{3}, {static_cast<std::uint32_t>(p.call_paths.size() - 1)}});
    p.stretches[1].before = {static_cast<std::uint32_t>(p.call_paths.size() - 1)};
    EXPECT_THAT(headline(p), StartsWith("mostly rank 3, MPI_Waitall to MPI_Allreduce in step (by exchange): "));
    EXPECT_THAT(report::explain(p, 1).headline(), HasSubstr(" in step (by reduce): "));
    EXPECT_EQ(report::explain(p, 0).apart, "");
    set_code(p, {{sampled("relax"), {0, {}, 600 * ms, 60}}});
    EXPECT_THAT(headline(p), StartsWith("mostly rank 3, mostly in relax: "));
}

TEST(Headline, NamesTheRankOrNodeOfAVerdictWhereItIsAnotherOne)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.slowest_rank = 2;
    EXPECT_THAT(headline(p), EndsWith(", persistent ranks, rank 2 most"));
    // Little of its time, but all that it takes longer.
    p.stretch_shares = {{0, {2}, 80 * ms, 1, 500 * ms}, {0, {3}, 920 * ms, 9, -20 * ms}};
    EXPECT_THAT(headline(p), EndsWith(", persistent rank 2"));
    s.node_variance = 80;
    s.node_rest_variance = 20;
    EXPECT_THAT(headline(p), EndsWith(", persistent node b"));
}

/// Functions that differ in their template arguments only, or in their parameters.
TEST(Headline, NamesTellFunctionsOfTheStretchApart)
{
    model::Profile p = one_stretch();
    set_code(p, {{sampled("void par_t<Sim::eos()::{lambda(int)#1}>(int, Sim::eos()::{lambda(int)#1})"),
                  {0, {}, 700 * ms, 70, 0, 0}},
                 {sampled("void par_t<Sim::gravity()::{lambda(int)#1}>(int, Sim::gravity()::{lambda(int)#1})"),
                  {0, {}, 300 * ms, 30, 0, 0}}});
    EXPECT_THAT(headline(p), HasSubstr("eos"));
    p = one_stretch();
    set_code(p, {{sampled("Field<long, double>::update(long, double, int)"), {0, {}, 700 * ms, 70, 0, 0}},
                 {sampled("Field<long, double>::update(long, double)"), {0, {}, 300 * ms, 30, 0, 0}}});
    EXPECT_THAT(headline(p), HasSubstr("int)"));
}

TEST(Headline, OfEachVerdict)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.rank_variance = 10;
    s.noise_variance = 90;
    EXPECT_THAT(headline(p), EndsWith("100 % longer than its peers, transient"));
    s.occurrences = 2;
    EXPECT_THAT(headline(p), EndsWith("100 % longer than its peers, rare"));
    s.peers_ns = 980 * ms;
    s.processor_ns = 20 * ms;
    EXPECT_THAT(headline(p), EndsWith(": its peers take as long, balanced"));
    s.peers_ns = 1500 * ms;
    s.processor_ns = -500 * ms;
    EXPECT_THAT(headline(p), EndsWith(": 33 % less than its peers, shorter"));
    s.peers_ns = 200 * ms;
    s.processor_ns = 800 * ms;
    EXPECT_THAT(headline(p), HasSubstr(": 5.0 times as long as its peers, "));
    s.compared = s.compared_ns = s.peers_ns = s.processor_ns = 0;
    EXPECT_THAT(headline(p), EndsWith(" in step: no peers"));
}

TEST(Headline, OfRanksThatAreFasterOrUnequal)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.fastest_time = 120'000'000;
    s.fastest_rank = 2;
    s.slow_ranks = 3;
    EXPECT_THAT(headline(p), EndsWith(": 3 of 4 ranks take as long, only rank 2 takes less, faster ranks"));
    s.ranks = 5;
    EXPECT_THAT(headline(p), EndsWith(": 3 of 5 ranks take as long, the others less, rank 2 least, faster ranks"));
    s.ranks = 4;
    s.slow_ranks = 1;
    s.fastest_time = 200'000'000;
    s.peers_ns = 1000 * ms;
    s.processor_ns = 0;
    p.stretch_shares = {{0, {2}, 170 * ms, 10, -660 * ms}, {0, {3}, 830 * ms, 10, 660 * ms}};
    EXPECT_THAT(headline(p), EndsWith(": rank 3 takes 5.0 times as long as rank 2, unequal"));
}

/// What takes most of the time and is no work is said once: as the cause, or beside it.
TEST(Headline, SaysWhatIsLostOnce)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.own_preempted_ns = 600 * ms;
    EXPECT_THAT(headline(p),
                EndsWith("100 % longer than its peers, besides mostly without a processor, persistent rank"));
    s.processor_ns = 0;
    s.preempted_ns = 500 * ms;
    EXPECT_THAT(headline(p), EndsWith(": 100 % longer than its peers (no processor), persistent rank"));
    s.preempted_ns = 0;
    s.peers_ns = 1000 * ms;
    EXPECT_THAT(headline(p), EndsWith(": its peers take as long, mostly without a processor, balanced"));
    s.own_preempted_ns = 260 * ms;
    EXPECT_THAT(headline(p), EndsWith(": its peers take as long, for 26 % without a processor, balanced"));
    s.own_preempted_ns = 240 * ms;
    EXPECT_THAT(headline(p), EndsWith(": its peers take as long, balanced"));
    p = threaded_stretch(0, 800 * ms);
    add_code(p, {pseudo("[preempted]")}, {0, {}, 700 * ms, 0, 0, 700 * ms});
    EXPECT_THAT(headline(p), HasSubstr(", besides its threads mostly without a processor, "));
}

}  // namespace critpath::tests
