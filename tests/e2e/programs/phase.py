# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""An mpi4py program: a reduction a step, and 5 ms of sleep, which takes as long whatever else the machine does; rank 1
sleeps 25 ms in the second quarter of the steps, and prints when these begin and end, in ns of the clock of traces."""

import array
import sys
import time

from mpi4py import MPI


def main():
    world = MPI.COMM_WORLD
    rank = world.Get_rank()
    steps = int(sys.argv[1])
    total = array.array("i", [1])
    for step in range(steps):
        is_slow = rank == 1 and steps // 4 <= step < steps // 2
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        time.sleep(0.025 if is_slow else 0.005)
        if is_slow:
            print(begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), flush=True)
        world.Allreduce(MPI.IN_PLACE, total)


main()
