// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where the samples of one thread go: packed into memory, and from there to the file once it is open. Plain data
// in zeroed memory, like PerfEvent. When the disk is full it stops writing and counts; it never fails.
#pragma once

#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/perf_event.hpp"
#include "formats/spool/record.hpp"
#include "formats/spool/stack_image.hpp"

#include <cstddef>
#include <cstdint>

namespace critpath::sampling
{

struct SampleFile {
    int fd;  // -1: not open
    FileIdentity identity;
    const char* directory;  // where it is
    bool stopped;
    int error;                 // errno of what stopped it
    spool::StackImage* image;  // mapped with the memory
    char* memory;
    std::size_t memory_used, memory_size;
    std::uint64_t memory_samples;
    std::uint64_t file_size;  // whole records end here
    std::uint64_t records, samples, lost;
    std::uint64_t first_samples, lost_first;  // as in Unread
};

void init_file(SampleFile& file);

/// Keeps a record of our own, which is no sample (the event was opened by `choice`): in the file if it is open, else in
/// memory. It is not open any more when the application has closed its descriptor.
void append_record(SampleFile& file, const EventChoice& choice, const void* record, std::size_t bytes);

/// Moves all that is in the ring to where append_record() puts it; what that was (the pieces are gone).
Unread move_records(SampleFile& file, const EventChoice& choice, const PerfEvent& event);

/// Makes the file with `header` and moves what is in memory there. `directory` must live as long as the file.
void open_file(SampleFile& file, const char* directory, const spool::SpoolHeader& header);

/// True if the application has closed it, so that close_file() will open it again: to be called by a thread of the
/// application's, which must not find its next descriptor taken.
bool is_to_be_found(const SampleFile& file);

/// Moves what is in memory there, writes the header again, with the fields of a close filled in, and closes.
void close_file(SampleFile& file, spool::SpoolHeader& header);

/// Closes it as it is.
void drop_file(SampleFile& file);

/// Gives the memory back, with the samples that never got a file.
void discard_memory(SampleFile& file);

}  // namespace critpath::sampling
