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
    return std::abs(static_cast<double>(change_ns())) <= error_ns;
}

std::vector<Difference> compare(const Hotspots& before, const Hotspots& after)
{
    std::map<std::tuple<std::string, std::string, std::string>, Difference> found;
    const auto visit = [&](const Hotspots& run, std::int64_t Difference::*time) {
        for (const Hotspot& item : run.items) {
            if (item.path_ns <= 0)
                continue;
            const std::string_view name = item.kind == "module" ? basename(item.name) : item.name;
            Difference& difference = found[{item.kind, std::string(basename(item.place())), std::string(name)}];
            difference.name = name;
            difference.module = item.module;
            difference.kind = item.kind;
            difference.*time += item.path_ns;
            // The runs, and the samples of one, are independent: errors add up by their squares.
            const double error = item.is_estimate ? item.share.error * static_cast<double>(run.path_ns) : 0;
            difference.error_ns = std::hypot(difference.error_ns, error);
        }
    };
    visit(before, &Difference::before_ns);
    visit(after, &Difference::after_ns);
    std::vector<Difference> result;
    for (auto& [key, difference] : found)
        result.push_back(std::move(difference));
    std::stable_sort(result.begin(), result.end(), [](const Difference& a, const Difference& b) {
        return std::abs(a.change_ns()) > std::abs(b.change_ns());
    });
    return result;
}

}  // namespace critpath::report
