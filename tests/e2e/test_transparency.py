# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns that an application cannot tell that it is recorded, and neither can whoever started it."""

import os
import signal
import stat

import harness


def by_rank(output):
    """The lines `<rank>: ...` of each rank in their own order: mpirun mixes ranks as it likes."""
    return sorted(output.splitlines(), key=lambda line: line.split(":")[0])


class Transparency(harness.Case):
    def collect(self, *options):
        return (harness.tool("cpcollect"), "-q", "-o", self.trace, *options)

    def pair(self, ranks, *application, **options):
        """The same run without and with cpcollect."""
        plain = harness.mpirun(ranks, *application, cwd=self.scratch, **options)
        recorded = harness.mpirun(ranks, *self.collect(), *application, cwd=self.scratch, **options)
        return plain, recorded

    def assert_same_behaviour(self, *ending):
        """One rank, without mpirun, whose messages would name process ids."""
        application = (harness.workload("behaviour"), *ending)
        lines = b"first line\nsecond line without an end"
        plain = harness.run(*application, stdin=lines, cwd=self.scratch)
        recorded = harness.run(*self.collect(), *application, stdin=lines, cwd=self.scratch)
        self.assertEqual(plain.code, recorded.code, harness.describe(recorded))
        self.assertEqual(plain.out, recorded.out)
        self.assertEqual(plain.err, recorded.err)
        self.assertIn("input second line", recorded.out)
        self.assertIn("child done", recorded.out)

    def test_success(self):
        self.assert_same_behaviour("exit", "0")

    def test_exit_code(self):
        self.assert_same_behaviour("exit", "3")
        self.assertTrue(os.path.exists(os.path.join(self.trace, "traces.otf2")))

    def test_signal(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(signal=number.name):
                self.trace = os.path.join(self.scratch, f"trace-{number.name}")
                application = (harness.workload("behaviour"), "signal", int(number))
                recorded = harness.run(*self.collect(), *application, cwd=self.scratch)
                self.assertEqual(recorded.code, -number, harness.describe(recorded))

    def test_exit_without_finalize(self):
        recorded = harness.run(*self.collect(), harness.workload("behaviour"), "early", "4", cwd=self.scratch)
        self.assertEqual(recorded.code, 4, harness.describe(recorded))

    def test_abort(self):
        plain, recorded = self.pair(2, harness.workload("behaviour"), "abort", "5")
        self.assertEqual(plain.code, 5, harness.describe(plain))
        self.assertEqual(recorded.code, 5, harness.describe(recorded))

    def test_exit_code_through_mpirun(self):
        plain, recorded = self.pair(2, harness.workload("behaviour"), "exit", "3", stdin=b"through mpirun\n")
        self.assertEqual(plain.code, 3, harness.describe(plain))
        self.assertEqual(recorded.code, 3, harness.describe(recorded))
        self.assertIn("input through mpirun", recorded.out)

    def test_statuses(self):
        plain, recorded = self.pair(2, harness.workload("statuses"))
        self.succeed(plain)
        self.succeed(recorded)
        self.assertEqual(by_rank(plain.out), by_rank(recorded.out))
        self.assertEqual(plain.err, recorded.err)
        self.validate()
        self.replay_on(1, 2)

    def test_signals_threads_children_and_descriptors(self):
        plain, recorded = self.pair(2, harness.workload("busy_process"))
        self.succeed(plain)
        self.succeed(recorded)
        self.assertIn("0: profiled 1, told of input 5 times, 300 threads, child 7, program 9, more files: yes", plain.out)
        self.assertEqual(by_rank(plain.out), by_rank(recorded.out))
        self.assertEqual(plain.err, recorded.err)
        self.validate()
        self.replay(2)

    def test_no_samples_wanted(self):
        self.record(2, harness.workload("late_sender"), options=("-q", "--frequency", "0"))
        self.validate()
        self.replay_on(1, 2)
        rows = self.hotspots()
        self.assertFalse([row for row in rows if row["function"].startswith("work_")], rows)
        self.assertGreater(sum(row["path_seconds"] for row in rows), 8 * 0.150)

    def test_shell_as_application(self):
        result = harness.mpirun(2, *self.collect(), "sh", "-c", 'exec "$0" 20', harness.workload("halo"),
                                cwd=self.scratch)
        self.succeed(result)
        self.replay(2)
        self.assertGreater(len(self.path()), 0)

    def test_script_as_application(self):
        script = os.path.join(self.scratch, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho before\n{harness.workload('halo')} 20\necho after\nexit 6\n")
        os.chmod(script, stat.S_IRWXU)
        result = harness.run(*self.collect(), "./script", cwd=self.scratch)
        self.assertEqual((result.code, result.out), (6, "before\nafter\n"), harness.describe(result))
        self.replay(1)
        self.assertGreater(len(self.path()), 0)


if __name__ == "__main__":
    harness.main()
