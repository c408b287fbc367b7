# SPDX-License-Identifier: BSD-3-Clause
"""cpcollect behind the launchers that start its ranks: one directory for all of them, whoever tells the ranks who they
are. Environment as of tests/e2e/harness.py, and LAUNCHER_RING (program), LAUNCHER_FAKE_SRUN (script), LAUNCHER_MPI."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import harness  # noqa: E402

RING = os.environ["LAUNCHER_RING"]
FAKE_SRUN = os.environ["LAUNCHER_FAKE_SRUN"]
IS_MPICH = os.environ["LAUNCHER_MPI"] == "MPICH"
RANKS = 3
UNKNOWN = ("PMI", "PMIX", "SLURM", "OMPI_COMM", "JOB_ID", "PBS", "LSB", "MPI_LOCAL")


class Launchers(harness.Case):
    def environment(self, **more):
        known = {k: v for k, v in harness.environment().items() if not k.startswith(UNKNOWN)}
        return known | more

    def collect(self, mode, *options, application=(RING,), **more):
        command = [harness.tool("cpcollect"), *options, "--", *application]
        start = [harness.MPIEXEC, "-n", RANKS] if mode == "mpiexec" else [FAKE_SRUN, harness.MPIEXEC, mode, RANKS]
        return harness.run(*start, *command, cwd=self.scratch, env=self.environment(**more))

    def expect_one_trace(self, result, name):
        """Of all ranks, in one directory."""
        self.assertEqual(result.code, 6, harness.describe(result))
        self.assertEqual(sorted(result.out.splitlines()),
                         [f"MPI_COMM_WORLD {rank} of {RANKS}: {(rank - 1) % RANKS} from {(rank - 1) % RANKS} with 7, "
                          f"sum {2 if rank % 2 == 0 else 1}" for rank in range(RANKS)])
        (found,) = os.listdir(self.scratch)
        self.assertRegex(found, f"^{name}$")
        self.assertTrue(os.path.exists(os.path.join(self.scratch, found, "traces.otf2")), harness.describe(result))
        self.assertIn(f"cpcollect: {RANKS} ranks, ", result.err)
        # On a machine with other work the thread that keeps the samples may come too late, which is said once.
        said = re.sub(r"^cpcollect: \d+ of \d+ samples were lost, since the thread .*\n", "", result.err, count=1,
                      flags=re.MULTILINE)
        self.assertEqual(said.count("cpcollect: "), 2, harness.describe(result))  # and the next command
        return os.path.join(self.scratch, found)

    def test_the_library_s_own(self):
        self.expect_one_trace(self.collect("mpiexec", JOB_ID="12"), "cp-ring-12")

    def test_the_library_s_own_without_a_job(self):
        self.expect_one_trace(self.collect("mpiexec", "-o", "%app.%date.%host"), r"ring\.\d{8}-\d{6}\..+")

    def test_srun(self):
        self.expect_one_trace(self.collect("pmi"), "cp-ring-4711")

    def test_srun_with_a_pattern(self):
        result = self.collect("pmi", "-o", "%jobid-%date-%app")
        self.expect_one_trace(result, r"4711-\d{8}-\d{6}-ring")

    def test_a_launcher_below_another(self):
        """Hydra or mpirun, started by a launcher that has told its own task that it is number 0."""
        self.expect_one_trace(self.collect("below"), "cp-ring-4711")

    def test_ranks_in_another_order(self):
        """The launcher's first process is not rank 0 of MPI: the directory comes to rank 0 nevertheless."""
        turned = os.path.join(self.scratch, os.pardir, os.path.basename(self.scratch) + ".turned")
        self.addCleanup(os.unlink, turned)
        variable = "PMI_RANK" if IS_MPICH else "OMPI_COMM_WORLD_RANK"
        with open(turned, "w", encoding="utf-8") as file:
            # What cpcollect sees is turned; what the MPI library sees is not.
            file.write(f"#!/bin/sh\nreal=${variable}\nexport {variable}=$(((real + 1) % {RANKS})) REAL=$real\nexec \"$@\"\n")
        os.chmod(turned, 0o755)
        back = ("env", "sh", "-c", f'export {variable}=$REAL; exec "$0"', RING)
        command = [harness.tool("cpcollect"), "-o", "trace", "--", *back]
        result = harness.run(harness.MPIEXEC, "-n", RANKS, turned, *command, cwd=self.scratch, env=self.environment())
        self.expect_one_trace(result, "trace")

    def test_tasks_that_mpi_does_not_know(self):
        """srun --mpi=none: as many programs with one rank each as there are tasks. One is recorded, one speaks."""
        result = self.collect("none", "-q", "--no-samples")
        self.assertEqual(result.code, 6, harness.describe(result))
        self.assertEqual(set(result.out.splitlines()), {"MPI_COMM_WORLD 0 of 1: 0 from 0 with 7, sum 0"})
        self.assertEqual(result.out.count("\n"), RANKS)
        self.assertEqual(os.listdir(self.scratch), ["cp-ring-4711"])
        self.assertTrue(os.path.exists(os.path.join(self.scratch, "cp-ring-4711", "traces.otf2")))
        messages = [line for line in result.err.splitlines() if line.startswith("cpcollect: ")]
        self.assertEqual(len(messages), 1, harness.describe(result))
        self.assertRegex(messages[0], "the launcher and the MPI library .* do not know each other: .*; use ")

    def test_an_error_is_said_once(self):
        for mode in ("mpiexec", "pmi", "below"):
            with self.subTest(mode=mode):
                result = self.collect(mode, application=("./nowhere",))
                self.assertNotEqual(result.code, 0)
                self.assertEqual(result.err.count("cpcollect: "), 1, harness.describe(result))
                self.assertEqual(os.listdir(self.scratch), [])


if __name__ == "__main__":
    harness.main()
