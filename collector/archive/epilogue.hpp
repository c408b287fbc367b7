// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way to the caller from code that a program has made while it ran, and that has no unwind information: where
// nothing but the end of its function stands behind a call, the instructions there are the rules. So it is with what
// CPython puts before each function for perf(1) (-X perf), which calls the interpreter and returns.
#pragma once

#include "collector/archive/frame_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace critpath::archive
{

/// The rules for the return address `address`, where the bytes of `code` are. Nothing if something else stands there
/// than instructions that give the stack back, restore registers and return; also on processors other than x86-64.
std::optional<FrameRules> epilogue_rules(std::uint64_t address, std::span<const std::byte> code);

/// As many bytes of this process at `address` as an epilogue may have, or as there are: the application may have given
/// the memory back, and another of its threads may do so at any time.
std::vector<std::byte> own_code(std::uint64_t address);

}  // namespace critpath::archive
