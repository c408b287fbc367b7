// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns lists that grow without being copied.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <iterator>
#include <utility>
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
    using value_type = Item;

    GrowingList() = default;
    explicit GrowingList(const std::vector<Item>& items)
    {
        for (const Item& item : items)
            push_back(item);
    }

    void push_back(const Item& item)
    {
        if (arrays_.empty() || arrays_.back().size() == arrays_.back().capacity()) {
            const std::size_t array = arrays_.size();
            arrays_.emplace_back().reserve(array < growing ? begins[array + 1] - begins[array] : most);
        }
        arrays_.back().push_back(item);
    }

    [[nodiscard]] Item& operator[](std::size_t i) { return at(arrays_, i); }
    [[nodiscard]] const Item& operator[](std::size_t i) const { return at(arrays_, i); }

    /// Of a list whose items may be changed, or of one whose items may not.
    template <class List, class Value>
    class Iterator
    {
    public:
        using iterator_category = std::random_access_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = Value*;
        using reference = Value&;

        Iterator() = default;
        Iterator(List& list, std::size_t i) : list_(&list), i_(static_cast<std::ptrdiff_t>(i)) {}

        reference operator*() const { return (*list_)[static_cast<std::size_t>(i_)]; }
        pointer operator->() const { return &**this; }
        reference operator[](difference_type n) const { return *(*this + n); }
        Iterator& operator++() { return *this += 1; }
        Iterator& operator--() { return *this -= 1; }
        Iterator operator++(int) { return std::exchange(*this, *this + 1); }
        Iterator operator--(int) { return std::exchange(*this, *this - 1); }
        Iterator& operator+=(difference_type n)
        {
            i_ += n;
            return *this;
        }
        Iterator& operator-=(difference_type n) { return *this += -n; }
        friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
        friend Iterator operator+(difference_type n, Iterator it) { return it += n; }
        friend Iterator operator-(Iterator it, difference_type n) { return it -= n; }
        friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.i_ - b.i_; }
        bool operator==(const Iterator& other) const { return i_ == other.i_; }
        auto operator<=>(const Iterator& other) const { return i_ <=> other.i_; }

    private:
        List* list_ = nullptr;
        std::ptrdiff_t i_ = 0;
    };

    auto begin() { return Iterator<GrowingList, Item>(*this, 0); }
    auto end() { return Iterator<GrowingList, Item>(*this, size()); }
    auto begin() const { return Iterator<const GrowingList, const Item>(*this, 0); }
    auto end() const { return Iterator<const GrowingList, const Item>(*this, size()); }

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
        if (arrays_.empty())
            return 0;
        const std::size_t last = arrays_.size() - 1;
        return (last < growing ? begins[last] : begins[growing] + (last - growing) * most) + arrays_.back().size();
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
    static constexpr std::size_t most = std::bit_floor(std::max((std::size_t{1} << 20) / sizeof(Item), first));

    static constexpr std::size_t longer(std::size_t items) { return std::min(items + items / 4 + 1, most); }
    static constexpr std::size_t count_growing()
    {
        std::size_t arrays = 0;
        for (std::size_t items = first; items < most; items = longer(items))
            ++arrays;
        return arrays;
    }
    /// So many arrays are shorter than the others.
    static constexpr std::size_t growing = count_growing();
    /// By array, of these and the first one behind them: how many items are in those before it.
    static constexpr std::array<std::size_t, growing + 1> begins = [] {
        std::array<std::size_t, growing + 1> result{};
        std::size_t items = first;
        for (std::size_t array = 0; array < growing; ++array, items = longer(items))
            result[array + 1] = result[array] + items;
        return result;
    }();

    template <class Arrays>
    static auto& at(Arrays& arrays, std::size_t i)
    {
        if (i >= begins[growing]) {
            const std::size_t behind = i - begins[growing];
            return arrays[growing + behind / most][behind % most];
        }
        const auto array = static_cast<std::size_t>(std::ranges::upper_bound(begins, i) - begins.begin()) - 1;
        return arrays[array][i - begins[array]];
    }

    std::vector<std::vector<Item>> arrays_;  // none is empty
};

}  // namespace critpath::replayer
