// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/needed.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace critpath::oracle
{

namespace
{

using functions::CollectiveShape;

std::vector<int> range(int from, int to)
{
    std::vector<int> result(static_cast<std::size_t>(std::max(0, to - from)));
    std::iota(result.begin(), result.end(), from);
    return result;
}

}  // namespace

bool makes_its_own(FunctionId function)
{
    using enum functions::SemanticClass;
    const auto semantic_class = functions::semantic_class(function);
    return semantic_class == CommCreateGroup || semantic_class == CommDynamic;
}

CollectiveShape shape_of(FunctionId function)
{
    const functions::FunctionInfo& info = functions::info(function);
    return info.semantic_class == functions::SemanticClass::CommIdup ? CollectiveShape::AllToAll : info.shape;
}

std::vector<int> needed_members(const Program& program, std::size_t comm, FunctionId function, int member, int root)
{
    const int size = static_cast<int>(program.comms[comm].size());
    std::vector<int> all = range(0, size);
    bool is_beside_root = false;  // in an inter-communicator
    const auto first = program.first_groups.find(comm);
    if (first != program.first_groups.end() && !makes_its_own(function)) {
        const int border = static_cast<int>(first->second);
        all = member < border ? range(border, size) : range(0, border);
        is_beside_root = (member < border) == (root < border);
    }
    if (function == FunctionId::MPI_Init)
        return all;
    switch (shape_of(function)) {
    case CollectiveShape::AllToAll:
        return all;
    case CollectiveShape::OneToAll:
        return member == root || is_beside_root ? std::vector<int>{} : std::vector<int>{root};
    case CollectiveShape::AllToOne:
        return member == root ? all : std::vector<int>{};
    case CollectiveShape::Prefix:
        return range(0, member + (function == FunctionId::MPI_Exscan || function == FunctionId::MPI_Iexscan ? 0 : 1));
    case CollectiveShape::Neighbour:
        if (const auto graph = program.graphs.find(comm); graph != program.graphs.end())
            return graph->second[static_cast<std::size_t>(member)];
        return grid_sources(program.grids.at(comm), member);
    case CollectiveShape::DataDriven:
        return {};
    default:
        throw std::logic_error("no such collective in the oracle");
    }
}

std::vector<int> grid_sources(const Grid& grid, int member)
{
    std::vector<int> place(grid.size());  // row-major: the last dimension goes fastest
    for (std::size_t d = grid.size(); d-- > 0; member /= grid[d].size)
        place[d] = member % grid[d].size;
    std::vector<int> result;
    for (std::size_t d = 0; d < grid.size(); ++d)
        for (const int step : {-1, 1}) {
            std::vector<int> other = place;
            other[d] += step;
            if (!grid[d].is_periodic && (other[d] < 0 || other[d] == grid[d].size))
                continue;
            other[d] = (other[d] + grid[d].size) % grid[d].size;
            int rank = 0;
            for (std::size_t e = 0; e < grid.size(); ++e)
                rank = rank * grid[e].size + other[e];
            if (std::ranges::find(result, rank) == result.end())
                result.push_back(rank);
        }
    return result;
}

}  // namespace critpath::oracle
