// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the wrappers of what happens to requests between post and completion, and of matched probes.
#include "collector/mpi/record_requests.hpp"

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)

extern "C" int MPI_Start(MPI_Request* request)
{
    Call call(FunctionId::MPI_Start);
    const int result = call.run([&] { return next_mpi.Start(request); });
    if (call.recorded()) {
        record_start(call, result, request);
    }
    return result;
}

extern "C" int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    Call call(FunctionId::MPI_Startall);
    const int result = call.run([&] { return next_mpi.Startall(count, array_of_requests); });
    if (call.recorded()) {
        Starts starts(call.thread(), count);
        for (int i = 0; i < count && result == MPI_SUCCESS; ++i) {
            const TableLock lock;
            starts.start(call, array_of_requests[i], &array_of_requests[i]);
        }
        starts.write(call);
    }
    return result;
}

extern "C" int MPI_Cancel(MPI_Request* request)
{
    Call call(FunctionId::MPI_Cancel);
    const int result = call.run([&] { return next_mpi.Cancel(request); });
    if (call.recorded()) {
        record_cancel(call, result, request);
    }
    return result;
}

extern "C" int MPI_Request_free(MPI_Request* request)
{
    Call call(FunctionId::MPI_Request_free);
    const SavedHandles saved(call, 1, request);
    const KnownEnd end(saved, request);
    const int result = call.run([&] { return next_mpi.Request_free(request); });
    if (call.recorded()) {
        record_request_free(call, result, saved, request, end);
    }
    return result;
}

extern "C" int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)
{
    Call call(FunctionId::MPI_Mprobe);
    OwnStatus own(status, call.recorded());
    const int result = call.run([&] { return next_mpi.Mprobe(source, tag, comm, message, own.get()); });
    if (call.recorded()) {
        record_matched(call, result, source, tag, comm, message, own.get());
    }
    return result;
}

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status)
{
    Call call(FunctionId::MPI_Improbe);
    OwnStatus own(status, call.recorded());
    const int result = call.run([&] { return next_mpi.Improbe(source, tag, comm, flag, message, own.get()); }, flag);
    if (!call.recorded()) {
        return result;
    }
    if (result == MPI_SUCCESS && *flag == 0) {
        record_iprobe(call, result, 0, source, tag, comm, own.get(), __builtin_return_address(0));
        return result;
    }
    record_matched(call, result, source, tag, comm, message, own.get());
    return result;
}
