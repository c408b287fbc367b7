// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the wrappers of MPI_Init, MPI_Init_thread and MPI_Finalize, of MPI_Abort, and of MPI_Pcontrol.
#include "collector/mpi/call.hpp"
#include "collector/mpi/control.hpp"
#include "collector/mpi/record_calls.hpp"
#include "collector/mpi/record_lifecycle.hpp"

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)
namespace spool = critpath::spool;

extern "C" int MPI_Init(int* argc, char*** argv)
{
    return record_init(
        FunctionId::MPI_Init, [&] { return next_mpi.Init(argc, argv); }, CRITPATH_CALLER);
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
    return record_init(
        FunctionId::MPI_Init_thread, [&] { return next_mpi.Init_thread(argc, argv, required, provided); },
        CRITPATH_CALLER);
}

extern "C" int MPI_Finalize(void)
{
    return record_finalize([] { return next_mpi.Finalize(); }, CRITPATH_CALLER);
}

extern "C" int MPI_Abort(MPI_Comm comm, int errorcode)
{
    Call call(FunctionId::MPI_Abort);
    if (call.recorded()) {
        record_abort(call);
    }
    return next_mpi.Abort(comm, errorcode);
}

// What stands behind the level is for whoever knows it (MPI-3.1, 14.2.4): neither MPI nor this library does, and C
// has no way to pass it on.
extern "C" int MPI_Pcontrol(const int level, ...)
{
    Call call(FunctionId::MPI_Pcontrol);
    const int result = call.run([&] { return next_mpi.Pcontrol(level); });
    if (call.recorded()) {
        record_pcontrol(call, level);
        control.apply_level(level);
    }
    return result;
}
