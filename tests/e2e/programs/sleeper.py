# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Each rank sleeps between two barriers, then touches new memory; prints when it slept: `<rank> <begin> <end>` in ns."""

import mmap
import os
import time

from mpi4py import MPI

PAGES = 4000


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def main():
    comm = MPI.COMM_WORLD
    comm.Barrier()
    begin = now()
    time.sleep(0.2)
    end = now()
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(PAGES):
        memory[page * mmap.PAGESIZE] = 1
    comm.Barrier()
    os.write(1, f"{comm.rank} {begin} {end}\n".encode())  # in one piece, between those of other ranks


main()
