// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which function is meant by a name, and what is said of those that have no lines.
#include "analysis/report/meant_function.hpp"
#include "analysis/report/names.hpp"
#include "formats/support/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace critpath::report
{
namespace
{

using model::RowKind;
using testing::HasSubstr;
using testing::StartsWith;

/// main > step > (solve, MPI_Barrier > ([blocked], [transfer]), py::run > [preempted], poll > [blocked], others) on
/// rank 0; "idle" is on no rank's path. Only "solve" has lines.
model::Profile run_of_all_kinds()
{
    model::Profile p;
    p.properties["event"] = "cpu-clock";
    p.processes.resize(2);
    for (const char* name : {"main", "step", "solve", "idle"})
        p.rows.push_back({RowKind::Sampled, name, "/bin/app", "", 0});
    p.rows.insert(p.rows.end(), {{RowKind::Sampled, "py::run:/src/run.py", "[jit]", "", 0},
                                 {RowKind::Sampled, "[anon]", "[anon]", "", 0},
                                 {RowKind::Sampled, "schedule", "[kernel]", "", 0},
                                 {RowKind::Sampled, "[unknown]", "", "", 0},
                                 {RowKind::Sampled, "elsewhere", "/bin/app", "", 0},
                                 {RowKind::Region, "region", "", "a.c", 1},
                                 {RowKind::Mpi, "MPI_Barrier", "MPI", "", 0}});
    for (const char* name : {"[blocked]", "[preempted]", "[transfer]", "[measurement]"})
        p.rows.push_back({RowKind::Pseudo, name, "", "", 0});
    const auto add = [&](std::uint32_t row, std::uint32_t parent, std::int64_t ns) {
        p.call_paths.push_back({{row}, {parent}});
        if (ns > 0)
            p.path.push_back({{static_cast<std::uint32_t>(p.call_paths.size() - 1)}, {0}, ns, 1});
    };
    add(0, model::CallPathId::none().value, 0);
    add(1, 0, 0);
    for (const std::uint32_t row : {2, 4, 5, 6, 7, 8, 9, 10})
        add(row, 1, 10);
    add(11, 9, 10);
    add(13, 9, 10);
    add(12, 3, 10);
    add(14, model::CallPathId::none().value, 10);
    p.rows.push_back({RowKind::Sampled, "poll", "/lib/libc.so.6", "", 0});
    add(15, 1, 0);
    add(11, static_cast<std::uint32_t>(p.call_paths.size() - 1), 10);
    return p;
}

std::string refusal(const std::string& name, const Selection& selection = {})
{
    try {
        return "found " + meant_function(run_of_all_kinds(), selection, {"solve"}, name, "a run");
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.code(), ExitCode::Usage);
        return failure.what();
    }
}

/// Not what has it as an argument, or is in it.
TEST(MeantFunction, PartsOfAQualifiedName)
{
    const std::string order = "app::Solver::order(int)";
    const std::string sort =
        "void std::sort<app::Solver::order(int)::{lambda(int)#1}>(app::Solver::order(int)::{lambda(int)#1})";
    const std::string lambda = "app::Solver::order(int)::{lambda(int)#1}::operator()(int) const";
    const std::set<std::string> known = {order, sort, lambda, "app::Solver::reorder(int)"};
    for (const char* name : {"order", "Solver::order", "app::Solver::order", "Solver::order(int)"})
        EXPECT_EQ(meant_function(run_of_all_kinds(), {}, known, name, "a run"), order) << name;
    EXPECT_EQ(meant_function(run_of_all_kinds(), {}, known, "std::sort", "a run"), sort);
    EXPECT_EQ(meant_function(run_of_all_kinds(), {}, known, "operator()", "a run"), lambda);
    EXPECT_THROW((void)meant_function(run_of_all_kinds(), {}, known, "rder", "a run"), Failure);
    const std::set<std::string> copies = {"void a::f<1>(int)", "void a::f<2>(int)"};
    EXPECT_EQ(meant_function(run_of_all_kinds(), {}, copies, "f<2>", "a run"), "void a::f<2>(int)");
    EXPECT_THROW((void)meant_function(run_of_all_kinds(), {}, copies, "f", "a run"), Failure);
    EXPECT_EQ(meant_function(run_of_all_kinds(), {}, {"a::f(int)", "a::f(double)"}, "f(int)", "a run"), "a::f(int)");
    EXPECT_THROW((void)meant_function(run_of_all_kinds(), {}, {"a::f(double)"}, "f(int)", "a run"), Failure);
}

/// Sources do not name inline namespaces.
TEST(MeantFunction, NamespacesMayBeLeftOut)
{
    const std::string abi = "int outer::v1::abi(int)", step = "void outer::v1::Grid<double>::step<3>()";
    const std::set<std::string> known = {abi, step, "outer::v1::abi_of(int)", "other::abi(int)"};
    for (const char* name : {"outer::abi", "outer::abi(int)"})
        EXPECT_EQ(meant_function(run_of_all_kinds(), {}, known, name, "a run"), abi) << name;
    for (const char* name : {"outer::Grid::step", "outer::step", "outer::Grid<double>::step"})
        EXPECT_EQ(meant_function(run_of_all_kinds(), {}, known, name, "a run"), step) << name;
    for (const char* name : {"abi::outer", "outer::abi(double)", "outer::Grid<float>::step", "inner::abi"})
        EXPECT_THROW((void)meant_function(run_of_all_kinds(), {}, known, name, "a run"), Failure) << name;
    EXPECT_THROW(
        (void)meant_function(run_of_all_kinds(), {}, {"outer::v1::abi(int)", "outer::v2::abi(int)"}, "outer::abi", "a"),
        Failure);
}

TEST(MeantFunction, FunctionsOfSeveralFiles)
{
    const std::string p = "(anonymous namespace)::kernel() [p/k.cpp]", q = "(anonymous namespace)::kernel() [q/k.cpp]";
    for (const char* name : {"kernel [q/k.cpp]", "kernel() [q/k.cpp]"})
        EXPECT_EQ(meant_function(run_of_all_kinds(), {}, {p, q}, name, "a run"), q) << name;
    EXPECT_THROW((void)meant_function(run_of_all_kinds(), {}, {p, q}, "kernel", "a run"), Failure);
    EXPECT_THROW((void)meant_function(run_of_all_kinds(), {}, {p, q}, "kernel [r/k.cpp]", "a run"), Failure);
}

TEST(MeantFunction, AnyOfThoseWithTheSameCode)
{
    const std::string twins = "grid::fill(int) [k.cpp] [= grid::pack(long) = solve_]";
    for (const char* name : {"fill", "grid::fill(int)", "fill [k.cpp]", "pack", "grid::pack", "SOLVE", "solve_"})
        EXPECT_EQ(meant_function(run_of_all_kinds(), {}, {twins, "unpack", "filled"}, name, "a run"), twins) << name;
}

TEST(MeantFunction, FunctionsOfPythonAreMeantByTheirNames)
{
    const std::string relax = "py::Grid.relax:/home/me/grid.py", other = "py::relaxed:/home/me/grid.py";
    for (const char* name : {"relax", "Grid.relax", "py::Grid.relax"})
        EXPECT_EQ(meant_function(run_of_all_kinds(), {}, {relax, other, "load_relaxed"}, name, "a run"), relax) << name;
    // Also one without lines, before another one that only has it in its name.
    EXPECT_THAT(refusal("run"), AllOf(HasSubstr("'py::run:/src/run.py'"), HasSubstr("--inclusive --module '[jit]'")));
}

/// A name that was shortened may also be read as another one; there it is not shown so.
TEST(MeantFunction, AShortenedNameIsTheOneThatIsShownSo)
{
    const std::string front = "void layout::Pack<layout::Pack<int, int>, layout::Pack<int, int>>::run(int)";
    const std::string back = "void layout::Pack<int, layout::Pack<int, layout::Pack<int, int>>>::run(int)";
    for (const std::size_t width : {40U, 60U}) {
        const auto shown = shorten_names({front, back}, width);
        for (const std::string& name : {front, back})
            EXPECT_EQ(meant_function(run_of_all_kinds(), {}, {front, back}, shown.at(name), "a run"), name);
    }
}

TEST(MeantFunction, NoneMayBeForWantOfLines)
{
    try {
        (void)meant_function(run_of_all_kinds(), {}, {"solve"}, "smooth", "a run",
                             [] { return std::string("No lines of app: it has changed."); });
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_THAT(failure.what(),
                    testing::EndsWith(" (No lines of app: it has changed.); see: cpreport hotspots 'a run'"));
    }
}

TEST(MeantFunction, WithoutSamplesThereIsNone)
{
    model::Profile traced = run_of_all_kinds();
    traced.properties.erase("event");
    try {
        (void)meant_function(traced, {}, {}, "nobody", "a run");
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_THAT(failure.what(), HasSubstr("the trace has no samples"));
    }
}

TEST(MeantFunction, WhatHasNoLinesSaysWhy)
{
    EXPECT_EQ(refusal("solve"), "found solve");
    EXPECT_EQ(refusal("nobody"),
              "'nobody': samples found no such function on the critical path, or the part of it that "
              "was asked for; see: cpreport hotspots 'a run'");
    EXPECT_EQ(refusal("step"),
              "'step': no sample on the critical path, or the part of it that was asked for, is in "
              "itself, but only in what it calls; see what that is: cpreport hotspots --by callpath 'a run'");
    EXPECT_THAT(refusal("poll"), HasSubstr("is in it, but the thread had no processor there; see what calls it"));
    EXPECT_EQ(refusal("run"),
              "'py::run:/src/run.py': it has no lines, since it was made while the program ran; see what "
              "it has with what it calls: cpreport hotspots --inclusive --module '[jit]' 'a run'");
    EXPECT_THAT(refusal("[anon]"), HasSubstr("while the program ran, and nothing names its functions; see what calls"));
    EXPECT_THAT(refusal("schedule"), HasSubstr("since it is the kernel's own; see what calls it"));
    EXPECT_EQ(
        refusal("MPI_Barrier"),
        "'MPI_Barrier': a function of MPI, which has no lines here; see those that call it: cpreport hotspots --by "
        "line 'a run'; what was done in it: cpreport hotspots --inside 'a run'");
    EXPECT_EQ(refusal("[blocked]"), "'[blocked]': time that belongs to no function; see below which functions it is: "
                                    "cpreport hotspots --by callpath 'a run'");
    EXPECT_EQ(refusal("preempted"), "'[preempted]': time that belongs to no function; see below which functions it is: "
                                    "cpreport hotspots --by callpath 'a run'");
    EXPECT_THAT(refusal("[transfer]"),
                HasSubstr("; see whose messages these are: cpreport hotspots --by transfer 'a run'"));
    for (const char* name : {"[measurement]", "[unknown]"})
        EXPECT_THAT(refusal(name), HasSubstr("no function; cpreport(1) says what it is, under READING THE TABLES"));
    EXPECT_EQ(refusal("idle"), "'idle': not on the critical path, or not in the part of it that was asked for; see its "
                               "time elsewhere: cpreport hotspots --sort all 'a run'");
    EXPECT_THAT(refusal("step", {{1}, ""}), StartsWith("'step': not on the critical path")) << "of this rank";
    EXPECT_THAT(refusal("region"), HasSubstr("enters and leaves, but no samples, by which lines are known; record"));
    EXPECT_THAT(refusal("elsewhere"), HasSubstr("does not say at which of its instructions it was sampled; see"));
}

TEST(MeantFunction, IsTheOneThatIsCalledSo)
{
    const auto meant = [](const std::set<std::string>& known, const std::string& wanted) {
        return meant_function(model::Profile(), {}, known, wanted, "a run");
    };
    EXPECT_EQ(meant({"run", "run(int)", "prerun"}, "run"), "run");
    EXPECT_EQ(meant({"run(int)", "rerun"}, "run"), "run(int)");
    EXPECT_EQ(meant({"A::run(int)", "other"}, "run"), "A::run(int)");
    EXPECT_THROW(meant({"A::run(int)", "B::run(int)"}, "run"), Failure);
}

TEST(MeantFunction, MayBeSpelledAsFortranOrItsCompilerDoes)
{
    const auto meant = [](const std::set<std::string>& known, const std::string& wanted) {
        return meant_function(model::Profile(), {}, known, wanted, "a run");
    };
    for (const char* wanted : {"SOLVE", "solve", "Solve", "solve_", "SOLVE_"}) {
        EXPECT_EQ(meant({"solve_", "resolve", "solver_"}, wanted), "solve_");
        EXPECT_EQ(meant({"solve", "resolve", "solver"}, wanted), "solve");
    }
    EXPECT_EQ(meant({"physics::advance", "other"}, "ADVANCE"), "physics::advance");
    EXPECT_EQ(meant({"Solve", "solve"}, "solve"), "solve");
    EXPECT_THROW(meant({"Solve", "solve"}, "SOLVE"), Failure) << "either";
}

/// Compilers make functions of parallel regions, which have the samples of the one that was written.
TEST(MeantFunction, ParallelRegionsAreOfTheFunctionTheyWereMadeOf)
{
    model::Profile p = run_of_all_kinds();
    const auto meant = [&](const std::set<std::string>& known, const std::string& wanted) {
        return meant_function(p, {}, known, wanted, "a run");
    };
    for (const char* made : {"step._omp_fn.0", "step.omp_outlined", "step.omp_outlined_debug__", "step_._omp_fn.0",
                             "step [clone ._omp_fn.0]", "step.omp_outlined.12"})
        EXPECT_EQ(meant({made, "main._omp_fn.0"}, "step"), made);
    try {
        (void)meant({"step._omp_fn.0", "step._omp_fn.1"}, "step");
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_STREQ(failure.what(),
                     "'step': its time is in its parallel regions, which the compiler made functions of; see one: "
                     "cpreport annotate step._omp_fn.0 'a run', cpreport annotate step._omp_fn.1 'a run'");
    }
    EXPECT_EQ(meant({"relax(int)", "relax(int) [clone ._omp_fn.0]"}, "relax"), "relax(int)") << "has lines itself";
    EXPECT_THROW(meant({"steps._omp_fn.0"}, "step"), Failure);
    // main > step > poll, of another binary > .omp_outlined.
    p.rows.push_back({RowKind::Sampled, ".omp_outlined._debug__", "/bin/app", "", 0});
    p.call_paths.push_back(
        {{static_cast<std::uint32_t>(p.rows.size() - 1)}, {static_cast<std::uint32_t>(p.call_paths.size() - 2)}});
    EXPECT_EQ(meant({".omp_outlined._debug__"}, "step"), ".omp_outlined._debug__");
    EXPECT_THROW(meant({".omp_outlined._debug__"}, "main"), Failure);
}

/// What starts it has lines nowhere.
TEST(MeantFunction, MainIsTheProgramOfFortran)
{
    EXPECT_EQ(meant_function(run_of_all_kinds(), {}, {"main program", "domain"}, "main", "a run"), "main program");
    EXPECT_EQ(meant_function(run_of_all_kinds(), {}, {"main", "main program"}, "main", "a run"), "main");
    EXPECT_THROW((void)meant_function(run_of_all_kinds(), {}, {"domain"}, "main", "a run"), Failure);
}

TEST(MeantFunction, AWholeNameIsNotAPartOfAnother)
{
    EXPECT_THROW(meant_function(run_of_all_kinds(), {}, {"step_of_solver"}, "step", "a run"), Failure);
    EXPECT_EQ(meant_function(run_of_all_kinds(), {}, {"step_of_solver"}, "step_of", "a run"), "step_of_solver");
}

}  // namespace
}  // namespace critpath::report
