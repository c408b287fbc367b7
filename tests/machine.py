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


# Of the kernel, and so on every machine; but PAPI has a table of processors, and knows none of these events on others.
SOFTWARE_EVENT = "perf::PAGE-FAULTS"


@functools.lru_cache
def papi_refused():
    """Why PAPI does not count what the kernel counts; empty if it does, or if there is no PAPI."""
    for name in ("libpapi.so.7.0", "libpapi.so.7", "libpapi.so.6.0", "libpapi.so.6", "libpapi.so"):
        try:
            papi = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return ""
    versions = (major << 24 | minor << 16 for major in range(5, 9) for minor in range(10))  # as PAPI_VER_CURRENT
    if not any(papi.PAPI_library_init(version) == version for version in versions):
        return ""
    code = ctypes.c_int()
    if papi.PAPI_event_name_to_code(SOFTWARE_EVENT.encode(), ctypes.byref(code)) != 0:
        return "PAPI knows no event of the kernel on this processor"
    return ""
