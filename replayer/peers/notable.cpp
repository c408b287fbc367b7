// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/notable.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

void keep_notable(std::vector<model::StretchRank>& ranks, std::int64_t all_ns)
{
    std::erase_if(ranks,
                  [&](const model::StretchRank& rank) { return rank.longer_ns() < all_ns / model::notable_parts; });
}

}  // namespace

void NotableRanks::add(std::uint32_t place, model::ProcessId process, const model::Difference& difference)
{
    if (difference.longer_ns() <= 0)
        return;
    Place& at = places_[place];
    at.longer_ns += difference.longer_ns();
    model::StretchRank rank;
    static_cast<model::Difference&>(rank) = difference;
    rank.stretch = place;
    rank.process = process;
    at.ranks.push_back(rank);
    keep_notable(at.ranks, at.longer_ns);  // the sum of all processes is no less
}

model::Difference* NotableRanks::find(std::uint32_t place, model::ProcessId process)
{
    std::vector<model::StretchRank>& ranks = places_[place].ranks;
    const auto found = std::ranges::find(ranks, process, &model::StretchRank::process);
    return found == ranks.end() ? nullptr : &*found;
}

std::vector<model::StretchRank> NotableRanks::take(const Replay& replay)
{
    std::vector<std::int64_t> longer;
    for (const Place& place : places_)
        longer.push_back(place.longer_ns);
    MPI_Allreduce(MPI_IN_PLACE, longer.data(), static_cast<int>(longer.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    std::vector<model::StretchRank> result;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        keep_notable(places_[i].ranks, longer[i]);
        result.insert(result.end(), places_[i].ranks.begin(), places_[i].ranks.end());
    }
    return result;
}

}  // namespace critpath::replayer
