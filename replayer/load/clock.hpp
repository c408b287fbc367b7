// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the conversion of a trace's clock ticks to nanoseconds.
#pragma once

#include "analysis/model/ids.hpp"

#include <cstdint>

namespace critpath::replayer::load
{

/// Ticks to ns, rounded down, so that the order of events never changes. A clock of 1e9 ticks a second is the identity.
class TickClock
{
public:
    TickClock() = default;
    explicit TickClock(std::uint64_t ticks_per_second) : ticks_per_second_(ticks_per_second) {}

    [[nodiscard]] model::Ns to_ns(std::uint64_t ticks) const
    {
        if (ticks_per_second_ == ns_per_second) {
            return model::Ns{static_cast<std::int64_t>(ticks)};
        }
        __extension__ using Wide = unsigned __int128;  // ticks * 1e9 exceeds 64 bits within seconds
        return model::Ns{static_cast<std::int64_t>(Wide{ticks} * ns_per_second / ticks_per_second_)};
    }

private:
    static constexpr std::uint64_t ns_per_second = 1'000'000'000;
    std::uint64_t ticks_per_second_ = ns_per_second;
};

}  // namespace critpath::replayer::load
