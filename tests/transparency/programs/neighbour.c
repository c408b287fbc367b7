// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A library that a user preloads for reasons of his own, and that has nothing to do with MPI.
#include <stdio.h>

__attribute__((constructor)) static void load(void)
{
    puts("a neighbour is loaded");
}
