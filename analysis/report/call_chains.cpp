// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/call_chains.hpp"

#include "analysis/report/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace critpath::report
{

namespace
{

// Chains may be as long as there are call paths; what is written of each is not: half of this of the outermost
// functions, and half of the innermost.
constexpr std::size_t most_written = 256;

}  // namespace

CallChains::CallChains(const model::Profile& profile) : profile_(profile)
{
    for (const model::CallPath& path : profile.call_paths) {
        const bool is_root = !path.parent.valid();
        const std::size_t depth = is_root ? 0 : depths_[path.parent.value] + 1;
        const auto self = static_cast<std::uint32_t>(depths_.size());
        heads_.push_back(depth < most_written / 2 ? self : heads_[path.parent.value]);
        depths_.push_back(depth);
    }
}

std::string CallChains::full_name(std::size_t path) const
{
    constexpr std::size_t half = most_written / 2;
    const std::size_t functions = depths_[path] + 1;
    if (functions <= most_written)
        return names(path, functions);
    return fmt::format("{};[{} more];{}", names(heads_[path], half), count_text(functions - 2 * half),
                       names(path, half));
}

std::string CallChains::names(std::size_t path, std::size_t functions) const
{
    std::vector<std::string_view> words;
    for (model::CallPathId at{static_cast<std::uint32_t>(path)}; words.size() < functions;
         at = profile_.call_paths[at.value].parent)
        words.emplace_back(profile_.row(at).name);
    std::ranges::reverse(words);
    return fmt::format("{}", fmt::join(words, ";"));
}

}  // namespace critpath::report
