// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how what calls complete is gone through call by call.
#pragma once

#include "analysis/model/calls.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace critpath::replayer
{

inline constexpr std::uint32_t no_call = model::CallNumbers::none;

/// The numbers 0 .. count - 1 in the order of the calls that they belong to.
class ByCall
{
public:
    /// `call_of(i)`: the number of the call in the process; no_call: it belongs to none, and is left out.
    template <class CallOf>
    ByCall(std::size_t count, CallOf call_of) : count_(count)
    {
        std::uint32_t last = 0;
        bool is_sorted = true;
        for (std::uint32_t i = 0; i < count && is_sorted; ++i) {
            const std::uint32_t call = call_of(i);
            is_sorted = last <= call;
            last = call;
        }
        if (!is_sorted) {
            order_.resize(count);
            std::iota(order_.begin(), order_.end(), 0U);
            std::ranges::stable_sort(order_, {}, call_of);
        }
        while (count_ > 0 && call_of(at(count_ - 1)) == no_call)
            --count_;
    }

    [[nodiscard]] bool at_end() const { return next_ == count_; }
    [[nodiscard]] std::uint32_t next() const { return at(next_); }
    void advance() { ++next_; }

private:
    [[nodiscard]] std::uint32_t at(std::size_t n) const
    {
        return order_.empty() ? static_cast<std::uint32_t>(n) : order_[n];
    }

    std::size_t count_;
    std::size_t next_ = 0;
    std::vector<std::uint32_t> order_;  // empty: they are in order
};

}  // namespace critpath::replayer
