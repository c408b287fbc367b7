// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the step from a function to its caller: what the rules of an instruction say about given registers and a given
// piece of the stack.
#pragma once

#include "collector/archive/deep_stacks.hpp"
#include "collector/archive/frame_table.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// What images have of a stack at one moment.
struct DeepView {
    const DeepStacks* stacks = nullptr;  // null: there are none
    std::uint64_t time = 0;
    /// Whether two words at one place lead to the same caller.
    const std::function<bool(std::uint64_t, std::uint64_t)>* are_alike = nullptr;

    [[nodiscard]] std::optional<std::uint64_t> word_at(std::uint64_t address) const;
};

/// What is known of the stack: `bytes` from the address `begin` on, and behind them what `deep` has.
struct StackPiece {
    std::uint64_t begin = 0;
    std::span<const std::byte> bytes = {};
    DeepView deep = {};

    [[nodiscard]] std::optional<std::uint64_t> word_at(std::uint64_t address) const;
    [[nodiscard]] bool is_beyond(std::uint64_t address) const
    {
        return address >= begin && address - begin >= bytes.size();
    }
};

struct Caller {
    Registers registers;               // as they were when it made the call
    std::uint64_t return_address = 0;  // 0: there is no caller
    std::uint64_t return_place = 0;    // where on the stack it is; 0: in a register
};

/// Nothing if the frame or the return address cannot be found; of the other registers those are known that can be.
std::optional<Caller> step(const FrameRules& rules, const Registers& registers, const StackPiece& stack);

}  // namespace critpath::archive
