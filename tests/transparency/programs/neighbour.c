// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A library that a user preloads for reasons of his own, and that has nothing to do with MPI. Who gives way by it can
// tell.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void load(void)
{
    puts("a neighbour is loaded");
}

int sched_yield(void)
{
    syscall(SYS_sched_yield);
    return 42;
}
