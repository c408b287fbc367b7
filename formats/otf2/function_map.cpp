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
};

constexpr Operation operations[] = {
    {FunctionId::MPI_Barrier, OTF2_COLLECTIVE_OP_BARRIER},
    {FunctionId::MPI_Allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE},
    {FunctionId::MPI_Allgather, OTF2_COLLECTIVE_OP_ALLGATHER},
    {FunctionId::MPI_Allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV},
    {FunctionId::MPI_Alltoall, OTF2_COLLECTIVE_OP_ALLTOALL},
    {FunctionId::MPI_Alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV},
    {FunctionId::MPI_Alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW},
    {FunctionId::MPI_Reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {FunctionId::MPI_Reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {FunctionId::MPI_Bcast, OTF2_COLLECTIVE_OP_BCAST},
    {FunctionId::MPI_Scatter, OTF2_COLLECTIVE_OP_SCATTER},
    {FunctionId::MPI_Scatterv, OTF2_COLLECTIVE_OP_SCATTERV},
    {FunctionId::MPI_Reduce, OTF2_COLLECTIVE_OP_REDUCE},
    {FunctionId::MPI_Gather, OTF2_COLLECTIVE_OP_GATHER},
    {FunctionId::MPI_Gatherv, OTF2_COLLECTIVE_OP_GATHERV},
    {FunctionId::MPI_Scan, OTF2_COLLECTIVE_OP_SCAN},
    {FunctionId::MPI_Exscan, OTF2_COLLECTIVE_OP_EXSCAN},
    // OTF2 has no neighbourhood operations; the region's name tells them apart.
    {FunctionId::MPI_Neighbor_allgather, OTF2_COLLECTIVE_OP_ALLGATHER},
    {FunctionId::MPI_Neighbor_allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV},
    {FunctionId::MPI_Neighbor_alltoall, OTF2_COLLECTIVE_OP_ALLTOALL},
    {FunctionId::MPI_Neighbor_alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV},
    {FunctionId::MPI_Neighbor_alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW},
};

OTF2_RegionRole collective_role(FunctionId function)
{
    if (function == FunctionId::MPI_Barrier) {
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

}  // namespace

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
    case SemanticClass::Start:
    case SemanticClass::Startall:
    case SemanticClass::Probe:
    case SemanticClass::Iprobe:
    case SemanticClass::Mprobe:
    case SemanticClass::Improbe:
        return OTF2_REGION_ROLE_POINT2POINT;
    case SemanticClass::Collective:
        return collective_role(function);
    case SemanticClass::CommCreate:
    case SemanticClass::CommCreateGroup:
    case SemanticClass::CommIdup:
    case SemanticClass::CommFree:
    case SemanticClass::Init:
    case SemanticClass::Finalize:
        return OTF2_REGION_ROLE_COLL_OTHER;
    default:
        return OTF2_REGION_ROLE_FUNCTION;
    }
}

std::optional<OTF2_CollectiveOp> collective_operation(FunctionId function)
{
    switch (functions::info(function).semantic_class) {
    case SemanticClass::Init:
    case SemanticClass::CommCreate:
        return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    case SemanticClass::Collective: {
        const auto* found =
            std::find_if(std::begin(operations), std::end(operations), [&](auto& o) { return o.function == function; });
        return found == std::end(operations) ? std::nullopt : std::optional(found->operation);
    }
    default:
        return std::nullopt;
    }
}

}  // namespace critpath::otf2
