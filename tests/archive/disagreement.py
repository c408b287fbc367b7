# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that disagree about which communicator is which are found out: at MPI_Finalize and by a recovery, and cpreplay
says so."""

import re
import shutil
import subprocess
from pathlib import Path

from harness import environment, expect, options, run, scratch

PROPERTY = b"CRITPATH::INCONSISTENT"


def marked(trace):
    return PROPERTY in Path(trace, "traces.otf2").read_bytes()


def main():
    args = options("cpcollect", "cpreplay")
    with scratch() as good, scratch() as bad, scratch() as recovered:
        expect(run(args, good)["inconsistent"], "", "what is wrong where nothing is")
        expect(marked(good), False, "mark in the archive where nothing is wrong")

        result = run(args, bad, "other-gid")
        expect(result["rc"], 0, "an archive all the same")
        found = result["inconsistent"]
        # Rank 1 has not come to MPI_Finalize, so that it need not know the communicator of rank 3.
        expect(re.sub(r"\d+", "N", found, 1), "Communicator N of ranks 1,3 is known to 1", "what is wrong")
        expect(marked(bad), True, "mark in the archive")

        shutil.copytree(Path(bad, "spool"), Path(recovered, "spool"))
        done = subprocess.run([args.cpcollect, "recover", recovered], capture_output=True, text=True, check=True)
        expect(f"ranks disagree about communicators: {found};" in done.stderr, True, f"note of the recovery: {done.stderr}")
        expect(marked(recovered), True, "mark in the recovered archive")

        replay = [args.mpiexec, "-n", "1", args.cpreplay, bad]
        done = subprocess.run(replay, env=environment(), capture_output=True, text=True)
        expect(f"note: ranks disagree about communicators ({found});" in done.stdout + done.stderr, True,
               f"note of cpreplay: {done.returncode} {done.stdout} {done.stderr}")


main()
