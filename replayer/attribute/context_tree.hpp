// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the contexts of a trace hang together.
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/parents_first.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Must not outlive the contexts.
class ContextTree
{
public:
    explicit ContextTree(const std::vector<model::CallingContext>& contexts) : contexts_(contexts)
    {
        depth_.resize(contexts.size());
        visit_parents_first(contexts, [&](model::ContextId context) {
            const model::ContextId above = parent(context);
            depth_[context.value] = above.valid() ? depth_[above.value] + 1 : 0;
        });
    }

    [[nodiscard]] model::ContextId parent(model::ContextId context) const
    {
        return context.valid() ? contexts_[context.value].parent : model::ContextId::none();
    }

    /// The last context that both paths come by; none() if there is none.
    [[nodiscard]] model::ContextId common(model::ContextId a, model::ContextId b) const
    {
        while (a.valid() && b.valid() && a != b) {
            if (depth_[a.value] >= depth_[b.value])
                a = parent(a);
            else
                b = parent(b);
        }
        return a == b ? a : model::ContextId::none();
    }

private:
    const std::vector<model::CallingContext>& contexts_;
    std::vector<std::uint32_t> depth_;
};

}  // namespace critpath::replayer
