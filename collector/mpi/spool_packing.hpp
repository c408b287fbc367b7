// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the packing of a spool file that has reached its bound: its records go, in the compact form of
// formats/spool/packed.hpp, to the end of the thread's .packed file.
#pragma once

#include "formats/spool/record.hpp"

#include <cstdint>

namespace critpath::preload
{

/// Appends the `count` records behind the header of the file `fd` to the file `path`, which is made with `header` if it
/// is not there; `first` is the number of the first of them in the recording. False if not all of it could be written:
/// then what has been written counts, or is ignored by readers. Takes the memory that it needs from the kernel, and
/// gives it back.
bool pack_records(int fd, const char* path, const spool::SpoolHeader& header, std::uint64_t first, std::uint64_t count);

}  // namespace critpath::preload
