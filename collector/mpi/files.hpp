// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the small files around a recording: reading what the kernel says, and the spool directory's other contents.
#pragma once

#include <cstddef>

namespace critpath::preload
{

/// Up to `size` bytes of a file; returns how many.
std::size_t read_file(const char* path, char* buffer, std::size_t size);

/// Writes <rank>.maps, which names the addresses of the samples. Called at the beginning and again at the end,
/// when everything that the application loads is there.
void copy_maps();

/// Removes this process's spool files. When all processes have done so, one of them removes the directory.
void remove_spool_files();
void remove_spool_directory();

/// Why a system call failed, in the words of strerror.
const char* error_text(int error);

/// What to do where a spool could not be made, or not be made longer, because of `error`: behind "; ".
const char* remedy(int error);

}  // namespace critpath::preload
