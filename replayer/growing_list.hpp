// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns lists that grow without being copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace critpath::replayer
{

/// Consists of arrays, each a quarter longer than the one before up to a MiB: a list has little room that it does not
/// fill, and nearly all of a long one is in arrays that are large enough to be paged (paged_memory.hpp), which those of
/// std::deque never are.
template <class Item>
class GrowingList
{
public:
    void push_back(const Item& item)
    {
        if (arrays_.empty() || arrays_.back().size() == arrays_.back().capacity()) {
            const std::size_t items =
                arrays_.empty() ? first : std::min(arrays_.back().capacity() + arrays_.back().capacity() / 4 + 1, most);
            arrays_.emplace_back().reserve(items);
        }
        arrays_.back().push_back(item);
    }

    /// Goes through the list once; the list must not grow meanwhile.
    class Reader
    {
    public:
        explicit Reader(const GrowingList& list) : arrays_(&list.arrays_) {}

        /// The next item; null behind the last one.
        [[nodiscard]] const Item* peek() const
        {
            return array_ < arrays_->size() ? (*arrays_)[array_].data() + item_ : nullptr;
        }
        void next()
        {
            if (++item_ == (*arrays_)[array_].size()) {
                ++array_;
                item_ = 0;
            }
        }

    private:
        const std::vector<std::vector<Item>>* arrays_;
        std::size_t array_ = 0, item_ = 0;
    };

    [[nodiscard]] std::size_t size() const
    {
        std::size_t sum = 0;
        for (const std::vector<Item>& array : arrays_)
            sum += array.size();
        return sum;
    }

    template <class Visit>
    void for_each(Visit visit) const
    {
        for (const std::vector<Item>& array : arrays_)
            for (const Item& item : array)
                visit(item);
    }

    /// All in one array, and the list is empty: of what it consists goes as it is copied, so that little is there
    /// twice.
    [[nodiscard]] std::vector<Item> take()
    {
        std::vector<Item> items;
        items.reserve(size());
        for (std::vector<Item>& array : arrays_) {
            items.insert(items.end(), array.begin(), array.end());
            array = std::vector<Item>();
        }
        arrays_.clear();
        return items;
    }

private:
    static constexpr std::size_t first = std::max<std::size_t>(512 / sizeof(Item), 4);
    static constexpr std::size_t most = std::max<std::size_t>((std::size_t{1} << 20) / sizeof(Item), 1);

    std::vector<std::vector<Item>> arrays_;  // none is empty
};

}  // namespace critpath::replayer
