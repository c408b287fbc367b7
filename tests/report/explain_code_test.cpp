// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of the code of a stretch, where it is plain what this is.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using testing::Not;
using namespace tests;

TEST(ExplainCode, NamesTheCode)
{
    model::Profile p = one_stretch();
    EXPECT_TRUE(explain(p, 0).code.functions.empty());
    EXPECT_THAT(sentence(p), HasSubstr("rank 3 (92 %). It takes"));  // nothing tells
    const model::Row compute = sampled("md::Pair<double, md::LennardJones>::compute(md::System const&, int, int)");
    set_code(p, {{sampled("build"), {0, {}, 290 * ms, 58, 0, 0}},
                 {compute, {0, {}, 480 * ms, 96, 0, 0}},
                 {sampled("move"), {0, {}, 120 * ms, 24, 0, 0}},
                 {sampled("rest"), {0, {}, 90 * ms, 18, 0, 0}},
                 {pseudo("[preempted]"), {0, {}, 20 * ms, 0, 0, 0}},
                 {sampled("elsewhere"), {1, {}, 900 * ms, 180, 0, 0}}});
    EXPECT_THAT(
        sentence(p),
        HasSubstr(
            "rank 3 (92 %). Most of it in md::Pair<double, md::LennardJones>::compute(…) (48 %), build (29 %) and "
            "move (12 %). It takes"));
    const Code code = explain(p, 0).code;
    ASSERT_EQ(code.functions.size(), 3U);
    EXPECT_EQ(code.functions[0].name, compute.name);
    EXPECT_DOUBLE_EQ(code.functions[1].share, 0.29);
    EXPECT_EQ(code.threads_ns(), 0);
    p.stretches[0].path_ns *= 2;  // the other half was not sampled
    EXPECT_THAT(
        sentence(p),
        HasSubstr(
            " Some of it in md::Pair<double, md::LennardJones>::compute(…) (24 %), build (14 %) and move (6 %)."));
    p.stretches[0].path_ns = 20'000 * ms;
    p.stretch_code[4].ns = 19'000 * ms;  // what functions take is little, of which they still are most
    EXPECT_THAT(sentence(p),
                HasSubstr(" Some of it in md::Pair<double, md::LennardJones>::compute(…) (2 %) and build (1 %)."));
    p.stretches[0].path_ns = 2000 * ms;
    p.stretch_code.resize(2);
    p.stretch_code[0].samples = 1;  // they could as well be none
    p.stretch_code[1].samples = 2;
    EXPECT_TRUE(explain(p, 0).code.functions.empty());
    p.stretch_code.resize(1);
    p.rows[p.row_of(p.stretch_code[0].call_path).value].kind = model::RowKind::Region;  // exact
    p.stretch_code[0].samples = 0;
    EXPECT_THAT(sentence(p), HasSubstr(" Some of it in build (14 %)."));
}

TEST(ExplainCode, SaysOfWhichLibraryAFunctionIsThatAnotherOneHas)
{
    const auto with = [](const char* other) {
        model::Profile p = one_stretch();
        set_code(p, {{sampled("kernel", "/opt/py/libsolver.so"), {0, {}, 600 * ms, 120, 0, 0}},
                     {sampled("kernel", other), {0, {}, 0, 0, 0, 0, 300 * ms}}});
        return sentence(p);
    };
    EXPECT_THAT(with("/opt/px/libsolver.so"), HasSubstr(" in kernel [py/libsolver.so] "));
    EXPECT_THAT(with("/opt/py/libother.so"), HasSubstr(" in kernel [libsolver.so] "));
}

TEST(ExplainCode, NamesTheCodeThatMakesTheDifference)
{
    const auto with = [](const std::vector<std::pair<model::Row, model::StretchCode>>& code) {
        model::Profile p = one_stretch();
        set_code(p, code);
        return sentence(p);
    };
    // What all have alike is none of it.
    const auto build = std::pair(sampled("build"), model::StretchCode{0, {}, 600 * ms, 600, 0, 0, 150 * ms});
    const auto solve = std::pair(sampled("solve"), model::StretchCode{0, {}, 340 * ms, 340, 0, 0, 330 * ms});
    EXPECT_THAT(with({build, solve}),
                HasSubstr("by more time on the processor. The difference is in build (90 %). Always"));
    // Nor is what threads do that it waits for.
    EXPECT_THAT(with({build, {sampled("loop"), {0, {}, 500 * ms, 500, 0, 500 * ms, 0}}}),
                HasSubstr("The difference is in build (90 %)."));
    // Several have their parts; without what is less than the tenth part, or could be chance.
    EXPECT_THAT(with({{sampled("build"), {0, {}, 600 * ms, 600, 0, 0, 400 * ms}},
                      {sampled("a"), {0, {}, 250 * ms, 250, 0, 0, 50 * ms}},
                      {sampled("b"), {0, {}, 40 * ms, 40, 0, 0, 5 * ms}},
                      {sampled("c"), {0, {}, 75 * ms, 1, 0, 0, 10 * ms}}}),
                HasSubstr("The difference is in build (40 %) and a (40 %)."));
    // If one takes less than on the peers, that is made up for by the others.
    EXPECT_THAT(with({build, {sampled("a"), {0, {}, 10 * ms, 10, 0, 0, 100 * ms}}}),
                HasSubstr("The difference is in build (90 %)."));
    EXPECT_THAT(with({{sampled("slow"), {0, {}, 480 * ms, 480, 0, 0, 0}}}),
                HasSubstr("The difference is in slow (96 %)."))
        << "the others do something else";
}

/// What all have alike differs by chance, and hides in the sum what one of them has alone.
TEST(ExplainCode, NamesTheCodeThatMakesTheDifferenceAsFarAsSamplesTell)
{
    const auto with = [](std::uint64_t samples_each_10_ms) {
        model::Profile p = one_stretch();
        set_code(p, {{sampled("refine"), {0, {}, 480 * ms, 48 * samples_each_10_ms, 0, 0, 0}},
                     {sampled("work"), {0, {}, 520 * ms, 52 * samples_each_10_ms, 0, 0, 680 * ms}}});
        return sentence(p);
    };
    EXPECT_THAT(with(1), HasSubstr("The difference is in refine (96 %)."));
    EXPECT_THAT(with(10), Not(HasSubstr("difference is in"))) << "they should know";
    model::Profile p = one_stretch();
    std::vector<std::pair<model::Row, model::StretchCode>> code = {
        {sampled("build"), {0, {}, 200 * ms, 200, 0, 0, 50 * ms}},
        {sampled("work"), {0, {}, 350 * ms, 350, 0, 0, 350 * ms}}};
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"})
        code.push_back({sampled(name), {0, {}, 50 * ms, 50, 0, 0, 10 * ms}});
    set_code(p, code);
    EXPECT_THAT(sentence(p), HasSubstr("Some of the difference is in build (29 %)."));
}

/// Half of the time of all ranks is without a processor: samples find half of the difference.
TEST(ExplainCode, NamesTheCodeThatMakesTheDifferenceWhereProcessorsAreShared)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.own_preempted_ns = 500 * ms;
    s.preempted_ns = 0;
    s.processor_ns = 500 * ms;
    set_code(p, {{sampled("more"), {0, {}, 250 * ms, 250, 0, 0, 0}},
                 {sampled("kernel"), {0, {}, 250 * ms, 250, 0, 0, 250 * ms}}});
    EXPECT_THAT(sentence(p), HasSubstr("The difference is in more (100 %)."));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr(": 100 % longer than its peers, besides"));
    p.stretch_code[1].ns = 260 * ms;  // most of the time, but of nothing that it takes longer
    p.stretch_code[1].peers_ns = 260 * ms;
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr(": 100 % longer than its peers, mostly by more, besides"));
}

/// A rank that works more and has page faults besides works more, if it has them elsewhere.
TEST(ExplainCode, PageFaultsAreNoReasonWhereTheDifferenceIsInFunctionsWithoutThem)
{
    model::Profile p = one_stretch();
    p.stretches[0].page_faults = 200'000;
    set_code(p, {{sampled("extra"), {0, {}, 400 * ms, 400, 0, 0, 0}},
                 {sampled("faulty"), {0, {}, 100 * ms, 100, 0, 0, 0}},
                 {sampled("common"), {0, {}, 500 * ms, 500, 0, 0, 500 * ms}}});
    p.events = {"page-faults"};
    const auto path_of = [&](std::size_t code) { return p.stretch_code[code].call_path; };
    p.path_events = {{path_of(0), {3}, 0, 8000}, {path_of(1), {3}, 0, 192'000}};
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("It had 200,000 page faults, its peers 0 each."));
    EXPECT_THAT(sentence(p), testing::Not(HasSubstr("avoid its page faults")));
    p.stretches[0].peers_page_faults = 40'000;  // where others are on the path, the one with them is their peer
    model::StretchRank rank;
    rank.stretch = 0;
    rank.process = {3};
    rank.page_faults = 198'000;
    p.stretch_ranks = {rank};
    EXPECT_THAT(sentence(p), HasSubstr("Rank 3 had 198,000 page faults, its peers 0 each."));
    p.stretch_ranks[0].page_faults = 140'000;
    EXPECT_THAT(sentence(p), HasSubstr("It had 200,000 page faults, its peers 40,000 each."));
    p.stretches[0].peers_page_faults = 0;
    p.stretch_ranks.clear();
    EXPECT_THAT(sentence(p), HasSubstr("The difference is in extra (80 %) and faulty (20 %)."));
    p.path_events = {{path_of(0), {3}, 0, 180'000}, {path_of(1), {3}, 0, 20'000}};
    EXPECT_EQ(explain(p, 0).cause, Factor::PageFaults);
    p.path_events = {{path_of(0), {3}, 0, 180'000}, {path_of(1), {3}, 0, 20'000}, {path_of(2), {3}, 0, 5'000'000}};
    EXPECT_EQ(explain(p, 0).cause, Factor::PageFaults);  // those are elsewhere
    // Counts stand at the next sample, so that some are found in a function that has none.
    p.path_events = {{path_of(0), {3}, 0, 84'000}, {path_of(1), {3}, 0, 116'000}};
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    p.path.push_back({path_of(1), {3}, 900 * ms, 900});  // who is mostly elsewhere has them from there
    EXPECT_EQ(explain(p, 0).cause, Factor::PageFaults);
    p.path.pop_back();
    // Others have some of them who have no time here: those that were between two samples.
    add_code(p, {sampled("elsewhere")}, {});
    p.path_events = {{path_of(0), {3}, 0, 70'000}, {path_of(1), {3}, 0, 20'000}, {path_of(3), {3}, 0, 110'000}};
    p.stretch_code.pop_back();
    EXPECT_EQ(explain(p, 0).cause, Factor::PageFaults);
    p.path_events.clear();  // nothing is known of them
    EXPECT_EQ(explain(p, 0).cause, Factor::PageFaults);
}

TEST(ExplainCode, NamesNoCodeForTheDifferenceWhereNothingTells)
{
    const auto with = [](std::int64_t build_ns, std::int64_t of_peers_ns, const auto& change) {
        model::Profile p = one_stretch();
        set_code(p,
                 {{sampled("build"), {0, {}, build_ns, static_cast<std::uint64_t>(build_ns / ms), 0, 0, of_peers_ns}},
                  {sampled("solve"), {0, {}, 300 * ms, 300, 0, 0, 300 * ms}}});
        change(p);
        const std::string words = sentence(p);
        EXPECT_EQ(explain(p, 0).difference().empty(), words.find("The difference is in") == std::string::npos);
        return words;
    };
    const auto nothing = [](model::Profile&) {};
    const auto names = HasSubstr("The difference is in");
    EXPECT_THAT(with(600 * ms, 100 * ms, nothing), names);
    EXPECT_THAT(with(600 * ms, 100 * ms, [](model::Profile& p) { p.stretches[0].code_gaps = 0; }), Not(names))
        << "peers have no samples";
    EXPECT_THAT(with(150 * ms, 30 * ms, nothing), Not(names)) << "not of functions";
    EXPECT_THAT(with(900 * ms, 100 * ms, nothing), Not(names)) << "functions do not take that long";
    EXPECT_THAT(with(600 * ms, 100 * ms, [](model::Profile& p) { p.stretches[0].peers_ns = 990 * ms; }), Not(names))
        << "it takes as long";
    EXPECT_THAT(with(600 * ms, 100 * ms, [](model::Profile& p) { p.stretches[0].compared_by = 1; }), Not(names))
        << "peers come from elsewhere";
    const auto of_few = [](std::int64_t gaps) {
        return [gaps](model::Profile& p) {
            p.stretch_code[0].samples = 12;
            p.stretches[0].code_gaps = gaps;
        };
    };
    EXPECT_THAT(with(600 * ms, 150 * ms, of_few(10)), names);
    EXPECT_THAT(with(600 * ms, 150 * ms, of_few(1)), Not(names))
        << "peers have no more than three samples of it, for ten";
    EXPECT_THAT(with(480 * ms, 0, of_few(10)), names);
    EXPECT_THAT(with(480 * ms, 0, of_few(1)), Not(names)) << "they have none, of which one would be 400 ms";
}

TEST(ExplainCode, DoesNotRepeatTheCodeThatMakesTheDifference)
{
    model::Profile p = one_stretch();
    set_code(p, {{sampled("build"), {0, {}, 700 * ms, 700, 0, 0, 350 * ms}},
                 {sampled("solve"), {0, {}, 300 * ms, 300, 0, 0, 150 * ms}}});
    EXPECT_THAT(sentence(p), HasSubstr("Most of it in build (70 %) and solve (30 %). It takes"));
    EXPECT_THAT(sentence(p), Not(HasSubstr("The difference is in")));
    EXPECT_EQ(explain(p, 0).difference().size(), 2U);
}

/// 24 functions of 40 ms, which nothing is said of one by one.
void add_leaves(model::Profile& profile, const std::vector<model::Row>& callers)
{
    for (int i = 0; i < 24; ++i) {
        std::vector<model::Row> path = callers;
        path.push_back(sampled("leaf" + std::to_string(i)));
        add_code(profile, path, {0, {}, 40 * ms, 40, 0, 0});
    }
}

TEST(ExplainCode, ManyFunctionsAreNamedByTheOneThatCallsThem)
{
    model::Profile p = without_code(one_stretch());
    add_leaves(p, {sampled("main"), sampled("step"), sampled("chemistry")});
    add_code(p, {sampled("main"), sampled("step"), sampled("advect")}, {0, {}, 40 * ms, 40, 0, 0, 40 * ms});
    p.stretches[0].processor_ns = 500 * ms;
    const Code code = code_of(p, 0);
    ASSERT_EQ(code.functions.size(), 1U);
    EXPECT_EQ(code.functions[0].name, "chemistry") << "main and step have all of it anyway";
    EXPECT_TRUE(code.functions[0].with_calls);
    EXPECT_NEAR(code.functions[0].share, 0.96, 1e-9);
    ASSERT_EQ(code.longer.size(), 1U);
    EXPECT_EQ(code.longer[0].name, "chemistry");
    EXPECT_NEAR(code.longer[0].share, 1, 1e-9);
    EXPECT_THAT(sentence(p), HasSubstr("Most of it in chemistry with what it calls (96 %)."));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("mostly in chemistry: "));
}

TEST(ExplainCode, TheInnermostOneThatCallsMostIsNamed)
{
    model::Profile p = without_code(one_stretch());
    add_leaves(p, {sampled("main"), sampled("step"), sampled("physics"), sampled("chemistry"), sampled("solve")});
    add_code(p, {sampled("main"), sampled("step"), sampled("physics")}, {0, {}, 40 * ms, 40, 0, 0});
    EXPECT_EQ(code_of(p, 0).functions.at(0).name, "solve");
}

TEST(ExplainCode, WhatAFunctionCallsIsAlsoWaitedFor)
{
    model::Profile p = without_code(one_stretch());
    const model::Row fork = sampled("fork", "/lib/libc.so.6");
    add_code(p, {sampled("main"), sampled("step"), sampled("compress"), fork}, {0, {}, 70 * ms, 14});
    add_code(p, {sampled("main"), sampled("step"), sampled("compress"), fork, pseudo("[preempted]")},
             {0, {}, 300 * ms});
    add_code(p, {sampled("main"), sampled("step"), sampled("compress"), pseudo("[blocked]")}, {0, {}, 560 * ms});
    add_code(p, {sampled("main"), sampled("step"), pseudo("[blocked]")}, {0, {}, 70 * ms});
    EXPECT_THAT(sentence(p), HasSubstr(" Most of it in compress with what it calls (93 %)."));
}

TEST(ExplainCode, WhoDoesMostItselfIsNotNamedWithItsCalls)
{
    model::Profile p = without_code(one_stretch());
    add_code(p, {sampled("main"), sampled("step"), sampled("kernel")}, {0, {}, 190 * ms, 190, 0, 0});
    add_code(p, {sampled("main"), sampled("step"), sampled("kernel"), sampled("leaf")}, {0, {}, 10 * ms, 10, 0, 0});
    const Code code = code_of(p, 0);
    ASSERT_EQ(code.functions.size(), 1U);
    EXPECT_EQ(code.functions[0].name, "kernel");
    EXPECT_FALSE(code.functions[0].with_calls);
}

TEST(ExplainCode, WhatWasNotSampledMayHaveLackedAProcessor)
{
    for (const bool is_much : {true, false}) {
        model::Profile p = one_stretch();
        p.stretches[0].processor_ns = 500 * ms;
        set_code(p, {{sampled("loop"), {0, {}, is_much ? 600 * ms : 960 * ms, 90, 0, 0}}});
        EXPECT_EQ(explain(p, 0).cause, is_much ? Factor::Time : Factor::Processor);
        const std::string words = sentence(p);
        EXPECT_THAT(words, HasSubstr(is_much ? "by more time on the processor or not sampled. "
                                             : "by more time on the processor. Always"));
        EXPECT_EQ(words.find("It was not sampled for 400 ms of that. ") != std::string::npos, is_much) << words;
        p.stretches[0].page_faults = 20'000;  // counted with samples
        EXPECT_THAT(sentence(p),
                    HasSubstr(is_much ? "It had at least 20,000 page faults" : "It had 20,000 page faults"));
    }
}

TEST(ExplainCode, WhatWasNotSampledHadAProcessorWhereSwitchesAreRecorded)
{
    model::Profile p = one_stretch();
    p.stretches[0].processor_ns = 500 * ms;
    set_code(p, {{sampled("loop"), {0, {}, 600 * ms, 90, 0, 0}}});
    const auto is_known = [&] { return explain(p, 0).cause == Factor::Processor; };
    EXPECT_FALSE(is_known()) << "nobody has recorded switches";
    p.facts["blocked_ns"] = 5 * ms;
    EXPECT_TRUE(is_known());
    EXPECT_THAT(sentence(p), HasSubstr("by more time on the processor. The difference"));
    EXPECT_THAT(sentence(p), Not(HasSubstr("not sampled")));
    p.facts["respite_ns"] = 99 * ms;  // no tenth of it
    EXPECT_TRUE(is_known());
    p.facts["respite_ns"] = 150 * ms;
    EXPECT_FALSE(is_known());
    EXPECT_THAT(sentence(p), HasSubstr("It was not sampled for 150 ms of that. "));
    p.facts["respite_ns"] = 0;
    p.facts["lost_samples"] = 1;
    EXPECT_FALSE(is_known());
}

/// 1 s of a period of 200 ms has five samples, but three not too rarely; of 2 ms, 300 never.
TEST(ExplainCode, WhatChanceLeavesIsNotMissing)
{
    for (const bool is_chance : {true, false}) {
        model::Profile p = one_stretch();
        set_code(p, {{sampled("loop"), {0, {}, 600 * ms, is_chance ? 3U : 300U, 0, 0}}});
        EXPECT_EQ(explain(p, 0).code.not_sampled_ns, is_chance ? 0 : 400 * ms);
    }
}

}  // namespace
}  // namespace critpath::report
