# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns the proof that generated traces are sound, and that the replay sees in them what was generated: the length of the
run, and, where the program is regular, the path as a formula says it must be."""

import collections
import filecmp
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402

GENERATE = os.environ.get("GENERATE_TRACE", "")

# ns, of bench/generate/machine.hpp and program.cpp
START, GAP, POST, COMPLETE, LATENCY, STEP, BYTES_A_NS = 10_000, 50, 200, 300, 700, 1000, 10


def collective(members, size=0):
    return COMPLETE + (members - 1).bit_length() * (STEP + size // BYTES_A_NS)


def transfer(size):
    return LATENCY + size // BYTES_A_NS


class Traces(harness.Case):
    def generate(self, *options, processes=1, directory=None):
        """What the generator says about the trace."""
        result = self.succeed(harness.mpirun(processes, GENERATE, *options, directory or self.trace))
        return json.loads(result.out)

    def check(self, pattern):
        """12 ranks on 3 nodes, whose clocks are not known exactly, with samples."""
        options = ("--pattern", pattern, "--locations", 12, "--ranks-a-node", 4, "--events", 30000, "--samples", 5000)
        said = self.generate(*options)
        self.validate()
        self.assertAlmostEqual(said["events"], 30000, delta=3000)
        other = os.path.join(self.scratch, "other")
        self.assertEqual({**said, "seconds": 0}, {**self.generate(*options, processes=3, directory=other), "seconds": 0})
        for name in ("traces.def", *(f"traces/{rank}.{kind}" for rank in range(12) for kind in ("evt", "def"))):
            self.assertTrue(filecmp.cmp(os.path.join(self.trace, name), os.path.join(other, name), shallow=False), name)
        self.replay_on(1, 2)
        self.assert_sound()
        for key in ("makespan_ns", "messages", "collectives"):
            self.assertEqual(self.fact(key), said[key], key)
        self.assertEqual(self.fact("clock_domains"), 3)
        self.assertGreater(self.fact("path_samples"), 0)

    def test_memory_is_bounded_if_asked_for(self):
        """The same result in less memory than the arrays need: those of 4 million events here, some 50 MiB."""
        self.generate("--pattern", "collective", "--events", 4000000)
        def replay(*options):
            said = self.succeed(harness.mpirun(1, harness.tool("cpreplay"), "-q", "--timings=json", *options, self.trace)).err
            phases = json.loads(next(line for line in said.splitlines() if line.startswith("{")))["phases"]
            with open(os.path.join(self.trace, "critpath", "segments.bin"), "rb") as file:
                return phases[-1]["peak_kib"], file.read()
        peak, segments = replay()
        bounded, same = replay("--memory=1M")
        self.assertEqual(same, segments)
        self.assertLess(bounded, peak - 20000, f"KiB, of {peak}")
        self.assertEqual(sorted(os.listdir(os.path.join(self.trace, "critpath"))), ["attribution.bin", "computed.bin", "counts.bin", "critpath.sqlite", "segments.bin", "totals.bin"])

    def test_bounded_memory_does_not_grow_with_the_events(self):
        """Of 3 million events, the arrays need more than the bound already."""
        def peak(events):
            trace = os.path.join(self.scratch, str(events))
            self.generate("--pattern", "halo", "--locations", 2, "--events", events, directory=trace)
            said = self.succeed(harness.mpirun(1, harness.tool("cpreplay"), "-q", "--timings=json", "--memory=32M", trace)).err
            return json.loads(next(line for line in said.splitlines() if line.startswith("{")))["phases"][-1]["peak_kib"]
        few, many = peak(3000000), peak(12000000)
        self.assertLess(many, few + 10000, f"KiB, of {few}")

    def test_halo(self):
        self.check("halo")

    def test_wavefront(self):
        self.check("wavefront")

    def test_collective(self):
        self.check("collective")

    def test_irregular(self):
        self.check("irregular")

    def regular(self, *options):
        """Without noise and Allreduce. Path time in ns by (kind, rank)."""
        said = self.generate("--noise", 0, "--allreduce-every", 0, "--work", 20000, *options)
        self.replay(2)
        path = collections.Counter()
        for segment in self.assert_sound():
            path[segment.kind, segment.rank] += round(1e9 * (segment.end - segment.begin))
        self.assertEqual(self.fact("makespan_ns"), said["makespan_ns"])
        return said, path

    def test_path_of_a_halo_is_on_its_slow_rank(self):
        """Rank 8 of 3 x 3 has two neighbours and never waits; at the end, one of these waits for its last message."""
        said, path = self.regular("--locations", 9, "--events", 20000, "--imbalance", 4, "--slow-rank", 8)
        steps, posts = said["steps"], 4
        last = (posts - 1) * (POST + GAP) + transfer(2048) + COMPLETE
        self.assertEqual(said["makespan_ns"], START + GAP + collective(9) + steps * 5 * 20000 +
                         (steps - 1) * (posts * (POST + GAP) + COMPLETE) + last + GAP)
        self.assertEqual(path["compute", 8], START + GAP + steps * 5 * 20000 + (steps * posts - 1) * GAP)
        self.assertEqual(path["transfer", 8] + path["transfer", 7] + path["transfer", 5], transfer(2048) + COMPLETE)
        self.assertEqual(path["compute", 7] + path["compute", 5], GAP)
        self.assertEqual(self.fact("hops"), 1)

    def test_path_of_a_row_goes_back_and_forth(self):
        """One row of ranks: each sweep goes through all of them, and the next one starts where it ends."""
        said, path = self.regular("--pattern", "wavefront", "--rows", 1, "--locations", 5, "--events", 6000)
        sweeps, ranks = said["steps"], 5
        messages = sweeps * (ranks - 1)
        self.assertEqual(said["messages"], messages)
        self.assertEqual(said["makespan_ns"], START + GAP + collective(ranks) + sweeps * ranks * 20000 +
                         messages * (GAP + transfer(1024) + COMPLETE) + GAP)
        self.assertEqual(self.fact("hops"), messages + 1)  # of equal arrivals at MPI_Init, that of the last rank counts
        for rank in range(1, ranks - 1):
            self.assertEqual(path["compute", rank], sweeps * (20000 + GAP))
        self.assertEqual(sum(ns for (kind, _), ns in path.items() if kind == "transfer"),
                         messages * (transfer(1024) + COMPLETE))

    def test_directory_that_is_not_empty(self):
        self.generate("--events", 100)
        result = harness.mpirun(2, GENERATE, "--events", 100, self.trace)
        self.assertEqual(result.code, 1, harness.describe(result))
        self.assertEqual(result.err.count("is not empty; choose another directory or remove it"), 1, result.err)


if __name__ == "__main__":
    harness.main()
