# SPDX-License-Identifier: BSD-3-Clause
"""Objects that are made or freed inside MPI calls are known afterwards, and handles that come back mean the new object."""

import unittest

from harness import IS_MPICH, PROGRAMS, Case

CALLBACKS = PROGRAMS / "callbacks"


class Callbacks(Case):
    def callbacks(self, mode, ranks):
        run = self.run_recorded(ranks, [CALLBACKS, mode])
        self.assertEqual(run.code, 0, run.stderr)
        return run

    def check_handles_came_back(self, run):
        if not IS_MPICH:  # else the test shows nothing
            self.assertIn("same handle", run.stderr)

    def test_communicators_freed(self):
        run = self.callbacks("comms", 4)
        self.check_handles_came_back(run)
        gids = [{}, {}]
        for rank, (spool,) in enumerate(run.spools):
            members = {c.comm: c.members for c in spool.communicators}
            halves = [c.extra - 1 for c in spool.calls if c.name == "MPI_Comm_split"]
            self.assertEqual([c.comm for c in spool.calls if c.name == "MPI_Barrier"], 2 * halves)
            for half in halves:
                self.assertEqual(members[half], [rank % 2, rank % 2 + 2])
            gids[rank % 2][rank] = [c.gid for c in spool.communicators if c.comm in halves]
            freed = [c.comm for c in spool.calls if c.name == "MPI_Comm_free"]
            self.assertEqual(len(freed), 16)
            self.assertEqual(freed[8:], halves)
        for half in gids:
            first, second = half.values()
            self.assertEqual(first, second)

    def test_windows_freed(self):
        run = self.callbacks("windows", 4)
        self.check_handles_came_back(run)
        for (spool,) in run.spools:
            half = spool.call("MPI_Comm_split").extra - 1
            first, last = spool.objects
            self.assertEqual((first.comm, last.comm), (0, half))
            self.assertEqual({(c.comm, c.tag) for c in spool.calls if c.name in ("MPI_Win_fence", "MPI_Win_free")},
                             {(half, last.id)})

    def test_files_closed(self):
        run = self.callbacks("files", 2)
        for rank, (spool,) in enumerate(run.spools):
            first, second = spool.objects
            self.assertEqual((first.comm, second.comm), (0, 1))
            write = spool.call("MPI_File_write")
            self.assertEqual((write.comm, write.tag), (1, second.id))
            close = spool.call("MPI_File_close")
            self.assertEqual((close.comm, close.tag), (1, second.id))

    def test_communicators_made(self):
        run = self.callbacks("made", 2)
        for rank, (spool,) in enumerate(run.spools):
            made, dup, last = [c for c in spool.communicators if c.comm > 1]
            self.assertEqual((made.members, dup.members, last.members), ([rank], [0, 1], [rank]))
            self.assertNotEqual(made.gid, last.gid)
            self.assertEqual(
                [(c.name, c.comm) for c in spool.calls[1:-1]],
                [
                    ("MPI_Comm_dup", 0),  # the callback's own is not recorded
                    ("MPI_Barrier", made.comm),
                    ("MPI_Sendrecv", made.comm),
                    ("MPI_Barrier", dup.comm),
                    ("MPI_Comm_free", made.comm),
                    ("MPI_Comm_free", dup.comm),
                    ("MPI_Comm_dup", 1),
                    ("MPI_Barrier", last.comm),
                    ("MPI_Comm_free", last.comm),
                ],
            )

    def test_communication_counts(self):
        (caller,), (plain,) = self.callbacks("talking", 2).spools
        self.assertEqual(plain.skipped, [])
        dup = next(c.comm for c in plain.communicators if c.members == [0, 1] and c.comm != 0)
        self.assertEqual(
            sorted(caller.skipped),
            [
                ("collective", 0, -1, -1, 1),  # MPI_Comm_dup
                ("collective", 0, -1, -1, 1),  # MPI_Barrier
                ("collective", dup, -1, -1, 1),  # MPI_Comm_free
                ("receive", 0, 1, 6, 1),
                ("receive", 0, 1, 8, 1),
                ("send", 0, 1, 5, 1),
                ("send", 0, 1, 7, 1),
            ],
        )
        freed = caller.call("MPI_Comm_free")
        self.assertEqual(set(caller.skipped_since), {freed.enter})
        self.assertEqual([c.name for c in caller.calls if c.comm == 0 and c.name != "MPI_Init"], ["MPI_Barrier"])


if __name__ == "__main__":
    unittest.main()
