# SPDX-License-Identifier: BSD-3-Clause
"""Applications that use little stack, C11 threads, limits or a sanitizer, and programs that start them."""

import os
import shutil
import unittest

from harness import PROGRAMS, Case
from machine import perf_event_refused

CPCOLLECT = os.environ["CRITPATH_TEST_CPCOLLECT"]
EDGES = PROGRAMS / "edges"
ASAN = PROGRAMS / "edges_asan"


class Edges(Case):
    def collect(self, *command, options=()):
        """One rank without a launcher."""
        return self._execute([CPCOLLECT, "--force", "-o", self.trace, *options, *command])

    def assert_like_plain(self, *command, options=(), says=()):
        plain = self._execute(command)
        run = self.collect(*command, options=options)
        self.assertEqual((run.returncode, run.stdout), (plain.returncode, plain.stdout), run.stderr)
        self.assertEqual((plain.returncode, plain.stdout.splitlines()[-1]), (5, "done"), plain.stderr)
        for words in says:
            self.assertIn(words, run.stderr)
        return run

    def test_small_stacks(self):
        for options in (), ("--frequency=0",), ("--callpath=none",):
            with self.subTest(options=options):
                run = self.assert_like_plain(EDGES, "small_stacks", options=options)
                self.assertIn("stack 16384", run.stdout)
                self.assertIn("1 ranks, 25002 calls", run.stderr)

    def test_calls_are_no_cancellation_points(self):
        run = self.assert_like_plain(EDGES, "cancel")
        self.assertIn("returned", run.stdout)
        self.assertIn("1 ranks, 10002 calls", run.stderr)

    def test_c11_threads_are_sampled(self):
        run = self.run_recorded(1, [EDGES, "c11"], CRITPATH_FREQUENCY="997")
        self.assertEqual((run.code, run.stdout), (5, "result 42\ndone\n"))
        samples = self.trace / "spool" / "0.1.samples"
        if refused := perf_event_refused():
            self.skipTest(f"perf_event_open is refused on this machine: {refused}")
        self.assertGreater(samples.stat().st_size, 4096 + 10 * 64)

    def test_a_file_size_limit_kills_nobody(self):
        self.assert_like_plain(EDGES, "file_limit", says=["ulimit -f"])

    def test_quiet_is_not_about_warnings(self):
        run = self.assert_like_plain(EDGES, "file_limit", options=("--quiet", "--no-samples"))
        said = [line for line in run.stderr.splitlines() if line.startswith("cpcollect: ")]
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], r"^cpcollect: \d+ records could not be written .*ulimit -f")

    def test_closed_descriptors_lose_nothing(self):
        run = self.assert_like_plain(EDGES, "close_all")
        self.assertIn("1 ranks, 30002 calls", run.stderr)
        self.assertNotIn("could not be written", run.stderr)

    def test_threads_without_files_are_named_once(self):
        says = ["thread 1, and maybe others: Too many open files", "ulimit -n"]
        run = self.assert_like_plain(EDGES, "no_files", says=says)
        self.assertEqual(run.stderr.count("are not recorded"), 1, run.stderr)

    def test_removed_files_are_not_called_a_full_disk(self):
        run = self.collect(EDGES, "removed", self.trace / "spool")
        self.assertEqual((run.returncode, run.stdout), (5, "done\n"), run.stderr)
        self.assertNotIn("more room", run.stderr)

    def test_address_sanitizer(self):
        if not ASAN.exists():
            self.skipTest("the compiler has no AddressSanitizer")
        # MPI itself leaks.
        script = self.directory / "start.sh"
        script.write_text('#!/bin/sh\nASAN_OPTIONS=detect_leaks=0 exec "$@"\n')
        script.chmod(0o755)
        plain = self._execute([script, ASAN])
        run = self._execute([script, CPCOLLECT, "-o", self.trace, ASAN])
        self.assertEqual((run.returncode, run.stdout), (plain.returncode, plain.stdout), run.stderr)
        self.assertEqual(plain.stdout, "done\n")
        self.assertIn("1 ranks, 2 calls", run.stderr)
        self.assertNotIn("AddressSanitizer", run.stderr)

    def test_a_program_without_mpi_has_one_thread(self):
        run = self.collect("ls", "/proc/self/task")
        self.assertEqual(len(run.stdout.split()), 1, run.stderr)

    def test_a_user_namespace(self):
        if shutil.which("unshare") is None or self._execute(["unshare", "-r", "true"]).returncode != 0:
            self.skipTest("user namespaces are refused on this machine")
        run = self.collect("unshare", "-r", "echo", "inside")
        self.assertEqual((run.returncode, run.stdout), (0, "inside\n"), run.stderr)


if __name__ == "__main__":
    unittest.main()
