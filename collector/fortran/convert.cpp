// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/fortran/convert.hpp"

#include "collector/mpi/topology.hpp"

namespace critpath::preload::fortran
{

TypeArrays::TypeArrays(Thread& thread, int result, MPI_Comm comm, bool neighbours, const void* sendbuf,
                       const MPI_Fint* send, const MPI_Fint* receive)
{
    const Communicator group = process.communicators.look_up(comm);
    if (result != MPI_SUCCESS || group.id < 0) {
        return;
    }
    const Degrees degrees = neighbours ? degrees_of(comm, group.rank) : Degrees{group.peers, group.peers};
    sent_ = is_one_of(constants.in_place, sendbuf) ? 0 : degrees.out;
    const auto count = static_cast<std::size_t>(sent_) + static_cast<std::size_t>(degrees.in);
    types_ = thread.handles.room<MPI_Datatype>(count + 1);
    for (int i = 0; i < sent_ && types_ != nullptr; ++i) {
        types_[i] = from_fortran<MPI_Datatype>(send[i]);
    }
    for (int i = 0; i < degrees.in && types_ != nullptr; ++i) {
        types_[sent_ + i] = from_fortran<MPI_Datatype>(receive[i]);
    }
}

}  // namespace critpath::preload::fortran
