// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/agreement.hpp"

#include "collector/archive/rank_list.hpp"
#include "collector/archive/unify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace critpath::archive
{

namespace
{

using Kind = CommunicatorEntry::Kind;

// Of both sides. Of an inter-communicator each process knows the group that it is not in, so that one side alone is
// another disagreement: the members that are missing are not known.
std::vector<std::int32_t> members_of(const CommunicatorEntry& entry)
{
    std::vector<std::int32_t> members;
    for (const otf2::RankList& side : entry.sides) {
        const std::vector<std::int32_t> ranks = otf2::expand(side);
        members.insert(members.end(), ranks.begin(), ranks.end());
    }
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    return members;
}

bool is_finalized(const std::vector<RankEnd>& ends, std::int32_t rank)
{
    const auto index = static_cast<std::size_t>(rank);
    return index < ends.size() && ends[index] == RankEnd::Finalized;
}

bool is_certain(const Disagreement& disagreement, const std::vector<RankEnd>& ends)
{
    std::vector<std::int32_t> odd;
    std::set_symmetric_difference(disagreement.members.begin(), disagreement.members.end(),
                                  disagreement.knowers.begin(), disagreement.knowers.end(), std::back_inserter(odd));
    return std::any_of(odd.begin(), odd.end(), [&](std::int32_t rank) { return is_finalized(ends, rank); });
}

}  // namespace

std::vector<Disagreement> find_disagreements(const Tables& tables, const std::vector<std::uint32_t>& numbers)
{
    std::vector<Disagreement> found;
    for (std::size_t i = 0; i < tables.communicators.size(); ++i) {
        const CommunicatorEntry& entry = tables.communicators[i];
        if (entry.kind != Kind::Intra && entry.kind != Kind::Inter) {
            continue;
        }
        if (entry.sides.size() == 1 && entry.sides.front() == entry.knowers) {
            continue;  // as almost always, and without a list of ranks
        }
        std::vector<std::int32_t> members = members_of(entry);
        std::vector<std::int32_t> knowers = otf2::expand(entry.knowers);
        if (members != knowers) {
            found.push_back({fmt::format("Communicator {}", numbers[i]), std::move(members), std::move(knowers)});
        }
    }
    return found;
}

std::string describe(const std::vector<Disagreement>& disagreements, const std::vector<RankEnd>& ends)
{
    constexpr int most = 3;
    std::string text;
    int count = 0;
    for (const Disagreement& disagreement : disagreements) {
        if (is_certain(disagreement, ends) && count++ < most) {
            text += fmt::format("{}{} of ranks {} is known to {}", text.empty() ? "" : "; ", disagreement.name,
                                list_ranks(disagreement.members), list_ranks(disagreement.knowers));
        }
    }
    return count > most ? fmt::format("{}; and {} more", text, count - most) : text;
}

}  // namespace critpath::archive
