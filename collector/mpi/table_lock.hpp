// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the lock of the tables that the threads of the process share.
#pragma once

#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"

#include <atomic>

namespace critpath::preload
{

/// Holds the lock of the tables in `process`, if more than one thread may be in MPI. Where the calling thread holds it
/// already, it has left whatever held it by a jump, or is in exit(), called by a signal handler: it takes over.
class TableLock
{
public:
    TableLock()
    {
        int holder = 0;
        if (process.threads_in_mpi &&
            !process.lock.compare_exchange_strong(holder, own_number(), std::memory_order_acquire)) [[unlikely]] {
            wait();
        }
    }
    ~TableLock() { unlock(); }
    TableLock(const TableLock&) = delete;
    TableLock& operator=(const TableLock&) = delete;

    /// The calling thread has left whatever took the lock, if anything did.
    static void leave()
    {
        if (process.lock.load(std::memory_order_relaxed) == own_number()) {
            unlock();
        }
    }

private:
    static int own_number() { return local.number_plus_one + 1; }
    static void unlock()
    {
        if (process.threads_in_mpi) {
            process.lock.store(0, std::memory_order_release);
            if (process.lock_has_waiters.load(std::memory_order_relaxed)) [[unlikely]] {
                wake();
            }
        }
    }
    static void wait();
    static void wake();
};

}  // namespace critpath::preload
