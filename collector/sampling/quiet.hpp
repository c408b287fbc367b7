// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the collector works on a thread of the application without being noticed: while a Quiet lives, no signal
// handler of the application runs on this thread and nobody can cancel it; errno is what it was when the Quiet goes.
#pragma once

#include <cerrno>

#include <pthread.h>
#include <signal.h>

namespace critpath::sampling
{

class Quiet
{
public:
    Quiet() : errno_(errno)
    {
        sigset_t all;
        sigfillset(&all);  // leaves out the signals that glibc needs for setuid() and cancellation
        pthread_sigmask(SIG_SETMASK, &all, &mask_);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    }

    ~Quiet()
    {
        int ignored;
        pthread_setcancelstate(cancel_state_, &ignored);
        pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
        errno = errno_;
    }

    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    sigset_t mask_;
    int cancel_state_;
    int errno_;
};

}  // namespace critpath::sampling
