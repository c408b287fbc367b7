// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the order in which the members of an instance are looked at: all of them may ask about it, and none of these
// questions may cost as much as there are members.
#pragma once

#include "replayer/rules/predecessor.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace critpath::replayer::rules
{

struct MemberInfo {
    Enter enter;  // asked who came back: the end of a time outside of MPI
    Ns leave;     // and its begin; or as long before as it was outside in several parts, of which
    std::uint32_t rank;
    bool is_root;
    bool gives;
    Ns last_part{0};        // the last one took so long; 0: there is one only
    Ns longer = Ns::max();  // the end of a longer one: for calls that end behind that, it is not this one that counts

    /// Asked who came back: it had not posted its part until `enter`.
    [[nodiscard]] bool is_post() const { return leave == Ns::min(); }
};

class InstanceMembers
{
public:
    InstanceMembers() = default;
    explicit InstanceMembers(std::vector<MemberInfo> members);

    /// Those that came in (after, until], the last one last; without those of which no enter is known.
    [[nodiscard]] std::span<const MemberInfo> came(Ns after, Ns until) const { return within(members_, after, until); }
    /// Likewise, of those that give something.
    [[nodiscard]] std::span<const MemberInfo> givers(Ns after, Ns until) const
    {
        return within(all_give_ ? members_ : givers_, after, until);
    }
    /// The last giver of ranks 0 to `rank`; not valid: none of them gives.
    [[nodiscard]] Enter last_giver_up_to(std::uint32_t rank) const;
    /// Null: it has none, or gives nothing.
    [[nodiscard]] const MemberInfo* giver(std::uint32_t rank) const;
    /// Null: none.
    [[nodiscard]] const MemberInfo* root() const { return root_ ? &*root_ : nullptr; }

private:
    struct Giver {
        std::uint32_t rank, member;  // index into `members_`
        Enter last;                  // of all givers up to this rank
    };

    [[nodiscard]] const std::vector<Giver>& by_rank() const;

    static std::span<const MemberInfo> within(const std::vector<MemberInfo>& members, Ns after, Ns until);

    std::vector<MemberInfo> members_, givers_;  // in the canonical order of enters
    bool all_give_ = true;                      // then they are not kept twice
    mutable std::vector<Giver> by_rank_;        // made when it is wanted
    std::optional<MemberInfo> root_;
};

}  // namespace critpath::replayer::rules
