// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/recursion.hpp"

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
    CallFolding(const model::Profile& profile, FoldedRecursion& folded) : profile_(profile), folded_(folded) {}

    void fold()
    {
        for (std::uint32_t i = 0; i < profile_.call_paths.size(); ++i) {
            const CallPath& path = profile_.call_paths[i];
            const bool is_folded = is_recursive(profile_, path);
            depths_.push_back(is_folded ? depths_[path.parent.value] + 1 : 1);
            const CallPathId place = is_folded ? folded_.places[path.parent.value] : place_of(path);
            folded_.places.push_back(place);
            if (place.value == firsts_.size()) {
                firsts_.push_back(i);
                folded_.levels.push_back(1);
            }
            std::size_t& levels = folded_.levels[place.value];
            levels = std::max(levels, depths_.back());
        }
    }

private:
    using Key = std::tuple<CallPathId, model::RowId, std::uint64_t>;  // parent, row and site

    /// That of the same call by another level of the caller, or a new one.
    CallPathId place_of(const CallPath& path)
    {
        std::vector<CallPath>& paths = folded_.profile.call_paths;
        CallPath place = path;
        bool is_of_other_level = false;
        if (path.parent.valid()) {
            place.parent = folded_.places[path.parent.value];
            is_of_other_level = firsts_[place.parent.value] != path.parent.value;
        }
        const CallPathId next{static_cast<std::uint32_t>(paths.size())};
        const auto [known, is_new] = known_.emplace(Key{place.parent, place.row, place.site}, next);
        if (is_of_other_level && !is_new)
            return known->second;
        paths.push_back(place);
        return next;
    }

    const model::Profile& profile_;
    FoldedRecursion& folded_;
    std::vector<std::size_t> depths_;    // by CallPathId of the original: number of calls by itself, and itself
    std::vector<std::uint32_t> firsts_;  // by CallPathId: the first one of the original
    std::map<Key, CallPathId> known_;
};

/// Those of one place and process are one time.
void move_to(const std::vector<CallPathId>& places, std::vector<CallPathTime>& times)
{
    for (CallPathTime& time : times)
        time.call_path = places[time.call_path.value];
    const auto key = [](const CallPathTime& time) { return std::pair(time.call_path, time.process); };
    std::ranges::stable_sort(times, {}, key);
    std::vector<CallPathTime> sums;
    for (const CallPathTime& time : times) {
        if (sums.empty() || key(sums.back()) != key(time)) {
            sums.push_back(time);
            continue;
        }
        CallPathTime& sum = sums.back();
        sum.ns += time.ns;
        sum.samples += time.samples;
        sum.other_threads_ns += time.other_threads_ns;
        sum.found_ns += time.found_ns;
    }
    times = std::move(sums);
}

}  // namespace

std::optional<FoldedRecursion> fold_recursion(const model::Profile& profile)
{
    if (std::ranges::none_of(profile.call_paths, [&](const CallPath& path) { return is_recursive(profile, path); }))
        return std::nullopt;
    FoldedRecursion folded{profile, {}, {}};
    folded.profile.call_paths.clear();
    folded.profile.stretches.clear();
    folded.profile.stretch_shares.clear();
    folded.profile.stretch_code.clear();
    folded.profile.stretch_addresses.clear();
    folded.profile.path_events.clear();
    CallFolding(profile, folded).fold();
    move_to(folded.places, folded.profile.path);
    move_to(folded.places, folded.profile.totals);
    return folded;
}

}  // namespace critpath::report
