// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/grid.hpp"

#include <limits>

namespace critpath::replayer::load
{

namespace
{

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

/// Whether there are as many places as ranks.
bool fits(const Grid& grid, std::size_t ranks)
{
    std::size_t places = 1;
    for (const Grid::Dimension& dimension : grid.dimensions) {
        if (dimension.size == 0 || places > ranks / dimension.size)
            return false;
        places *= dimension.size;
    }
    return places == ranks;
}

std::optional<std::size_t> place_of(const Grid& grid, const std::vector<std::uint32_t>& coordinates)
{
    if (coordinates.size() != grid.dimensions.size())
        return std::nullopt;
    std::size_t place = 0;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
        if (coordinates[d] >= grid.dimensions[d].size)
            return std::nullopt;
        place = place * grid.dimensions[d].size + coordinates[d];
    }
    return place;
}

/// By place in row-major order; empty: it cannot be.
std::vector<std::uint32_t> ranks_by_place(const Grid& grid, std::size_t ranks)
{
    std::vector<std::uint32_t> result(ranks, nobody);
    if (grid.places.empty())
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            result[rank] = rank;
    std::vector<bool> is_placed(ranks, grid.places.empty());
    for (const Grid::Place& p : grid.places) {
        const auto place = place_of(grid, p.coordinates);
        if (!place || p.rank >= ranks || is_placed[p.rank] || result[*place] != nobody)
            return {};
        result[*place] = p.rank;
        is_placed[p.rank] = true;
    }
    for (const bool placed : is_placed)
        if (!placed)
            return {};
    return result;
}

}  // namespace

std::optional<model::Neighbours> neighbours(const Grid& grid, std::size_t ranks)
{
    if (grid.dimensions.empty() || !fits(grid, ranks))
        return std::nullopt;
    const std::vector<std::uint32_t> rank_at = ranks_by_place(grid, ranks);
    if (rank_at.empty())
        return std::nullopt;
    model::Neighbours result;
    for (std::size_t place = 0; place < ranks; ++place) {
        std::vector<std::uint32_t> sources;
        std::size_t stride = ranks;  // between places that differ by 1 in a dimension
        for (const auto& [size, is_periodic] : grid.dimensions) {
            stride /= size;
            const std::size_t at = place / stride % size;
            if (at > 0 || is_periodic)
                sources.push_back(rank_at[place - at * stride + (at + size - 1) % size * stride]);
            if (at + 1 < size || is_periodic)
                sources.push_back(rank_at[place - at * stride + (at + 1) % size * stride]);
        }
        result.set(rank_at[place], std::move(sources));
    }
    return result;
}

}  // namespace critpath::replayer::load
