// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/instance_members.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer::rules
{

InstanceMembers::InstanceMembers(std::vector<MemberInfo> members) : members_(std::move(members))
{
    std::erase_if(members_, [](const MemberInfo& m) { return !m.enter.valid(); });
    std::ranges::sort(members_, {}, [](const MemberInfo& m) { return m.enter.order(); });
    for (const MemberInfo& member : members_) {
        if (member.gives) {
            givers_.push_back(member);
            by_rank_.push_back({member.rank, member, member.enter});
        }
        if (member.is_root) {
            root_ = member;
            has_root_ = true;
        }
    }
    std::ranges::sort(by_rank_, {}, &Giver::rank);
    for (std::size_t i = 1; i < by_rank_.size(); ++i)
        take_later(by_rank_[i].last, by_rank_[i - 1].last);
}

Enter InstanceMembers::last_giver_up_to(std::uint32_t rank) const
{
    const auto behind = std::ranges::upper_bound(by_rank_, rank, {}, &Giver::rank);
    return behind == by_rank_.begin() ? Enter{} : std::prev(behind)->last;
}

const MemberInfo* InstanceMembers::giver(std::uint32_t rank) const
{
    const auto found = std::ranges::lower_bound(by_rank_, rank, {}, &Giver::rank);
    return found != by_rank_.end() && found->rank == rank ? &found->member : nullptr;
}

std::span<const MemberInfo> InstanceMembers::within(const std::vector<MemberInfo>& members, Ns after, Ns until)
{
    const auto time = [](const MemberInfo& m) { return m.enter.time; };
    const auto begin = std::ranges::upper_bound(members, after, {}, time);
    const auto end = std::ranges::upper_bound(begin, members.end(), until, {}, time);
    return {begin, end};
}

}  // namespace critpath::replayer::rules
