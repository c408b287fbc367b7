// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the sampling of threads: one perf_event per thread, its ring, and the helper thread that drains rings
// into <rank>.<thread>.samples. Part of the preload library: no C++ runtime, no exceptions, no malloc.
//
// Order of calls: start_process, then start_thread on each thread that is to be sampled (the main thread first),
// open_files once the rank and the spool directory are known, finish. Samples that arrive before open_files are
// kept in memory. All functions may be called when sampling is off or refused; they then do nothing.
#pragma once

#include "formats/spool/record.hpp"

#include <cstdint>

namespace critpath::sampling {

struct Config {
    std::uint32_t frequency;  // samples a second and thread; 0: no sampling
    int clock_id;             // of all timestamps
};

/// Prepares sampling. Call before main() and before any other thread exists.
void start_process(const Config& config);

/// Samples the calling thread from now on. Signals are not used. Never fails: what cannot be sampled is counted and
/// explained in the thread's SpoolHeader.
void start_thread(int thread);

/// The calling thread ends; its last samples are kept.
void stop_thread();

/// Gives every thread, present and future, its file: `header` is copied into each with the thread's own numbers
/// filled in. From now on the helper thread drains into the files.
void open_files(const char* spool_directory, const spool::SpoolHeader& header);

/// Stops all sampling, drains, closes the files and ends the helper thread.
void finish();

/// In the child of fork(): forgets everything without touching what the parent shares.
void abandon_in_child();

/// Why the main thread is not sampled, as errno of perf_event_open; 0 if it is, or if sampling is off.
int refused();

}  // namespace critpath::sampling
