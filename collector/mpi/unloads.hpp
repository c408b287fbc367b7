// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what was where before a library was unloaded (<rank>.unloads, formats/spool/record.hpp): samples of it have its
// names only by that. To know the moment, dlclose() is ours; it calls the next one, and the application gets what that
// returns. Nothing is read unless something was loaded since the last time, or is there no more.
//
// What the C library unloads by itself (conversions of iconv), or somebody with a C library of his own order of search
// (RTLD_DEEPBIND, dlmopen), goes unseen. The archive finds that it is missing in a later map.
#pragma once

#include <atomic>
#include <cstdint>

namespace critpath::preload
{

/// How often something has been unloaded: addresses that were known before may stand for something else.
extern std::atomic<std::uint32_t> unload_count __attribute__((visibility("hidden")));

/// Finds the next dlclose.
void find_unload();

/// From now on unloads are noted, in memory until open_unloads().
void start_unloads();

/// The spool directory is there. Starts if that was not done before.
void open_unloads();

/// Nothing is noted any more.
void stop_unloads();

/// In the child of a fork(): as if nothing had been noted. It may start again.
void abandon_unloads();

/// Libraries that were unloaded without a note, for want of room, or because notes would have cost too much.
std::uint64_t unnoted_unloads();

}  // namespace critpath::preload
