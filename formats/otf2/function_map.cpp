// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/function_map.hpp"

#include <algorithm>
#include <iterator>

namespace critpath::otf2
{

namespace
{

using functions::CollectiveShape;
using functions::FunctionId;
using functions::SemanticClass;

struct Operation {
    FunctionId function;
    OTF2_CollectiveOp operation;
    FunctionId non_blocking;
};

constexpr std::uint8_t neighbourhood = 128;

constexpr Operation operations[] = {
    {FunctionId::MPI_Barrier, OTF2_COLLECTIVE_OP_BARRIER, FunctionId::MPI_Ibarrier},
    {FunctionId::MPI_Allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE, FunctionId::MPI_Iallreduce},
    {FunctionId::MPI_Allgather, OTF2_COLLECTIVE_OP_ALLGATHER, FunctionId::MPI_Iallgather},
    {FunctionId::MPI_Allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV, FunctionId::MPI_Iallgatherv},
    {FunctionId::MPI_Alltoall, OTF2_COLLECTIVE_OP_ALLTOALL, FunctionId::MPI_Ialltoall},
    {FunctionId::MPI_Alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV, FunctionId::MPI_Ialltoallv},
    {FunctionId::MPI_Alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW, FunctionId::MPI_Ialltoallw},
    {FunctionId::MPI_Reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER, FunctionId::MPI_Ireduce_scatter},
    {FunctionId::MPI_Reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
     FunctionId::MPI_Ireduce_scatter_block},
    {FunctionId::MPI_Bcast, OTF2_COLLECTIVE_OP_BCAST, FunctionId::MPI_Ibcast},
    {FunctionId::MPI_Scatter, OTF2_COLLECTIVE_OP_SCATTER, FunctionId::MPI_Iscatter},
    {FunctionId::MPI_Scatterv, OTF2_COLLECTIVE_OP_SCATTERV, FunctionId::MPI_Iscatterv},
    {FunctionId::MPI_Reduce, OTF2_COLLECTIVE_OP_REDUCE, FunctionId::MPI_Ireduce},
    {FunctionId::MPI_Gather, OTF2_COLLECTIVE_OP_GATHER, FunctionId::MPI_Igather},
    {FunctionId::MPI_Gatherv, OTF2_COLLECTIVE_OP_GATHERV, FunctionId::MPI_Igatherv},
    {FunctionId::MPI_Scan, OTF2_COLLECTIVE_OP_SCAN, FunctionId::MPI_Iscan},
    {FunctionId::MPI_Exscan, OTF2_COLLECTIVE_OP_EXSCAN, FunctionId::MPI_Iexscan},
    // OTF2 has no neighbourhood operations; the region's name tells them apart.
    {FunctionId::MPI_Neighbor_allgather, OTF2_COLLECTIVE_OP_ALLGATHER, FunctionId::MPI_Ineighbor_allgather},
    {FunctionId::MPI_Neighbor_allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV, FunctionId::MPI_Ineighbor_allgatherv},
    {FunctionId::MPI_Neighbor_alltoall, OTF2_COLLECTIVE_OP_ALLTOALL, FunctionId::MPI_Ineighbor_alltoall},
    {FunctionId::MPI_Neighbor_alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV, FunctionId::MPI_Ineighbor_alltoallv},
    {FunctionId::MPI_Neighbor_alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW, FunctionId::MPI_Ineighbor_alltoallw},
};

OTF2_RegionRole collective_role(FunctionId function)
{
    if (function == FunctionId::MPI_Barrier || function == FunctionId::MPI_Ibarrier) {
        return OTF2_REGION_ROLE_BARRIER;
    }
    switch (functions::info(function).shape) {
    case CollectiveShape::AllToAll:
        return OTF2_REGION_ROLE_COLL_ALL2ALL;
    case CollectiveShape::OneToAll:
        return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case CollectiveShape::AllToOne:
        return OTF2_REGION_ROLE_COLL_ALL2ONE;
    default:
        return OTF2_REGION_ROLE_COLL_OTHER;
    }
}

// OTF2 has no collective operations on files; the region's name tells what it was, and these have the same pattern.
std::optional<OTF2_CollectiveOp> file_operation(const functions::FunctionInfo& function)
{
    switch (function.semantic_class) {
    case SemanticClass::FileMeta:
        return OTF2_COLLECTIVE_OP_BARRIER;
    case SemanticClass::FileIoAll:
    case SemanticClass::FileIioAll:
        return OTF2_COLLECTIVE_OP_ALLTOALLV;
    case SemanticClass::FileIoOrdered:
        return OTF2_COLLECTIVE_OP_EXSCAN;
    case SemanticClass::FileBegin:
    case SemanticClass::FileEnd:
        return function.shape == CollectiveShape::Prefix ? OTF2_COLLECTIVE_OP_EXSCAN : OTF2_COLLECTIVE_OP_ALLTOALLV;
    default:
        return std::nullopt;
    }
}

}  // namespace

bool allocates(FunctionId function)
{
    return function == FunctionId::MPI_Win_allocate || function == FunctionId::MPI_Win_allocate_shared;
}

OTF2_RmaAtomicType atomic_type(FunctionId function, bool replaces)
{
    switch (function) {
    case FunctionId::MPI_Accumulate:
    case FunctionId::MPI_Raccumulate:
        return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
    case FunctionId::MPI_Compare_and_swap:
        return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
    default:
        return replaces ? OTF2_RMA_ATOMIC_TYPE_SWAP : OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
    }
}

OTF2_RegionRole region_role(FunctionId function)
{
    switch (functions::info(function).semantic_class) {
    case SemanticClass::Send:
    case SemanticClass::Recv:
    case SemanticClass::Mrecv:
    case SemanticClass::Sendrecv:
    case SemanticClass::Isend:
    case SemanticClass::Irecv:
    case SemanticClass::Imrecv:
    case SemanticClass::Isendrecv:
    case SemanticClass::Pready:
    case SemanticClass::Parrived:
    case SemanticClass::Start:
    case SemanticClass::Startall:
    case SemanticClass::Probe:
    case SemanticClass::Iprobe:
    case SemanticClass::Mprobe:
    case SemanticClass::Improbe:
        return OTF2_REGION_ROLE_POINT2POINT;
    case SemanticClass::Collective:
    case SemanticClass::Icollective:
        return collective_role(function);
    case SemanticClass::CommCreate:
    case SemanticClass::CommCreateGroup:
    case SemanticClass::CommIdup:
    case SemanticClass::CommFree:
    case SemanticClass::CommDynamic:
    case SemanticClass::CollectiveInit:
    case SemanticClass::Init:
    case SemanticClass::Finalize:
        return OTF2_REGION_ROLE_COLL_OTHER;
    default:
        break;
    }
    switch (functions::group_of(functions::info(function).semantic_class)) {
    case functions::Group::Rma:
        return OTF2_REGION_ROLE_RMA;
    case functions::Group::Io:
        return OTF2_REGION_ROLE_FILE_IO;
    default:
        return OTF2_REGION_ROLE_FUNCTION;
    }
}

std::uint8_t operation_number(FunctionId non_blocking)
{
    const auto* found = std::ranges::find(operations, non_blocking, &Operation::non_blocking);
    const bool is_neighbourhood = functions::info(non_blocking).shape == CollectiveShape::Neighbour;
    return found == std::end(operations)
               ? std::uint8_t{0xff}
               : static_cast<std::uint8_t>(found->operation + (is_neighbourhood ? neighbourhood : 0));
}

FunctionId non_blocking_function(std::uint8_t operation)
{
    const auto* found =
        std::ranges::find(operations, operation, [](const Operation& o) { return operation_number(o.non_blocking); });
    return found == std::end(operations) ? FunctionId::none : found->non_blocking;
}

std::optional<OTF2_CollectiveOp> collective_operation(FunctionId function)
{
    switch (functions::info(function).semantic_class) {
    case SemanticClass::Init:
    case SemanticClass::CommCreate:
    case SemanticClass::CommIdup:
    case SemanticClass::FileOpen:
        return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    case SemanticClass::CommDynamic:
        return function == FunctionId::MPI_Comm_join ? std::nullopt : std::optional(OTF2_COLLECTIVE_OP_CREATE_HANDLE);
    case SemanticClass::CommFree:
    case SemanticClass::FileClose:
        return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    case SemanticClass::Collective:
    case SemanticClass::Icollective: {
        const auto* found = std::find_if(std::begin(operations), std::end(operations),
                                         [&](auto& o) { return o.function == function || o.non_blocking == function; });
        return found == std::end(operations) ? std::nullopt : std::optional(found->operation);
    }
    case SemanticClass::WinFence:
        return OTF2_COLLECTIVE_OP_BARRIER;
    case SemanticClass::WinCreate:
        return allocates(function) ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE : OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    case SemanticClass::WinFree:
        return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    default:
        return file_operation(functions::info(function));
    }
}

}  // namespace critpath::otf2
