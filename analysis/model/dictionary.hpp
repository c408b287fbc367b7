// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a set of values that are given numbers in the order in which they are first seen.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::model
{

/// `Hash` mixes well in its low bits. Less than 2^32 values.
template <class Value, class Hash>
class Dictionary
{
public:
    std::uint32_t add(const Value& value)
    {
        if (2 * (values_.size() + 1) > slots_.size())
            grow(std::bit_ceil(std::max<std::size_t>(2 * (values_.size() + 1), 8)));
        std::uint32_t& slot = slots_[find(value)];
        if (slot == free) {
            slot = static_cast<std::uint32_t>(values_.size());
            values_.push_back(value);
        }
        return slot;
    }

    void reserve(std::size_t values)
    {
        values_.reserve(values);
        if (2 * values > slots_.size())
            grow(std::bit_ceil(2 * values));
    }

    /// It will hardly grow any more: what that takes is given back, and comes again if it does.
    void settle()
    {
        slots_ = std::vector<std::uint32_t>();
        values_.shrink_to_fit();
    }

    [[nodiscard]] const Value& operator[](std::uint32_t number) const { return values_[number]; }
    [[nodiscard]] std::size_t size() const { return values_.size(); }

private:
    static constexpr std::uint32_t free = 0xffffffff;

    /// The slot of `value`, or the one that is free for it.
    [[nodiscard]] std::size_t find(const Value& value) const
    {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = Hash{}(value)&mask;
        while (slots_[i] != free && !(values_[slots_[i]] == value))
            i = (i + 1) & mask;
        return i;
    }

    void grow(std::size_t slots)
    {
        slots_.assign(slots, free);
        for (std::uint32_t n = 0; n < values_.size(); ++n)
            slots_[find(values_[n])] = n;
    }

    std::vector<Value> values_;
    std::vector<std::uint32_t> slots_;  // a power of two; numbers
};

}  // namespace critpath::model
