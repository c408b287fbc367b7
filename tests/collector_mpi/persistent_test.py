# SPDX-License-Identifier: BSD-3-Clause
"""The exact records of programs/persistent.c: what came with MPI-4.0, and that the program cannot tell that it is recorded."""

import re
import unittest

from harness import IS_MPICH, PROGRAMS, Case
from nonblocking_test import as_nonblocking
from collectives_test import COLLECTIVES, EVERYWHERE


STARTS = 1 if IS_MPICH else 2  # of each request in the case "collectives"


class Run(Case):
    def run_case(self, case, ranks, **settings):
        run = self.run_both(ranks, [PROGRAMS / "persistent", case], **settings)
        self.assertEqual(run.code, 0, run.stdout + run.stderr)
        return run


class Persistent(Run):
    def test_each_start_is_a_collective_and_completes_as_one(self):
        run = self.run_case("collectives", 4)
        for rank in EVERYWHERE:
            calls = run.spools[rank][0].calls[1:-1]  # without Init and Finalize
            for i, (name, root, volumes) in enumerate(COLLECTIVES):
                size = 2 + 2 * STARTS
                init, *starts_and_waits, free = calls[size * i : size * (i + 1)]
                self.assertEqual((init.name, init.request, init.started), (f"{name}_init", 0, []))
                for time in range(STARTS):
                    start, wait = starts_and_waits[2 * time : 2 * time + 2]
                    request = STARTS * i + time + 1
                    self.assertEqual((start.name, start.request, wait.name), ("MPI_Start", 0, "MPI_Wait"))
                    self.assertEqual(
                        [(s.name, s.comm, s.peer, s.bytes, s.extra, s.request) for s in start.started],
                        [(as_nonblocking(name), 0, root, *volumes[rank], request)],
                    )
                    self.assertEqual(
                        [(c.request, c.comm, c.operation, c.flags) for c in wait.completions],
                        [(request, 0, "collective", set())],
                    )
                self.assertEqual((free.name, free.request), ("MPI_Request_free", 0))

    def test_neighbours(self):
        run = self.run_case("neighbours", 3)
        for rank in range(3):
            both = 4 * sum((rank + step) % 3 + 1 for step in (1, 2))
            startall = run.spools[rank][0].call("MPI_Startall")
            self.assertEqual(
                [(s.name, s.comm, s.bytes, s.extra, s.request) for s in startall.started],
                [
                    ("MPI_Ineighbor_allgather", 2, 2 * 4, 2 * 4, 1),
                    ("MPI_Ineighbor_allgatherv", 2, 2 * 4 * (rank + 1), both, 2),
                    ("MPI_Ineighbor_alltoall", 2, 2 * 12, 2 * 12, 3),
                    ("MPI_Ineighbor_alltoallv", 2, 4 + 8, 8 + 4, 4),
                    ("MPI_Ineighbor_alltoallw", 2, 4 + 2, 2 + 4, 5),
                ],
            )

    def test_messages_and_collectives_that_start_together(self):
        run = self.run_case("started_together", 2)
        for rank in range(2):
            peer = 1 - rank
            found = [line for line in run.lines(rank, polls=False) if "_init" not in line]
            sent, received = (0, 12) if rank == 0 else (2 * 12, 12)
            expected = []
            for first in (1, 6):
                expected += [
                    "MPI_Startall",
                    f"    comm=0 peer={peer} tag=4 bytes=4 request={first} mode=1",
                    f"    comm=0 peer={peer} tag=4 bytes=4 request={first + 2} receive",
                    f"    started MPI_Ibarrier comm=1 request={first + 1}",
                    f"    started MPI_Ibcast comm=0 peer=1{f' bytes={sent}' if sent else ''} extra={received} "
                    f"request={first + 3}",
                    "MPI_Waitall",
                    f"    comm=0 peer={peer} tag=4 bytes=4 request={first} mode=1",
                    f"    comm=1 request={first + 1} collective",
                    f"    comm=0 peer={peer} tag=4 bytes=4 request={first + 2} receive",
                    f"    comm=0 peer=1{f' bytes={sent}' if sent else ''} request={first + 3} collective",
                ]
            self.assertEqual(found, expected + ["MPI_Request_free"] * 6)

    def test_a_start_belongs_to_the_group_of_collectives(self):
        for group, starts in (("collective", [2]), ("p2p", [])):
            with self.subTest(group):
                self.setUp()
                run = self.run_case("started_together", 2, CRITPATH_GROUPS=group)
                for rank in range(2):
                    for call in run.spools[rank][0].calls:
                        if call.name == "MPI_Startall":
                            self.assertEqual(len(call.started), starts[0] if starts else 0)
                            self.assertEqual(len(call.completions), 0 if starts else 2)
                        if call.name == "MPI_Waitall":
                            operations = {c.operation for c in call.completions}
                            self.assertEqual(operations, {"collective"} if starts else {""})

    def test_what_starts_while_nothing_is_recorded_counts(self):
        """As collectives do, where these are recorded."""
        for groups, starts in (("p2p,collective", 2), ("collective", 2), ("p2p", 0)):
            with self.subTest(groups):
                self.setUp()
                run = self.run_case("switched_off", 2, CRITPATH_RANGE="pcontrol", CRITPATH_GROUPS=groups)
                for rank in range(2):
                    spool = run.spools[rank][0]
                    found = [s.name for call in spool.calls if call.name == "MPI_Start" for s in call.started]
                    self.assertEqual(found, ["MPI_Ibarrier"] * starts)
                    self.assertEqual(spool.skipped, [("collective", 0, -1, -1, 1)] if starts else [])

    def test_an_initialisation_that_fails(self):
        run = self.run_case("errors", 2)
        for rank in range(2):
            call = run.spools[rank][0].call("MPI_Bcast_init")
            self.assertEqual(call.flags, {"failed"})


class OfMpi4(Run):
    """What Open MPI 4.1 has not."""

    def test_isendrecv_is_a_send_and_a_receive(self):
        run = self.run_case("isendrecv", 2)
        for rank in range(2):
            peer = 1 - rank
            last = {
                0: ["    comm=0 peer=1 tag=8 bytes=4 request=5 mode=1"],
                1: ["    comm=0 peer=0 tag=8 bytes=4 request=5 receive"],
            }[rank]
            # How much has come, MPICH 4.0 does not say.
            found = [re.sub(r"( tag=\d) bytes=\d+(.* receive)", r"\1\2", line) for line in run.lines(rank, polls=False)]
            first = [
                f"    comm=0 peer={peer} tag={5 + rank} bytes=4 request=1 mode=1",
                f"    comm=0 peer={peer} tag={5 + peer} request=2 receive",
            ]
            second = [
                f"    comm=0 peer={peer} tag=7 bytes=4 request=3 mode=1",
                f"    comm=0 peer={peer} tag=7 request=4 receive",
            ]
            expected = ["MPI_Isendrecv comm=0", *first, "MPI_Wait", *first]
            expected += ["MPI_Isendrecv_replace comm=0", *second, "MPI_Test success", *second]
            self.assertEqual(found, expected)

    def test_partitions_are_one_message(self):
        run = self.run_case("partitioned", 2)
        expected = [[], []]
        for request in (1, 3):  # and the plain one
            slot = f"    comm=0 peer=1 tag=-5 bytes=256 request={request} mode=3"
            plain = f"comm=0 peer=1 tag=3 bytes=4 request={request + 1}"
            expected[0] += [
                "MPI_Start",
                f"MPI_Isend {plain}",
                "MPI_Pready",
                "MPI_Pready_range",
                "MPI_Pready_list",
                slot,
                *["MPI_Wait", slot, "MPI_Wait", f"    {plain} mode=1"],
            ]
            envelope = f"comm=0 peer=0 tag=-5 bytes=256 request={request} receive"
            plain = f"comm=0 peer=0 tag=3 bytes=4 request={request + 1} receive"
            expected[1] += [
                *["MPI_Start", f"    {envelope}"],
                f"MPI_Irecv {plain}",
                *["MPI_Parrived success"] * 2,
                *["MPI_Wait", f"    {envelope}", "MPI_Wait", f"    {plain}"],
            ]
        for rank, init in enumerate(("MPI_Psend_init", "MPI_Precv_init")):
            self.assertEqual(run.lines(rank, polls=False), [init, *expected[rank], "MPI_Request_free"])


if __name__ == "__main__":
    unittest.main()
