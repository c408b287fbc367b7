// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/sites.hpp"

#include "analysis/report/lines.hpp"
#include "analysis/report/numbers.hpp"
#include "formats/functions/functions.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

namespace critpath::report
{

namespace
{

constexpr double least_of_stretch = 0.05;  // of its time on the path: on the other rank

/// What one rank has of a stretch on the path, and the calls that it comes from.
struct RankCalls {
    std::int64_t ns = 0;
    std::set<model::CallPathId> calls;
};

bool are_disjoint(const std::set<model::CallPathId>& one, const std::set<model::CallPathId>& other)
{
    return std::ranges::none_of(one, [&](model::CallPathId call) { return other.contains(call); });
}

/// Members of a collective operation that call it at different places are mostly one another's peers all the same.
bool is_message(const model::Profile& profile, model::CallPathId call)
{
    return functions::group_of(functions::semantic_class(profile.row(call).name)) == functions::Group::PointToPoint;
}

}  // namespace

void add_sites(const model::Profile& profile, std::span<const PathGap> gaps, binary::SourceLines& lines, Explanation& e)
{
    std::map<std::size_t, RankCalls> ranks;
    for (const PathGap& gap : gaps) {
        if (!gap.before.valid() || !is_message(profile, gap.before))
            return;
        RankCalls& rank = ranks[gap.rank];
        rank.ns += gap.window.length();
        rank.calls.insert(gap.before);
    }
    const auto own = ranks.find(e.rank);
    if (own == ranks.end())
        return;
    const auto site_text_of = [&](const RankCalls& rank) {
        const model::CallPathId call = *rank.calls.begin();
        return site_text(profile, call, profile.call_paths[call.value].site, lines);
    };
    const RankCalls* most = nullptr;
    for (const auto& [rank, calls] : ranks) {
        if (!are_disjoint(calls.calls, own->second.calls) || (most != nullptr && calls.ns <= most->ns) ||
            part(calls.ns, e.stretch->path_ns) < least_of_stretch)
            continue;
        OtherCall found{rank, site_text_of(own->second), site_text_of(calls)};
        if (found.own_site.empty() || found.site.empty() || found.own_site == found.site)
            continue;
        most = &calls;
        e.other_call = std::move(found);
    }
}

}  // namespace critpath::report
