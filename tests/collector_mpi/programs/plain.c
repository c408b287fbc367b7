/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a program without MPI. */
#include <stdio.h>

int main(void)
{
    puts("plain");
    return 3;
}
