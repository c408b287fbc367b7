// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/shown_tree.hpp"

#include <algorithm>

namespace critpath::report
{

using model::CallPathId;

TreeTimes tree_times_of(const model::Profile& profile, std::vector<std::int64_t> whole,
                        const std::vector<std::int64_t>& own)
{
    constexpr std::int64_t nearly_all = 95;              // percent
    std::vector<std::int64_t> largest(whole.size(), 0);  // of the callees of each
    for (std::size_t i = 0; i < whole.size(); ++i)
        if (const CallPathId parent = profile.call_paths[i].parent; parent.valid())
            largest[parent.value] = std::max(largest[parent.value], whole[i]);
    TreeTimes times;
    for (std::size_t i = 0; i < whole.size(); ++i)
        times.is_passing.push_back(own[i] == 0 && largest[i] > 0 && largest[i] >= whole[i] / 100 * nearly_all);
    times.whole = std::move(whole);
    return times;
}

ShownTree::ShownTree(const model::Profile& profile, const TreeTimes& times, std::vector<std::size_t> candidates,
                     std::uint64_t top)
    : profile_(profile), times_(times), is_shown_(profile.call_paths.size(), false), callees_(profile.call_paths.size())
{
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](std::size_t a, std::size_t b) { return times.whole[a] > times.whole[b]; });
    std::uint64_t left = top;
    for (const std::size_t path : candidates) {
        if (is_shown_[path])
            continue;
        const std::vector<std::size_t> way = way_to(path);
        if (top > 0) {
            const std::uint64_t more = more_rows(way);
            if (more > left)
                break;
            left -= more;
        }
        show(way);
    }
}

/// From the path to the outermost one that is not shown yet.
std::vector<std::size_t> ShownTree::way_to(std::size_t path) const
{
    std::vector<std::size_t> way = {path};
    for (CallPathId parent = profile_.call_paths[path].parent; parent.valid() && !is_shown_[parent.value];
         parent = profile_.call_paths[parent.value].parent)
        way.push_back(parent.value);
    return way;
}

void ShownTree::show(const std::vector<std::size_t>& way)
{
    for (const std::size_t path : way) {
        is_shown_[path] = true;
        const CallPathId parent = profile_.call_paths[path].parent;
        (parent.valid() ? callees_[parent.value] : roots_).push_back(path);
    }
}

/// Than without it. Who only leads to the way has the row of its end; who led to another one needs its own from then
/// on.
std::size_t ShownTree::more_rows(const std::vector<std::size_t>& way) const
{
    std::size_t rows = 1;
    for (std::size_t i = 1; i < way.size(); ++i)
        rows += times_.is_passing[way[i]] ? 0 : 1;
    const CallPathId caller = profile_.call_paths[way.back()].parent;
    if (!caller.valid() || !times_.is_passing[caller.value])
        return rows;
    const std::size_t callees = callees_[caller.value].size();
    return callees == 0 ? rows - 1 : callees == 1 ? rows + 1 : rows;
}

ShownTree::Open ShownTree::below(const Open& caller, std::size_t callee, bool is_last)
{
    // Chains of calls may be as long as there are call paths; what is drawn of each is not.
    constexpr std::size_t drawn_levels = 40;
    if (caller.level < drawn_levels)
        return {callee, caller.level + 1, caller.stem + (is_last ? "└ " : "├ "), caller.stem + (is_last ? "  " : "│ ")};
    return {callee, caller.level, caller.stem + "… ", caller.stem};
}

}  // namespace critpath::report
