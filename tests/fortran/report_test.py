# SPDX-License-Identifier: BSD-3-Clause
"""Fortran from end to end: recorded with cpcollect, replayed, and the hotspots name the subroutine that the run waits for."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import harness  # noqa: E402

MPI = os.environ["CRITPATH_TEST_MPI"]
PROGRAMS = Path(os.environ["CRITPATH_TEST_PROGRAMS"])


class Report(harness.Case):
    def record_imbalance(self, binding):
        output = self.record_replay_report(3, PROGRAMS / f"imbalance_{binding}")
        self.assertIn("energy is finite T", output)

    def check_path(self, binding):
        self.record_imbalance(binding)
        segments = self.assert_sound()
        functions = {segment.function for segment in segments if segment.function}
        self.assertLessEqual(functions, {"MPI_Init", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Finalize"})
        refused = harness.perf_event_refused()
        if refused:
            self.skipTest(f"perf_event_open is refused on this machine ({refused}): no functions to look at")
        rows = [row for row in self.hotspots("path") if row["kind"] == "sampled"]
        listing = "\n".join(map(str, rows[:8]))
        self.assertIn("relax", rows[0]["function"], listing)
        # 4 steps of 0.3 s on the last of three ranks, which is on the path all the time
        self.assertGreater(rows[0]["path_seconds"], 0.9, listing)
        # The program has its own name, and its calls are its own.
        tree = self.report("hotspots", "--by", "callpath", "--top", "0", "--sort", "all")
        self.assertIn("imbalance", tree)
        self.assertNotIn("MAIN__", tree)
        lines = json.loads(self.report("hotspots", "--by", "line", "--top", "0", "--format", "json"))["hotspots"]
        of_init = {os.path.basename(row["file"]) for row in lines if row["function"] == "MPI_Init"}
        if MPI == "Open MPI":  # with MPICH its own Fortran layer is between
            self.assertEqual(of_init, {"imbalance.F90"}, lines[:8])  # GNU's lines are wrong behind an #include

    @harness.retry_once
    def test_mpif_h(self):
        self.check_path(77)

    @harness.retry_once
    def test_use_mpi(self):
        self.check_path(90)

    @harness.retry_once
    def test_use_mpi_f08(self):
        self.check_path(8)


if __name__ == "__main__":
    harness.main()
