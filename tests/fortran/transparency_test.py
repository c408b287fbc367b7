# SPDX-License-Identifier: BSD-3-Clause
"""A Fortran program sees the same with and without the collector: all that programs/visible.F90 can see of MPI."""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "collector_mpi"))
from harness import PROGRAMS, Case  # noqa: E402

MPI = os.environ["CRITPATH_TEST_MPI"]
BINDINGS = (77, 90, 8, 108)


class Transparency(Case):
    def both(self, binding, *mode):
        self.trace = Path(tempfile.mkdtemp(prefix="trace-", dir=self.directory))
        run = self.run_both(2, [PROGRAMS / f"visible_{binding}", self.directory / "file", *mode])
        self.assertTrue(run.spools[0] and run.spools[0][0].calls, "nothing was recorded")
        return run

    def test_everything_visible(self):
        for binding in BINDINGS:
            with self.subTest(binding=binding):
                run = self.both(binding)
                self.assertEqual(run.code, 0, run.stdout + run.stderr)
                self.assertEqual(run.stdout.count("finalized 0\n"), 2)
                if binding != 8:  # without ierror no error can be seen
                    self.assertEqual(len(re.findall("^truncated 1[45] ", run.stdout, re.MULTILINE)), 4)

    if MPI == "Open MPI":  # MPICH starts further processes only where its launcher can, which is seldom

        def test_processes_started_by_mpi(self):
            for binding in BINDINGS:
                with self.subTest(binding=binding):
                    self.assertEqual(self.both(binding, "spawn").stdout.count("sum 3\n"), 4)

    def abort(self, binding):
        self.assertEqual(self.both(binding, "abort").code, 7)

    def test_abort(self):
        for binding in BINDINGS:
            with self.subTest(binding=binding):
                try:
                    self.abort(binding)
                except AssertionError:
                    if MPI == "Open MPI":
                        raise
                    self.abort(binding)  # Hydra loses the output of one aborted job in a hundred, also without us


if __name__ == "__main__":
    unittest.main()
