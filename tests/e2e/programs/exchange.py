# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""An mpi4py program: halo exchange in a ring, a reduction a step, and results gathered with MPI_ANY_SOURCE. Rank 0 has
more to do than the others and prints the sum, which is a formula: steps * ranks."""

import sys
import time

from mpi4py import MPI


def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


def main():
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    total = 0
    for step in range(steps):
        left, right = (rank - 1) % size, (rank + 1) % size
        requests = [world.isend(step, dest=left, tag=1), world.isend(step, dest=right, tag=2)]
        busy(0.03 if rank == 0 else 0.005)
        assert world.recv(source=right, tag=1) == step
        assert world.recv(source=left, tag=2) == step
        MPI.Request.waitall(requests)
        total += world.allreduce(1)
    if rank == 0:
        for _ in range(size - 1):
            status = MPI.Status()
            assert world.recv(source=MPI.ANY_SOURCE, tag=3, status=status) == status.Get_source()
        print(total)
    else:
        world.send(rank, dest=0, tag=3)


main()
