// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the strong ids and the time type that cross interfaces: an index into one table can never be used for
// another.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>

namespace critpath::model
{

/// Points and spans of time: signed 64-bit nanoseconds on the trace's clock.
using Ns = std::chrono::nanoseconds;

template <class Tag, class Rep = std::uint32_t>
struct Id {
    Rep value{};

    static constexpr Id none() { return Id{static_cast<Rep>(-1)}; }
    [[nodiscard]] constexpr bool valid() const { return value != static_cast<Rep>(-1); }
    constexpr auto operator<=>(const Id&) const = default;
};

using LocationId = Id<struct LocationTag>;  // dense index over the locations of the trace, in rank order
using ProcessId = Id<struct ProcessTag>;    // dense index over the processes: the rank in MPI_COMM_WORLD
using NodeId = Id<struct NodeTag>;
using RegionId = Id<struct RegionTag>;      // dense index over the region definitions
using CommId = Id<struct CommTag>;          // dense index over the communicator definitions
using ContextId = Id<struct ContextTag>;    // dense index over the calling contexts
using CallId = Id<struct CallTag>;          // index of a call within its location, in order of enter
using RowId = Id<struct RowTag>;            // index of a row of the profile
using CallPathId = Id<struct CallPathTag>;  // index of a call path of the profile

}  // namespace critpath::model

template <class Tag, class Rep>
struct std::hash<critpath::model::Id<Tag, Rep>> {
    std::size_t operator()(critpath::model::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};
