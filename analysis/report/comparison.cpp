// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/comparison.hpp"

#include "analysis/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace critpath::report
{

bool Difference::is_below_error() const
{
    return could_be_missed || (change.low <= 0 && change.high >= 0);
}

namespace
{

/// Of one function in one run.
struct PathTime {
    std::int64_t ns = 0;
    double below = 0, above = 0;  // ns: how far the ends of its interval are off
    bool is_there = false;
    bool is_estimate = false;
    bool is_sure = false;

    void add(const Hotspot& item, std::int64_t path_ns)
    {
        ns += item.path_ns;
        is_there = true;
        is_estimate = is_estimate || item.is_estimate;
        is_sure = is_sure || !item.is_below_error();
        // Several items are taken to be independent: what they are off adds up by its squares.
        below = std::hypot(below, (item.share.value - item.share.low) * static_cast<double>(path_ns));
        above = std::hypot(above, (item.share.high - item.share.value) * static_cast<double>(path_ns));
    }

    [[nodiscard]] double value() const { return static_cast<double>(ns); }
    [[nodiscard]] Interval interval() const { return {value() - below, value() + above}; }
};

struct Found {
    Difference difference;
    PathTime before, after;
};

/// What samples have found in the other run only may have been missed in `run`.
void allow_for_missed(PathTime& time, const PathTime& other, const Hotspots& run)
{
    if (!time.is_there && other.is_estimate)
        time.above = run.most_unseen() * static_cast<double>(run.path_ns);
}

}  // namespace

std::vector<Difference> compare(const Hotspots& before, const Hotspots& after)
{
    std::map<std::tuple<std::string, std::string, std::string>, Found> found;
    const auto visit = [&](const Hotspots& run, PathTime Found::*time) {
        for (const Hotspot& item : run.items) {
            if (item.path_ns <= 0)
                continue;
            const std::string_view name = item.kind == "module" ? basename(item.name) : item.name;
            Found& row = found[{item.kind, std::string(basename(item.place())), std::string(name)}];
            row.difference.name = name;
            row.difference.module = item.module;
            row.difference.kind = item.kind;
            (row.*time).add(item, run.path_ns);
        }
    };
    visit(before, &Found::before);
    visit(after, &Found::after);
    std::vector<Difference> result;
    for (auto& [key, row] : found) {
        allow_for_missed(row.before, row.after, before);
        allow_for_missed(row.after, row.before, after);
        Difference& difference = result.emplace_back(std::move(row.difference));
        difference.before_ns = row.before.ns;
        difference.after_ns = row.after.ns;
        difference.is_estimate = row.before.is_estimate || row.after.is_estimate;
        difference.could_be_missed =
            !row.before.is_sure && !row.after.is_sure && !(row.before.is_there && row.after.is_there);
        difference.change =
            difference_interval(row.before.value(), row.before.interval(), row.after.value(), row.after.interval());
    }
    std::stable_sort(result.begin(), result.end(), [](const Difference& a, const Difference& b) {
        return std::abs(a.change_ns()) > std::abs(b.change_ns());
    });
    return result;
}

}  // namespace critpath::report
