// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who has the work of a stretch done, and what is inlined where it is done.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using namespace tests;

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

/// MPI is called by a function of Python that computes itself: it is named, not what runs it.
TEST_F(ExplainCallers, NamesTheFunctionThatAnInterpreterRunsAsThePlace)
{
    const model::Row run = sampled("py::run:/src/run.py", "[jit]"), solve = sampled("py::solve:/src/run.py", "[jit]");
    const model::Row interpreter = sampled("_PyEval_EvalFrameDefault", "/lib/libpython.so");
    const std::vector<model::Row> around = {sampled("main"), interpreter, run, interpreter, solve, interpreter};
    const auto called = [&](const model::Row& function) {
        std::vector<model::Row> path = around;
        path.push_back(sampled("call_mpi", "/lib/mpi4py.so"));
        path.push_back(function);
        add_code(profile_, path, {});
        return model::CallPathId{static_cast<std::uint32_t>(profile_.call_paths.size() - 1)};
    };
    profile_.stretches[0].before = called(profile_.rows[3]);
    profile_.stretches[0].after = called(profile_.rows[4]);
    for (const model::CallPathId call : {profile_.stretches[0].before, profile_.stretches[0].after})
        profile_.call_paths[profile_.call_paths[call.value].parent.value].site = call.value;
    EXPECT_EQ(explain(profile_, 0).innermost_caller, "py::solve:/src/run.py");
    EXPECT_EQ(explain(profile_, 0).caller,
              "... > _PyEval_EvalFrameDefault > py::run:/src/run.py > py::solve:/src/run.py");
    EXPECT_THAT(sentence(profile_), HasSubstr("from call_mpi > MPI_Waitall to call_mpi > MPI_Allreduce in"));
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

}  // namespace
}  // namespace critpath::report
