// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the word that is said if the ranks do not come together when the recording begins: mostly because only some of
// them were started with cpcollect. More than to say so cannot be done: a rank that went on would leave messages on
// MPI_COMM_WORLD, where the application would find them.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

namespace critpath::preload
{

/// While it lives, a thread of ours waits; if that takes long, it says one line. Under the guard (OwnWork), so that the
/// thread is not taken for one of the application's; all signals are blocked in it.
class Patience
{
public:
    /// `seconds`: after which the line is said; 0: never.
    explicit Patience(std::uint64_t seconds);
    ~Patience();
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

private:
    static void* wait(void* patience);

    std::atomic<std::uint32_t> over_ = 0;  // a futex
    std::uint64_t seconds_;
    pthread_t thread_{};
    bool waits_ = false;
};

}  // namespace critpath::preload
