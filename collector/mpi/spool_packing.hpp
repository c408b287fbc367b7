// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the packing of records: a full stage of them becomes one frame (formats/spool/packed.hpp) at the end of the
// thread's spool file.
#pragma once

#include "formats/spool/packed.hpp"

#include <cstddef>
#include <cstdint>

namespace critpath::preload
{

class RecordPacker
{
public:
    /// Asks the kernel for what frames of at most `records` need, which touches none of it. False if it refuses.
    bool reserve(std::size_t records);
    void release();

    /// Writes the `count` records as a frame at `offset` of the file, in which `first` is the number of the first of
    /// them in the recording. Returns the bytes it takes there; 0 if it does not fit: then the file ends at `offset`,
    /// and `why` is the errno of it.
    std::size_t append(int fd, std::uint64_t offset, const void* records, std::size_t count, std::uint64_t first,
                       int& why);

private:
    void* memory_ = nullptr;  // the expectation, then the frame
    std::size_t size_ = 0;
};

}  // namespace critpath::preload
