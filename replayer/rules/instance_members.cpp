// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/instance_members.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace critpath::replayer::rules
{

InstanceMembers::InstanceMembers(std::vector<MemberInfo> members) : members_(std::move(members))
{
    std::erase_if(members_, [](const MemberInfo& m) { return !m.enter.valid(); });
    std::ranges::sort(members_, {}, [](const MemberInfo& m) { return m.enter.order(); });
    all_give_ = std::ranges::all_of(members_, &MemberInfo::gives);
    if (!all_give_)
        std::ranges::copy_if(members_, std::back_inserter(givers_), &MemberInfo::gives);
    for (const MemberInfo& member : members_)
        if (member.is_root)
            root_ = member;
}

const std::vector<InstanceMembers::Giver>& InstanceMembers::by_rank() const
{
    if (!by_rank_.empty())
        return by_rank_;
    for (std::uint32_t i = 0; i < members_.size(); ++i)
        if (members_[i].gives)
            by_rank_.push_back({members_[i].rank, i, members_[i].enter});
    std::ranges::sort(by_rank_, {}, &Giver::rank);
    for (std::size_t i = 1; i < by_rank_.size(); ++i)
        take_later(by_rank_[i].last, by_rank_[i - 1].last);
    return by_rank_;
}

Enter InstanceMembers::last_giver_up_to(std::uint32_t rank) const
{
    const std::vector<Giver>& givers = by_rank();
    const auto behind = std::ranges::upper_bound(givers, rank, {}, &Giver::rank);
    return behind == givers.begin() ? Enter{} : std::prev(behind)->last;
}

const MemberInfo* InstanceMembers::giver(std::uint32_t rank) const
{
    const std::vector<Giver>& givers = by_rank();
    const auto found = std::ranges::lower_bound(givers, rank, {}, &Giver::rank);
    return found != givers.end() && found->rank == rank ? &members_[found->member] : nullptr;
}

std::span<const MemberInfo> InstanceMembers::within(const std::vector<MemberInfo>& members, Ns after, Ns until)
{
    const auto time = [](const MemberInfo& m) { return m.enter.time; };
    const auto begin = std::ranges::upper_bound(members, after, {}, time);
    const auto end = std::ranges::upper_bound(begin, members.end(), until, {}, time);
    return {begin, end};
}

}  // namespace critpath::replayer::rules
