// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the step from a function to its caller: what the rules of an instruction say about given registers and a given
// piece of the stack.
#pragma once

#include "collector/archive/frame_table.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace critpath::archive
{

/// By DWARF's numbers.
class Registers
{
public:
    [[nodiscard]] std::optional<std::uint64_t> get(std::uint64_t number) const
    {
        return number < register_count && known_[number] ? std::optional(values_[number]) : std::nullopt;
    }
    void set(unsigned number, std::uint64_t value)
    {
        values_[number] = value;
        known_[number] = true;
    }

private:
    std::array<std::uint64_t, register_count> values_{};
    std::bitset<register_count> known_;
};

/// What is known of the stack: `bytes` from the address `begin` on.
struct StackPiece {
    std::uint64_t begin = 0;
    std::span<const std::byte> bytes = {};

    [[nodiscard]] std::optional<std::uint64_t> word_at(std::uint64_t address) const;
};

struct Caller {
    Registers registers;               // as they were when it made the call
    std::uint64_t return_address = 0;  // 0: there is no caller
};

/// Nothing if the frame or the return address cannot be found; of the other registers those are known that can be.
std::optional<Caller> step(const FrameRules& rules, const Registers& registers, const StackPiece& stack);

}  // namespace critpath::archive
