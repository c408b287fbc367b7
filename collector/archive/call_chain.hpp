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
    /// The instruction, then return addresses, innermost first. Where a signal came, and where its handler returns to,
    /// no call has left an address: there the unwinder gives that of the instruction plus 1, so that one less lies in
    /// what is meant. (The kernel's walk by frame pointers does not know signals.)
    std::span<const std::uint64_t> addresses;
    bool is_whole = true;  // ends with the thread's first frame, so far as its finder can say
};

}  // namespace critpath::archive
