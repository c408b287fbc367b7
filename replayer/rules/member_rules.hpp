// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what one member of an instance may be to a call that asks about it, whoever else is a member.
// (docs/ALGORITHM, "Collectives")
#pragma once

#include "replayer/rules/calibration.hpp"
#include "replayer/rules/instance_members.hpp"
#include "replayer/rules/member_query.hpp"

#include <cstdint>
#include <span>

namespace critpath::replayer::rules
{

class MemberRules
{
public:
    /// What happens at random is so near to the end in one of so many cases at most.
    static constexpr std::int64_t chance = 8;

    MemberRules(const MemberQuery& query, const ClockUncertainty& clocks, std::span<const std::uint32_t> sources)
        : query_(query), clocks_(clocks), sources_(sources)
    {
    }

    /// Whether the call depends on what it gives.
    [[nodiscard]] bool needs(const MemberInfo& member) const;

    /// How long before the end of the call it came.
    [[nodiscard]] Ns took(const MemberInfo& member) const { return query_.leave - member.enter.time; }

    /// What the operation itself does not explain: since it could go on, and of that, while the call waited.
    [[nodiscard]] Ns unexplained() const { return query_.leave - query_.since - query_.completion; }
    [[nodiscard]] Ns waited() const { return query_.leave - std::max(query_.since, query_.enter) - query_.completion; }

    /// For how long it was outside of MPI since the operation could go on, and of that, while the call waited.
    [[nodiscard]] Ns away(const MemberInfo& member) const
    {
        return member.enter.time - std::max(query_.since, member.leave);
    }
    [[nodiscard]] Ns away_in_call(const MemberInfo& member) const
    {
        return member.enter.time - std::max({query_.since, query_.enter, member.leave});
    }

    /// It was outside for most of what is to be explained. What is not needed and came late may only have held up who
    /// waited already.
    [[nodiscard]] bool was_mostly_away(const MemberInfo& member) const
    {
        return !member.is_post() && is_back(member) && unexplained() > Ns{0} && 2 * away(member) >= unexplained() &&
               is_no_chance(member);
    }
    /// It was outside while the call waited, for some of that.
    [[nodiscard]] bool held_up(const MemberInfo& member) const
    {
        return is_back(member) && waited() > Ns{0} && chance * away_in_call(member) >= waited() && is_no_chance(member);
    }
    /// It came as long before the end as the operation takes.
    [[nodiscard]] bool fits(const MemberInfo& member) const
    {
        return std::chrono::abs(took(member) - query_.completion) <= query_.tolerance;
    }
    /// It came so shortly before the end, compared with the time outside, that it is hardly there by chance; so many
    /// held up the call.
    [[nodiscard]] bool stands_out(const MemberInfo& member, std::int64_t of) const
    {
        return held_up(member) && chance * of * took(member) <= away_in_call(member);
    }

    /// The answer, if who came back then moved on what stood still; not valid: nobody is known to have done so.
    [[nodiscard]] Predecessor moved_by(const Enter& found) const;

    /// Whether the clocks are too far off to tell if it was this member, and not `found` (or nobody).
    [[nodiscard]] bool may_be_it(const MemberInfo& member, const Enter& found) const;

    /// One of several times outside: whoever comes back again and again is back shortly before any moment. So it must
    /// stand out the more in the last part, and have been outside for nearly all of what is to be explained.
    [[nodiscard]] bool is_no_chance(const MemberInfo& member) const
    {
        return member.last_part == Ns{0} || (chance * chance * took(member) <= member.last_part &&
                                             chance * away(member) >= (chance - 1) * unexplained());
    }

private:
    [[nodiscard]] bool is_back(const MemberInfo& member) const
    {
        return member.enter.valid() && member.enter.time < query_.leave && query_.leave <= member.longer &&
               away(member) > Ns{0};
    }

    const MemberQuery& query_;
    const ClockUncertainty& clocks_;
    std::span<const std::uint32_t> sources_;  // the in-neighbours of the asking member, ascending
};

}  // namespace critpath::replayer::rules
