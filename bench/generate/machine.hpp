// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what things cost on the machine that the generated program runs on.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace critpath::bench
{

using Time = std::int64_t;  // ns

inline constexpr Time start_of_time = 1'000'000'000;

struct Machine {
    static constexpr Time gap = 50;        // between two calls of one exchange
    static constexpr Time post = 200;      // a call that waits for nothing
    static constexpr Time complete = 300;  // a wait for what is there already, and the end of one for what was not
    static constexpr Time handle = 500;    // what the program does with one message
    static constexpr Time latency = 700;   // of a message within a node
    static constexpr Time far_latency = 1800;
    static constexpr Time collective_step = 1000;
    static constexpr std::uint64_t bytes_a_ns = 10;
    static constexpr std::uint64_t eager_limit = 4096;

    int ranks_a_node = 1;

    [[nodiscard]] bool same_node(int a, int b) const { return a / ranks_a_node == b / ranks_a_node; }
    [[nodiscard]] Time envelope(int from, int to) const { return same_node(from, to) ? latency : far_latency; }

    /// From when both sides that must be there are there.
    [[nodiscard]] Time transfer(int from, int to, std::uint64_t bytes) const
    {
        return envelope(from, to) + copy(bytes);
    }

    /// From the last arrival that is needed: a tree.
    [[nodiscard]] static Time collective(std::uint64_t bytes, std::size_t members)
    {
        return complete + static_cast<Time>(std::bit_width(members - 1)) * (collective_step + copy(bytes));
    }

    [[nodiscard]] static Time copy(std::uint64_t bytes) { return static_cast<Time>(bytes / bytes_a_ns); }
};

}  // namespace critpath::bench
