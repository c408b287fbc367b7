// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which function of a binary without symbols the parts belong to that the compiler has moved away from it (what
// symbol tables call `solve.cold`): each has unwind information of its own, as a function has.
#pragma once

#include "collector/archive/unwind_table.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace critpath::archive
{

/// For code of x86-64. A part begins with a frame that it has not made itself, and all jumps into it are of one
/// function: whoever begins so and is not jumped into, or by several, stays what it is. Parts without a frame look like
/// functions, and do, too.
class MovedParts
{
public:
    /// `code`: the segments that can be executed. All must outlive this.
    MovedParts(const UnwindTable& functions, std::span<const std::byte> file, std::span<const Segment> code)
        : functions_(functions), file_(file), code_(code)
    {
    }

    /// Where the function begins that the part at `start` was moved away from; nothing if it is none, or that cannot be
    /// told. The first call for a part reads all of the code. May be called by several threads at once.
    [[nodiscard]] std::optional<std::uint64_t> function_of(std::uint64_t start) const;

private:
    struct Part {
        AddressRange range;
        std::uint64_t function = 0;  // 0: nobody jumps into it
        bool is_of_several = false;
    };

    void find_functions() const;
    [[nodiscard]] Part* part_at(std::uint64_t address) const;
    void add_jump(std::uint64_t from, std::uint64_t to) const;

    const UnwindTable& functions_;
    std::span<const std::byte> file_;
    std::span<const Segment> code_;
    mutable std::once_flag once_;
    mutable std::vector<Part> parts_;  // by address
};

}  // namespace critpath::archive
