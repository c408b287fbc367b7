// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns whom the members of a communicator with a topology get something from in neighbourhood collectives: their
// in-neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace critpath::model
{

class Neighbours
{
public:
    /// The ranks that `rank` gets something from, in any order, also repeatedly. At most once for each rank.
    void set(std::uint32_t rank, std::vector<std::uint32_t> sources)
    {
        std::ranges::sort(sources);
        sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
        if (rank >= of_rank_.size())
            of_rank_.resize(std::size_t{rank} + 1);
        of_rank_[rank] = {sources_.size(), sources.size()};
        sources_.insert(sources_.end(), sources.begin(), sources.end());
    }

    /// Whether the trace says who the in-neighbours of `rank` are.
    [[nodiscard]] bool known(std::uint32_t rank) const
    {
        return rank < of_rank_.size() && of_rank_[rank].begin != unknown;
    }
    /// Ascending; none where they are not known.
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t rank) const
    {
        if (!known(rank))
            return {};
        return std::span(sources_).subspan(of_rank_[rank].begin, of_rank_[rank].count);
    }

private:
    static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();
    struct Range {
        std::size_t begin = unknown;
        std::size_t count = 0;
    };

    std::vector<Range> of_rank_;
    std::vector<std::uint32_t> sources_;
};

}  // namespace critpath::model
