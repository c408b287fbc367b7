// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/around.hpp"

#include "analysis/report/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace critpath::report
{

namespace
{

using model::CallPathId;

/// Whether they are one function, called at one site, as far as that is known: some stretches have it at several sites.
bool may_be_same(const model::Profile& profile, CallPathId one, CallPathId other)
{
    const model::CallPath& a = profile.call_paths[one.value];
    const model::CallPath& b = profile.call_paths[other.value];
    return a.row == b.row && (a.site == b.site || a.site == 0 || b.site == 0);
}

/// The ways to the two calls around a stretch.
struct TwoWays {
    std::vector<CallPathId> before, after;
    std::size_t common = 0;  // functions that both calls were made by, from the outermost on

    TwoWays(const model::Profile& profile, const model::Stretch& stretch)
        : before(way_to(profile, stretch.before)), after(way_to(profile, stretch.after))
    {
        while (common + 1 < std::min(before.size(), after.size()) &&
               may_be_same(profile, before[common], after[common]))
            ++common;
    }
    /// A function that makes both calls itself may do so once each time that it is called.
    [[nodiscard]] bool are_of_one_caller() const
    {
        return common > 0 && common + 1 == before.size() && common + 1 == after.size();
    }
};

/// Of a call path, also what calls main.
std::set<const model::Row*> all_functions(const model::Profile& profile, CallPathId call_path)
{
    std::set<const model::Row*> functions;
    for (; call_path.valid(); call_path = profile.call_paths[call_path.value].parent)
        functions.insert(&profile.row(call_path));
    return functions;
}

/// What of a stretch is known to have been computed by whom.
class Computed
{
public:
    Computed(const model::Profile& profile, std::size_t stretch, CallPathId outermost) : profile_(profile)
    {
        const model::Row& first = profile.row(outermost);
        for (const model::StretchCode& c : profile.stretch_code) {
            const model::Row& row = profile.row(c.call_path);
            const std::int64_t ns = c.ns - c.spinning_ns - c.blocked_ns;  // of the path's own thread
            if (c.stretch != stretch || row.kind == model::RowKind::Pseudo || ns <= 0)
                continue;
            std::vector<CallPathId> way = way_to(profile, c.call_path);
            if (way.empty() || &profile.row(way.front()) != &first)
                continue;  // the call path is not known, or not all of it
            samples_ += c.samples;
            is_exact_ = is_exact_ || row.kind != model::RowKind::Sampled;
            all_ns_ += ns;
            ways_.push_back({std::move(way), ns});
        }
    }

    [[nodiscard]] bool is_known() const
    {
        // Of fewer, all may come through a function by chance, although it has half of the work.
        constexpr std::uint64_t enough = 5;
        return is_exact_ || samples_ >= enough;
    }
    /// Whether nearly all of it comes by the first `number` functions of `way`.
    [[nodiscard]] bool is_in(const std::vector<CallPathId>& way, std::size_t number) const
    {
        return is_nearly_all([&](const std::vector<CallPathId>& functions) {
            const auto end = way.begin() + static_cast<std::ptrdiff_t>(number);
            return functions.size() >= number &&
                   std::equal(way.begin(), end, functions.begin(), [&](CallPathId one, CallPathId other) {
                       return profile_.row_of(one) == profile_.row_of(other);
                   });
        });
    }
    /// Or by this one, wherever it is called.
    [[nodiscard]] bool is_in(const model::Row& function) const
    {
        return is_nearly_all([&](const std::vector<CallPathId>& functions) {
            return all_functions(profile_, functions.back()).contains(&function);
        });
    }

private:
    struct Way {
        std::vector<CallPathId> functions;
        std::int64_t ns;
    };

    template <class Is>
    [[nodiscard]] bool is_nearly_all(Is is) const
    {
        constexpr double nearly_all = 0.9;
        std::int64_t ns = 0;
        for (const Way& way : ways_)
            ns += is(way.functions) ? way.ns : 0;
        return part(ns, all_ns_) >= nearly_all;
    }

    const model::Profile& profile_;
    std::vector<Way> ways_;
    std::int64_t all_ns_ = 0;
    std::uint64_t samples_ = 0;
    bool is_exact_ = false;
};

}  // namespace

std::vector<CallPathId> way_to(const model::Profile& profile, CallPathId call_path)
{
    constexpr std::array<std::string_view, 4> start = {"_start", "__libc_start_main", "__libc_start_main_impl",
                                                       "__libc_start_call_main"};
    const auto is_start = [&](CallPathId path) {
        return std::ranges::find(start, profile.row(path).name) != start.end();
    };
    std::vector<CallPathId> way;
    for (; call_path.valid() && (way.empty() || !is_start(call_path));
         call_path = profile.call_paths[call_path.value].parent)
        way.push_back(call_path);
    std::ranges::reverse(way);
    return way;
}

std::size_t functions_around(const model::Profile& profile, std::size_t stretch)
{
    const TwoWays ways(profile, profile.stretches[stretch]);
    if (ways.common < 2)
        return ways.common;  // the first one has all of it
    const Computed computed(profile, stretch, ways.before.front());
    if (!computed.is_known())
        return ways.are_of_one_caller() ? ways.common - 1 : ways.common;
    std::size_t number = ways.common;
    while (number > 1 && !computed.is_in(ways.before, number))
        --number;
    return number;
}

std::set<const model::Row*> all_around(const model::Profile& profile, std::size_t stretch)
{
    const model::Stretch& s = profile.stretches[stretch];
    const std::vector<CallPathId> way = way_to(profile, s.after);
    if (way.empty())
        return {};
    std::set<const model::Row*> around = all_functions(profile, s.after);
    if (s.before.valid()) {
        const std::set<const model::Row*> before = all_functions(profile, s.before);
        std::erase_if(around, [&](const model::Row* function) { return !before.contains(function); });
    }
    const Computed computed(profile, stretch, way.front());
    if (computed.is_known())
        std::erase_if(around, [&](const model::Row* function) { return !computed.is_in(*function); });
    return around;
}

}  // namespace critpath::report
