# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns runs whose ranks have clocks of their own, as on several nodes: time namespaces give them, on one machine, and their
offsets are known to the ns."""

import collections
import functools
import json
import os
import re

import harness
import test_workloads

NAMESPACE = (harness.PYTHON, "-B", os.path.join(harness.PROGRAMS, "in_time_namespace.py"))
# Ahead of the machine's clock, by rank; ranks 1 and 3 share one.
OFFSETS = (0, 1_000_123_456_789, -3_000_000_001, 1_000_123_456_789)

Point = collections.namedtuple("Point", "time offset half_width")

# Where several threads may be in MPI, clocks are compared at the ends only.
LONG_RUN = """
import time
import mpi4py
mpi4py.rc.thread_level = "serialized"
from mpi4py import MPI
for _ in range(350):
    MPI.COMM_WORLD.Barrier()
    time.sleep(0.02)
"""


# One rank may have several threads in MPI, and the other one not.
MIXED_LEVELS = """
import os
import mpi4py
first = "0" in (os.environ.get("OMPI_COMM_WORLD_RANK"), os.environ.get("PMI_RANK"))
mpi4py.rc.thread_level = "multiple" if first else "single"
from mpi4py import MPI
for _ in range(20):
    MPI.COMM_WORLD.Barrier()
levels = MPI.COMM_WORLD.gather(MPI.Query_thread())
if levels is not None:
    print("all the same" if len(set(levels)) == 1 else "levels differ")
"""


@functools.lru_cache
def refused():
    """Why this machine does not make time namespaces; empty if it does."""
    result = harness.run(*NAMESPACE, "0", "true")
    return "" if result.code == 0 else result.err.strip() or f"exit code {result.code}"


class Clocks(harness.Case):
    check_ranks = test_workloads.Workload.check_ranks
    check_functions = test_workloads.Workload.check_functions

    def setUp(self):
        super().setUp()
        if refused():
            self.skipTest(f"time namespaces are refused on this machine: {refused()}")

    def record_apart(self, ranks, *application, **run_options):
        """Records with a clock for each rank."""
        offsets = ",".join(map(str, OFFSETS[:ranks]))
        return self.record(ranks, *NAMESPACE, offsets, *application, options=("-q",), **run_options)

    def points(self):
        """By rank: what the trace knows about its clock."""
        listing = self.succeed(harness.run("otf2-print", "-C", os.path.join(self.trace, "traces.otf2"))).out
        result = collections.defaultdict(list)
        for location, *numbers in re.findall(
            r"CLOCK_OFFSET +(\d+) +Time: (\d+), Offset: ([-+]\d+), StdDev: (\S+)", listing
        ):
            result[int(location) & 0xFFFFFFFF].append(Point(int(numbers[0]), int(numbers[1]), float(numbers[2])))
        return result

    def assert_true_offsets(self, ranks, least):
        """Rank 0's clock minus that of each rank lies in every interval."""
        points = self.points()
        self.assertEqual(sorted(points), list(range(ranks)))
        for rank in range(ranks):
            self.assertGreaterEqual(len(points[rank]), least)
            for point in points[rank]:
                self.assertLessEqual(abs(point.offset + OFFSETS[rank] - OFFSETS[0]), point.half_width, f"rank {rank}: {point}")
                self.assertLess(point.half_width, 100e6)  # nobody was away for more than 0.1 s in each of the rounds
        self.assertTrue(all(point.half_width == 0 for point in points[0]))
        return points

    def summary(self):
        return json.loads(self.report("summary", "--format", "json"))

    def test_intervals_contain_the_true_offsets(self):
        self.record_apart(4, harness.workload("rotating_allreduce"))
        points = self.assert_true_offsets(4, least=2)
        self.assertEqual(points[1], points[3])  # one clock, one measurement
        self.validate()
        self.replay_on(1, 2, 4)
        self.assertEqual(self.summary()["clock_domains"], 3)
        # What was measured, or less where the collectives say more.
        self.assertGreater(self.summary()["clock_uncertainty_seconds"], 0)
        self.assertEqual(self.summary()["clocks_unknown"], 0)

    @harness.retry_once
    def test_path_of_messages_is_that_of_one_clock(self):
        self.record_apart(2, harness.workload("late_sender"))
        self.assert_true_offsets(2, least=2)
        self.validate()
        self.replay_on(1, 2)
        self.check_ranks([0, 1] * 8)
        if not harness.perf_event_refused():
            self.check_functions({"work_late": (8, 100), "work_after": (8, 50)}, ["work_early"])

    @harness.retry_once
    def test_path_of_collectives_is_that_of_one_clock(self):
        self.record_apart(3, harness.workload("rotating_allreduce"))
        self.replay_on(1, 3)
        self.check_ranks([0, 1, 2] * 3)
        if not harness.perf_event_refused():
            self.check_functions({"work_slow": (9, 100)}, ["work_fast"])

    def test_long_runs_compare_again(self):
        # The first time after five periods.
        self.record_apart(2, harness.PYTHON, "-c", LONG_RUN, env=harness.environment(CPCOLLECT_CLOCK_PERIOD="1"))
        points = self.assert_true_offsets(2, least=3)
        self.assertGreaterEqual(points[1][1].time - points[1][0].time, 5e9)
        self.validate()
        self.replay_on(1, 2)
        self.assert_sound()

    def test_ranks_that_ask_for_different_levels_of_threads(self):
        result = self.record_apart(2, harness.PYTHON, "-c", MIXED_LEVELS)
        self.assertIn("levels differ", result.out)
        points = self.assert_true_offsets(2, least=2)
        self.assertEqual(len(points[1]), 2, "clocks are compared at the ends only")

    def test_one_clock_costs_one_record(self):
        self.record(2, harness.workload("late_sender"), options=("-q",))
        self.assertEqual([[(p.offset, p.half_width) for p in points] for points in self.points().values()],
                         [[(0, 0)]] * 2)
        self.replay(1)
        self.assertNotIn("clock_domains", self.summary())


if __name__ == "__main__":
    harness.main()
