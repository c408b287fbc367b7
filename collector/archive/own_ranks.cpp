// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/own_ranks.hpp"

#include <utility>

namespace critpath::archive
{

// Neighbours in pairs, so that no table is merged more often than there are levels.
OwnRanks::OwnRanks(std::size_t ranks)
{
    for (; ranks > 1; ranks = (ranks + 1) / 2) {
        levels_.emplace_back(ranks / 2);
    }
}

void OwnRanks::add(std::size_t position, Tables tables)
{
    for (std::vector<Pair>& level : levels_) {
        const bool is_left = position % 2 == 0;
        position /= 2;
        if (position == level.size()) {
            continue;
        }
        Pair& pair = level[position];
        Tables other;
        {
            const std::lock_guard lock(mutex_);
            if (!pair.first_to_come) {
                pair.first_to_come = std::move(tables);
                return;
            }
            other = *std::exchange(pair.first_to_come, std::nullopt);
        }
        Merged merged =
            is_left ? merge(std::move(tables), std::move(other)) : merge(std::move(other), std::move(tables));
        tables = std::move(merged.tables);
        pair.left = std::move(merged.first);
        pair.right = std::move(merged.second);
    }
    all_ = std::move(tables);
}

std::vector<Numbers> OwnRanks::divide(Numbers numbers) const
{
    std::vector<Numbers> parts;
    parts.push_back(std::move(numbers));
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
        std::vector<Numbers> next;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i < level->size()) {
                next.push_back(select(parts[i], (*level)[i].left));
                next.push_back(select(parts[i], (*level)[i].right));
            } else {
                next.push_back(std::move(parts[i]));
            }
        }
        parts = std::move(next);
    }
    return parts;
}

}  // namespace critpath::archive
