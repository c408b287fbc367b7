// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the tables of the ranks that one process stands for: merged as they come, so that those of many ranks never
// stand side by side, and the way back from what all of them agreed on.
#pragma once

#include "collector/archive/tables.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace critpath::archive
{

class OwnRanks
{
public:
    /// Of `ranks` ranks, at least one.
    explicit OwnRanks(std::size_t ranks);

    /// The tables of the rank at `position`: each once, in any order, and from several threads at once.
    void add(std::size_t position, Tables tables);

    /// Those of all, when all were added.
    Tables take() { return std::move(all_); }

    /// `numbers` of the entries of all, for each rank.
    [[nodiscard]] std::vector<Numbers> divide(Numbers numbers) const;

private:
    /// Neighbours of a level.
    struct Pair {
        std::optional<Tables> first_to_come;
        Numbers left, right;  // positions in what they became together
    };

    std::mutex mutex_;
    std::vector<std::vector<Pair>> levels_;  // an odd one at the end passes to the next level as it is
    Tables all_;
};

}  // namespace critpath::archive
