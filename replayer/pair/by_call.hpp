// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how what calls complete is gone through call by call.
#pragma once

#include "analysis/model/calls.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
            order_.reserve(count);
            for (std::uint32_t i = 0; i < count; ++i)
                order_.push_back(std::uint64_t{call_of(i)} << 32 | i);
            std::ranges::sort(order_);  // faster than by what call_of() says each time
        }
        while (count_ > 0 && call_of(at(count_ - 1)) == no_call)
            --count_;
    }

    [[nodiscard]] bool at_end() const { return next_ == count_; }
    [[nodiscard]] std::uint32_t next() const { return at(next_); }
    void advance() { ++next_; }
    /// Smaller numbers do not come any more.
    [[nodiscard]] std::size_t passed() const { return order_.empty() ? next_ : 0; }

private:
    [[nodiscard]] std::uint32_t at(std::size_t n) const
    {
        return static_cast<std::uint32_t>(order_.empty() ? n : order_[n]);
    }

    std::size_t count_;
    std::size_t next_ = 0;
    std::vector<std::uint64_t> order_;  // call and number; empty: they are in order
};

}  // namespace critpath::replayer
