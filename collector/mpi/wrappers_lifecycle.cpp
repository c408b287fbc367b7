// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the wrappers of MPI_Init, MPI_Init_thread and MPI_Finalize.
#include "collector/mpi/call.hpp"
#include "collector/mpi/lifecycle.hpp"
#include "collector/mpi/record_calls.hpp"

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)
namespace spool = critpath::spool;

namespace
{

// A Call does not record yet when MPI_Init is entered, so its record is made here.
template <class Initialise>
int init(FunctionId function, Initialise&& initialise)
{
    const OwnWork guard;
    if (process.phase != Phase::Loaded) {
        return initialise();
    }
    restore_environment();
    spool::Record record{};
    record.kind = spool::RecordKind::Call;
    record.function = static_cast<std::uint16_t>(function);
    record.comm = record.peer = record.tag = -1;
    record.enter = now();
    const int result = initialise();
    record.leave = now();
    if (result != MPI_SUCCESS) {
        return result;
    }
    begin_recording();
    if (process.phase == Phase::Recording && local.thread != nullptr) {
        local.thread->spool.append(record);
        spool::Record tool = record;
        tool.kind = spool::RecordKind::Tool;
        tool.function = static_cast<std::uint16_t>(FunctionId::none);
        tool.enter = record.leave;
        tool.leave = now();
        local.thread->spool.append(tool);
    }
    return result;
}

}  // namespace

extern "C" int MPI_Init(int* argc, char*** argv)
{
    return init(FunctionId::MPI_Init, [&] { return pmpi.Init(argc, argv); });
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
    return init(FunctionId::MPI_Init_thread, [&] { return pmpi.Init_thread(argc, argv, required, provided); });
}

// What follows its enter is the collector's own work, so the record ends there.
extern "C" int MPI_Finalize(void)
{
    const int saved_depth = local.depth;
    {
        Call call(FunctionId::MPI_Finalize);
        if (call.recorded()) {
            call.record().enter = call.record().leave = now();
            call.write();
        }
    }
    const OwnWork guard;
    if (saved_depth == 0) {
        end_recording();
    }
    return pmpi.Finalize();
}
