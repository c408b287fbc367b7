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
    std::span<const std::uint64_t> addresses;  // the instruction, then return addresses, innermost first
    bool is_whole = true;                      // ends with the thread's first frame, so far as its finder can say
};

}  // namespace critpath::archive
