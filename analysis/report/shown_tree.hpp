// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which call paths a call tree shows, and how its lines are drawn.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace critpath::report
{

/// What a tree is drawn from, by CallPathId.
struct TreeTimes {
    std::vector<std::int64_t> whole;  // with all below it, ns
    std::vector<bool> is_passing;     // it only leads to one that has nearly all of its time
};

/// `own`: without what is below it.
TreeTimes tree_times_of(const model::Profile& profile, std::vector<std::int64_t> whole,
                        const std::vector<std::int64_t>& own);

/// The call paths that are shown, as a tree.
class ShownTree
{
public:
    /// Of the `candidates` those with most time are shown, and the ways to them, in `top` rows at most (0: all).
    /// `profile` and `times` must outlive it.
    ShownTree(const model::Profile& profile, const TreeTimes& times, std::vector<std::size_t> candidates,
              std::uint64_t top);

    /// The lines before the name of a call path, and before what is right below it.
    struct Branch {
        std::string of_name, below;
        bool has_callees;
    };

    /// Calls `visit(paths, branch)` for each row from the first root to the last leaf; `paths`: a call path and, before
    /// it, those that only lead to it.
    template <class Visit>
    void walk(Visit visit) const
    {
        std::vector<Open> open;  // the next one last: trees may be deeper than the stack
        for (auto root = roots_.rbegin(); root != roots_.rend(); ++root)
            open.push_back({*root, 0, "", ""});
        while (!open.empty()) {
            const Open at = std::move(open.back());
            open.pop_back();
            std::vector<std::size_t> paths = {at.path};
            while (has_no_row(paths.back()))
                paths.push_back(callees_[paths.back()].front());
            const std::vector<std::size_t>& callees = callees_[paths.back()];
            visit(paths, Branch{at.branch, at.stem, !callees.empty()});
            for (std::size_t i = callees.size(); i-- > 0;)
                open.push_back(below(at, callees[i], i + 1 == callees.size()));
        }
    }

private:
    struct Open {
        std::size_t path;
        std::size_t level;
        std::string branch, stem;  // before its name, and before those of its callees
    };

    static Open below(const Open& caller, std::size_t callee, bool is_last);
    /// It is named in the row of the one that it leads to.
    [[nodiscard]] bool has_no_row(std::size_t path) const
    {
        return times_.is_passing[path] && callees_[path].size() == 1;
    }
    void show(const std::vector<std::size_t>& way);
    [[nodiscard]] std::size_t more_rows(const std::vector<std::size_t>& way) const;
    [[nodiscard]] std::vector<std::size_t> way_to(std::size_t path) const;

    const model::Profile& profile_;
    const TreeTimes& times_;
    std::vector<bool> is_shown_;
    std::vector<std::size_t> roots_;
    std::vector<std::vector<std::size_t>> callees_;  // by call path, those that are shown
};

}  // namespace critpath::report
