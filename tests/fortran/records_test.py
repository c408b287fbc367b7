# SPDX-License-Identifier: BSD-3-Clause
"""The same calls leave the same records, whether they are made in C or through one of the Fortran bindings."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "collector_mpi"))
from harness import PROGRAMS, Case  # noqa: E402
from spool import lines  # noqa: E402

MPI = os.environ["CRITPATH_TEST_MPI"]
BINDINGS = {77: "mpif.h", 90: "use mpi", 8: "use mpi_f08 without ierror", 108: "use mpi_f08 with ierror"}

# Where the programs poll until something has come.
UNCERTAIN_POLLS = [[f"MPI_{name}", "polls"] for name in ("Test", "Iprobe", "Improbe", "Win_test")]


class Records(Case):
    def calls(self, name, **settings):
        """A run of two ranks, recorded in a trace of its own."""
        self.trace = self.directory / f"trace-{name}"
        self.trace.mkdir()
        run = self.run_recorded(2, [PROGRAMS / name, self.directory / "file"], **settings)
        self.assertEqual(run.code, 0, run.stdout + run.stderr)
        return run

    def everything(self, run, rank):
        """What a rank recorded, without what differs between runs."""
        spool = run.spools[rank][0]
        known = [f"{c.comm} {c.gid} {c.parent_gid} {c.rank} {c.members}" for c in spool.communicators]
        told = [line for line in lines(spool) if line.split()[:2] not in UNCERTAIN_POLLS]
        return told + known + [str(object) for object in spool.objects]

    def compare_with_c(self, program):
        """The names that the program in C has left, and its lines; those in Fortran leave the same."""
        in_c = self.calls(f"{program}_c")
        expected = [self.everything(in_c, rank) for rank in range(2)]
        for binding, name in BINDINGS.items():
            run = self.calls(f"{program}_{binding}")
            for rank in range(2):
                with self.subTest(binding=name, rank=rank):
                    self.assertEqual(self.everything(run, rank), expected[rank])
        told = expected[0] + expected[1]
        return {line.split()[0] for line in told if line.startswith("MPI_")}, told

    def test_are_those_of_c(self):
        names, told = self.compare_with_c("calls")
        self.assertGreater(len(names), 100)
        self.assertIn("MPI_Testall polls", told)

    def test_of_the_other_functions_are_those_of_c(self):
        names, told = self.compare_with_c("others")
        self.assertGreater(len(names), 70)
        self.assertEqual([line for line in told if line.endswith(" failed")], [])

    def test_name_the_functions_that_begin_and_end_the_run(self):
        for binding, name in BINDINGS.items():
            with self.subTest(binding=name):
                calls = self.calls(f"calls_{binding}").spools[0][0].calls
                self.assertEqual([calls[0].name, calls[-1].name], ["MPI_Init_thread", "MPI_Finalize"])

    def test_know_from_where_in_the_program_a_call_came(self):
        for binding, name in BINDINGS.items():
            with self.subTest(binding=name):
                run = self.calls(f"calls_{binding}", CRITPATH_CALLPATH="full")
                program = self.program_addresses(f"calls_{binding}")
                spool = run.spools[0][0]
                paths = [spool.paths[c.callpath] for c in spool.calls if c.name == "MPI_Send"]
                # The innermost address in the program; with MPICH its own Fortran layer is between.
                sites = {next(a for a in path if any(begin <= a < end for begin, end in program)) for path in paths}
                self.assertGreater(len(sites), 3)
                if MPI == "Open MPI":
                    self.assertEqual(sites, {path[0] for path in paths})

    def test_never_name_the_collector_as_a_caller(self):
        for program in ("calls", "others"):
            for binding, name in BINDINGS.items():
                with self.subTest(program=program, binding=name):
                    run = self.calls(f"{program}_{binding}", CRITPATH_CALLPATH="full")
                    collector = self.program_addresses("libcritpath-preload.so")
                    spool = run.spools[0][0]
                    self.assertTrue(all(c.callpath in spool.paths for c in spool.calls))
                    through_it = {c.name for c in spool.calls for address in spool.paths[c.callpath]
                                  if any(begin <= address < end for begin, end in collector)}
                    self.assertEqual(through_it, set())

    def program_addresses(self, name):
        """Where the program's own code was in the memory of rank 0."""
        found = []
        for line in (self.trace / "spool" / "0.maps").read_text().splitlines():
            words = line.split()
            if "x" in words[1] and words[-1].endswith(f"/{name}"):
                found.append(tuple(int(address, 16) for address in words[0].split("-")))
        return found


if __name__ == "__main__":
    unittest.main()
