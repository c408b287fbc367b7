// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the wrappers of the communicator constructors that their parent does not number, and of MPI_Comm_idup.
#include "collector/mpi/record_calls.hpp"

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)

extern "C" int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm)
{
    Call call(FunctionId::MPI_Comm_create_group);
    const int result = call.run([&] { return next_mpi.Comm_create_group(comm, group, tag, newcomm); });
    if (call.follow()) {
        record_comm_create_group(call, result, comm, tag, newcomm);
    }
    return result;
}

extern "C" int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm bridge_comm, int remote_leader,
                                    int tag, MPI_Comm* newintercomm)
{
    Call call(FunctionId::MPI_Intercomm_create);
    const int result = call.run([&] {
        return next_mpi.Intercomm_create(local_comm, local_leader, bridge_comm, remote_leader, tag, newintercomm);
    });
    if (call.follow()) {
        record_intercomm_create(call, result, local_comm, tag, newintercomm);
    }
    return result;
}

extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request)
{
    Call call(FunctionId::MPI_Comm_idup);
    const int result = call.run([&] { return next_mpi.Comm_idup(comm, newcomm, request); });
    if (call.follow()) {
        record_comm_idup(call, result, comm, newcomm, request);
    }
    return result;
}
