// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the withholding of a signal that a write of ours may raise on the calling thread (SIGXFSZ, SIGPIPE): while a
// Withheld lives it is blocked, and one that came in that time never reaches the application.
#pragma once

#include <cerrno>

#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace critpath::sampling
{

class Withheld
{
public:
    explicit Withheld(int signal)
    {
        const int saved_errno = errno;
        sigset_t pending;
        sigemptyset(&set_);
        sigaddset(&set_, signal);
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
        was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
        was_blocked_ = sigismember(&before_, signal) == 1;
        errno = saved_errno;
    }

    ~Withheld()
    {
        const int saved_errno = errno;
        if (!was_pending_) {  // else it is the application's own
            const timespec at_once{};
            sigtimedwait(&set_, nullptr, &at_once);
        }
        if (!was_blocked_) {
            pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
        }
        errno = saved_errno;
    }

    Withheld(const Withheld&) = delete;
    Withheld& operator=(const Withheld&) = delete;

private:
    sigset_t set_;
    sigset_t before_;
    bool was_pending_;
    bool was_blocked_;
};

}  // namespace critpath::sampling
