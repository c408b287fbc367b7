# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI programs under the preload library, as the launcher would, and gives back what they left.

Environment: CRITPATH_TEST_PRELOAD, CRITPATH_TEST_PROGRAMS (directory), CRITPATH_TEST_MPIEXEC."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what all tests share

from machine import MPI_ENVIRONMENT
from spool import lines, read_spool

PRELOAD = os.environ["CRITPATH_TEST_PRELOAD"]
PROGRAMS = Path(os.environ["CRITPATH_TEST_PROGRAMS"])
MPIEXEC = os.environ["CRITPATH_TEST_MPIEXEC"]
IS_MPICH = os.environ.get("CRITPATH_TEST_MPI") == "MPICH"
NO_PEER = "" if IS_MPICH else " peer=-2"  # MPI_PROC_NULL; lines() leaves -1 out


class Run:
    """One run. `spools[rank]` is the list of the rank's spools by thread."""

    def __init__(self, result, trace, ranks):
        self.code, self.stdout, self.stderr = result.returncode, result.stdout, result.stderr
        self.trace = trace
        self.spools = [
            [read_spool(f) for f in sorted((trace / "spool").glob(f"{rank}.*.calls"))] for rank in range(ranks)
        ]

    def lines(self, rank, polls=True):
        """As spool.lines(), of the main thread; without the poll runs where they depend on how long something took."""
        return [line for line in lines(self.spools[rank][0]) if polls or "polls" not in line]


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.trace = self.directory / "trace"
        self.trace.mkdir()

    def environment(self, **settings):
        """Of mpiexec."""
        known = {k: v for k, v in os.environ.items() if not k.startswith("CRITPATH_")}
        return known | MPI_ENVIRONMENT | {"OMPI_MCA_btl_base_warn_component_unused": "0"} | settings

    def settings(self, **more):
        """What the launcher puts into the environment of the application; None: not even that. The archive library is
        missing, so that the spool stays."""
        settings = {"CRITPATH_TRACE": str(self.trace), "CRITPATH_ARCHIVE_LIBRARY": "/nonexistent", **more}
        return {"LD_PRELOAD": PRELOAD, **{k: v for k, v in settings.items() if v is not None}}

    def run_plain(self, ranks, command):
        """Started as run_recorded() does it."""
        return self._execute([MPIEXEC, "-n", str(ranks), self._script("plain.sh", ""), *map(str, command)])

    def run_recorded(self, ranks, command, owner=None, **more):
        """`command` under the preload library. The settings are given to the program only, not to mpiexec."""
        exports = "".join(f"export {k}='{v}'\n" for k, v in self.settings(**more).items())
        if owner:
            exports += "[ ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} = 0 ] && export CRITPATH_TRACE_OWNER=1\n"
        script = self._script("start.sh", exports)
        return Run(self._execute([MPIEXEC, "-n", str(ranks), script, *map(str, command)]), self.trace, ranks)

    def assert_alike(self, plain, run, order=sorted):
        """The recorded run ended and printed as the plain one. Launchers mix the lines of ranks; `order=list` where a
        program sees to it that they do not."""
        self.assertEqual((run.code, order(run.stdout.splitlines())), (plain.returncode, order(plain.stdout.splitlines())),
                         plain.stderr + run.stderr)

    def run_both(self, ranks, command, order=sorted, **settings):
        """Plainly and recorded, which must look alike; returns the recorded run, which knows the plain one."""
        plain = self.run_plain(ranks, command)
        run = self.run_recorded(ranks, command, **settings)
        run.plain = plain
        self.assert_alike(plain, run, order)
        return run

    def records(self, case, ranks=2, program="records", **more):
        run = self.run_recorded(ranks, [PROGRAMS / program, case], **more)
        self.assertEqual(run.code, 0, run.stdout + run.stderr)
        return run

    def _script(self, name, exports):
        script = self.directory / name
        script.write_text(f'#!/bin/sh\n{exports}exec "$@"\n')
        script.chmod(0o755)
        return script

    def _execute(self, command):
        # On a busy machine, one in a hundred runs of MPICH's mpiexec (Hydra 4.0.2) ends by SIGPIPE itself, whatever it
        # starts: with `sh -c "exit 9"` it was 3 of 300.
        for _ in range(4):
            run = subprocess.run(list(map(str, command)), env=self.environment(), capture_output=True, text=True,
                                 timeout=100, cwd=self.directory)
            if not IS_MPICH or run.returncode != -signal.SIGPIPE:
                break
            shutil.rmtree(self.trace)
            self.trace.mkdir()
        return run
