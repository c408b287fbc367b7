// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/recursion.hpp"

#include "analysis/report/call_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace critpath::report
{

namespace
{

using model::CallPath;
using model::CallPathId;
using model::CallPathTime;

/// Whether a call path is a function that is called by itself.
bool is_recursive(const model::Profile& profile, const CallPath& path)
{
    const model::Row& row = profile.rows[path.row.value];
    const bool is_function = row.kind == model::RowKind::Sampled || row.kind == model::RowKind::Region;
    return is_function && !row.name.starts_with('[') && path.parent.valid() && profile.row_of(path.parent) == path.row;
}

/// Fills in `places`, `levels` and the call paths. Callers come before their callees.
class CallFolding
{
public:
    CallFolding(const model::Profile& profile, const std::vector<bool>& is_inlined, FoldedRecursion& folded)
        : profile_(profile), is_inlined_(is_inlined), folded_(folded)
    {
    }

    void fold()
    {
        for (std::uint32_t i = 0; i < profile_.call_paths.size(); ++i) {
            const CallPath& path = profile_.call_paths[i];
            const bool is_folded = is_recursive(profile_, path);
            depths_.push_back(is_folded ? depths_[path.parent.value] + 1 : 1);
            const CallPathId place =
                is_folded ? folded_.places[path.parent.value] : place_of(path, !is_inlined_.empty() && is_inlined_[i]);
            folded_.places.push_back(place);
            if (place.value == folded_.levels.size())
                folded_.levels.push_back(1);
            std::size_t& levels = folded_.levels[place.value];
            levels = std::max(levels, depths_.back());
        }
    }

private:
    using Key =
        std::tuple<CallPathId, model::RowId, std::uint64_t, bool>;  // parent, row, site, and whether it is inlined

    /// That of the same call by any level of the caller, or a new one.
    CallPathId place_of(const CallPath& path, bool is_inlined)
    {
        std::vector<CallPath>& paths = folded_.profile.call_paths;
        CallPath place = path;
        if (path.parent.valid())
            place.parent = folded_.places[path.parent.value];
        const auto [known, is_new] = known_.try_emplace(Key{place.parent, place.row, place.site, is_inlined},
                                                        CallPathId{static_cast<std::uint32_t>(paths.size())});
        if (is_new)
            paths.push_back(place);
        return known->second;
    }

    const model::Profile& profile_;
    const std::vector<bool>& is_inlined_;
    FoldedRecursion& folded_;
    std::vector<std::size_t> depths_;  // by CallPathId of the original: number of calls by itself, and itself
    std::map<Key, CallPathId> known_;
};

void move_to(const std::vector<CallPathId>& places, std::vector<CallPathTime>& times)
{
    for (CallPathTime& time : times)
        time.call_path = places[time.call_path.value];
    sum_up(times);
}

}  // namespace

std::optional<FoldedRecursion> fold_recursion(const model::Profile& profile, const std::vector<bool>& is_inlined)
{
    if (std::ranges::none_of(profile.call_paths, [&](const CallPath& path) { return is_recursive(profile, path); }))
        return std::nullopt;
    FoldedRecursion folded{without_call_paths(profile), {}, {}};
    CallFolding(profile, is_inlined, folded).fold();
    move_to(folded.places, folded.profile.path);
    move_to(folded.places, folded.profile.totals);
    return folded;
}

}  // namespace critpath::report
