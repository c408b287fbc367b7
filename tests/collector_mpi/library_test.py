# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI library the application brings, and how it comes to it: privately at run time, through pointers, without PMPI
functions, or another one than critpath was built with. The application never sees a difference."""

import os
import subprocess
import unittest
from pathlib import Path

from harness import PROGRAMS, Case

LIBRARY = os.environ["CRITPATH_TEST_MPI_LIBRARY"]  # the MPI library itself
OTHER = os.environ["CRITPATH_TEST_OTHER_MPICC"]  # compiler of the other MPI library, or empty
SOURCE = Path(__file__).resolve().parent / "programs" / "plugin.c"
CALLS = ["MPI_Init", "MPI_Sendrecv", "MPI_Comm_split", "MPI_Allreduce", "MPI_Comm_free", "MPI_Finalize"]


class Library(Case):
    def test_that_is_loaded_privately_is_recorded(self):
        run = self.run_both(2, [PROGRAMS / "dlopened", "plugin", PROGRAMS / "plugin.so"], owner=True)
        self.assertEqual(run.code, 6)
        for rank in range(2):
            self.assertEqual([call.name for call in run.spools[rank][0].calls], CALLS)

    def test_that_is_called_through_pointers_is_recorded(self):
        for scope in ("direct", "global"):
            with self.subTest(scope):
                self.setUp()
                run = self.run_both(1, [PROGRAMS / "dlopened", scope, LIBRARY], owner=True)
                self.assertEqual((run.code, run.stdout), (5, "direct\n"))
                self.assertEqual([call.name for call in run.spools[0][0].calls], ["MPI_Init", "MPI_Finalize"])

    def test_that_is_called_by_its_pmpi_names_is_not_recorded_and_that_is_said(self):
        run = self.run_both(1, [PROGRAMS / "dlopened", "pmpi", LIBRARY], owner=True)
        self.assertEqual((run.code, run.stdout), (5, "direct\n"))
        self.assertIn("dlopened: MPI_Init was never called", run.stderr)
        self.assertIn("through pointers", run.stderr)
        self.assertEqual(run.stderr.count("cpcollect: "), 1, run.stderr)

    def test_other_lookups_are_the_c_librarys(self):
        run = self.run_both(1, [PROGRAMS / "dlopened", "lookups", LIBRARY], owner=True)
        self.assertEqual((run.code, run.stdout), (0, "next from the program, default, handle, missing, error, none\n"))

    def test_without_pmpi_functions_is_called_by_its_mpi_functions(self):
        run = self.run_both(1, [PROGRAMS / "stubbed"], owner=True)
        self.assertEqual((run.code, run.stdout), (9, "0 0 4 42 11\n"))
        self.assertIn("has no PMPI functions, so nothing will be recorded; ", run.stderr)
        self.assertEqual(run.stderr.count("cpcollect: "), 1, run.stderr)
        self.assertEqual(run.spools, [[]])

    def compile(self, *arguments):
        self.assertTrue(OTHER, "no compiler of another MPI library; install scripts/packages.txt")
        subprocess.run([OTHER, *arguments], check=True)

    def test_of_another_kind_is_left_alone(self):
        program = self.directory / "program"
        self.compile("-DPROGRAM", SOURCE, "-o", program)
        # One process, since the launcher is not that of this library.
        run = self.run_both(1, [program], owner=True)
        self.assertEqual((run.code, run.stdout), (6, "MPI_COMM_WORLD 0 of 1: 0 from 0 with 7, sum 0\n"))
        self.assertRegex(run.stderr, "the MPI library of the application is not (Open MPI|MPICH), .*; build critpath with")
        self.assertEqual(run.stderr.count("cpcollect: "), 1, run.stderr)
        self.assertFalse(self.trace.exists())

    def test_of_another_kind_that_comes_late_is_said(self):
        plugin = self.directory / "plugin.so"
        self.compile("-shared", "-fPIC", SOURCE, "-o", plugin)
        run = self.run_recorded(1, [PROGRAMS / "dlopened", "plugin", plugin])
        self.assertRegex(run.stderr, "the MPI library of the application is not (Open MPI|MPICH), .*; build critpath with")
        self.assertEqual(run.spools, [[]])


if __name__ == "__main__":
    unittest.main()
