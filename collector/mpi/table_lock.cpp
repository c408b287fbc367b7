// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/table_lock.hpp"

#include <cerrno>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace critpath::preload
{

void TableLock::wait()
{
    constexpr int spins = 100;
    constexpr timespec patience = {0, 1'000'000};  // whoever lets it go may not have seen that somebody waits
    const int saved_errno = errno;
    for (int tries = 0;; ++tries) {
        int holder = 0;
        if (process.lock.compare_exchange_strong(holder, own_number(), std::memory_order_acquire) ||
            holder == own_number()) {
            process.lock_has_waiters = process.lock_has_waiters || tries >= spins;  // there may be others that sleep
            break;
        }
        if (tries < spins) {
            __builtin_ia32_pause();
            continue;
        }
        process.lock_has_waiters = true;
        syscall(SYS_futex, &process.lock, FUTEX_WAIT_PRIVATE, holder, &patience, nullptr, 0);
    }
    errno = saved_errno;
}

void TableLock::wake()
{
    const int saved_errno = errno;
    process.lock_has_waiters = false;  // who still waits after this says so again
    syscall(SYS_futex, &process.lock, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    errno = saved_errno;
}

}  // namespace critpath::preload
