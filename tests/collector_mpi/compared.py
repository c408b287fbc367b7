# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what the tests of one-sided communication and of files share: runs with several numbers of ranks, with and without
the collector, and with a chosen component of Open MPI."""

import os
import re

from harness import PROGRAMS, Case


class Compared(Case):
    """Each case also runs without the collector and must print the same."""

    program = None
    sizes = tuple(int(size) for size in os.environ.get("CRITPATH_TEST_SIZES", "1 3 4").split())
    mpi = {}  # environment that chooses a component of Open MPI

    def environment(self, **settings):
        return super().environment(**self.mpi, **settings)

    def run_case(self, case, ranks, *arguments):
        """Each run has an empty directory for its files; that of the recorded one is run.files."""
        number = len(list(self.directory.iterdir()))
        self.trace, *files = (self.directory / f"{name}.{number}" for name in ("trace", "plain", "recorded"))
        for directory in (self.trace, *files):
            directory.mkdir()
        plain_command, command = ([PROGRAMS / self.program, case, directory, *arguments] for directory in files)
        plain = self.run_plain(ranks, plain_command)
        run = self.run_recorded(ranks, command)
        self.assert_alike(plain, run, order=list)
        self.assertEqual(run.code, 0, run.stderr)
        theirs = [line for line in run.stderr.splitlines(True) if not line.startswith("cpcollect: ")]
        self.assertEqual("".join(theirs), plain.stderr)
        for spools in run.spools:
            self.assertEqual([spool.header.lost for spool in spools], [0] * len(spools))
        run.files = files[1]
        return run

    def each(self, case, expected, *arguments):
        """`expected(rank, size)`: the lines of each rank, for all sizes."""
        for size in self.sizes:
            run = self.run_case(case, size, *arguments)
            for rank in range(size):
                with self.subTest(case=case, size=size, rank=rank, **self.mpi):
                    self.assertEqual(run.lines(rank), expected(rank, size))

    def check_failures(self, run, size):
        """The calls failed and succeeded as the program saw it, and the failed ones say nothing else."""
        for rank in range(size):
            seen = re.findall(rf"^{rank} (MPI_\w+)\(.*\): (\d+)", run.stdout, re.MULTILINE)
            failed = [name for name, error_class in seen if error_class != "0"]
            self.assertGreater(len(failed), 10)
            calls = [line for line in run.lines(rank) if line.endswith(" failed")]
            self.assertEqual(calls, [f"{name} failed" for name in failed])

    def check_threads(self, run, size, post, threads, rounds, size_of):
        """Each request is posted by the thread of its object and completed by the thread before it."""
        for rank in range(size):
            spools = run.spools[rank]
            self.assertEqual(len(spools), threads)
            posts = {c.request: (thread, c) for thread, s in enumerate(spools) for c in s.calls if c.name == post}
            self.assertEqual(len(posts), threads * rounds)
            completed = [
                (thread, c.name, done) for thread, s in enumerate(spools) for c in s.calls for done in c.completions
            ]
            self.assertEqual(sorted(done.request for _, _, done in completed), sorted(posts))
            next_thread = {}
            for thread, name, done in completed:
                posting_thread, call = posts[done.request]
                self.assertEqual((name, done.comm, done.tag), ("MPI_Wait", call.comm, call.tag))
                self.assertEqual(done.bytes, size_of(call.tag))
                self.assertNotEqual(thread, posting_thread)
                self.assertEqual(next_thread.setdefault(thread, call.tag), call.tag)
