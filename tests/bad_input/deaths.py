# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what becomes of a replay of which a process dies: the others end too, with a message, and nothing hangs.

usage: deaths.py mpiexec processes cpreplay make_tiny_trace libdie.so
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

MPIEXEC, PROCESSES, CPREPLAY, MAKE_TRACE, LIBRARY = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6]
DONE, FAILED, USAGE, BAD_TRACE = 0, 1, 2, 3
LAST = PROCESSES - 1


class Deaths(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="critpath-test-")
        self.addCleanup(shutil.rmtree, self.scratch)
        self.trace = os.path.join(self.scratch, "trace")
        subprocess.run([MAKE_TRACE, self.trace], check=True)

    def replay(self, place, number, ranks, bare=False, by_another=False):
        """Exit code, and what cpreplay itself said."""
        variables = {"LD_PRELOAD": LIBRARY, "DIE_IN": place, "DIE_SIGNAL": str(int(number)), "DIE_RANK": str(ranks)}
        if by_another:
            variables["DIE_BY"] = "another"
        command = ["env", *(f"{name}={value}" for name, value in variables.items()), CPREPLAY, self.trace]
        if not bare:
            command = [MPIEXEC, "-n", str(PROCESSES), *command]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.scratch)
        self.said = f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
        self.assertFalse([name for name in os.listdir(self.scratch) if name.startswith("core")], self.said)
        return result.returncode, [line for line in result.stderr.splitlines() if line.startswith("cpreplay: ")]

    def assert_contained(self, code, messages):
        self.assertEqual(code, BAD_TRACE, self.said)
        self.assertGreater(len(messages), 0, self.said)
        for message in messages:
            self.assertRegex(message, r"/traces\.def: reading it crashed, .*; record .* again", self.said)

    def test_library_gives_up_on_a_file(self):
        for number in (signal.SIGABRT, signal.SIGSEGV):
            with self.subTest(signal=number):
                code, messages = self.replay("read", number, LAST)
                self.assert_contained(code, messages)
                self.assertEqual(len(messages), 1, self.said)

    def test_library_gives_up_on_all_files(self):
        """The first process speaks at once, the others only if the launcher takes its time."""
        self.assert_contained(*self.replay("read", signal.SIGABRT, "all"))

    def test_without_a_launcher(self):
        self.assert_contained(*self.replay("read", signal.SIGABRT, 0, bare=True))

    def test_defect(self):
        code, messages = self.replay("write", signal.SIGSEGV, LAST)
        self.assertNotEqual(code, DONE, self.said)
        self.assertEqual(messages, [f"cpreplay: phase write: crashed on process {LAST} of {PROCESSES}; this is a defect "
                                    "of cpreplay, please report it"], self.said)
        self.assertFalse(os.path.exists(os.path.join(self.trace, "critpath", "critpath.sqlite")))

    def test_a_signal_of_another_process(self):
        """Neither the file nor cpreplay is to blame."""
        for place in ("read", "write"):
            with self.subTest(place=place):
                code, messages = self.replay(place, signal.SIGSEGV, LAST, by_another=True)
                self.assertNotIn(code, (DONE, BAD_TRACE), self.said)
                self.assertEqual(messages, ["cpreplay: ended by a signal that another process has sent"], self.said)

    def test_killed(self):
        """Nothing can be said by the one that is killed; the launcher does it."""
        for place in ("read", "write"):
            with self.subTest(place=place):
                code, _ = self.replay(place, signal.SIGKILL, LAST)
                self.assertNotEqual(code, DONE, self.said)
                self.assertTrue(re.search(r"signal 9|KILLED", self.said), self.said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
