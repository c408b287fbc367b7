# SPDX-License-Identifier: BSD-3-Clause
"""MPI calls that are left by an exception or a jump do not end the recording, and calls from callbacks on other stacks are
not taken for such."""

import unittest

from harness import IS_MPICH, NO_PEER, PROGRAMS, Case

JUMPS = PROGRAMS / "jumps"
FAILED = "MPI_Send failed"
BARRIER = "MPI_Barrier comm=0"
SEND = f"MPI_Send comm=0{NO_PEER} tag=1 null_peer"
DUPLICATE = ["MPI_Comm_dup comm=1 extra={}", "MPI_Comm_free comm={}"]


class Jumps(Case):
    def jumps(self, mode, ranks=1):
        run = self.run_both(ranks, [JUMPS, mode])
        self.assertEqual(run.code, 0, run.stderr)
        for threads in run.spools:
            for spool in threads:
                self.assertEqual(spool.header.closed, 1)
                for before, after in zip(spool.calls, spool.calls[1:]):
                    self.assertLessEqual(before.enter, before.leave)
                    self.assertLessEqual(before.leave, after.enter)
            self.assertEqual(threads[0].calls[-1].name, "MPI_Finalize")
        return run

    def test_an_exception_out_of_an_error_handler(self):
        run = self.jumps("exception", ranks=2)
        self.assertEqual(run.stdout.count("caught"), 12)
        for rank in range(2):
            self.assertEqual(run.lines(rank), 5 * [FAILED, BARRIER] + [FAILED])

    def test_a_longjmp_out_of_an_error_handler(self):
        run = self.jumps("longjmp", ranks=2)
        self.assertEqual(run.stdout.count("jumped"), 12)
        self.assertEqual(run.lines(0), 5 * [FAILED, BARRIER] + [FAILED])

    def test_a_jump_out_of_a_signal_handler(self):
        run = self.jumps("timeout")
        self.assertEqual(run.lines(0), [BARRIER, "MPI_Probe failed", BARRIER])
        probe, barrier = run.spools[0][0].calls[2:4]
        self.assertGreater(probe.leave - probe.enter, 10_000_000)
        self.assertLessEqual(probe.leave, barrier.enter)

    def test_jumps_while_the_library_is_at_work(self):
        # A stage of 16 records is packed most of the time; with switches, also while the tables are locked. That needs
        # MPI_THREAD_MULTIPLE, with which MPICH has a lock in every call, and keeps it where the call is left by a jump.
        for mode in ["alarms"] if IS_MPICH else ["alarms", "locked_alarms"]:
            with self.subTest(mode):
                self.setUp()
                run = self.run_recorded(1, [JUMPS, mode], CRITPATH_BUFFER_KB="1")
                self.assertEqual((run.code, run.stdout), (0, "400 jumps\n"), run.stderr)
                header = run.spools[0][0].header
                self.assertEqual((header.closed, header.lost), (1, 0))
                self.assertGreater(header.records, 400)
                calls = run.spools[0][0].calls
                for before, after in zip(calls, calls[1:]):
                    self.assertLessEqual(before.leave, after.enter, "nothing is packed twice")

    def test_threads(self):
        run = self.jumps("thread")
        main, *others = run.spools[0]
        self.assertEqual([c.name for c in main.calls], ["MPI_Init_thread", "MPI_Send", "MPI_Finalize"])
        self.assertEqual(len(others), 2)
        for thread in others:
            self.assertEqual([c.name for c in thread.calls], 2 * ["MPI_Send"] + ["MPI_Send"])
            self.assertEqual(["failed" in c.flags for c in thread.calls], [True, False, True])

    def test_callbacks_on_other_stacks_are_callbacks(self):
        run = self.jumps("fibres")
        expected = [line.format(number) for id in (2, 3, 4) for line, number in zip(DUPLICATE, (id + 1, id))]
        self.assertEqual(run.lines(0), expected)

    def test_stacks_that_are_gone(self):
        run = self.jumps("ended_fibres")
        self.assertEqual(run.lines(0), 3 * [FAILED, SEND, FAILED, BARRIER])


if __name__ == "__main__":
    unittest.main()
