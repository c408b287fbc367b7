// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what functions of the application have together with what they call: much work may be spread over many
// functions of which none is worth a word.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/explain/callers.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <set>

namespace critpath::report
{

/// A function with all that was done while it was called.
struct Subtree {
    const model::Row* function = nullptr;
    model::StretchCode time;
    std::size_t depth = 0;  // of those that contain each other, the inner ones have more
};

/// Those of one stretch, but for the functions that both calls around it are made in and that have nearly all of it.
class Subtrees
{
public:
    /// It must not outlive the others.
    Subtrees(const model::Profile& profile, std::size_t stretch, const Callers& callers);

    /// The amount counts for all functions of these that the call path ends in or comes through.
    void add(model::CallPathId call_path, const model::StretchCode& amount);
    /// The innermost one for which that is so; nullptr: none.
    [[nodiscard]] const Subtree* innermost(const std::function<bool(const Subtree&)>& is_meant) const
    {
        return innermost(of_application_, is_meant);
    }
    /// Likewise, of those that functions of the application call and that are not of these themselves.
    [[nodiscard]] const Subtree* innermost_called(const std::function<bool(const Subtree&)>& is_meant) const
    {
        return innermost(called_by_it_, is_meant);
    }
    /// Of all of these.
    [[nodiscard]] std::size_t count(const std::function<bool(const Subtree&)>& is_meant) const;
    /// Whether the call path ends in the function or comes through it.
    [[nodiscard]] bool is_inside(model::CallPathId call_path, const model::Row& function) const;

private:
    using ByFunction = std::map<const model::Row*, Subtree>;

    static const Subtree* innermost(const ByFunction& subtrees, const std::function<bool(const Subtree&)>& is_meant);

    const model::Profile& profile_;
    const Callers& callers_;
    std::set<const model::Row*> around_;
    ByFunction of_application_, called_by_it_;
};

}  // namespace critpath::report
