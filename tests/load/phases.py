# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns how phases end: each distinct message once, one exit code, and no hang.

usage: phases.py mpiexec processes phase_probe
"""

import subprocess
import sys
import unittest

MPIEXEC, PROCESSES, PROBE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
DONE, FAILED, BAD_TRACE = 0, 1, 3


def run(mode):
    result = subprocess.run([MPIEXEC, "-n", str(PROCESSES), PROBE, mode], capture_output=True, text=True, timeout=30)
    return result.returncode, [line for line in result.stderr.splitlines() if line.startswith("cpreplay: ")]


class Phases(unittest.TestCase):
    def test_success(self):
        self.assertEqual(run("none"), (DONE, ["cpreplay: all is well"]))

    def test_message_of_all_once(self):
        self.assertEqual(run("all-same"), (BAD_TRACE, ["cpreplay: thing: broken; mend it"]))

    def test_message_of_one(self):
        self.assertEqual(run("last"), (BAD_TRACE, [f"cpreplay: thing {PROCESSES - 1}: broken; mend it"]))

    def test_distinct_messages_in_rank_order(self):
        messages = [f"cpreplay: thing {rank}: broken; mend it" for rank in range(PROCESSES)]
        code, lines = run("each")
        self.assertEqual(code, BAD_TRACE)
        if PROCESSES <= 8:
            self.assertEqual(lines, messages)
        else:
            self.assertEqual(lines, messages[:8] + [f"cpreplay: {PROCESSES - 8} more processes failed, with other messages"])

    def test_no_memory(self):
        code, lines = run("memory")
        self.assertEqual(code, FAILED)
        self.assertEqual(len(lines), 1)
        self.assertIn("phase second: not enough memory; ", lines[0])

    def test_defect(self):
        code, lines = run("defect")
        self.assertEqual(code, FAILED)
        self.assertEqual(len(lines), 1)
        self.assertIn("impossible", lines[0])

    def test_worst_exit_code(self):
        self.assertEqual(run("worst"), (BAD_TRACE, ["cpreplay: thing: broken; mend it"]))

    def test_failure_while_others_wait_inside(self):
        code, lines = run("inside")
        self.assertEqual(lines, ["cpreplay: thing: broken; mend it"])
        # Hydra ends with the code that MPI_Abort is given, but seldom, on a loaded machine, with 1.
        self.assertIn(code, [BAD_TRACE, FAILED] if "mpich" in MPIEXEC else [BAD_TRACE])

    def test_long_message_is_cut(self):
        code, lines = run("huge")
        self.assertEqual(code, FAILED)
        self.assertEqual(len(lines), 1)
        self.assertLess(len(lines[0]), 1100)

    def test_progress(self):
        code, lines = run("progress")
        self.assertEqual(code, DONE)
        self.assertEqual([line.split()[1] for line in lines], ["first", "second", "third", "all"])
        self.assertTrue(lines[0].endswith("by 0"), lines[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
