# SPDX-License-Identifier: BSD-3-Clause
"""Recorded call paths against those that backtrace() gives in programs/callpath.cpp."""

import unittest
from collections import defaultdict

from harness import PROGRAMS, Case

DEEPEST = 64


class Paths(Case):
    def calls_and_truth(self, variant, case, **settings):
        """(label, recorded path, backtrace behind the innermost frame) of each call, thread by thread, and the spools."""
        settings = {"CRITPATH_CALLPATH": "full", **settings}
        run = self.run_recorded(1, [PROGRAMS / f"callpath_{variant}", case], **settings)
        self.assertEqual(run.code, 0, run.stdout + run.stderr)
        truth = defaultdict(list)
        for line in run.stdout.splitlines():
            label, tid, *frames = line.split()
            truth[int(tid)].append((label, [int(frame, 16) for frame in frames]))
        spools = run.spools[0]
        self.assertLessEqual(set(truth), {s.header.tid for s in spools})
        result = []
        for spool in spools:
            calls = [c for c in spool.calls if c.name == "MPI_Barrier"]
            expected = truth[spool.header.tid]
            self.assertEqual(len(calls), len(expected))
            for call, (label, frames) in zip(calls, expected):
                self.assertGreater(call.callpath, 0)
                result.append((label, spool.paths[call.callpath], frames))
        return result, spools


class Full(Paths):
    def check(self, case, variants=("O0", "O2"), lines=None):
        for variant in variants:
            with self.subTest(variant):
                self.setUp()
                result, spools = self.calls_and_truth(variant, case)
                if lines is not None:
                    self.assertEqual(len(result), lines)
                for number, (label, path, frames) in enumerate(result):
                    whole = path[1:] == frames
                    cut = len(path) == DEEPEST and path[1:] == frames[: DEEPEST - 1]
                    self.assertTrue(whole or cut, (variant, number, label, list(map(hex, path)), list(map(hex, frames))))
                for spool in spools:
                    paths = [tuple(p) for p in spool.paths.values()]
                    self.assertEqual(len(paths), len(set(paths)), "equal paths have one id")
                    used = {c.callpath for c in spool.calls}
                    self.assertEqual(sorted(spool.paths), list(range(1, len(paths) + 1)))
                    self.assertLessEqual(set(spool.paths), used)

    def test_recursion(self):
        self.check("recursion", lines=24)

    def test_paths_are_cut_at_their_outer_end(self):
        self.check("deep", lines=2)

    def test_tree(self):
        self.check("tree", lines=64)

    def test_frames_of_variable_size(self):
        self.check("alloca", lines=21)

    def test_tail_calls(self):
        self.check("tail", lines=4)

    def test_equal_stack_pointers(self):
        self.check("sites", lines=14)

    def test_threads(self):
        self.check("threads", lines=26)

    def test_another_thread_calls_init(self):
        self.check("other_init", lines=9)

    def test_code_without_unwind_tables(self):
        self.check("recursion", variants=["bare"], lines=24)

    def test_another_stack_has_the_site_only(self):
        for variant in ("O0", "O2"):
            with self.subTest(variant):
                self.setUp()
                result, _ = self.calls_and_truth(variant, "contexts")
                self.assertEqual([label for label, _, _ in result], ["main", "context", "main", "context", "main"])
                for label, path, frames in result:
                    if label == "main":
                        self.assertEqual(path[1:], frames)
                    else:
                        self.assertEqual(len(path), 1)
                self.assertEqual(len({path[0] for _, path, _ in result}), 1)

    def test_signal_handlers(self):
        # Up to the frame of the handler, which nothing has called.
        for case, depth in (("signal", 2), ("altstack", 1)):
            with self.subTest(case):
                self.setUp()
                result, _ = self.calls_and_truth("O2", case)
                self.assertEqual(len(result), 2)
                for _, path, frames in result:
                    self.assertGreaterEqual(len(path), depth)
                    self.assertEqual(path[1:], frames[: len(path) - 1])


class Modes(Paths):
    def test_site(self):
        result, _ = self.calls_and_truth("O2", "sites", CRITPATH_CALLPATH="site")
        self.assertEqual({len(path) for _, path, _ in result}, {1})
        self.assertEqual(len({tuple(path) for _, path, _ in result}), 1)

    def test_none(self):
        run = self.run_recorded(1, [PROGRAMS / "callpath_O2", "sites"], CRITPATH_CALLPATH="none")
        self.assertEqual({c.callpath for c in run.spools[0][0].calls}, {0})
        self.assertEqual(run.spools[0][0].paths, {})

    def test_many_paths_stay_bounded(self):
        run = self.run_recorded(1, [PROGRAMS / "callpath_O2", "many"], CRITPATH_CALLPATH="full")
        self.assertEqual(run.code, 0, run.stderr)
        (spool,) = run.spools[0]
        calls = [c for c in spool.calls if c.name == "MPI_Barrier"]
        self.assertEqual(len(calls), 1 << 14)
        for call in calls:
            self.assertIn(call.callpath, spool.paths)
        depths = {len(spool.paths[c.callpath]) for c in calls}
        self.assertEqual({spool.paths[c.callpath][0] for c in calls}, {spool.paths[calls[0].callpath][0]})
        self.assertLessEqual(len(depths - {1}), 1, "the whole path, or the site")
        self.assertIn(1, depths, "time to unwind has run out")

    def test_unwinding_is_the_tools_own_time(self):
        result, (spool,) = self.calls_and_truth("O2", "recursion")
        self.assertEqual(len(result), 24)
        barriers = [c for c in spool.calls if c.name == "MPI_Barrier"]
        pauses = [c for c in barriers if any(b >= c.leave and e < c.leave + 10**9 for b, e in spool.tool)]
        self.assertTrue(pauses)
        times = sorted(spool.tool + [(c.enter, c.leave) for c in spool.calls])
        for (_, end), (begin, _) in zip(times, times[1:]):
            self.assertLessEqual(end, begin, "calls and own time do not overlap")


if __name__ == "__main__":
    unittest.main()
