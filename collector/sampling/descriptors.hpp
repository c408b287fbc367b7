// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the collector uses descriptors and files without the application noticing: out of the way of its numbers,
// never one that it has closed and opened again as its own, and no write that would raise a signal in it.
#pragma once

#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace critpath::sampling
{

/// Moves `fd` out of the way of the application: to a high number, closed on exec. Returns the new descriptor, or
/// `fd` itself, closed on exec, where no high number is free. An error stays one.
int move_descriptor_up(int fd);

/// As open(), and closed on exec, but no cancellation point: a thread of the application must not end here.
int open_quietly(const char* path, int flags);

/// As close(), but no cancellation point.
void close_quietly(int fd);

/// Which file a descriptor stands for. Plain data; of zeros, that of no file.
struct FileIdentity {
    dev_t device;
    ino_t inode;
};

/// Of a file that was just opened.
FileIdentity identity_of(int fd);

/// False if the application has closed `fd`, whatever it may stand for now.
bool is_file(int fd, const FileIdentity& identity);

/// A descriptor that stays open, which the application may close and open as its own.
struct Descriptor {
    int fd;
    FileIdentity identity;
};
inline constexpr Descriptor no_descriptor{-1, {}};

/// Moved out of the way of the application; no_descriptor if that is impossible, or if there are few left, which others
/// need more. No cancellation point.
Descriptor open_to_stay(const char* path, int flags);

/// Unless the application has closed it.
void close_if_ours(Descriptor& descriptor);

/// True if the process may make a file that long; a longer one would raise a signal in the application.
bool file_may_grow_to(std::uint64_t size);

/// Writes all of `bytes` at `offset`. Returns 0 or an errno; EFBIG, before anything is written, where the file may not
/// grow so far. No cancellation point.
int write_at(int fd, std::uint64_t offset, const void* bytes, std::size_t size);

/// The beginning of a small file, always terminated; empty if it cannot be read. Returns its length.
std::size_t read_text(const char* path, char* text, std::size_t size);

/// The name that a thread of this process has now; empty if it has ended. No allocation.
void read_thread_name(std::int64_t tid, char (&name)[spool::thread_name_size]);

}  // namespace critpath::sampling
