// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/rank_list.hpp"

#include <fmt/format.h>

namespace critpath::archive
{

std::string list_ranks(const std::vector<std::int32_t>& ranks)
{
    constexpr std::size_t most_runs = 12;
    std::string text;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
            ++last;
        }
        text += runs == 0 ? "" : ",";
        if (runs++ == most_runs) {
            return text + "...";
        }
        text += last == i ? std::to_string(ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
        i = last + 1;
    }
    return text;
}

}  // namespace critpath::archive
