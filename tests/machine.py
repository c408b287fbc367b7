# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what tests ask of the machine that they run on."""

import ctypes
import functools
import os
import platform
import struct

# Of mpiexec: Open MPI asks for the first two before it runs as root, which is what a container is; ranks may be more than
# the cores.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


@functools.lru_cache
def perf_event_refused():
    """Why this machine does not let a process sample itself; empty if it does."""
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    if number is None:
        return ""
    # struct perf_event_attr, version 0: software event cpu-clock, disabled, without the kernel
    attributes = ctypes.create_string_buffer(struct.pack("=IIQQQQQIIQ", 1, 64, 0, 1000000, 0, 0, 1 | 1 << 5, 0, 0, 0), 64)
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(number, attributes, 0, -1, -1, 0)
    if descriptor < 0:
        return os.strerror(ctypes.get_errno())
    os.close(descriptor)
    return ""
