# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""in_time_namespace.py OFFSETS COMMAND ...: runs the command in a time namespace of its own, in which CLOCK_MONOTONIC and
CLOCK_MONOTONIC_RAW are ahead of the machine's by the offset of this MPI rank. OFFSETS: nanoseconds, by rank, with
commas between them. Exit code 77 if the kernel does not permit it."""

import ctypes
import os
import sys

CLONE_NEWTIME = 0x80
NO_PERMISSION = 77


def enter(offset):
    """Children are born in the new namespace; this process stays outside."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWTIME) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    seconds, nanoseconds = divmod(offset, 1_000_000_000)
    with open("/proc/self/timens_offsets", "w", encoding="ascii") as offsets:
        offsets.write(f"monotonic {seconds} {nanoseconds}\n")


def main():
    offsets, *command = sys.argv[1:]
    rank = int(next((os.environ[name] for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK") if name in os.environ), 0))
    # This interpreter is not what is to be recorded.
    try:
        enter(int(offsets.split(",")[rank]))
    except OSError as error:
        print(f"{error.strerror}", file=sys.stderr)
        sys.exit(NO_PERMISSION)
    child = os.fork()
    if child == 0:
        os.execvp(command[0], command)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status) % 256)


if __name__ == "__main__":
    main()
