// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of the code of a stretch, and of the threads that work for it, where it is plain what this is.
#include "analysis/report/explain.hpp"
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
    p.stretches[0].page_faults = 100'000;
    set_code(p, {{sampled("extra"), {0, {}, 400 * ms, 400, 0, 0, 0}},
                 {sampled("faulty"), {0, {}, 100 * ms, 100, 0, 0, 0}},
                 {sampled("common"), {0, {}, 500 * ms, 500, 0, 0, 500 * ms}}});
    p.events = {"page-faults"};
    const auto path_of = [&](std::size_t code) { return p.stretch_code[code].call_path; };
    p.path_events = {{path_of(0), {3}, 0, 4000}, {path_of(1), {3}, 0, 96'000}};
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("It had 100,000 page faults, its peers 0 each."));
    EXPECT_THAT(sentence(p), testing::Not(HasSubstr("avoid its page faults")));
    p.stretches[0].peers_page_faults = 20'000;  // where others are on the path, the one with them is their peer
    model::StretchRank rank;
    rank.stretch = 0;
    rank.process = {3};
    rank.page_faults = 99'000;
    p.stretch_ranks = {rank};
    EXPECT_THAT(sentence(p), HasSubstr("Rank 3 had 99,000 page faults, its peers 0 each."));
    p.stretch_ranks[0].page_faults = 70'000;
    EXPECT_THAT(sentence(p), HasSubstr("It had 100,000 page faults, its peers 20,000 each."));
    p.stretches[0].peers_page_faults = 0;
    p.stretch_ranks.clear();
    EXPECT_THAT(sentence(p), HasSubstr("The difference is in extra (80 %) and faulty (20 %)."));
    p.path_events = {{path_of(0), {3}, 0, 90'000}, {path_of(1), {3}, 0, 10'000}};
    EXPECT_EQ(explain(p, 0).cause, Factor::PageFaults);
    p.path_events = {{path_of(0), {3}, 0, 90'000}, {path_of(1), {3}, 0, 10'000}, {path_of(2), {3}, 0, 2'500'000}};
    EXPECT_EQ(explain(p, 0).cause, Factor::PageFaults);  // those are elsewhere
    p.path_events.clear();                               // nothing is known of them
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
    EXPECT_THAT(with(600 * ms, 200 * ms, of_few(10)), names);
    EXPECT_THAT(with(600 * ms, 200 * ms, of_few(1)), Not(names))
        << "peers have no more than four samples of it, for ten";
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

/// As one_stretch(), where functions of /bin/app call MPI. `dgemm` is called by functions of a library for these.
class ExplainCallers : public testing::Test
{
protected:
    ExplainCallers()
    {
        for (std::uint32_t row = 0; row < 3; ++row)
            profile_.rows[row].module = "/bin/app";
        profile_.stretches[0].code_gaps = 30;
    }
    void add_dgemm(const std::string& caller, std::int64_t ns, std::int64_t of_peers_ns)
    {
        add_code(profile_,
                 {sampled("main"), sampled("solve"), sampled(caller), sampled("cblas_dgemm", "/lib/blas.so"),
                  sampled("dgemm", "/lib/blas.so")},
                 {0, {}, ns * ms, static_cast<std::uint64_t>(ns), 0, 0, of_peers_ns * ms});
    }
    model::Profile profile_ = one_stretch();
};

TEST_F(ExplainCallers, NamesWhatHasALibraryWork)
{
    add_dgemm("factorize", 500, 100);
    add_dgemm("update", 100, 70);
    add_code(profile_, {sampled("main"), sampled("solve")}, {0, {}, 400 * ms, 400, 0, 0, 330 * ms});
    EXPECT_THAT(sentence(profile_), HasSubstr("Most of it in dgemm (60 %, from factorize) and solve (40 %). It takes"));
    EXPECT_THAT(sentence(profile_), HasSubstr("The difference is in dgemm (86 %, from factorize) and solve (14 %)."));
    const Code code = explain(profile_, 0).code;
    EXPECT_EQ(code.functions.at(0).caller, "factorize");
    EXPECT_EQ(code.functions.at(1).caller, "") << "it is the application's own";
}

TEST_F(ExplainCallers, NamesNoneWhereSeveralHaveThatDone)
{
    add_dgemm("factorize", 600, 100);
    add_dgemm("update", 400, 400);
    EXPECT_THAT(sentence(profile_), HasSubstr("Most of it in dgemm (100 %). It takes"));
    EXPECT_THAT(sentence(profile_), HasSubstr("The difference is in dgemm (100 %, from factorize)."));
}

TEST_F(ExplainCallers, NamesNoneByAFewSamples)
{
    add_dgemm("factorize", 700, 300);
    add_dgemm("update", 300, 200);
    for (model::StretchCode& code : profile_.stretch_code)
        code.samples = static_cast<std::uint64_t>(code.ns / (100 * ms));
    EXPECT_EQ(explain(profile_, 0).code.functions.at(0).caller, "") << "7 of 10 may be half of them";
    for (model::StretchCode& code : profile_.stretch_code)
        code.samples *= 10;
    EXPECT_EQ(explain(profile_, 0).code.functions.at(0).caller, "factorize");
}

/// "panel" is inlined into "factorize" at 0x20, and "column" into that at 0x30.
TEST_F(ExplainCallers, NamesTheInnermostThatIsInlinedWhereItCalls)
{
    add_dgemm("factorize", 800, 100);
    add_dgemm("factorize", 200, 200);
    const auto inlined_at = [](const model::Row& row, std::uint64_t address) -> std::vector<std::string> {
        if (row.name != "factorize")
            return {"not this one"};
        return address == 0x30 ? std::vector<std::string>{"column", "panel"} : std::vector<std::string>{"panel"};
    };
    const auto caller = [&](std::uint64_t first, std::uint64_t second) {
        std::uint64_t site = first;
        for (model::CallPath& path : profile_.call_paths)
            if (profile_.rows[path.row.value].name == "cblas_dgemm")
                path.site = std::exchange(site, second);
            else if (profile_.rows[path.row.value].name == "dgemm")
                path.site = 0x77;  // in the library
        return code_of(profile_, 0, inlined_at).functions.at(0).caller;
    };
    EXPECT_EQ(caller(0, 0), "factorize") << "it is not known where";
    EXPECT_EQ(caller(0x30, 0x20), "column") << "with 80 %";
    EXPECT_EQ(caller(0x20, 0x30), "panel") << "column has 20 %";
    EXPECT_EQ(caller(0, 0x30), "factorize");
    EXPECT_EQ(code_of(profile_, 0).functions.at(0).caller, "factorize");
    EXPECT_EQ(caller(0x20, 0), "panel");
    EXPECT_EQ(code_of(profile_, 0, inlined_at).longer.at(0).caller, "panel");
}

TEST_F(ExplainCallers, NamesFunctionsThatAnInterpreterRuns)
{
    const model::Row run = sampled("py::run:/src/run.py", "[jit]");
    const model::Row interpreter = sampled("_PyEval_EvalFrameDefault", "/lib/libpython.so");
    add_code(profile_, {sampled("main"), interpreter, run, interpreter, sampled("dot", "/lib/numpy.so")},
             {0, {}, 600 * ms, 600});
    add_code(profile_, {sampled("main"), interpreter, run, interpreter}, {0, {}, 300 * ms, 300});
    add_code(profile_, {sampled("main"), interpreter, run}, {0, {}, 100 * ms, 100});
    EXPECT_THAT(sentence(profile_),
                HasSubstr("Most of it in dot (60 %, from py::run:/src/run.py), _PyEval_EvalFrameDefault (30 %, from "
                          "py::run:/src/run.py) and py::run:/src/run.py (10 %)."));
}

/// Whoever calls MPI in a library, as PETSc does: what the program itself has is its own.
TEST_F(ExplainCallers, NamesNoneForTheProgramItself)
{
    for (std::uint32_t row = 1; row < 3; ++row)
        profile_.rows[row].module = "/lib/solver.so";
    add_code(profile_, {sampled("main"), sampled("solve", "/lib/solver.so"), sampled("form")}, {0, {}, 600 * ms, 600});
    add_code(profile_, {sampled("main"), sampled("solve", "/lib/solver.so"), sampled("dgemm", "/lib/blas.so")},
             {0, {}, 400 * ms, 400});
    EXPECT_THAT(sentence(profile_), HasSubstr("Most of it in form (60 %) and dgemm (40 %, from solve)."));
}

TEST_F(ExplainCallers, NamesWhoUsesTemplatesOfTheCppLibrary)
{
    const model::Row sort = sampled("void std::__introsort_loop<It, long>(It, It, long)", "/bin/app");
    add_code(profile_, {sampled("main"), sampled("app::order()"), sort, sampled("sin", "/lib/libm.so.6")},
             {0, {}, 600 * ms, 600});
    add_code(profile_, {sampled("main"), sampled("app::order()"), sort, sort}, {0, {}, 400 * ms, 400});
    const Code code = explain(profile_, 0).code;
    EXPECT_EQ(code.functions.at(0).caller, "app::order()");
    EXPECT_EQ(code.functions.at(1).caller, "app::order()");
}

TEST_F(ExplainCallers, NamesNoneWhereNobodyKnowsWhatTheApplicationIs)
{
    for (std::uint32_t row = 0; row < 3; ++row)
        profile_.rows[row].module = "/lib/wrapper.so";
    add_dgemm("factorize", 700, 300);
    EXPECT_EQ(explain(profile_, 0).code.functions.at(0).caller, "");
}

/// "boundary" and "smooth" are inlined into "step", "copy" into both.
TEST(ExplainInlined, NamesTheInnermostThatHasMost)
{
    model::Profile p = one_stretch();
    p.stretches[0].code_gaps = 30;
    p.rows[0].module = "/bin/app";  // main
    add_code(p, {sampled("step")}, {0, {}, 1000 * ms, 1000, 0, 0, 400 * ms});
    const auto row = p.row_of(p.stretch_code[0].call_path);
    p.stretch_addresses = {
        {0, row, 1, 400 * ms, 400, 20 * ms}, {0, row, 2, 400 * ms, 400, 80 * ms}, {0, row, 3, 200 * ms, 200, 300 * ms}};
    const auto inlined_at = [](const model::Row&, std::uint64_t address) {
        const std::map<std::uint64_t, std::vector<std::string>> at = {
            {1, {"copy", "boundary"}}, {2, {"boundary"}}, {3, {"copy", "smooth"}}};
        return at.at(address);
    };
    Code code = code_of(p, 0, inlined_at);
    EXPECT_EQ(code.functions.at(0).inlined, "boundary") << "copy has 600 ms, but not two thirds";
    EXPECT_EQ(code_in_words(code), " Most of it in step (100 %, mostly boundary, inlined).");
    EXPECT_EQ(code.longer.at(0).inlined, "boundary");
    p.stretch_addresses[0].peers_ns = 60 * ms;
    p.stretch_addresses[0].ns = 750 * ms;
    p.stretch_addresses[1].ns = 50 * ms;
    p.stretch_addresses[2].peers_ns = 700 * ms;
    code = code_of(p, 0, inlined_at);
    EXPECT_EQ(code.functions.at(0).inlined, "copy");
    EXPECT_EQ(code.longer.at(0).inlined, "boundary") << "copy takes more in there, and less in smooth";
    p.stretch_addresses[0].ns = 500 * ms;
    p.stretch_addresses[2].ns = 500 * ms;
    p.stretch_addresses.erase(p.stretch_addresses.begin() + 1);
    EXPECT_EQ(code_of(p, 0, inlined_at).functions.at(0).inlined, "copy") << "in both";
    p.stretch_addresses.pop_back();
    EXPECT_EQ(code_of(p, 0, inlined_at).functions.at(0).inlined, "") << "half is not most of it";
    EXPECT_EQ(code_of(p, 0).functions.at(0).inlined, "");
    // What others did meanwhile is not divided.
    p.stretch_code[0].spinning_ns = 400 * ms;
    EXPECT_EQ(code_of(p, 0, inlined_at).functions.at(0).inlined, "copy");
    p.rows[0].module = "/bin/another";
    EXPECT_EQ(code_of(p, 0, inlined_at).functions.at(0).inlined, "") << "of a library";
}

/// As it was given, but for its code; its functions are those of a binary.
model::Profile without_code(model::Profile profile)
{
    for (model::Row& row : profile.rows)
        if (row.kind == model::RowKind::Sampled)
            row.module = "/bin/app";
    profile.stretch_code.clear();
    profile.stretches[0].code_gaps = profile.stretches[0].gaps;
    return profile;
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

TEST(ExplainCode, WhereItIsBlockedIsSaid)
{
    model::Profile p = without_code(one_stretch());
    const auto blocked = [&](const char* in, std::int64_t ns) {
        add_code(
            p, {sampled("main"), sampled("step"), sampled(in), sampled("read", "/lib/libc.so.6"), pseudo("[blocked]")},
            {0, {}, ns, 0, 0, 0});
    };
    blocked("load", 500 * ms);
    blocked("log", 100 * ms);
    add_code(p, {sampled("main"), sampled("step"), sampled("kernel")}, {0, {}, 400 * ms, 400, 0, 0, 400 * ms});
    p.stretches[0].own_blocked_ns = 600 * ms;
    p.stretches[0].processor_ns = 0;
    p.stretches[0].blocked_ns = 500 * ms;
    EXPECT_THAT(sentence(p),
                HasSubstr("It was blocked for 600 ms of that, as it seems in load (83 %; seen for 0 % of it)."));
    EXPECT_THAT(sentence(p), HasSubstr("find out what it waits for in load: a file, a pipe or a socket (read)."));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("MPI_Waitall to MPI_Allreduce"));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("(blocked in load)"));
    for (const model::StretchCode& c : p.stretch_code)
        if (p.row(c.call_path).name == "[blocked]")
            p.path.push_back({c.call_path, {3}, c.ns, 0, 0, c.ns / 2});
    EXPECT_THAT(sentence(p), HasSubstr("as it seems in load (83 %; seen for 50 % of it)."));
    for (model::CallPathTime& time : p.path)
        time.found_ns = std::max(time.found_ns, time.ns * 19 / 20);
    EXPECT_THAT(sentence(p), HasSubstr("It was blocked for 600 ms of that, in load (83 %)."));
    blocked("log", 300 * ms);
    EXPECT_THAT(sentence(p),
                HasSubstr("find out what it waits for outside of MPI: a file, a pipe or a socket (read)."));
    add_code(p, {sampled("main"), sampled("spread"), pseudo("[blocked]")}, {0, {}, 3000 * ms, 0, 0, 0});
    EXPECT_THAT(
        sentence(p),
        HasSubstr("find out what it waits for in spread: files, locks, memory, or a stop (SIGSTOP, a debugger)."));
}

/// The peers are blocked in `load`, too: what is to be mended is where they are not.
TEST(ExplainCode, WhereItIsBlockedLongerIsSaid)
{
    model::Profile p = without_code(one_stretch());
    const auto blocked = [&](const char* in, const char* by, std::int64_t ns, std::int64_t peers_ns) {
        add_code(p, {sampled("main"), sampled("step"), sampled(in), sampled(by, "/lib/libc.so.6"), pseudo("[blocked]")},
                 {0, {}, ns, 0, 0, 0, peers_ns});
    };
    blocked("load", "read", 400 * ms, 410 * ms);
    blocked("nap", "clock_nanosleep", 500 * ms, 0);
    add_code(p, {sampled("main"), sampled("step"), sampled("kernel")}, {0, {}, 100 * ms, 100, 0, 0, 100 * ms});
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 900 * ms;
    s.processor_ns = 0;
    s.blocked_ns = 490 * ms;
    const auto gaps = [&](std::int64_t known) {
        s.code_gaps = known;
        return sentence(p);
    };
    EXPECT_THAT(gaps(s.gaps),
                HasSubstr("It was blocked for 900 ms of that; what it is blocked longer than its peers is "
                          "as it seems in nap (100 %; seen for 0 % of it)."));
    EXPECT_THAT(gaps(s.gaps),
                HasSubstr("find out what it waits for in nap: time that it lets pass (clock_nanosleep)."));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("(blocked in nap)"));
    EXPECT_THAT(gaps(0), HasSubstr("It was blocked for 900 ms of that."));
    s.blocked_ns = 900 * ms;  // the split says otherwise
    EXPECT_THAT(gaps(s.gaps), HasSubstr("It was blocked for 900 ms of that."));
}

TEST(ExplainCode, ThreadsAreSaidToBeInTheirOwnFunctions)
{
    model::Profile p = without_code(threaded_stretch(0, 600 * ms));
    const model::Row malloc = sampled("_int_malloc", "/lib/libc.so.6");
    add_code(p, {sampled("worker"), sampled("build_lists"), malloc}, {0, {}, 400 * ms, 400, 0, 400 * ms});
    add_code(p, {sampled("worker"), sampled("other"), malloc}, {0, {}, 150 * ms, 150, 0, 150 * ms});
    add_code(p, {sampled("worker"), sampled("build_lists")}, {0, {}, 50 * ms, 50, 0, 50 * ms});
    const Code code = code_of(p, 0);
    ASSERT_TRUE(code.of_threads);
    EXPECT_EQ(code.of_threads->name, "build_lists");
    EXPECT_NEAR(code.of_threads->share, 0.75, 1e-9);
}

TEST(ExplainCode, ARankThatWaitsForItsThreadsIsNotBlockedBySomethingElse)
{
    model::Profile p = threaded_stretch(0, 600 * ms);
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 600 * ms;
    s.processor_ns = -100 * ms;
    s.blocked_ns = 600 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
    EXPECT_THAT(sentence(p), HasSubstr("Most of it in loop (54 %) and serial (40 %). It takes 100 % longer"));
    EXPECT_THAT(sentence(p),
                HasSubstr(" It waited for its own threads for 600 ms of that, which were in loop meanwhile "
                          "(90 %). Always rank 3 (persistent, 90 %): share the work of loop out evenly "
                          "among its threads, outside of critical sections, or make it faster."));
    EXPECT_THAT(sentence(p), Not(HasSubstr("It was blocked")));
    s.own_blocked_ns = 950 * ms;  // and what makes the difference may be the rest of it
    s.blocked_ns = 400 * ms;
    s.processor_ns = 100 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Blocked);
    EXPECT_THAT(sentence(p), HasSubstr("It was blocked otherwise for 350 ms of that."));
    EXPECT_THAT(sentence(p),
                HasSubstr("waits for outside of MPI: files, locks, memory, or a stop (SIGSTOP, a debugger)."));
    p.location_process = {0, 1, 2, 2, 3};
    EXPECT_THAT(sentence(p),
                HasSubstr("waits for outside of MPI: files, locks, memory, or a stop (SIGSTOP, a debugger)."))
        << "others have some";
    p.location_process = {0, 1, 2, 3, 3};
    EXPECT_THAT(
        sentence(p),
        HasSubstr(
            "waits for outside of MPI: files, locks, memory, threads of its own, or a stop (SIGSTOP, a debugger)."));
}

/// It works less itself, which is no advantage, and no less work.
TEST(ExplainCode, WorkThatThreadsDoForItIsNeitherLessNorBlocked)
{
    model::Profile p = threaded_stretch(0, 600 * ms);
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 640 * ms;
    s.processor_ns = -150 * ms;
    s.preempted_ns = 50 * ms;
    s.blocked_ns = 600 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("(geometric mean): +90 % by more work, its own and that of its threads, "
                                       "+10 % by more of its time preempted."));
    const auto joins = [&](const auto& change) {
        model::Profile other = p;
        change(other, other.stretches[0]);
        return sentence(other).find("that of its threads") != std::string::npos;
    };
    using model::Profile;
    using model::Stretch;
    EXPECT_FALSE(joins([](Profile&, Stretch& t) { t.own_blocked_ns = 700 * ms; }))
        << "some of it is for something else";
    EXPECT_FALSE(joins([](Profile&, Stretch& t) { t.processor_ns = 50 * ms; })) << "it works more";
    EXPECT_FALSE(joins([](Profile&, Stretch& t) {
        t.processor_ns = 600 * ms;
        t.blocked_ns = -150 * ms;
    })) << "it is blocked less";
    EXPECT_FALSE(joins([](Profile&, Stretch& t) {
        t.processor_ns = 0;
        t.cycles_ns = -150 * ms;
    })) << "it works faster";
    EXPECT_FALSE(joins([](Profile& other, Stretch&) {
        set_code(other, {{pseudo("[preempted]"), {0, {}, 300 * ms, 0, 0, 300 * ms}}});
    })) << "threads lack a processor";
    // Faster instructions stand beside it.
    s.processor_ns = 0;
    s.instructions_ns = -100 * ms;
    s.cycles_ns = -50 * ms;
    s.counted = s.compared;
    EXPECT_THAT(sentence(p),
                HasSubstr("+100 % by more work, its own and that of its threads, -10 % by fewer cycles per "
                          "instruction, +10 % by more of its time preempted."));
}

TEST(ExplainCode, ARankThatSpinsForItsThreadsHasNoWorkToGive)
{
    model::Profile p = threaded_stretch(450 * ms, 0);
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
    EXPECT_THAT(sentence(p),
                HasSubstr("+100 % by more time on the processor. It waited for its own threads for 450 ms"));
    p.stretches[0].peers_spinning_ns = 300 * ms;  // they do so as well: it is not that
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    // Half of all time is without a processor, on all ranks: of what is left, spinning is as much as before.
    p = threaded_stretch(225 * ms, 0);
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    p.stretches[0].own_preempted_ns = 500 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
}

/// It has more work, and waits for its threads for much of the time: both can be mended.
TEST(ExplainCode, ThreadsMayBeUnequalBesidesMoreWork)
{
    model::Profile p = threaded_stretch(0, 460 * ms);
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 460 * ms;
    s.processor_ns = 400 * ms;
    s.blocked_ns = 100 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("Besides, it waits for its threads for 46 % of that time: share the work of "
                                       "loop out evenly among its threads"));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("besides for 46 % waits for its threads"));
    s.peers_ns = 1000 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("Only what makes all ranks faster makes this faster: share the work of loop"));
}

/// All that it does is to wait for them.
TEST(ExplainCode, ThreadsAreTheReasonWhereNothingElseIsDone)
{
    model::Profile p = threaded_stretch(0, 950 * ms);
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 999 * ms;
    s.processor_ns = -499 * ms;
    s.preempted_ns = 0;
    s.blocked_ns = 999 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
}

/// Half of the difference, but less than the time that it lacks a processor itself: something makes it shorter.
TEST(ExplainCode, ThreadsAreNoReasonWhereAnotherPartIsLarger)
{
    model::Profile p = threaded_stretch(450 * ms, 0);
    model::Stretch& s = p.stretches[0];
    s.processor_ns = 300 * ms;
    s.preempted_ns = s.own_preempted_ns = 310 * ms;
    s.blocked_ns = -110 * ms;
    EXPECT_GE(2 * explain(p, 0).longer_for_threads_ns(), 500 * ms);
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted);
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("longer than its peers (no processor)"));
    s.preempted_ns = s.own_preempted_ns = 290 * ms;
    s.blocked_ns = -90 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
}

TEST(ExplainCode, ThreadsThatAreWaitedForMayLackAProcessor)
{
    model::Profile p = one_stretch();
    set_code(p, {{sampled("loop"), {0, {}, 200 * ms, 90, 0, 200 * ms}},
                 {pseudo("[preempted]"), {0, {}, 400 * ms, 0, 0, 400 * ms}}});
    p.stretches[0].own_blocked_ns = 600 * ms;
    p.stretches[0].processor_ns = 0;
    p.stretches[0].blocked_ns = 500 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted);
    EXPECT_THAT(sentence(p),
                HasSubstr("for 600 ms of that, which were in loop meanwhile (33 %), and lacked a processor "
                          "for 400 ms."));
    // It is no reason if those of the peers lack one for as much of their time: 200 ms of 500.
    p.stretches[0].peers_threads_preempted_ns = 200 * ms;
    EXPECT_EQ(explain(p, 0).longer_for_processors_ns(), 0);
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
    p.stretches[0].peers_threads_preempted_ns = 50 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted);
}

TEST(ExplainCode, ThreadsThatLackAProcessorAreWhereTheyWorked)
{
    model::Profile p = one_stretch();
    add_code(p, {sampled("other")}, {0, {}, 250 * ms, 25, 250 * ms, 0});
    add_code(p, {sampled("loop")}, {0, {}, 150 * ms, 15, 150 * ms, 0});
    add_code(p, {sampled("loop"), pseudo("[preempted]")}, {0, {}, 200 * ms, 0, 200 * ms, 0});
    EXPECT_THAT(sentence(p), HasSubstr("for 600 ms of that, which were in loop meanwhile (58 %), and lacked a "
                                       "processor for 200 ms."));
}

/// Samples of short gaps stand for more than the time that the thread had a processor there, and what takes part of the
/// time on the path may not be all of the time of a gap: nothing may be told twice.
TEST(ExplainCode, NoTimeIsTwoParts)
{
    model::Profile p = one_stretch();
    set_code(p, {{pseudo("[preempted]"), {0, {}, 600 * ms, 0, 0, 0}},
                 {pseudo("[blocked]"), {0, {}, 150 * ms, 0, 0, 0}},
                 {sampled("loop"), {0, {}, 50 * ms, 5, 0, 50 * ms}},
                 {sampled("wait"), {0, {}, 600 * ms, 60, 600 * ms, 0}},
                 {sampled("serial"), {0, {}, 200 * ms, 20, 0, 0}}});
    p.stretches[0].own_preempted_ns = 600 * ms;
    p.stretches[0].own_blocked_ns = 200 * ms;
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.code.spinning_ns, 150 * ms) << "three quarters of the 200 ms that are left";
    EXPECT_EQ(e.code.sampled_spinning_ns, 600 * ms);
    const Losses losses = e.losses();
    EXPECT_EQ(losses.preempted_ns, 600 * ms);
    EXPECT_EQ(losses.threads_ns, 200 * ms);
    EXPECT_EQ(losses.blocked_ns, 150 * ms);
    EXPECT_THAT(sentence(p), HasSubstr("It lacked a processor for 600 ms of that. It waited for its own threads for "
                                       "200 ms of that, which were in wait meanwhile (75 %). It was blocked otherwise "
                                       "for 150 ms of that."));
    EXPECT_THAT(sentence(p), HasSubstr("Some of it in wait (15 %) and serial (5 %)."));

    const auto sum_with = [&](std::int64_t looked_at, std::int64_t preempted, std::int64_t blocked,
                              std::int64_t not_sampled) {
        Explanation other = e;
        auto stretch = *e.stretch;
        stretch.looked_at_ns = looked_at;
        stretch.own_preempted_ns = preempted;
        stretch.own_blocked_ns = blocked;
        other.stretch = std::make_shared<const model::Stretch>(stretch);
        other.code.not_sampled_ns = not_sampled;
        const Losses all = other.losses();
        EXPECT_LE(all.threads_preempted_ns, all.threads_ns);
        return all.preempted_ns + all.threads_ns + all.blocked_ns + all.not_sampled_ns;
    };
    EXPECT_LE(sum_with(1000 * ms, 900 * ms, 200 * ms, 0), 1000 * ms);
    EXPECT_LE(sum_with(1000 * ms, 700 * ms, 200 * ms, 300 * ms), 1000 * ms);
    EXPECT_LE(sum_with(1200 * ms, 900 * ms, 300 * ms, 300 * ms), 1000 * ms);
    EXPECT_LE(sum_with(1000 * ms, 900 * ms, 10 * ms, 300 * ms), 1000 * ms);
    EXPECT_EQ(sum_with(1000 * ms, 300 * ms, 200 * ms, 50 * ms), 700 * ms) << "what is no more than the whole stays";
}

}  // namespace
}  // namespace critpath::report
