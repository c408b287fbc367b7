// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lengthened/communicators.hpp"

#include "tests/oracle/grammar/sketch.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace critpath::lengthened
{

namespace
{

using oracle::at;
using oracle::Sketch;

MPI_Comm on_grid(MPI_Comm comm, const oracle::Grid& grid)
{
    std::vector<int> sizes, periods;
    for (const oracle::Dimension& dimension : grid) {
        sizes.push_back(dimension.size);
        periods.push_back(dimension.is_periodic ? 1 : 0);
    }
    MPI_Comm result = MPI_COMM_NULL;
    MPI_Cart_create(comm, static_cast<int>(grid.size()), sizes.data(), periods.data(), 0, &result);
    return result;
}

std::vector<int> destinations(const std::vector<std::vector<int>>& sources, int member)
{
    std::vector<int> result;
    for (int other = 0; other < static_cast<int>(sources.size()); ++other)
        if (std::ranges::find(sources[at(other)], member) != sources[at(other)].end())
            result.push_back(other);
    return result;
}

MPI_Comm on_graph(const std::vector<std::vector<int>>& sources, int member)
{
    const std::vector<int>&from = sources[at(member)], to = destinations(sources, member);
    MPI_Comm result = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                   static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &result);
    return result;
}

}  // namespace

Communicators::Communicators(const oracle::Program& program)
    : program_(&program), handles_(program.comms.size(), MPI_COMM_NULL)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const std::vector<int>& members : program.comms) {
        const auto own = std::ranges::find(members, rank);
        own_members_.push_back(own == members.end() ? -1 : static_cast<int>(own - members.begin()));
    }
    const bool is_even = rank % 2 == 0;
    handles_[Sketch::world] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, is_even ? 0 : 1, rank, &half_);
    if (is_even)
        handles_[Sketch::even] = half_;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &handles_[Sketch::reversed]);
    constexpr int tag = 1;
    MPI_Intercomm_create(half_, 0, MPI_COMM_WORLD, is_even ? 1 : 0, tag, &handles_[Sketch::inter]);
    handles_[Sketch::ring] = on_grid(handles_[Sketch::reversed], program.grids.at(Sketch::ring));
    handles_[Sketch::plane] = on_grid(MPI_COMM_WORLD, program.grids.at(Sketch::plane));
    MPI_Comm_dup(MPI_COMM_WORLD, &handles_[Sketch::of_threads]);
    handles_[Sketch::graph] = on_graph(program.graphs.at(Sketch::graph), rank);
}

int Communicators::rank_of(std::size_t comm, int member) const
{
    if (member == oracle::any_source)
        return MPI_ANY_SOURCE;
    const auto first = program_->first_groups.find(comm);
    return first == program_->first_groups.end() || member < static_cast<int>(first->second)
               ? member
               : member - static_cast<int>(first->second);
}

std::vector<int> Communicators::group(std::size_t comm, bool other) const
{
    const int size = static_cast<int>(program_->comms[comm].size());
    int begin = 0, end = size;
    if (const auto first = program_->first_groups.find(comm); first != program_->first_groups.end()) {
        const int border = static_cast<int>(first->second);
        const bool is_first = (own_members_[comm] < border) != other;
        begin = is_first ? 0 : border;
        end = is_first ? border : size;
    }
    std::vector<int> result;
    for (int member = begin; member < end; ++member)
        result.push_back(member);
    return result;
}

std::pair<std::vector<int>, std::vector<int>> Communicators::neighbours(std::size_t comm) const
{
    const int own = own_members_[comm];
    if (const auto graph = program_->graphs.find(comm); graph != program_->graphs.end())
        return {graph->second[at(own)], destinations(graph->second, own)};
    std::vector<int> result;
    for (int d = 0; d < static_cast<int>(program_->grids.at(comm).size()); ++d) {
        int before = MPI_PROC_NULL, behind = MPI_PROC_NULL;
        MPI_Cart_shift(handles_[comm], d, 1, &before, &behind);
        for (const int neighbour : {before, behind})
            result.push_back(neighbour == MPI_PROC_NULL ? -1 : neighbour);
    }
    return {result, result};
}

}  // namespace critpath::lengthened
