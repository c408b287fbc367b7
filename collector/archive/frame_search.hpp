// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where the frame pointer of a function most likely is where nobody recorded it: as the first place of the stack
// at which such a frame can be. What earlier calls left there looks alike; it is told by what the call before a return
// address has called.
#pragma once

#include "collector/archive/frame_step.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace critpath::archive
{

/// What a return address says of the call before it.
enum class Called : std::uint8_t {
    Nothing,  // that is no code
    This,     // the function whose frame is sought
    Unknown,  // what a register or a table of addresses says
    Other,    // another function
};

/// What is known of the frames of one function at one instruction: they are alike, so that one is found at once where
/// another one was, and is not sought for ever where none is found.
struct FramesAt {
    std::uint64_t distance = 0;  // from the stack pointer; 0: none was found yet
    unsigned in_vain = 0;        // times in a row
};

/// A value of the frame pointer with which `rules` make sense; nothing if there is none.
std::optional<std::uint64_t> find_frame_pointer(const FrameRules& rules, const Registers& registers,
                                                const StackPiece& stack, FramesAt& known,
                                                const std::function<Called(std::uint64_t return_address)>& called);

}  // namespace critpath::archive
