// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is kept of the records of a ring: all of it, but for copies of the stack what differs from the copy before.
#pragma once

#include "collector/sampling/perf_event.hpp"
#include "formats/spool/stack_image.hpp"

#include <cstddef>
#include <cstdint>

namespace critpath::sampling
{

/// What pack_records() needs of room.
std::size_t most_packed(const Unread& unread);

/// What was kept: of records that make no sense, and all behind them, nothing is.
struct Packed {
    std::size_t bytes = 0;
    std::uint64_t records = 0;  // of any type
    std::uint64_t samples = 0;
};

/// Writes the records to `out`, one behind the other, as spool::SampleFormat says.
Packed pack_records(const EventChoice& choice, const Unread& unread, spool::StackImage& image, char* out);

/// A copy of the stack that a sample has, and where its thread was.
struct CopyOfStack {
    std::uint64_t end;  // address behind it
    std::uint64_t instruction;
};

/// Of the copies in the unread records behind the first `skipped` bytes, those that are full and end in [bottom, top):
/// how many, the lowest, and the instruction of the last of them.
std::uint32_t find_cut_copies(const EventChoice& choice, const Unread& unread, std::size_t skipped,
                              std::uint64_t bottom, std::uint64_t top, CopyOfStack& lowest);

}  // namespace critpath::sampling
