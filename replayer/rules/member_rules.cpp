// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/member_rules.hpp"

#include <algorithm>

namespace critpath::replayer::rules
{

bool MemberRules::needs(const MemberInfo& member) const
{
    if (!member.gives)
        return false;
    switch (query_.shape) {
    case CollectiveShape::Prefix:
        return query_.exclusive_prefix ? member.rank < query_.rank : member.rank <= query_.rank;
    case CollectiveShape::Neighbour:
        return std::ranges::binary_search(sources_, member.rank);
    default:
        return true;
    }
}

Predecessor MemberRules::moved_by(const Enter& found) const
{
    if (!found.valid())
        return {Route::Ask, {}, 0, true};
    if (found.call.location == query_.call.location)
        return {Route::Work, {}, 0, true};
    const bool within_clocks = clocks_.between(found.call.location, query_.call.location) > Ns{0};
    return {Route::Collective, found, 0, true, within_clocks};
}

bool MemberRules::may_be_it(const MemberInfo& member, const Enter& found) const
{
    if (member.enter.call == query_.call || (!query_.may_release && !needs(member)))
        return false;
    const Ns error = clocks_.between(member.enter.call.location, query_.call.location);
    const auto is_near = [&](Ns time) {  // what is asked without a begin has none
        return time != Ns::min() && std::chrono::abs(member.enter.time - time) < error;
    };
    bool at_border = is_near(query_.enter) || is_near(query_.leave);
    if (query_.may_depend)  // what an operation takes was learned from times of different clocks, too
        at_border = at_border || is_near(query_.since) ||
                    std::chrono::abs(query_.leave - query_.completion - member.enter.time) <
                        (query_.completion > Ns{0} && error > Ns{0} ? error + clocks_.largest() : error);
    return at_border || (found.valid() && found.call != member.enter.call &&
                         std::chrono::abs(member.enter.time - found.time) <
                             clocks_.between(member.enter.call.location, found.call.location));
}

}  // namespace critpath::replayer::rules
