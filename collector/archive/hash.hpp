// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the 128-bit names of definitions: what is equal on two ranks has the same name on both, without asking.
#pragma once

#include "formats/support/mixed.hpp"

#include <compare>
#include <cstdint>
#include <string_view>

namespace critpath::archive
{

struct Hash128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    [[nodiscard]] bool is_zero() const { return high == 0 && low == 0; }
    auto operator<=>(const Hash128&) const = default;
};

struct HashOfHash {
    std::size_t operator()(const Hash128& hash) const noexcept { return hash.low; }
};

/// Feeds words and texts into two lanes that mix differently.
class Hasher
{
public:
    Hasher& add(std::uint64_t word)
    {
        high_ = mixed(high_ ^ word) + 0x9e3779b97f4a7c15U;
        low_ = mixed(low_ + word * 0xd6e8feb86659fd93U) ^ high_;
        return *this;
    }
    Hasher& add(const Hash128& hash) { return add(hash.high).add(hash.low); }
    Hasher& add(std::string_view text)
    {
        add(text.size());
        std::uint64_t word = 0;
        int filled = 0;
        for (const char c : text) {
            word = (word << 8) | static_cast<unsigned char>(c);
            if (++filled == 8) {
                add(word);
                word = 0;
                filled = 0;
            }
        }
        return add(word);
    }

    [[nodiscard]] Hash128 result() const { return {mixed(high_ + low_), mixed(low_ ^ 0x5851f42d4c957f2dU)}; }

private:
    std::uint64_t high_ = 0x6a09e667f3bcc908U;
    std::uint64_t low_ = 0xbb67ae8584caa73bU;
};

inline Hash128 text_key(std::string_view text)
{
    return Hasher().add(text).result();
}

}  // namespace critpath::archive
