// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who called whom at a moment, as addresses.
#pragma once

#include <cstdint>
#include <span>

namespace critpath::archive
{

struct CallChain {
    /// The instruction, then return addresses, innermost first. What no call has left, but a signal, and where its
    /// handler returns to, are one further, so that each address but the first is behind the instruction that is meant.
    std::span<const std::uint64_t> addresses;
    bool is_whole = true;  // ends with the thread's first frame, so far as its finder can say
};

}  // namespace critpath::archive
