// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which calls have met: members of one collective have made them, so that they are one place of the program at
// several sites. A compiler makes such of one call in the source, where it joins a branch behind it with one before.
#pragma once

#include "replayer/resolve/answers.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// By ContextId: the smallest one that its calls have met, itself included, or that such have. `plain`: by ContextId,
/// the one that it counts as; of those, `group_of`: only those in one group may be one place; `no_group`: none.
/// Collective over `replay.comm`.
std::vector<std::uint32_t> find_met_calls(const Replay& replay, const Predecessors& predecessors,
                                          const std::vector<model::ContextId>& plain,
                                          const std::vector<std::uint32_t>& group_of, std::uint32_t no_group);

}  // namespace critpath::replayer
