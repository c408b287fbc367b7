// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns sets of positions in a long list, in which the next one on either side of any position is found at once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer
{

/// A set of positions less than `size`: a bit for each of these, and one for each 64 of them that has any, and so on.
class PositionSet
{
public:
    explicit PositionSet(std::size_t size) : size_(size)
    {
        do {
            size = (size + word - 1) / word;
            levels_.emplace_back(size);
        } while (size > 1);
    }

    [[nodiscard]] std::size_t size() const { return size_; }

    void insert(std::size_t position)
    {
        for (std::vector<std::uint64_t>& level : levels_) {
            level[position / word] |= bit(position);
            position /= word;
        }
    }

    /// The last one that is not behind `position`, which is less than size().
    [[nodiscard]] std::optional<std::size_t> at_or_before(std::size_t position) const
    {
        std::uint64_t sought = bit(position) | (bit(position) - 1);
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            if (const std::uint64_t found = levels_[level][position / word] & sought; found != 0) {
                position = last_of(position / word, found);
                while (level > 0)
                    position = last_of(position, levels_[--level][position]);
                return position;
            }
            position /= word;
            sought = bit(position) - 1;
        }
        return std::nullopt;
    }

    /// The first one behind `position`, which is less than size(); size() if there is none.
    [[nodiscard]] std::size_t behind(std::size_t position) const
    {
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            const std::uint64_t sought = ~(bit(position) | (bit(position) - 1));
            if (const std::uint64_t found = levels_[level][position / word] & sought; found != 0) {
                position = first_of(position / word, found);
                while (level > 0)
                    position = first_of(position, levels_[--level][position]);
                return position;
            }
            position /= word;
        }
        return size_;
    }

private:
    static constexpr std::size_t word = 64;

    static std::uint64_t bit(std::size_t position) { return std::uint64_t{1} << position % word; }
    static std::size_t first_of(std::size_t index, std::uint64_t bits)
    {
        return index * word + static_cast<std::size_t>(std::countr_zero(bits));
    }
    static std::size_t last_of(std::size_t index, std::uint64_t bits)
    {
        return index * word + word - 1 - static_cast<std::size_t>(std::countl_zero(bits));
    }

    std::size_t size_;
    std::vector<std::vector<std::uint64_t>> levels_;  // the last one is a word
};

}  // namespace critpath::replayer
