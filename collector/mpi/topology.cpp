// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/topology.hpp"

#include "collector/mpi/handle_table.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/spool_writer.hpp"
#include "formats/spool/record.hpp"

#include <cstddef>
#include <iterator>

#include <sys/mman.h>

namespace critpath::preload
{

namespace
{

int topology_of(MPI_Comm comm)
{
    int topology = MPI_UNDEFINED;
    return pmpi.Topo_test(comm, &topology) == MPI_SUCCESS ? topology : MPI_UNDEFINED;
}

// Nothing for a grid of more dimensions than anybody has.
void write_grid(MPI_Comm comm, std::int32_t id, SpoolWriter& spool)
{
    spool::GridRecord record{};
    int dimensions = 0;
    if (pmpi.Cartdim_get(comm, &dimensions) != MPI_SUCCESS || dimensions < 1 ||
        dimensions > spool::GridRecord::most_dimensions) {
        return;
    }
    int periodic[spool::GridRecord::most_dimensions] = {};
    int coordinates[spool::GridRecord::most_dimensions] = {};
    if (pmpi.Cart_get(comm, dimensions, record.size, periodic, coordinates) != MPI_SUCCESS) {
        return;
    }
    record.kind = spool::RecordKind::Grid;
    record.dimensions = static_cast<std::uint8_t>(dimensions);
    for (int i = 0; i < dimensions; ++i) {
        record.periodic = static_cast<std::uint16_t>(record.periodic | (periodic[i] != 0 ? 1U << i : 0U));
    }
    record.comm = id;
    spool.append(record);
}

// The in-neighbours of a process in a graph, in mapped memory.
class InNeighbours
{
public:
    InNeighbours(MPI_Comm comm, int rank, int topology) : degrees_(degrees_of(comm, rank))
    {
        const auto in = static_cast<std::size_t>(degrees_.in);
        const auto out = static_cast<std::size_t>(degrees_.out);
        bytes_ = sizeof(int) * (2 * (in + out) + 1);  // with weights
        ranks_ = static_cast<int*>(map_memory(bytes_));
        if (ranks_ == nullptr) {
            return;
        }
        int* const destinations = ranks_ + 2 * in;
        valid_ =
            (topology == MPI_GRAPH ? pmpi.Graph_neighbors(comm, rank, degrees_.in, ranks_)
                                   : pmpi.Dist_graph_neighbors(comm, degrees_.in, ranks_, ranks_ + in, degrees_.out,
                                                               destinations, destinations + out)) == MPI_SUCCESS;
    }
    ~InNeighbours()
    {
        if (ranks_ != nullptr) {
            munmap(ranks_, bytes_);
        }
    }
    InNeighbours(const InNeighbours&) = delete;
    InNeighbours& operator=(const InNeighbours&) = delete;

    [[nodiscard]] bool valid() const { return valid_; }
    [[nodiscard]] int size() const { return degrees_.in; }
    [[nodiscard]] int operator[](int i) const { return ranks_[i]; }

private:
    Degrees degrees_;
    std::size_t bytes_ = 0;
    int* ranks_ = nullptr;
    bool valid_ = false;
};

void write_graph(const InNeighbours& neighbours, std::int32_t id, SpoolWriter& spool)
{
    int next = 0;
    do {
        spool::GraphRecord record{};
        record.kind = spool::RecordKind::Graph;
        record.comm = id;
        while (record.count < std::size(record.in_neighbour) && next < neighbours.size()) {
            record.in_neighbour[record.count++] = neighbours[next++];
        }
        spool.append(record);
    } while (next < neighbours.size());
}

}  // namespace

Degrees degrees_of(MPI_Comm comm, int rank)
{
    const int topology = topology_of(comm);
    Degrees degrees = {0, 0};
    if (topology == MPI_CART) {
        int dimensions = 0;
        pmpi.Cartdim_get(comm, &dimensions);
        degrees = {2 * dimensions, 2 * dimensions};  // also where the neighbour is MPI_PROC_NULL: it has its block
    } else if (topology == MPI_GRAPH) {
        pmpi.Graph_neighbors_count(comm, rank, &degrees.in);
        degrees.out = degrees.in;
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted = 0;
        pmpi.Dist_graph_neighbors_count(comm, &degrees.in, &degrees.out, &weighted);
    }
    return degrees;
}

void write_topology(MPI_Comm comm, int rank, std::int32_t id, SpoolWriter& spool)
{
    const int topology = topology_of(comm);
    if (topology == MPI_CART) {
        write_grid(comm, id, spool);
    } else if (topology == MPI_GRAPH || topology == MPI_DIST_GRAPH) {
        const InNeighbours neighbours(comm, rank, topology);
        if (neighbours.valid()) {
            write_graph(neighbours, id, spool);
        }
    }
}

}  // namespace critpath::preload
