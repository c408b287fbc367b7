# SPDX-License-Identifier: BSD-3-Clause
"""Counters at MPI boundaries: software events, which every kernel has, against counts that programs/counters.c knows."""

import unittest

from harness import PROGRAMS, Case
from machine import papi_refused

# The recorder's own pages are touched between two calls, too.
OWN_FAULTS = 20


class Counters(Case):
    def setUp(self):
        super().setUp()
        if papi_refused():
            self.skipTest(papi_refused())

    def counted(self, case, counters, ranks=1, program="counters", **more):
        run = self.run_recorded(ranks, [PROGRAMS / program, case], CRITPATH_COUNTERS=counters, **more)
        self.assertEqual(run.code, 0, run.stdout + run.stderr)
        return run

    def gaps(self, spool, name="MPI_Barrier", counter=0):
        """What was counted between the calls of a function."""
        calls = [c for c in spool.calls if c.name == name]
        return [b.counters["enter"][counter] - a.counters["leave"][counter] for a, b in zip(calls, calls[1:])]

    def assertFaults(self, spool):
        found = self.gaps(spool)
        self.assertEqual(len(found), 5)
        for i, count in enumerate(found):
            self.assertIn(count, range(100 * (i + 1), 100 * (i + 1) + OWN_FAULTS))

    def test_page_faults(self):
        run = self.counted("faults", "perf::PAGE-FAULTS", ranks=2)
        self.assertNotIn("counter ", run.stderr)
        for (spool,) in run.spools:
            self.assertEqual(spool.header.counters, ["perf::PAGE-FAULTS"])
            self.assertFaults(spool)

    def test_each_call_has_its_enter_and_leave(self):
        run = self.counted("faults", "perf::PAGE-FAULTS,perf::TASK-CLOCK,perf::CONTEXT-SWITCHES")
        (spool,) = run.spools[0]
        for call in spool.calls:
            if call.name == "MPI_Barrier":
                self.assertEqual(set(call.counters), {"enter", "leave"})
                self.assertEqual([len(v) for v in call.counters.values()], [3, 3])
                for at_enter, at_leave in zip(call.counters["enter"], call.counters["leave"]):
                    self.assertLessEqual(at_enter, at_leave)

    def test_task_clock_and_context_switches(self):
        run = self.counted("task_clock", "perf::TASK-CLOCK,perf::CONTEXT-SWITCHES")
        (spool,) = run.spools[0]
        busy, idle = self.gaps(spool)
        self.assertGreater(busy, 19e6)
        self.assertLess(idle, busy / 2)
        switches = self.gaps(spool, counter=1)
        self.assertGreaterEqual(switches[1], 1)

    def test_threads(self):
        run = self.counted("threads", "perf::PAGE-FAULTS")
        main, other = [s for s in run.spools[0] if any(c.name == "MPI_Barrier" for c in s.calls)]
        self.assertFaults(other)
        self.assertEqual([set(c.counters) for c in main.calls if c.name == "MPI_Barrier"], [{"enter", "leave"}])

    def test_polls_are_not_counted_each(self):
        run = self.counted("polls", "perf::PAGE-FAULTS")
        (spool,) = run.spools[0]
        receive = spool.call("MPI_Irecv")
        polls = [c for c in spool.calls if c.polls]
        self.assertGreaterEqual(sum(c.polls for c in polls), 1000)
        self.assertEqual(set(polls[0].counters), {"enter"})
        faults = polls[0].counters["enter"][0] - receive.counters["leave"][0]
        self.assertIn(faults, range(300, 300 + OWN_FAULTS))
        (success,) = [c for c in spool.calls if c.name == "MPI_Test" and "success" in c.flags]
        self.assertIn("leave", success.counters)

    def test_the_path_and_the_counters_of_one_call(self):
        run = self.counted("faults", "perf::PAGE-FAULTS", CRITPATH_CALLPATH="full")
        (spool,) = run.spools[0]
        self.assertFaults(spool)
        for call in spool.calls:
            if call.name == "MPI_Barrier":
                self.assertIn(call.callpath, spool.paths)

    def test_unknown_event(self):
        run = self.counted("faults", "perf::PAGE-FAULTS,no_such_event", ranks=2)
        self.assertEqual(run.stderr.count("counter no_such_event: "), 1)
        self.assertIn("does not know", run.stderr)
        for (spool,) in run.spools:
            self.assertEqual(spool.header.counters, ["perf::PAGE-FAULTS"])
            self.assertFaults(spool)

    def test_nothing_but_unknown_events(self):
        run = self.counted("faults", "no_such_event")
        (spool,) = run.spools[0]
        self.assertEqual(spool.header.counters, [])
        self.assertEqual([c.counters for c in spool.calls if c.counters], [])
        self.assertEqual(len([c for c in spool.calls if c.name == "MPI_Barrier"]), 6)

    def test_more_than_fit(self):
        names = "PAGE-FAULTS TASK-CLOCK CONTEXT-SWITCHES CPU-MIGRATIONS MINOR-FAULTS MAJOR-FAULTS CPU-CLOCK ALIGNMENT-FAULTS"
        run = self.counted("faults", ",".join("perf::" + name for name in names.split()))
        (spool,) = run.spools[0]
        self.assertEqual(len(spool.header.counters), 7)

    def test_signals_are_left_alone(self):
        plain = self.run_plain(1, [PROGRAMS / "counters", "signals"])
        run = self.counted("signals", "perf::PAGE-FAULTS")
        self.assertEqual(run.stdout, plain.stdout)

    def test_application_that_uses_papi(self):
        if not (PROGRAMS / "counters_papi").exists():
            self.skipTest("libpapi-dev was not there when the tests were built")
        run = self.counted("papi", "perf::PAGE-FAULTS", program="counters_papi")
        self.assertIn("the application uses PAPI itself", run.stderr)
        word, error, count = run.stdout.split()
        self.assertEqual((word, error), ("papi", "0"))
        self.assertEqual(int(count), 200)
        (spool,) = run.spools[0]
        self.assertEqual(spool.header.counters, [])


if __name__ == "__main__":
    unittest.main()
