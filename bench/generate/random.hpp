// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns random numbers that belong to a place in the generated program, so that each writing process gets the same
// without asking another.
#pragma once

#include "formats/support/mixed.hpp"

#include <cstdint>

namespace critpath::bench
{

/// What a random number is for; numbers for different purposes have nothing to do with each other.
enum class Purpose : std::uint64_t { Work = 1, Message, Collective, Graph, Size, Sample };

class Dice
{
public:
    explicit Dice(std::uint64_t seed) : seed_(mixed(seed)) {}

    /// 64 random bits of `who` (a rank, an edge) at `step`.
    [[nodiscard]] std::uint64_t bits(Purpose purpose, std::uint64_t step, std::uint64_t who) const
    {
        constexpr std::uint64_t a = 0x9e3779b97f4a7c15, b = 0xc2b2ae3d27d4eb4f, c = 0x165667b19e3779f9;
        return mixed(seed_ + static_cast<std::uint64_t>(purpose) * a + step * b + who * c);
    }

    /// A number in [0, bound).
    [[nodiscard]] std::uint64_t below(std::uint64_t bound, Purpose purpose, std::uint64_t step, std::uint64_t who) const
    {
        return scale(bits(purpose, step, who), bound);
    }

private:
    static constexpr std::uint64_t scale(std::uint64_t bits, std::uint64_t bound)
    {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
    }

    std::uint64_t seed_;
};

}  // namespace critpath::bench
