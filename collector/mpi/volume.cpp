// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/volume.hpp"

#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/topology.hpp"

namespace critpath::preload
{

namespace
{

bool in_place(const void* buffer)
{
    return buffer == MPI_IN_PLACE;  // NOLINT(performance-no-int-to-ptr): as MPI defines it
}

}  // namespace

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || pmpi.Type_size_x(type, &size) != MPI_SUCCESS || size < 0) {
        return 0;
    }
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

// In the group of the root of an operation on an inter-communicator, the others have no part in it.
VolumeOf::Role VolumeOf::role(int root) const
{
    if (!group_.is_inter) {
        return root == group_.rank ? Role::Root : Role::Member;
    }
    return root == MPI_ROOT ? Role::Root : root == MPI_PROC_NULL ? Role::None : Role::Member;
}

MPI_Count VolumeOf::sum(const CountArray& counts, int size, bool without_own) const
{
    MPI_Count total = 0;
    for (int i = 0; i < size; ++i) {
        total += without_own && i == group_.rank ? 0 : counts[i];
    }
    return total;
}

std::uint64_t VolumeOf::sum(const CountArray& counts, const MPI_Datatype types[], int size, bool without_own) const
{
    std::uint64_t total = 0;
    std::uint64_t element = 0;
    int asked = -1;  // about its type, which is mostly that of all
    for (int i = 0; i < size; ++i) {
        if (counts[i] == 0 || (without_own && i == group_.rank)) {
            continue;
        }
        if (asked < 0 || types[i] != types[asked]) {
            element = bytes_of(1, types[i]);
            asked = i;
        }
        total += static_cast<std::uint64_t>(counts[i]) * element;
    }
    return total;
}

Volume VolumeOf::Barrier(MPI_Comm /*comm*/) const
{
    return {};
}

Volume VolumeOf::Allreduce(const void* sendbuf, void* /*recvbuf*/, MPI_Count count, MPI_Datatype type, MPI_Op /*op*/,
                           MPI_Comm /*comm*/) const
{
    const std::uint64_t bytes = others(in_place(sendbuf)) * bytes_of(count, type);
    return {bytes, bytes};
}

Volume VolumeOf::Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* /*recvbuf*/,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm /*comm*/) const
{
    const std::uint64_t received = bytes_of(recvcount, recvtype);
    if (in_place(sendbuf)) {
        return {others(true) * received, others(true) * received};
    }
    return {peers() * bytes_of(sendcount, sendtype), peers() * received};
}

Volume VolumeOf::Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* /*recvbuf*/,
                            const CountArray& recvcounts, Displacements /*displs*/, MPI_Datatype recvtype,
                            MPI_Comm /*comm*/) const
{
    if (in_place(sendbuf)) {
        return {others(true) * bytes_of(recvcounts[group_.rank], recvtype),
                bytes_of(sum(recvcounts, group_.peers, true), recvtype)};
    }
    return {peers() * bytes_of(sendcount, sendtype), bytes_of(sum(recvcounts, group_.peers, false), recvtype)};
}

Volume VolumeOf::Alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) const
{
    return Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

Volume VolumeOf::Alltoallv(const void* sendbuf, const CountArray& sendcounts, Displacements /*sdispls*/,
                           MPI_Datatype sendtype, void* /*recvbuf*/, const CountArray& recvcounts,
                           Displacements /*rdispls*/, MPI_Datatype recvtype, MPI_Comm /*comm*/) const
{
    const bool alone = in_place(sendbuf);
    const std::uint64_t received = bytes_of(sum(recvcounts, group_.peers, alone), recvtype);
    return {alone ? received : bytes_of(sum(sendcounts, group_.peers, false), sendtype), received};
}

Volume VolumeOf::Alltoallw(const void* sendbuf, const CountArray& sendcounts, Displacements /*sdispls*/,
                           const MPI_Datatype sendtypes[], void* /*recvbuf*/, const CountArray& recvcounts,
                           Displacements /*rdispls*/, const MPI_Datatype recvtypes[], MPI_Comm /*comm*/) const
{
    const bool alone = in_place(sendbuf);
    const std::uint64_t received = sum(recvcounts, recvtypes, group_.peers, alone);
    return {alone ? received : sum(sendcounts, sendtypes, group_.peers, false), received};
}

// `recvcounts` has an entry for each rank of the local group, also on an inter-communicator.
Volume VolumeOf::Reduce_scatter(const void* sendbuf, void* /*recvbuf*/, const CountArray& recvcounts, MPI_Datatype type,
                                MPI_Op /*op*/, MPI_Comm /*comm*/) const
{
    const bool alone = in_place(sendbuf);
    return {bytes_of(sum(recvcounts, group_.size, alone), type),
            others(alone) * bytes_of(recvcounts[group_.rank], type)};
}

Volume VolumeOf::Reduce_scatter_block(const void* sendbuf, void* /*recvbuf*/, MPI_Count recvcount, MPI_Datatype type,
                                      MPI_Op /*op*/, MPI_Comm /*comm*/) const
{
    const bool alone = in_place(sendbuf);
    const std::uint64_t block = bytes_of(recvcount, type);
    const std::uint64_t blocks = static_cast<std::uint64_t>(group_.size) - (alone ? 1 : 0);
    return {blocks * block, others(alone) * block};
}

Volume VolumeOf::Bcast(void* /*buffer*/, MPI_Count count, MPI_Datatype type, int root, MPI_Comm /*comm*/) const
{
    const Role part = role(root);
    if (part == Role::None) {
        return {};
    }
    const std::uint64_t bytes = bytes_of(count, type);
    if (part == Role::Root) {
        return {peers() * bytes, group_.is_inter ? 0 : bytes};
    }
    return {0, bytes};
}

Volume VolumeOf::Scatter(const void* /*sendbuf*/, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm /*comm*/) const
{
    const Role part = role(root);
    if (part == Role::None) {
        return {};
    }
    if (part == Role::Member) {
        return {0, bytes_of(recvcount, recvtype)};
    }
    const bool alone = !group_.is_inter && in_place(recvbuf);
    const bool receives = !group_.is_inter && !alone;
    return {others(alone) * bytes_of(sendcount, sendtype), receives ? bytes_of(recvcount, recvtype) : 0};
}

Volume VolumeOf::Scatterv(const void* /*sendbuf*/, const CountArray& sendcounts, Displacements /*displs*/,
                          MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                          MPI_Comm /*comm*/) const
{
    const Role part = role(root);
    if (part == Role::None) {
        return {};
    }
    if (part == Role::Member) {
        return {0, bytes_of(recvcount, recvtype)};
    }
    const bool alone = !group_.is_inter && in_place(recvbuf);
    const bool receives = !group_.is_inter && !alone;
    return {bytes_of(sum(sendcounts, group_.peers, alone), sendtype), receives ? bytes_of(recvcount, recvtype) : 0};
}

Volume VolumeOf::Reduce(const void* sendbuf, void* /*recvbuf*/, MPI_Count count, MPI_Datatype type, MPI_Op /*op*/,
                        int root, MPI_Comm /*comm*/) const
{
    const Role part = role(root);
    if (part == Role::None) {
        return {};
    }
    const std::uint64_t bytes = bytes_of(count, type);
    if (part == Role::Member) {
        return {bytes, 0};
    }
    const bool alone = !group_.is_inter && in_place(sendbuf);
    return {group_.is_inter || alone ? 0 : bytes, others(alone) * bytes};
}

Volume VolumeOf::Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* /*recvbuf*/,
                        MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm /*comm*/) const
{
    const Role part = role(root);
    if (part == Role::None) {
        return {};
    }
    if (part == Role::Member) {
        return {bytes_of(sendcount, sendtype), 0};
    }
    const bool alone = !group_.is_inter && in_place(sendbuf);
    const bool sends = !group_.is_inter && !alone;
    return {sends ? bytes_of(sendcount, sendtype) : 0, others(alone) * bytes_of(recvcount, recvtype)};
}

Volume VolumeOf::Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* /*recvbuf*/,
                         const CountArray& recvcounts, Displacements /*displs*/, MPI_Datatype recvtype, int root,
                         MPI_Comm /*comm*/) const
{
    const Role part = role(root);
    if (part == Role::None) {
        return {};
    }
    if (part == Role::Member) {
        return {bytes_of(sendcount, sendtype), 0};
    }
    const bool alone = !group_.is_inter && in_place(sendbuf);
    const bool sends = !group_.is_inter && !alone;
    return {sends ? bytes_of(sendcount, sendtype) : 0, bytes_of(sum(recvcounts, group_.peers, alone), recvtype)};
}

Volume VolumeOf::Scan(const void* sendbuf, void* /*recvbuf*/, MPI_Count count, MPI_Datatype type, MPI_Op /*op*/,
                      MPI_Comm /*comm*/) const
{
    const std::uint64_t bytes = bytes_of(count, type);
    const std::uint64_t own = in_place(sendbuf) ? 0 : 1;
    return {(peers() - rank() - 1 + own) * bytes, (rank() + own) * bytes};
}

Volume VolumeOf::Exscan(const void* /*sendbuf*/, void* /*recvbuf*/, MPI_Count count, MPI_Datatype type, MPI_Op /*op*/,
                        MPI_Comm /*comm*/) const
{
    const std::uint64_t bytes = bytes_of(count, type);
    return {(peers() - rank() - 1) * bytes, rank() * bytes};
}

Volume VolumeOf::Neighbor_allgather(const void* /*sendbuf*/, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* /*recvbuf*/, MPI_Count recvcount, MPI_Datatype recvtype,
                                    MPI_Comm /*comm*/) const
{
    const Degrees degree = degrees_of(comm_, group_.rank);
    return {static_cast<std::uint64_t>(degree.out) * bytes_of(sendcount, sendtype),
            static_cast<std::uint64_t>(degree.in) * bytes_of(recvcount, recvtype)};
}

Volume VolumeOf::Neighbor_allgatherv(const void* /*sendbuf*/, MPI_Count sendcount, MPI_Datatype sendtype,
                                     void* /*recvbuf*/, const CountArray& recvcounts, Displacements /*displs*/,
                                     MPI_Datatype recvtype, MPI_Comm /*comm*/) const
{
    const Degrees degree = degrees_of(comm_, group_.rank);
    return {static_cast<std::uint64_t>(degree.out) * bytes_of(sendcount, sendtype),
            bytes_of(sum(recvcounts, degree.in, false), recvtype)};
}

Volume VolumeOf::Neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) const
{
    return Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

Volume VolumeOf::Neighbor_alltoallv(const void* /*sendbuf*/, const CountArray& sendcounts, Displacements /*sdispls*/,
                                    MPI_Datatype sendtype, void* /*recvbuf*/, const CountArray& recvcounts,
                                    Displacements /*rdispls*/, MPI_Datatype recvtype, MPI_Comm /*comm*/) const
{
    const Degrees degree = degrees_of(comm_, group_.rank);
    return {bytes_of(sum(sendcounts, degree.out, false), sendtype),
            bytes_of(sum(recvcounts, degree.in, false), recvtype)};
}

Volume VolumeOf::Neighbor_alltoallw(const void* /*sendbuf*/, const CountArray& sendcounts, Displacements /*sdispls*/,
                                    const MPI_Datatype sendtypes[], void* /*recvbuf*/, const CountArray& recvcounts,
                                    Displacements /*rdispls*/, const MPI_Datatype recvtypes[], MPI_Comm /*comm*/) const
{
    const Degrees degree = degrees_of(comm_, group_.rank);
    return {sum(sendcounts, sendtypes, degree.out, false), sum(recvcounts, recvtypes, degree.in, false)};
}

}  // namespace critpath::preload
