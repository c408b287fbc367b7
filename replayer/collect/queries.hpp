// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the questions that a reduction cannot answer: which of the members of one instance released one call. Such an
// instance is collected, member by member, at one process, which answers. (docs/ALGORITHM, "In parallel")
#pragma once

#include "replayer/collect/members.hpp"
#include "replayer/collect/returns.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace critpath::replayer
{

struct InstanceQuery {
    Side side;  // whose members are asked
    std::uint32_t number;
    rules::MemberQuery question;
    std::span<const std::uint32_t> sources = {};  // of a neighbourhood: the in-neighbours of the asking member
    Period held_up = {};  // who came back: when members can have held up the instance, or the call
};

/// The sources of a query about this member's part.
std::span<const std::uint32_t> sources_of(const Members& members, const Part& part, const rules::MemberQuery& query);

/// The answers, in the order of the queries. Collective over `replay.comm`; processes may ask different numbers of
/// questions, also none.
std::vector<rules::Predecessor> ask(const Replay& replay, const Members& members,
                                    const std::vector<InstanceQuery>& queries);

}  // namespace critpath::replayer
