// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/made_code_note.hpp"
#include "tests/report/one_rank.hpp"

#include <gmock/gmock.h>

namespace critpath::report
{
namespace
{

using model::CallPathId;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

CallPathId add(OneRank& run, const std::string& function, const std::string& module, CallPathId caller, std::int64_t ns)
{
    const CallPathId at = run.add(function, caller, ns);
    run.profile().rows[run.profile().call_paths[at.value].row.value].module = module;
    return at;
}

/// The time of Python's functions is the interpreter's.
TEST(MadeCodeNote, SaysWhereItsTimeIsSeen)
{
    OneRank run;
    const CallPathId main = add(run, "main", "/bin/python3", CallPathId::none(), 200);
    const CallPathId relax = add(run, "py::relax:/src/run.py", "[jit]", main, 100);
    const CallPathId eval = add(run, "_PyEval_EvalFrameDefault", "/bin/python3", relax, 600);
    add(run, "py::inner:/src/run.py", "[jit]", eval, 100);
    EXPECT_THAT(made_code_note(run.profile(), {}, "a run"),
                testing::Optional(AllOf(StartsWith("Functions that were made while the program ran"),
                                        HasSubstr(" have 60 % of the critical path in what they call"),
                                        HasSubstr("cpreport hotspots --inclusive --module '[jit]' 'a run'"))));
}

TEST(MadeCodeNote, SaysNothingWhereThereIsLittle)
{
    OneRank run;
    const CallPathId main = add(run, "main", "/bin/app", CallPathId::none(), 960);
    const CallPathId made = add(run, "kernel", "[jit]", main, 1000);
    add(run, "exp", "/lib/libm.so", made, 40);
    EXPECT_EQ(made_code_note(run.profile(), {}, "a run"), std::nullopt);
    EXPECT_EQ(made_code_note(OneRank().profile(), {}, "a run"), std::nullopt);
    const auto add_below = [&](const char* name, model::RowKind kind) {
        const CallPathId at = add(run, name, "", made, 2000);
        run.profile().rows[run.profile().call_paths[at.value].row.value].kind = kind;
    };
    add_below("[preempted]", model::RowKind::Pseudo);
    add_below("MPI_Allreduce", model::RowKind::Mpi);
    EXPECT_EQ(made_code_note(run.profile(), {}, "a run"), std::nullopt) << "that is not what it calls for its work";
}

}  // namespace
}  // namespace critpath::report
