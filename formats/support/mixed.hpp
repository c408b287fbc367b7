// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how bits are mixed: by SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014). No state and no library, so
// that the preload library can use it too.
#pragma once

#include <cstdint>

namespace critpath
{

/// The finalizer: each bit of the result depends on each bit of `bits`; 0 stays 0.
constexpr std::uint64_t mixed(std::uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

/// What the generator with this seed says first: near seeds make far numbers.
constexpr std::uint64_t random_bits(std::uint64_t seed)
{
    return mixed(seed + 0x9e3779b97f4a7c15);
}

}  // namespace critpath
