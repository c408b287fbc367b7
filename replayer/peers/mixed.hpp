// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how occurrences are drawn that are looked at for the others: by bits that follow no pattern, so that what
// happens each second time is met as often as it happens, and that are the same on all processes.
#pragma once

#include <cstdint>

namespace critpath::replayer
{

/// The finalizer of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
constexpr std::uint64_t mixed(std::uint64_t number)
{
    std::uint64_t bits = number + 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

}  // namespace critpath::replayer
