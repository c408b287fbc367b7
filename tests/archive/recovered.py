# SPDX-License-Identifier: BSD-3-Clause
"""One process that recovers all ranks' spool writes the same archive as the ranks together."""

import shutil
import subprocess
from pathlib import Path

from harness import expect, options, run, scratch


def text(args, trace):
    """All definitions and events."""
    lines = []
    for what in ("--show-global-defs", "--show-clock-offsets", "--timestamps=plain"):
        done = subprocess.run([args.otf2_print, what, str(Path(trace, "traces.otf2"))], capture_output=True, text=True,
                              check=True)
        lines += done.stdout.splitlines()
    return lines


def main():
    args = options("cpcollect")
    with scratch() as together, scratch() as alone:
        run(args, together)
        shutil.copytree(Path(together, "spool"), Path(alone, "spool"))
        subprocess.run([args.cpcollect, "recover", "--quiet", alone], check=True)
        wanted, found = text(args, together), text(args, alone)
        expect(len(wanted) > 500, True, "a whole archive")
        expect([pair for pair in zip(found, wanted) if pair[0] != pair[1]][:3], [], "first differences")
        expect(len(found), len(wanted), "lines of the archive")
        expect(Path(alone, "spool").exists(), False, "spool that is no longer needed")


main()
