// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fails in the way that its argument says, for phases.py to see how Phases ends it.
#include "replayer/phase.hpp"

#include <fmt/format.h>

#include <new>
#include <stdexcept>

using critpath::ExitCode;
using critpath::fail;
using critpath::replayer::Phases;
using critpath::replayer::Progress;
using critpath::replayer::Scope;
using critpath::replayer::Stopped;

namespace
{

void fail_as(const std::string& mode, int rank, int size)
{
    const bool last = rank == size - 1;
    if (mode == "all-same") {
        fail(ExitCode::BadTrace, "thing: broken; mend it");
    } else if (mode == "last" && last) {
        fail(ExitCode::BadTrace, "thing {}: broken; mend it", rank);
    } else if (mode == "each") {
        fail(ExitCode::BadTrace, "thing {}: broken; mend it", rank);
    } else if (mode == "memory" && last) {
        throw std::bad_alloc();
    } else if (mode == "defect" && last) {
        throw std::logic_error("impossible");
    } else if (mode == "worst") {
        fail(last ? ExitCode::BadTrace : ExitCode::Failed, "thing: broken; mend it");
    } else if (mode == "inside" && last) {
        fail(ExitCode::BadTrace, "thing: broken; mend it");
    } else if (mode == "inside") {
        MPI_Barrier(MPI_COMM_WORLD);  // waits for the one that failed
    } else if (mode == "huge") {
        fail(ExitCode::Failed, "{}: too long; shorten it", std::string(5000, 'x'));
    }
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    const std::string mode = argc > 1 ? argv[1] : "";
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Phases phases(MPI_COMM_WORLD, mode == "progress" ? Progress::Always : Progress::Auto);
    phases.set_patience(0.5);
    ExitCode code = ExitCode::Done;
    try {
        phases.run("first", Scope::Local, [&] { phases.remark(fmt::format("by {}", rank)); });
        phases.run("second", mode == "inside" ? Scope::Collective : Scope::Local, [&] { fail_as(mode, rank, size); });
        phases.run("third", Scope::Collective, [] { MPI_Barrier(MPI_COMM_WORLD); });
        phases.note("all is well");
    } catch (const Stopped& stopped) {
        code = stopped.code();
    }
    phases.close();
    MPI_Finalize();
    return static_cast<int>(code);
}
