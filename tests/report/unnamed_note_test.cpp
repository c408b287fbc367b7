// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of functions that have no names.
#include "analysis/report/unnamed_note.hpp"
#include "tests/report/one_rank.hpp"

#include <gmock/gmock.h>

namespace critpath::report
{
namespace
{

using model::CallPathId;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void add(OneRank& run, const std::string& function, const std::string& module, std::int64_t ns)
{
    const CallPathId at = run.add(function, CallPathId::none(), ns);
    run.profile().rows[run.profile().call_paths[at.value].row.value].module = module;
}

TEST(UnnamedNote, SaysOfWhichBinariesAndHowTheyGetNames)
{
    OneRank run;
    add(run, "solver.x+0x1200", "/opt/bin/solver.x", 300);
    add(run, "solver.x+0x34f0", "/opt/bin/solver.x", 100);
    add(run, "main", "/opt/bin/solver.x", 100);
    add(run, "libfield.so.2+0xa0", "/opt/lib/libfield.so.2 (deleted)", 450);
    add(run, "libm.so.6+0x10", "/lib/libm.so.6", 49);
    add(run, "[libm.so.6]", "/lib/libm.so.6", 1);
    run.pseudo("[preempted]", CallPathId::none(), 1000);
    EXPECT_THAT(unnamed_notes(run.profile()),
                ElementsAre(HasSubstr("libfield.so.2"),
                            AllOf(HasSubstr("Functions of solver.x that have 20.0 % of the path"),
                                  HasSubstr("(solver.x+0x...)"), HasSubstr("CRITPATH_DEBUG_PATH"))));
    EXPECT_THAT(unnamed_notes(run.profile(), {{}, "libm"}), ElementsAre(HasSubstr("libm.so.6 that have 2.5 %")));
    run.pseudo("[blocked]", CallPathId::none(), 3000);
    EXPECT_THAT(unnamed_notes(run.profile(), {{}, "libm"}), IsEmpty());
}

TEST(UnnamedNote, SaysHowFunctionsOfPythonGetNames)
{
    OneRank run;
    add(run, "_PyEval_EvalFrameDefault", "/usr/bin/python3.12", 300);
    add(run, "PyObject_Free", "/usr/bin/python3.12", 700);
    EXPECT_THAT(unnamed_notes(run.profile()),
                ElementsAre(AllOf(HasSubstr("30.0 % of the path is in the interpreter's own"),
                                  HasSubstr("python3 -X perf, "), HasSubstr("--call-graph=dwarf"))));
    run.profile().properties["call_graph"] = "dwarf,4096";
    EXPECT_THAT(unnamed_notes(run.profile()), ElementsAre(Not(HasSubstr("--call-graph"))));
    OneRank named = run;
    add(named, "py::run:/src/run.py", "[jit]", 10);
    EXPECT_THAT(unnamed_notes(named.profile()), IsEmpty());
    add(run, "dgemm", "/lib/libblas.so", 10'000);
    EXPECT_THAT(unnamed_notes(run.profile()), IsEmpty()) << "little of it";
}

TEST(UnnamedNote, SaysWhichFilesWereGone)
{
    OneRank run;
    add(run, "[a.so (deleted)]", "/x/a.so (deleted)", 100);
    add(run, "[b.so (deleted)]", "/x/b.so (deleted)", 200);
    add(run, "main", "/opt/bin/solver.x", 700);
    add(run, "[unread.so]", "/x/unread.so", 200);  // it is there, and has nothing to tell
    EXPECT_THAT(unnamed_notes(run.profile()),
                ElementsAre(AllOf(HasSubstr("[b.so (deleted)] and [a.so (deleted)]: 25.0 % of the path is in functions "
                                            "without names"),
                                  HasSubstr("deleted or replaced"))));
    add(run, "[c.so (deleted)]", "/x/c.so (deleted)", 20);
    add(run, "[d.so (deleted)]", "/x/d.so (deleted)", 10);
    EXPECT_THAT(unnamed_notes(run.profile()),
                ElementsAre(HasSubstr("[b.so (deleted)], [a.so (deleted)], [c.so (deleted)] and 1 more: ")));
    run.pseudo("[preempted]", CallPathId::none(), 100'000);
    EXPECT_THAT(unnamed_notes(run.profile()), IsEmpty()) << "little of it";
}

TEST(UnnamedNote, SaysWhichNamesAreOfSeveral)
{
    OneRank run;
    add(run, "second [last made here]", "[jit]", 300);
    add(run, "alone", "[jit]", 700);
    add(run, "ours [last made here]", "/bin/app", 100);
    EXPECT_THAT(unnamed_notes(run.profile()),
                ElementsAre(AllOf(HasSubstr("[last made here]: 27.3 % of the path"), HasSubstr("the last name"))));
}

TEST(UnnamedNote, SaysNothingWhereThereAreNames)
{
    OneRank run;
    add(run, "main", "/opt/bin/solver.x", 100);
    add(run, "other+0x12", "/opt/bin/solver.x", 100);
    run.pseudo("[preempted]", CallPathId::none(), 1000);
    EXPECT_THAT(unnamed_notes(run.profile()), IsEmpty());
    EXPECT_THAT(unnamed_notes(OneRank().profile()), IsEmpty());
}

}  // namespace
}  // namespace critpath::report
