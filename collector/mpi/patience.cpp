// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/patience.hpp"

#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::preload
{

Patience::Patience(std::uint64_t seconds) : seconds_(seconds)
{
    if (seconds == 0) {
        return;
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    waits_ = pthread_create(&thread_, nullptr, wait, this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Patience::~Patience()
{
    if (waits_) {
        over_.store(1);
        syscall(SYS_futex, &over_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
        pthread_join(thread_, nullptr);
    }
}

void* Patience::wait(void* patience)
{
    const OwnWork guard;
    auto& self = *static_cast<Patience*>(patience);
    timespec end{};
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += static_cast<std::time_t>(self.seconds_);
    while (self.over_.load() == 0) {
        // Until a point in time, so that it does not matter how often it is woken.
        const long result =
            syscall(SYS_futex, &self.over_, FUTEX_WAIT_BITSET_PRIVATE, 0, &end, nullptr, FUTEX_BITSET_MATCH_ANY);
        if (result != 0 && errno == ETIMEDOUT && self.over_.load() == 0) {
            say(Text()
                << "cpcollect: rank " << process.rank << ": has waited " << self.seconds_
                << " s in MPI_Init for the other ranks, and still does; if it stays so, not all of them were started "
                << "with cpcollect: put it before each application of the job");
            return nullptr;
        }
        if (result != 0 && errno != EINTR && errno != EAGAIN) {
            return nullptr;
        }
    }
    return nullptr;
}

}  // namespace critpath::preload
