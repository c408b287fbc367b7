// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the question whose clock a process reads: processes under one kernel and in one time namespace read the same.
#pragma once

#include "formats/spool/record.hpp"

#include <cstdint>

namespace critpath::preload
{

/// Equal for processes that share a clock. Where the kernel does not say which one it is, the host's name has to do.
inline std::uint64_t clock_hash(const spool::SpoolHeader& header)
{
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto add = [&hash](std::uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3U; };
    for (const char* c = header.boot_id[0] != '\0' ? header.boot_id : header.host; *c != '\0'; ++c) {
        add(static_cast<unsigned char>(*c));
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        add(static_cast<std::uint64_t>(header.time_offset) >> shift & 0xffU);
    }
    // All bits are to be equally good: each part of them chooses a communicator.
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93U;
    return hash ^ hash >> 32;
}

}  // namespace critpath::preload
