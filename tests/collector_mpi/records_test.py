# SPDX-License-Identifier: BSD-3-Clause
"""The exact records of programs/records.c."""

import os
import re
import subprocess
import unittest

from harness import IS_MPICH, NO_PEER, PROGRAMS, Case


class PointToPoint(Case):
    def test_send_and_receive_with_ignored_status(self):
        run = self.records("send_recv")
        self.assertEqual(
            run.lines(0),
            [
                "MPI_Recv comm=0 peer=1 tag=7 bytes=12 receive",
                "MPI_Recv comm=0 peer=1 tag=8 any_source any_tag receive",
                "MPI_Recv comm=0 peer=1 tag=9 bytes=48 receive",
            ],
        )
        self.assertEqual(
            run.lines(1),
            [
                "MPI_Send comm=0 peer=0 tag=7 bytes=12",
                "MPI_Ssend comm=0 peer=0 tag=8",
                "MPI_Send comm=0 peer=0 tag=9 bytes=48",
            ],
        )

    def test_sendrecv(self):
        run = self.records("sendrecv")
        self.assertEqual(
            run.lines(1),
            [
                "MPI_Sendrecv comm=0 peer=0 tag=1 bytes=4 has_completion",
                "    comm=0 peer=0 tag=1 bytes=4 any_source receive",
                "MPI_Sendrecv_replace comm=0 peer=0 tag=2 bytes=8 has_completion",
                "    comm=0 peer=0 tag=2 bytes=8 receive",
                f"MPI_Sendrecv comm=0{NO_PEER} tag=3 bytes=4 has_completion null_peer",
                "    comm=0 peer=0 tag=3 bytes=4 receive",
            ],
        )
        self.assertEqual(run.lines(0)[-1], "MPI_Sendrecv comm=0 peer=1 tag=3 bytes=4")

    def test_probe(self):
        found = self.records("probe").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Probe comm=0 peer=1 tag=1 bytes=4 any_source receive success",
                "MPI_Recv comm=0 peer=1 tag=1 bytes=4 receive",
                "MPI_Iprobe comm=0 peer=1 tag=2 bytes=8 any_tag receive success",
                "MPI_Recv comm=0 peer=1 tag=2 bytes=8 receive",
            ],
        )

    def test_matched_probe(self):
        found = self.records("matched_probe").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Mprobe comm=0 peer=1 tag=1 bytes=4 request=1 receive success",
                "MPI_Improbe comm=0 peer=1 tag=2 bytes=8 request=2 any_source receive success",
                "MPI_Imrecv comm=0 peer=1 tag=2 bytes=40 extra=2 request=1 receive",
                "MPI_Mrecv comm=0 peer=1 tag=1 bytes=4 request=1 receive",
                "MPI_Wait",
                "    comm=0 peer=1 tag=2 bytes=8 request=1 receive",
                f"MPI_Mprobe comm=0{NO_PEER} null_peer receive success",
                "MPI_Mrecv null_peer receive",
            ],
        )

    def test_null_peers_and_null_requests(self):
        self.assertEqual(
            self.records("null_peers").lines(0),
            [
                f"MPI_Send comm=0{NO_PEER} tag=1 bytes=4 null_peer",
                f"MPI_Recv comm=0{NO_PEER} null_peer receive",
                f"MPI_Isend comm=0{NO_PEER} tag=1 bytes=4 request=1 null_peer",
                f"MPI_Irecv comm=0{NO_PEER} tag=1 bytes=4 request=2 null_peer receive",
                "MPI_Waitall",
                f"MPI_Probe comm=0{NO_PEER} null_peer receive success",
                "MPI_Wait",
                "MPI_Waitall",
                "MPI_Waitall",
                "MPI_Test success",
                "MPI_Testany success",
                "MPI_Testall success",
            ],
        )

    def test_errors_reach_the_application_and_move_nothing(self):
        plain = self.run_plain(2, [PROGRAMS / "records", "errors"])
        run = self.records("errors")
        self.assertEqual(run.stdout, plain.stdout)
        # MPICH does not say how long a message was that did not fit, and Waitall returns at the first that does not.
        found = [re.sub(" bytes=.*? ", " ", line) if IS_MPICH and (" tag=1 " in line or line[0] == " ") else line
                 for line in run.lines(0)]
        self.assertEqual(
            found,
            [
                "MPI_Send failed",
                "MPI_Send failed",
                f"MPI_Recv comm=0 peer=1 tag=1{'' if IS_MPICH else ' bytes=8'} receive",
                "MPI_Irecv comm=0 peer=1 tag=2 bytes=4 request=1 receive",
                "MPI_Irecv comm=0 peer=1 tag=3 bytes=32 request=2 receive",
                "MPI_Barrier comm=0",
                "MPI_Waitall failed",
                f"    comm=0 peer=1 tag=2{'' if IS_MPICH else ' bytes=12'} request=1 receive",
                *([] if IS_MPICH else ["    comm=0 peer=1 tag=3 bytes=16 request=2 receive"]),
            ],
        )


class Requests(Case):
    def test_waitall(self):
        self.assertEqual(
            self.records("waitall").lines(0),
            [
                "MPI_Irecv comm=0 peer=1 tag=1 bytes=40 request=1 receive",
                "MPI_Isend comm=0 peer=1 tag=1 bytes=16 request=2",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=1 bytes=20 request=1 receive",
                "    comm=0 peer=1 tag=1 bytes=16 request=2 mode=1",
            ],
        )

    def test_finished_sends_that_share_a_handle_keep_their_identity(self):
        self.assertEqual(
            self.records("shared_handles").lines(0),
            [
                "MPI_Isend comm=0 peer=1 tag=0 bytes=4 request=1",
                "MPI_Isend comm=0 peer=1 tag=1 bytes=8 request=2",
                "MPI_Isend comm=0 peer=1 tag=2 bytes=12 request=3",
                "MPI_Wait",
                "    comm=0 peer=1 tag=2 bytes=12 request=3 mode=1",
                "MPI_Wait",
                "    comm=0 peer=1 tag=1 bytes=8 request=2 mode=1",
                "MPI_Wait",
                "    comm=0 peer=1 tag=0 bytes=4 request=1 mode=1",
                "MPI_Isend comm=0 peer=1 tag=3 bytes=16 request=4",
                "MPI_Isend comm=0 peer=1 tag=4 bytes=20 request=5",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=3 bytes=16 request=4 mode=1",
                "    comm=0 peer=1 tag=4 bytes=20 request=5 mode=1",
            ],
        )

    def test_waitany(self):
        self.assertEqual(
            self.records("waitany").lines(0),
            [
                "MPI_Irecv comm=0 peer=1 tag=1 bytes=40 request=1 receive",
                "MPI_Irecv comm=0 peer=1 tag=2 bytes=40 request=2 receive",
                "MPI_Waitany",
                "    comm=0 peer=1 tag=2 bytes=8 request=2 receive",
                "MPI_Send comm=0 peer=1 tag=3",
                "MPI_Waitany",
                "    comm=0 peer=1 tag=1 bytes=4 request=1 receive",
                "MPI_Waitany",
            ],
        )

    def test_waitsome(self):
        found = self.records("waitsome").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Irecv comm=0 peer=1 tag=1 bytes=40 request=1 receive",
                "MPI_Irecv comm=0 peer=1 tag=2 bytes=40 request=2 receive",
                "MPI_Waitsome",
                "    comm=0 peer=1 tag=2 bytes=8 request=2 receive",
                "MPI_Send comm=0 peer=1 tag=3",
                "MPI_Testsome success",
                "    comm=0 peer=1 tag=1 bytes=4 request=1 receive",
                "MPI_Waitsome",
            ],
        )

    def test_loops_of_tests(self):
        run = self.records("test_loops")
        found = run.lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Irecv comm=0 peer=1 tag=1 bytes=40 request=1 receive",
                "MPI_Irecv comm=0 peer=1 tag=2 bytes=40 request=2 receive",
                "MPI_Testall success",
                "    comm=0 peer=1 tag=1 bytes=4 request=1 receive",
                "    comm=0 peer=1 tag=2 bytes=8 request=2 receive",
                "MPI_Irecv comm=0 peer=1 tag=3 bytes=40 request=3 receive",
                "MPI_Send comm=0 peer=1 tag=0",
                "MPI_Test success",
                "    comm=0 peer=1 tag=3 bytes=12 request=3 receive",
                "MPI_Irecv comm=0 peer=1 tag=4 bytes=40 request=4 receive",
                "MPI_Send comm=0 peer=1 tag=0",
                "MPI_Testany success",
                "    comm=0 peer=1 tag=4 bytes=16 request=4 receive",
            ],
        )
        # Every poll is counted, and a tight loop is few records, however long it spins.
        calls = [c for c in run.spools[0][0].calls if c.name == "MPI_Testall"]
        self.assertEqual(sum(c.polls for c in calls) + 1, int(run.stdout.split("tests ")[1].split()[0]))
        self.assertLess(len(calls), 2000)
        for before, after in zip(calls, calls[1:]):
            self.assertLessEqual(before.enter, before.leave)
            self.assertLessEqual(before.leave, after.enter)

    def test_polls_in_turn(self):
        run = self.records("poll_turns")
        turns = int(run.stdout.split("turns ")[1].split()[0])
        polls = [c for c in run.spools[0][0].calls if c.polls > 0]
        asked = {name: sum(c.polls for c in polls if c.name == name) for name in ("MPI_Test", "MPI_Testany", "MPI_Iprobe")}
        self.assertEqual(asked, {"MPI_Test": 2 * turns + 1, "MPI_Testany": turns, "MPI_Iprobe": turns})
        # A record for each question at each place, and once more wherever the process lost its processor in between.
        self.assertLess(len(polls), turns)
        largest = sorted(polls, key=lambda c: c.polls)[-4:]
        self.assertEqual(sorted(c.name for c in largest), ["MPI_Iprobe", "MPI_Test", "MPI_Test", "MPI_Testany"])
        for before, after in zip(polls, polls[1:]):
            self.assertLessEqual(before.enter, before.leave)
            self.assertLessEqual(before.leave, after.enter)

    def test_persistent(self):
        self.assertEqual(
            self.records("persistent").lines(0),
            [
                "MPI_Ssend_init",
                "MPI_Recv_init",
                "MPI_Waitall",
                "MPI_Startall",
                "    comm=0 peer=1 tag=5 bytes=8 request=1 mode=3",
                "    comm=0 tag=5 bytes=32 request=2 any_source receive",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=5 bytes=8 request=1 mode=3",
                "    comm=0 peer=1 tag=5 bytes=8 request=2 any_source receive",
                "MPI_Startall",
                "    comm=0 peer=1 tag=5 bytes=8 request=3 mode=3",
                "    comm=0 tag=5 bytes=32 request=4 any_source receive",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=5 bytes=8 request=3 mode=3",
                "    comm=0 peer=1 tag=5 bytes=8 request=4 any_source receive",
                "MPI_Start comm=0 tag=5 bytes=32 request=5 any_source receive",
                "MPI_Start comm=0 peer=1 tag=5 bytes=8 extra=3 request=6",
                "MPI_Wait",
                "    comm=0 peer=1 tag=5 bytes=8 request=5 any_source receive",
                "MPI_Wait",
                "    comm=0 peer=1 tag=5 bytes=8 request=6 mode=3",
                "MPI_Request_free",
                "MPI_Request_free",
            ],
        )

    def test_a_persistent_ready_send(self):
        self.assertEqual(
            self.records("persistent_ready").lines(0),
            [
                "MPI_Rsend_init",
                "MPI_Barrier comm=0",
                "MPI_Start comm=0 peer=1 tag=5 bytes=12 extra=4 request=1",
                "MPI_Wait",
                "    comm=0 peer=1 tag=5 bytes=12 request=1 mode=4",
                "MPI_Request_free",
            ],
        )

    def test_all_modes_to_send(self):
        self.assertEqual(
            self.records("send_modes").lines(0),
            [
                "MPI_Barrier comm=0",
                "MPI_Rsend comm=0 peer=1 tag=1 bytes=4",
                "MPI_Irsend comm=0 peer=1 tag=2 bytes=8 request=1",
                "MPI_Issend comm=0 peer=1 tag=3 bytes=12 request=2",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=2 bytes=8 request=1 mode=4",
                "    comm=0 peer=1 tag=3 bytes=12 request=2 mode=3",
                "MPI_Buffer_attach",
                "MPI_Bsend comm=0 peer=1 tag=4 bytes=16",
                "MPI_Ibsend comm=0 peer=1 tag=5 bytes=20 request=3",
                "MPI_Wait",
                "    comm=0 peer=1 tag=5 bytes=20 request=3 mode=2",
                "MPI_Bsend_init",
                "MPI_Start comm=0 peer=1 tag=6 bytes=24 extra=2 request=4",
                "MPI_Wait",
                "    comm=0 peer=1 tag=6 bytes=24 request=4 mode=2",
                "MPI_Request_free",
                "MPI_Buffer_detach",
            ],
        )

    def test_what_a_process_does_by_itself(self):
        self.assertEqual(
            self.records("local_functions").lines(1),
            ["MPI_Pack", "MPI_Unpack", "MPI_Pack_external", "MPI_Unpack_external", "MPI_Reduce_local"],
        )

    def test_without_memory_for_statuses(self):
        self.assertEqual(self.records("no_memory").lines(0), ["MPI_Waitall", "MPI_Barrier comm=0"])

    def test_cancel(self):
        self.assertEqual(
            self.records("cancel").lines(0),
            [
                "MPI_Irecv comm=0 tag=99 bytes=4 request=1 any_source receive",
                "MPI_Cancel request=1",
                "MPI_Wait",
                "    comm=0 tag=99 request=1 any_source cancelled receive",
                "MPI_Irecv comm=0 peer=1 tag=99 bytes=4 request=2 receive",
                "MPI_Cancel request=2",
                "MPI_Wait",
                "    comm=0 peer=1 tag=99 request=2 cancelled receive",
            ],
        )

    def test_request_free(self):
        run = self.records("request_free")
        self.assertEqual(
            run.lines(0)[:2], ["MPI_Issend comm=0 peer=1 tag=1 bytes=20 request=1", "MPI_Request_free request=1"]
        )
        # The message that a freed receive takes is not the next one's. Which one takes it is not known of all.
        spool = run.spools[1][0]
        posts = [c for c in spool.calls if c.name == "MPI_Irecv"]
        places = {1: posts[0], 4: spool.call("MPI_Mprobe"), 5: posts[-1]}
        expected = [(c.enter, ("receive", 0, 0, tag, 1)) for tag, c in places.items()]
        found = [(since, skipped) for since, skipped in zip(spool.skipped_since, spool.skipped) if skipped[0] == "receive"]
        self.assertEqual(sorted(found), expected)

    def test_request_get_status_leaves_the_status_intact(self):
        found = self.records("get_status").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Irecv comm=0 bytes=20 request=1 any_source any_tag receive",
                "MPI_Request_get_status success",
                "MPI_Wait",
                "    comm=0 peer=1 tag=6 bytes=8 request=1 any_source any_tag receive",
            ],
        )

    def test_what_was_seen_to_be_finished_is_completed_by_its_free(self):
        found = self.records("get_status_and_free").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Recv_init",
                "MPI_Irecv comm=0 tag=7 bytes=20 request=1 any_source receive",
                "MPI_Issend comm=0 peer=1 tag=7 bytes=4 request=2",
                "MPI_Start comm=0 peer=1 tag=8 bytes=20 request=3 receive",
                "MPI_Send comm=0 peer=1 tag=8 bytes=8",
                "MPI_Wait",
                "    comm=0 peer=1 tag=8 bytes=8 request=3 receive",
                "MPI_Start comm=0 peer=1 tag=8 bytes=20 request=4 receive",
                "MPI_Send comm=0 peer=1 tag=8 bytes=8",
                *["MPI_Request_get_status success"] * 3,
                "MPI_Request_free",
                "    comm=0 peer=1 tag=7 bytes=8 request=1 any_source receive",
                "MPI_Request_free",
                "    comm=0 peer=1 tag=7 bytes=4 request=2 mode=3",
                "MPI_Request_free",
                "    comm=0 peer=1 tag=8 bytes=8 request=4 receive",
                "MPI_Irecv comm=0 peer=1 tag=9 bytes=20 request=5 receive",
                "MPI_Request_free request=5",
                "MPI_Barrier comm=0",
                "MPI_Send comm=0 peer=1 tag=9 bytes=4",
                "MPI_Barrier comm=0",
            ],
        )


# (sent, received) of each rank, by the convention in collector/mpi/volume.hpp. An int is 4 bytes.
EVERYWHERE = [0, 1, 2, 3]
COLLECTIVES = [
    ("MPI_Barrier", -1, [(0, 0) for _ in EVERYWHERE]),
    ("MPI_Allreduce", -1, [(4 * 8, 4 * 8) for _ in EVERYWHERE]),
    ("MPI_Allgather", -1, [(4 * 4, 4 * 4) for _ in EVERYWHERE]),
    ("MPI_Allgatherv", -1, [(4 * 4 * (r + 1), 4 * 10) for r in EVERYWHERE]),
    ("MPI_Alltoall", -1, [(4 * 12, 4 * 12) for _ in EVERYWHERE]),
    ("MPI_Alltoallv", -1, [(4 * 6, 4 * 4 * r) for r in EVERYWHERE]),
    ("MPI_Alltoallw", -1, [(4 + 8 + 4 + 1, 4 * [4, 8, 4, 1][r]) for r in EVERYWHERE]),
    ("MPI_Reduce_scatter", -1, [(4 * 10, 4 * 4 * (r + 1)) for r in EVERYWHERE]),
    ("MPI_Reduce_scatter_block", -1, [(4 * 8, 4 * 8) for _ in EVERYWHERE]),
    ("MPI_Bcast", 1, [(4 * 20 if r == 1 else 0, 20) for r in EVERYWHERE]),
    ("MPI_Scatter", 1, [(4 * 8 if r == 1 else 0, 8) for r in EVERYWHERE]),
    ("MPI_Scatterv", 1, [(4 * 10 if r == 1 else 0, 4 * (r + 1)) for r in EVERYWHERE]),
    ("MPI_Reduce", 1, [(8, 4 * 8 if r == 1 else 0) for r in EVERYWHERE]),
    ("MPI_Gather", 1, [(8, 4 * 8 if r == 1 else 0) for r in EVERYWHERE]),
    ("MPI_Gatherv", 1, [(4 * (r + 1), 4 * 10 if r == 1 else 0) for r in EVERYWHERE]),
    ("MPI_Scan", -1, [((4 - r) * 8, (r + 1) * 8) for r in EVERYWHERE]),
    ("MPI_Exscan", -1, [((3 - r) * 8, r * 8) for r in EVERYWHERE]),
]
IN_PLACE = [
    ("MPI_Allreduce", -1, [(3 * 8, 3 * 8) for _ in EVERYWHERE]),
    ("MPI_Allgather", -1, [(3 * 4, 3 * 4) for _ in EVERYWHERE]),
    ("MPI_Allgatherv", -1, [(3 * 4 * (r + 1), 4 * (9 - r)) for r in EVERYWHERE]),
    ("MPI_Alltoall", -1, [(3 * 12, 3 * 12) for _ in EVERYWHERE]),
    ("MPI_Alltoallv", -1, [(3 * 8, 3 * 8) for _ in EVERYWHERE]),
    ("MPI_Reduce_scatter", -1, [(4 * (9 - r), 3 * 4 * (r + 1)) for r in EVERYWHERE]),
    ("MPI_Reduce", 1, [(0, 3 * 8) if r == 1 else (8, 0) for r in EVERYWHERE]),
    ("MPI_Gather", 1, [(0, 3 * 8) if r == 1 else (8, 0) for r in EVERYWHERE]),
    ("MPI_Gatherv", 1, [(0, 4 * 8) if r == 1 else (4 * (r + 1), 0) for r in EVERYWHERE]),
    ("MPI_Scatter", 1, [(3 * 8, 0) if r == 1 else (0, 8) for r in EVERYWHERE]),
    ("MPI_Scatterv", 1, [(4 * 8, 0) if r == 1 else (0, 4 * (r + 1)) for r in EVERYWHERE]),
    ("MPI_Scan", -1, [((3 - r) * 8, r * 8) for r in EVERYWHERE]),
]


class Collectives(Case):
    def check(self, case, expected):
        run = self.records(case, ranks=4)
        for rank in EVERYWHERE:
            calls = run.spools[rank][0].calls[1:-1]  # without Init and Finalize
            self.assertEqual(
                [(c.name, c.comm, c.peer, c.bytes, c.extra) for c in calls],
                [(name, 0, root, *volumes[rank]) for name, root, volumes in expected],
            )

    def test_volumes(self):
        self.check("collectives", COLLECTIVES)

    def test_volumes_in_place(self):
        self.check("in_place", IN_PLACE)

    if IS_MPICH:  # Open MPI refuses null types

        def test_null_types(self):
            self.check("null_types", [("MPI_Alltoallw", -1, 4 * [(0, 0)])])

    def test_volumes_of_neighbours(self):
        run = self.records("neighbours", ranks=3)
        for rank in range(3):
            found = [(c.name, c.comm, c.bytes, c.extra) for c in run.spools[rank][0].calls if "Neighbor" in c.name]
            self.assertEqual(
                found,
                [
                    ("MPI_Neighbor_allgather", 2, 2 * 4, 2 * 4),
                    ("MPI_Neighbor_allgatherv", 2, 2 * 4 * (rank + 1), 4 * (6 - (rank + 1))),
                    ("MPI_Neighbor_alltoallv", 2, 4 + 8, 8 + 4),
                    ("MPI_Neighbor_alltoallw", 2, 4 + 16, 16 + 4),
                    ("MPI_Neighbor_alltoall", 3, 12, 12),
                ],
            )


class LargeCounts(Case):
    """Of the programs as tests/mpi_large.h makes them."""

    def test_all_functions_that_have_them_are_called_with_them(self):
        def symbols(option, file):
            return set(subprocess.run(["nm", "-D", option, file], capture_output=True, text=True).stdout.split())

        library = symbols("--defined-only", os.environ["CRITPATH_TEST_MPI_LIBRARY"])
        # Those that are not recorded.
        others = {"MPI_Get_count", "MPI_Get_elements", "MPI_Op_create", "MPI_Win_shared_query"}
        for program in ("records", "nonblocking", "persistent", "rma", "io"):
            called = {name for name in symbols("--undefined-only", PROGRAMS / program) if name.startswith("MPI_")}
            self.assertGreater(len([name for name in called if name.endswith("_c")]), 10, program)
            plain = {name for name in called if f"{name}_c" in library and not name.startswith("MPI_Type_")}
            self.assertEqual(plain - others, set(), program)

    def test_more_than_an_int_can_count(self):
        self.assertEqual(
            self.records("large").lines(0),
            [
                f"MPI_Send comm=0{NO_PEER} tag=1 bytes=3000000000 null_peer",
                f"MPI_Irecv comm=0{NO_PEER} tag=1 bytes=12000000000 request=1 null_peer receive",
                "MPI_Wait",
                "MPI_Bcast comm=0 peer=0",
            ],
        )


class Communicators(Case):
    def test_identity(self):
        run = self.records("communicators", ranks=4)
        by_gid = {}
        for rank in range(4):
            for c in run.spools[rank][0].communicators:
                by_gid.setdefault(c.gid, []).append((rank, c))
        shapes = []
        for known in by_gid.values():
            first = known[0][1]
            if first.is_inter:
                # Each side sees the other's group.
                sides = {tuple(c.members) for _, c in known}
                self.assertEqual(len(sides), 2)
                for rank, c in known:
                    self.assertNotIn(rank, c.members)
                shapes.append(("inter", *sorted(sides)))
            else:
                for rank, c in known:
                    self.assertEqual(c.members, first.members)
                    self.assertEqual(c.members[c.rank], rank)
                self.assertEqual(sorted(first.members), [rank for rank, _ in known])
                shapes.append(tuple(first.members))
            self.assertEqual(len({c.parent_gid for _, c in known}), 1)
        everybody = (0, 1, 2, 3)
        alone = [(rank,) for rank in range(4)]
        inter = ("inter", (2, 0), (3, 1))
        expected = [everybody] * 5  # WORLD, dup, idup, cart, dup again
        expected += alone + alone  # SELF, its duplicates
        expected += [(2, 0), (3, 1), (0, 1, 2), (0, 2), (0, 2), inter, inter, (2, 0, 3, 1), (0, 1), (2, 3)]
        self.assertEqual(sorted(map(str, shapes)), sorted(map(str, expected)))

    def test_grids(self):
        for spool in (threads[0] for threads in self.records("communicators", ranks=4).spools):
            grids = [(c.size, c.grid) for c in spool.communicators if c.grid]
            self.assertEqual(grids, [(4, [(2, False), (2, False)]), (2, [(2, False)])])  # and a row of it

    def test_rings(self):
        for spool in (threads[0] for threads in self.records("neighbours", ranks=3).spools):
            self.assertEqual([c.grid for c in spool.communicators], [[], [], [(3, True)], []])
            left = (spool.communicators[0].rank + 2) % 3
            self.assertEqual([c.in_neighbours for c in spool.communicators], [None, None, None, [left]])

    def test_graphs(self):
        for rank, threads in enumerate(self.records("graphs", ranks=3).spools):
            own = [c.in_neighbours for c in threads[0].communicators[2:]]
            adjacent = [[], [2, 2, 2, 1] + 14 * [2], []][rank]
            self.assertEqual(own, [adjacent, adjacent, [(rank + 2) % 3], [[1, 2], [0], [0]][rank]])

    def test_calls(self):
        run = self.records("communicators", ranks=4)
        spool = run.spools[0][0]
        members = {c.comm: c.members for c in spool.communicators}
        bcast = [c for c in spool.calls if c.name == "MPI_Bcast"][0]
        self.assertEqual(members[bcast.comm], [3, 1])
        # Root values of an inter-communicator, and the volume from one group to the other.
        roots = [(c.peer, c.bytes, c.extra) for r in range(4) for c in run.spools[r][0].calls if c.name == "MPI_Bcast"]
        self.assertEqual(roots, [(-3, 2 * 8, 0), (1, 0, 8), (-2, 0, 0), (1, 0, 8)])
        send = spool.call("MPI_Send")
        self.assertEqual(members[send.comm], [0, 1])
        last_barrier = [c for c in spool.calls if c.name == "MPI_Barrier"][-1]
        self.assertEqual(last_barrier.comm, max(members))
        self.assertEqual(spool.call("MPI_Comm_disconnect").comm, max(members))
        for call in spool.calls:
            if call.name in ("MPI_Comm_dup", "MPI_Cart_create", "MPI_Intercomm_merge", "MPI_Comm_idup"):
                self.assertIn(call.extra - 1, members)
        nothing = [c for c in run.spools[3][0].calls if c.name == "MPI_Comm_split"][1]
        self.assertEqual(nothing.extra, 0)  # colour MPI_UNDEFINED


if __name__ == "__main__":
    unittest.main()
