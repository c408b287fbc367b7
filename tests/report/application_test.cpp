// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which binaries are the application's.
#include "analysis/report/application.hpp"
#include "tests/report/one_rank.hpp"

#include <gmock/gmock.h>

namespace critpath::report
{
namespace
{

using model::CallPathId;
using testing::UnorderedElementsAre;

// As of who solves by a library: that calls MPI, and the program does not.
TEST(Application, IsWhereMainIsAndWhatCallsMpi)
{
    OneRank run;  // the module of each function is /app/ and its name
    const CallPathId main = run.add("main", run.add("_start", CallPathId::none(), 0), 100);
    const CallPathId solve = run.add("solve", main, 100);
    run.add("MPI_Allreduce", solve, 100, model::RowKind::Mpi);
    run.add("ddot", solve, 100);
    EXPECT_THAT(modules_of_application(run.profile()), UnorderedElementsAre("/app/main", "/app/solve"));
    EXPECT_THAT(modules_with_main(run.profile()), UnorderedElementsAre("/app/main"));
}

}  // namespace
}  // namespace critpath::report
