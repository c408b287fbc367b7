// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/unnamed_note.hpp"

#include "analysis/naming/naming.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace critpath::report
{

std::vector<std::string> unnamed_notes(const model::Profile& profile, const Selection& selection)
{
    constexpr std::size_t most = 3;
    constexpr double worth_saying = 0.01;  // of the whole path
    const Hotspots functions = by_function(profile, selection);
    std::int64_t all_ns = 0;
    std::map<std::string_view, std::int64_t> unnamed;  // by module
    for (std::size_t i = 0; i < functions.items.size(); ++i) {
        all_ns += functions.items[i].sampled_ns;
        if (naming::is_called_by_place(profile.rows[i]))
            unnamed[profile.rows[i].module] += functions.items[i].sampled_ns;
    }
    std::vector<std::pair<std::string_view, std::int64_t>> modules(unnamed.begin(), unnamed.end());
    std::erase_if(modules, [&](const auto& of) {
        return part(of.second, functions.path_ns) < worth_saying || part(of.second, all_ns) < notable_share;
    });
    std::ranges::stable_sort(modules, std::ranges::greater(), [](const auto& of) { return of.second; });
    modules.resize(std::min(modules.size(), most));
    std::vector<std::string> notes;
    for (const auto& [module, ns] : modules)
        notes.push_back(fmt::format(
            "Functions of {0} that have {1} % of the path have no names but their places ({0}+0x...), as it has no "
            "symbols for them: name the directory of its debug file in CRITPATH_DEBUG_PATH (this run need not be "
            "recorded again), or do not strip it.",
            basename(module), percent_text(part(ns, functions.path_ns))));
    return notes;
}

}  // namespace critpath::report
