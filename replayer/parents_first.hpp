// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the order of contexts in which parents come before their children, which definitions do not promise.
#pragma once

#include "analysis/model/trace.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Calls `visit(context)` for each, for its parent before. They must not be their own ancestors.
template <class Visit>
void visit_parents_first(const std::vector<model::CallingContext>& contexts, Visit visit)
{
    std::vector<bool> is_visited(contexts.size(), false);
    std::vector<model::ContextId> open;
    for (std::uint32_t i = 0; i < contexts.size(); ++i) {
        for (model::ContextId c{i}; c.valid() && !is_visited[c.value]; c = contexts[c.value].parent) {
            is_visited[c.value] = true;
            open.push_back(c);
        }
        for (; !open.empty(); open.pop_back())
            visit(open.back());
    }
}

}  // namespace critpath::replayer
