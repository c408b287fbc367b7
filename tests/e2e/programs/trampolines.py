# SPDX-License-Identifier: BSD-3-Clause
"""Works in two functions of Python below a third one, for so many seconds in all, of which the first has three quarters.
MPI is called through ctypes: interpreters that come without mpi4py can run it."""

import ctypes
import sys
import time


def hot_work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(i * i for i in range(100))


def warm_work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(i * i for i in range(100))


def driver(seconds):
    hot_work(seconds * 3 / 4)
    warm_work(seconds / 4)


mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
driver(float(sys.argv[2]))
mpi.MPI_Finalize()
