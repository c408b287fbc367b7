// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how many bytes a blocking collective moves from and to the calling rank. The convention is that of other tools
// that write OTF2: every contribution counts once for each rank that needs it, the calling rank included; with
// MPI_IN_PLACE the rank's own copy is left out. So an Allreduce of b bytes on n ranks sends n*b and receives n*b, and a
// Reduce sends b and receives n*b at the root.
//
// One function an operation, with the operation's own parameters: what the standard calls not significant (buffers,
// counts and types away from the root; send arguments with MPI_IN_PLACE) is not read.
#pragma once

#include "collector/mpi/communicators.hpp"

#include <mpi.h>

#include <cstdint>

namespace critpath::preload
{

struct Volume {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};

/// An array of counts, with one for each partner, of a function with large counts or without.
class CountArray
{
public:
    CountArray(const int* counts) : counts_(counts) {}       // NOLINT(google-explicit-constructor)
    CountArray(const MPI_Count* counts) : large_(counts) {}  // NOLINT(google-explicit-constructor)
    MPI_Count operator[](int i) const { return large_ != nullptr ? large_[i] : counts_[i]; }

private:
    const int* counts_ = nullptr;
    const MPI_Count* large_ = nullptr;
};

/// An array that says where the elements lie. It does not matter how many there are.
struct Displacements {
    Displacements(const int* /*unused*/) {}       // NOLINT(google-explicit-constructor)
    Displacements(const MPI_Aint* /*unused*/) {}  // NOLINT(google-explicit-constructor)
};

/// Computes volumes on one communicator. Called after the operation has succeeded.
class VolumeOf
{
public:
    VolumeOf(const Communicator& group, MPI_Comm comm) : group_(group), comm_(comm) {}

    Volume Barrier(MPI_Comm comm) const;
    Volume Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) const;
    Volume Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) const;
    Volume Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const CountArray& recvcounts, Displacements displs, MPI_Datatype recvtype, MPI_Comm comm) const;
    Volume Alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) const;
    Volume Alltoallv(const void* sendbuf, const CountArray& sendcounts, Displacements sdispls, MPI_Datatype sendtype,
                     void* recvbuf, const CountArray& recvcounts, Displacements rdispls, MPI_Datatype recvtype,
                     MPI_Comm comm) const;
    Volume Alltoallw(const void* sendbuf, const CountArray& sendcounts, Displacements sdispls,
                     const MPI_Datatype sendtypes[], void* recvbuf, const CountArray& recvcounts, Displacements rdispls,
                     const MPI_Datatype recvtypes[], MPI_Comm comm) const;
    Volume Reduce_scatter(const void* sendbuf, void* recvbuf, const CountArray& recvcounts, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm) const;
    Volume Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) const;
    Volume Bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) const;
    Volume Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm) const;
    Volume Scatterv(const void* sendbuf, const CountArray& sendcounts, Displacements displs, MPI_Datatype sendtype,
                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) const;
    Volume Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm) const;
    Volume Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm) const;
    Volume Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const CountArray& recvcounts, Displacements displs, MPI_Datatype recvtype, int root,
                   MPI_Comm comm) const;
    Volume Scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) const;
    Volume Exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) const;
    Volume Neighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) const;
    Volume Neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const CountArray& recvcounts, Displacements displs, MPI_Datatype recvtype,
                               MPI_Comm comm) const;
    Volume Neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) const;
    Volume Neighbor_alltoallv(const void* sendbuf, const CountArray& sendcounts, Displacements sdispls,
                              MPI_Datatype sendtype, void* recvbuf, const CountArray& recvcounts, Displacements rdispls,
                              MPI_Datatype recvtype, MPI_Comm comm) const;
    Volume Neighbor_alltoallw(const void* sendbuf, const CountArray& sendcounts, Displacements sdispls,
                              const MPI_Datatype sendtypes[], void* recvbuf, const CountArray& recvcounts,
                              Displacements rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm) const;

private:
    enum class Role { Root, Member, None };
    [[nodiscard]] Role role(int root) const;
    [[nodiscard]] std::uint64_t peers() const { return static_cast<std::uint64_t>(group_.peers); }
    [[nodiscard]] std::uint64_t others(bool in_place) const { return peers() - (in_place ? 1 : 0); }
    [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(group_.rank); }
    [[nodiscard]] MPI_Count sum(const CountArray& counts, int size, bool without_own) const;
    [[nodiscard]] std::uint64_t sum(const CountArray& counts, const MPI_Datatype types[], int size,
                                    bool without_own) const;

    const Communicator& group_;
    MPI_Comm comm_;
};

/// Bytes of `count` elements of `type`, of which MPI is not asked anything where there are none: it may be a null type.
std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type);

}  // namespace critpath::preload
