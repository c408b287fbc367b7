# SPDX-License-Identifier: BSD-3-Clause
"""What is recorded of programs/control.c: groups of functions, ranges of collectives, MPI_Pcontrol."""

import unittest

from harness import PROGRAMS, Case

LIFE_CYCLE = ["MPI_Init_thread", "MPI_Finalize"]
GROUPS = {
    "always": ["MPI_Comm_dup", "MPI_Comm_free"],
    "p2p": ["MPI_Irecv", "MPI_Isend"],
    "collective": ["MPI_Barrier", "MPI_Ibarrier"],
    "rma": ["MPI_Win_create", "MPI_Win_fence", "MPI_Put", "MPI_Win_free"],
    "io": ["MPI_File_open", "MPI_File_write_at", "MPI_File_close"],
    "local": ["MPI_Pack"],
}


class Part(Case):
    def spools(self, case, **settings):
        run = self.run_recorded(2, [PROGRAMS / "control", case], **settings)
        self.assertEqual(run.code, 0, run.stdout + run.stderr)
        for spools in run.spools:
            for spool in spools:
                self.check_consistent(spool)
        return [spools[0] for spools in run.spools], run

    def names(self, spool):
        return [c.name for c in spool.calls if c.name not in LIFE_CYCLE]

    def check_consistent(self, spool):
        """Each completion has its post, no call lies in a stretch that was off, and time goes forward."""
        posts = {c.request for c in spool.calls if c.request} | {
            s.request for c in spool.calls if c.name == "MPI_Startall" for s in c.completions
        }
        for call in spool.calls:
            if call.name.startswith(("MPI_Wait", "MPI_Test")):
                self.assertLessEqual({c.request for c in call.completions}, posts)
            for begin, end in spool.off:
                self.assertTrue(call.leave <= begin or end <= call.enter, (call, begin, end))
        self.assertEqual(spool.off, sorted(spool.off))
        self.assertTrue(all(begin < end for begin, end in spool.off))


class Groups(Part):
    def test_each_group_alone(self):
        for group, names in GROUPS.items():
            with self.subTest(group):
                self.setUp()
                spools, _ = self.spools("groups", CRITPATH_GROUPS="" if group == "always" else group)
                for spool in spools:
                    expected = set(GROUPS["always"] + names)
                    expected |= {"MPI_Waitall"} if group == "p2p" else set()
                    expected |= {"MPI_Wait"} if group in ("p2p", "collective") else set()
                    self.assertEqual(set(self.names(spool)), expected)
                    self.assertEqual([c.name for c in spool.calls if c.name in LIFE_CYCLE], LIFE_CYCLE)
                    self.assertEqual(spool.off, [])

    def test_all(self):
        spools, _ = self.spools("groups")
        for spool in spools:
            expected = {name for names in GROUPS.values() for name in names} | {"MPI_Wait", "MPI_Waitall"}
            self.assertEqual(set(self.names(spool)), expected)

    def test_completions_of_collectives_without_messages(self):
        spools, _ = self.spools("groups", CRITPATH_GROUPS="collective")
        for spool in spools:
            wait = spool.call("MPI_Wait")
            self.assertEqual([(c.operation, c.request) for c in wait.completions],
                             [("collective", spool.call("MPI_Ibarrier").request)])

    def test_communicators_are_made_to_the_end(self):
        for group in ("local", "rma", ""):
            with self.subTest(group):
                self.setUp()
                spools, _ = self.spools("idup", CRITPATH_GROUPS=group)
                for spool in spools:
                    posted = [c.request for c in spool.calls if c.name == "MPI_Comm_idup"]
                    self.assertEqual(len(posted), 2)
                    self.assertEqual([d.request for c in spool.calls for d in c.completions], posted)

    def test_objects_are_known_whatever_is_recorded(self):
        whole, _ = self.spools("groups")
        self.setUp()
        part, _ = self.spools("groups", CRITPATH_GROUPS="p2p")
        for a, b in zip(whole, part):
            self.assertEqual(a.communicators, b.communicators)
            self.assertEqual(a.objects, b.objects)


class Range(Part):
    def recorded(self, text):
        spools, _ = self.spools("range", CRITPATH_RANGE=text)
        # The tags say of which step the messages are, the others come in order.
        result = []
        for spool in spools:
            steps = sorted({c.tag for c in spool.calls if c.name == "MPI_Isend"})
            counted = [c.name for c in spool.calls if c.comm == 0 and c.name in ("MPI_Barrier", "MPI_Allreduce")]
            result.append((steps, [name.removeprefix("MPI_") for name in counted]))
            self.assertEqual([c.name for c in spool.calls if c.name in LIFE_CYCLE], LIFE_CYCLE)
        self.assertEqual(result[0], result[1])
        self.off = [spool.off for spool in spools]
        self.all = spools
        return result[0]

    def test_from_and_to(self):
        self.assertEqual(self.recorded("2:4"), ([3, 4], ["Allreduce", "Barrier"]))
        for spool, off in zip(self.all, self.off):
            init, finalize = spool.call("MPI_Init_thread"), spool.call("MPI_Finalize")
            self.assertEqual(len(off), 2)
            first, last = off
            inside = [c for c in spool.calls if c.name not in LIFE_CYCLE]
            self.assertGreaterEqual(first[0], init.leave)
            self.assertLessEqual(first[1], inside[0].enter)
            self.assertEqual(last[0], inside[-1].leave)
            self.assertLessEqual(last[1], finalize.enter)

    def test_to(self):
        for text in (":2", "0:2"):
            with self.subTest(text):
                self.setUp()
                self.assertEqual(self.recorded(text), ([1, 2], ["Allreduce", "Barrier"]))
                self.assertEqual([len(off) for off in self.off], [1, 1])

    def test_from(self):
        for text in ("5", "5:"):
            with self.subTest(text):
                self.setUp()
                self.assertEqual(self.recorded(text), ([6], ["Barrier"]))
                self.assertEqual([len(off) for off in self.off], [1, 1])

    def test_nothing(self):
        self.assertEqual(self.recorded("100"), ([], []))
        for spool in self.all:
            self.assertEqual(self.names(spool), [])
            self.assertEqual(len(spool.off), 1)


class Pcontrol(Part):
    def test_on_and_off(self):
        spools, _ = self.spools("pcontrol")
        exchange = ["MPI_Irecv", "MPI_Isend", "MPI_Waitall"]
        for spool in spools:
            self.assertEqual(self.names(spool), exchange + ["MPI_Pcontrol"] * 3 + exchange + ["MPI_Pcontrol"])
            self.assertEqual([c.tag for c in spool.calls if c.name == "MPI_Isend"], [1, 4])
            self.assertEqual([c.extra for c in spool.calls if c.name == "MPI_Pcontrol"], [0, 2, 17, 0])
            self.assertEqual(len(spool.off), 2)

    def test_starts_off(self):
        spools, _ = self.spools("pcontrol", CRITPATH_RANGE="pcontrol")
        for spool in spools:
            self.assertEqual([c.tag for c in spool.calls if c.name == "MPI_Isend"], [4])
            self.assertEqual(len(spool.off), 2)

    def test_requests_across_a_switch(self):
        spools, _ = self.spools("crossing")
        for spool in spools:
            first, second = [c for c in spool.calls if c.name == "MPI_Isend" or c.name == "MPI_Irecv"]
            self.assertEqual((first.tag, second.tag), (1, 1))
            # What was posted before has its end in the trace; what was posted while it was off has nothing.
            waitalls = [[d.request for d in c.completions] for c in spool.calls if c.name == "MPI_Waitall"]
            self.assertEqual(waitalls, [[first.request, second.request], []])
            self.assertEqual(len(spool.off), 2)
            peer = 1 - spool.header.rank
            self.assertEqual(sorted(spool.skipped),
                             [("receive", 0, peer, 2, 1), ("receive", 0, peer, 3, 1), ("send", 0, peer, 2, 1)])
            started = [c.request for c in spool.calls if c.name == "MPI_Start"]
            self.assertEqual(len(started), 1)
            done = [[d.request for d in c.completions] for c in spool.calls if c.name == "MPI_Wait"]
            self.assertEqual(done, [[], started])

    def test_what_is_made_while_it_is_off_is_known_afterwards(self):
        whole, _ = self.spools("tables", CRITPATH_GROUPS="p2p,collective")
        for rank, spool in enumerate(whole):
            barriers = [c.comm for c in spool.calls if c.name == "MPI_Barrier"]
            known = {c.comm: c for c in spool.communicators}
            self.assertEqual([known[comm].members for comm in barriers], [[rank], [0, 1]])
            # Its message was taken by the probe, and counts there.
            self.assertIn("null_peer", spool.call("MPI_Mrecv").flags)
            self.assertEqual(sorted(spool.skipped), [("collective", 0, -1, -1, 2), ("receive", 3, 1 - rank, 9, 1),
                                                     ("send", 3, 1 - rank, 9, 1)])
            self.assertEqual(spool.call("MPI_Wait").completions, [])
        gids = [[c.gid for c in spool.communicators if c.members == [0, 1]] for spool in whole]
        self.assertEqual(len(gids[0]), 3)
        self.assertEqual(gids[0], gids[1])

    def test_threads(self):
        _, run = self.spools("threads")
        for spools in run.spools:
            calling = [s for s in spools if any(c.name == "MPI_Barrier" for c in s.calls)]
            (spool,) = calling
            self.assertEqual(len([c for c in spool.calls if c.name == "MPI_Barrier"]), 2)
            self.assertEqual(len(spool.off), 1)

    def test_many_stretches(self):
        spools, _ = self.spools("often")
        for spool in spools:
            self.assertEqual(self.names(spool), ["MPI_Pcontrol"] * 200)
            self.assertEqual(len(spool.off), 200)


if __name__ == "__main__":
    unittest.main()
