// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the wrappers of the communicator constructors that their parent does not number, and of MPI_Comm_idup.
#include "collector/mpi/record_calls.hpp"

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)
namespace spool = critpath::spool;

namespace
{

void record_created(Call& call, MPI_Comm parent, MPI_Comm child, MPI_Comm like, const Origin& origin)
{
    spool::Record& record = call.record();
    record.comm = process.communicators.id(parent);
    if (child != handles.comm_null) {
        record.extra = extra_of(process.communicators.add(child, like, origin, call.thread().spool));
    }
}

}  // namespace

extern "C" int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm)
{
    Call call(FunctionId::MPI_Comm_create_group);
    const int result = call.run([&] { return pmpi.Comm_create_group(comm, group, tag, newcomm); });
    if (call.recorded()) {
        const Communicator parent = process.communicators.look_up(comm);
        if (result == MPI_SUCCESS && parent.id >= 0) {
            record_created(call, comm, *newcomm, *newcomm, {GidKind::Group, parent.gid, 0, tag});
        }
        call.write();
        call.write_own_time();
    }
    return result;
}

extern "C" int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm bridge_comm, int remote_leader,
                                    int tag, MPI_Comm* newintercomm)
{
    Call call(FunctionId::MPI_Intercomm_create);
    const int result = call.run(
        [&] { return pmpi.Intercomm_create(local_comm, local_leader, bridge_comm, remote_leader, tag, newintercomm); });
    if (call.recorded()) {
        if (result == MPI_SUCCESS) {
            record_created(call, local_comm, *newintercomm, *newintercomm, {GidKind::Inter, Gid(), 0, tag});
        }
        call.write();
        call.write_own_time();
    }
    return result;
}

// The handle is good when the call returns, although nothing may be asked of it before the request has completed.
// Identity and members are known without asking, so nothing has to happen at that completion (docs/ALGORITHM,
// "Communicator identity").
extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request)
{
    Call call(FunctionId::MPI_Comm_idup);
    const int result = call.run([&] { return pmpi.Comm_idup(comm, newcomm, request); });
    if (call.recorded()) {
        Origin origin;
        if (result == MPI_SUCCESS && process.communicators.next_child(comm, origin)) {
            record_created(call, comm, *newcomm, comm, origin);
        }
        call.write();
        call.write_own_time();
    }
    return result;
}
