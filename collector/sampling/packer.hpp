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

/// Writes the records to `out`, one behind the other, as spool::SampleFormat says. Returns their size.
std::size_t pack_records(const EventChoice& choice, const Unread& unread, spool::StackImage& image, char* out);

}  // namespace critpath::sampling
