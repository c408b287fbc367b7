// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What plugins.c loads: of two builds with PLUGIN=one and PLUGIN=two nothing differs but three letters.
#include "work.h"

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)

WORK(NAME(PLUGIN, _work))

void NAME(PLUGIN, _run)(double milliseconds);
__attribute__((noipa)) void NAME(PLUGIN, _run)(double milliseconds)
{
    NAME(PLUGIN, _work)(milliseconds);
    MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("");  // else the call may become a jump, and this function is on no path
}
