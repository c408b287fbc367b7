# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns how an application is started under cpcollect: with and without mpirun, by a shell or a script, with a standard
input; and applications that use what a recorder needs for itself."""

import os
import stat

import observed
from observed import e2e


def by_rank(output):
    """The lines `<rank>: ...` of each rank in their own order: mpirun mixes ranks as it likes."""
    return sorted(output.splitlines(), key=lambda line: line.split(":")[0])


class Start(observed.Case):
    def collect(self, *options):
        return (e2e.tool("cpcollect"), *observed.SILENT, "-o", self.trace, *options)

    def pair(self, ranks, *application, **options):
        """The same run without and with cpcollect."""
        plain = e2e.mpirun(ranks, *application, cwd=self.scratch, **options)
        recorded = e2e.mpirun(ranks, *self.collect(), *application, cwd=self.scratch, **options)
        return plain, recorded

    def assert_same_behaviour(self, code):
        """One rank, without mpirun, whose messages would name process ids."""
        application = (e2e.workload("behaviour"), code)
        lines = b"first line\nsecond line without an end"
        plain = e2e.run(*application, stdin=lines, cwd=self.scratch)
        recorded = e2e.run(*self.collect(), *application, stdin=lines, cwd=self.scratch)
        self.assertEqual((plain.code, recorded.code), (code, code), e2e.describe(recorded))
        self.assertEqual(plain.out, recorded.out)
        self.assertEqual(observed.steady(plain.err), observed.steady(recorded.err))
        self.assertIn("input second line", recorded.out)
        self.assertIn("child done", recorded.out)

    def test_success(self):
        self.assert_same_behaviour(0)

    def test_exit_code(self):
        self.assert_same_behaviour(3)
        self.assertTrue(os.path.exists(os.path.join(self.trace, "traces.otf2")))

    def test_exit_code_through_mpirun(self):
        plain, recorded = self.pair(2, e2e.workload("behaviour"), 3, stdin=b"through mpirun\n")
        self.assertEqual(plain.code, 3, e2e.describe(plain))
        self.assertEqual(recorded.code, 3, e2e.describe(recorded))
        self.assertIn("input through mpirun", recorded.out)
        self.assertEqual(sorted(plain.out.splitlines()), sorted(recorded.out.splitlines()))
        self.assertEqual(observed.steady(plain.err), observed.steady(recorded.err))

    def test_signals_threads_children_and_descriptors(self):
        plain, recorded = self.pair(2, e2e.workload("busy_process"))
        self.succeed(plain)
        self.succeed(recorded)
        self.assertIn("0: profiled 1, told of input 5 times, 300 threads, child 7, program 9, more files: yes", plain.out)
        self.assertEqual(by_rank(plain.out), by_rank(recorded.out))
        self.assertEqual(observed.steady(plain.err), observed.steady(recorded.err))
        self.validate()
        self.replay(2)

    def test_no_samples_wanted(self):
        self.record(2, e2e.workload("late_sender"), options=("-q", "--frequency", "0"))
        self.validate()
        self.replay_on(1, 2)
        rows = self.hotspots()
        self.assertFalse([row for row in rows if row["function"].startswith("work_")], rows)
        self.assertGreater(sum(row["path_seconds"] for row in rows), 8 * 0.150)

    def test_shell_as_application(self):
        result = e2e.mpirun(2, *self.collect(), "sh", "-c", 'exec "$0" 20', e2e.workload("halo"),
                            cwd=self.scratch)
        self.succeed(result)
        self.replay(2)
        self.assertGreater(len(self.path()), 0)

    def test_application_that_becomes_another_one_before_mpi_init(self):
        successor = observed.program("successor")
        for way in ("execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve"):
            with self.subTest(way=way):
                self.setUp()
                plain = e2e.run(successor, way, cwd=self.scratch)
                recorded = e2e.run(*self.collect(), successor, way, cwd=self.scratch)
                self.assertEqual((plain.code, plain.out), (3, f"0\nchild: exit 7\n{way} again\n"), e2e.describe(plain))
                self.assertEqual((recorded.code, recorded.out, recorded.err), plain[1:], e2e.describe(recorded))
                self.validate()

    def test_application_that_chooses_what_the_next_one_loads(self):
        # It is as it wants to be, and nothing is recorded.
        successor = observed.program("successor")
        plain = e2e.run(successor, "chosen", cwd=self.scratch)
        recorded = e2e.run(*self.collect(), successor, "chosen", cwd=self.scratch)
        self.assertIn("LD_PRELOAD=libm.so.6\n", plain.out)
        self.assertEqual((recorded.code, recorded.out, recorded.err), plain[1:], e2e.describe(recorded))

    def test_script_as_application(self):
        script = os.path.join(self.scratch, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho before\n{e2e.workload('halo')} 20\necho after\nexit 6\n")
        os.chmod(script, stat.S_IRWXU)
        result = e2e.run(*self.collect(), "./script", cwd=self.scratch)
        self.assertEqual((result.code, result.out), (6, "before\nafter\n"), e2e.describe(result))
        self.replay(1)
        self.assertGreater(len(self.path()), 0)


if __name__ == "__main__":
    observed.main()
