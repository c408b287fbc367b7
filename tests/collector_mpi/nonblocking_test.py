# SPDX-License-Identifier: BSD-3-Clause
"""The exact records of programs/nonblocking.c, and that the program cannot tell that it is recorded."""

import unittest

from harness import IS_MPICH, NO_PEER, PROGRAMS, Case
from collectives_test import COLLECTIVES, EVERYWHERE, IN_PLACE


def as_nonblocking(name):
    """MPI_Iallreduce for MPI_Allreduce."""
    return "MPI_I" + name.removeprefix("MPI_").lower()


class Nonblocking(Case):
    def run_case(self, case, ranks):
        run = self.run_both(ranks, [PROGRAMS / "nonblocking", case])
        self.assertEqual(run.code, 0, run.stdout + run.stderr)
        for rank in range(ranks):
            for spool in run.spools[rank]:
                self.assertEqual(spool.header.lost, 0)
        return run


class Collectives(Nonblocking):
    def test_each_is_a_collective_and_completes_as_one(self):
        run = self.run_case("collectives", 4)
        for rank in EVERYWHERE:
            calls = run.spools[rank][0].calls[1:-1]  # without Init and Finalize
            self.assertEqual(
                [(c.name, c.comm, c.peer, c.bytes, c.extra, c.request) for c in calls[::2]],
                [
                    (as_nonblocking(name), 0, root, *volumes[rank], i)
                    for i, (name, root, volumes) in enumerate(COLLECTIVES, start=1)
                ],
            )
            for post, wait in zip(calls[::2], calls[1::2]):
                self.assertEqual(wait.name, "MPI_Wait")
                self.assertEqual(
                    [(c.request, c.comm, c.operation, c.flags, c.mode) for c in wait.completions],
                    [(post.request, 0, "collective", set(), 0)],
                )

    def test_in_place(self):
        run = self.run_case("in_place", 4)
        left_out = {"MPI_Gatherv", "MPI_Scatterv"}
        expected = [entry for entry in IN_PLACE if entry[0] not in left_out]
        # The blocking calls stand in another order.
        expected.sort(key=lambda entry: entry[0])
        for rank in EVERYWHERE:
            *posts, waitall = run.spools[rank][0].calls[1:-1]
            self.assertEqual(
                sorted((c.name, c.peer, c.bytes, c.extra) for c in posts),
                [(as_nonblocking(name), root, *volumes[rank]) for name, root, volumes in expected],
            )
            self.assertEqual([c.request for c in waitall.completions], [c.request for c in posts])
            self.assertEqual({c.operation for c in waitall.completions}, {"collective"})

    def test_neighbours(self):
        run = self.run_case("neighbours", 3)
        for rank in range(3):
            found = [
                (c.name, c.comm, c.peer, c.bytes, c.extra) for c in run.spools[rank][0].calls if "Ineighbor" in c.name
            ]
            both = 4 * sum((rank + step) % 3 + 1 for step in (1, 2))
            self.assertEqual(
                found,
                [
                    ("MPI_Ineighbor_allgather", 2, -1, 2 * 4, 2 * 4),
                    ("MPI_Ineighbor_allgatherv", 2, -1, 2 * 4 * (rank + 1), both),
                    ("MPI_Ineighbor_alltoall", 2, -1, 2 * 12, 2 * 12),
                    ("MPI_Ineighbor_alltoallv", 2, -1, 4 + 8, 8 + 4),
                    ("MPI_Ineighbor_alltoallw", 2, -1, 4 + 2, 2 + 4),
                ],
            )
            waitall = run.spools[rank][0].call("MPI_Waitall")
            self.assertEqual([(c.request, c.comm) for c in waitall.completions], [(i, 2) for i in range(1, 6)])

    def test_between_two_groups(self):
        run = self.run_case("inter", 3)
        spools = [run.spools[rank][0] for rank in range(3)]
        found = [[(c.name, c.peer, c.bytes, c.extra) for c in s.calls if c.name.startswith("MPI_I")] for s in spools]
        for calls in found:
            calls[:] = [c for c in calls if c[0] not in ("MPI_Init", "MPI_Intercomm_create")]
        # Rank 1 is the root: its data go to the one process of the other group, and nobody of its own has a part.
        barrier = ("MPI_Ibarrier", -1, 0, 0)
        self.assertEqual(found[0], [("MPI_Ibcast", 0, 0, 8), ("MPI_Iallgather", -1, 2 * 8, 2 * 8), barrier])
        self.assertEqual(found[1], [("MPI_Ibcast", -3, 8, 0), ("MPI_Iallgather", -1, 8, 8), barrier])
        self.assertEqual(found[2], [("MPI_Ibcast", -2, 0, 0), ("MPI_Iallgather", -1, 8, 8), barrier])


class Completion(Nonblocking):
    def test_what_is_over_when_it_is_posted_keeps_its_identity(self):
        run = self.run_case("over_at_once", 2)
        self.assertEqual(
            run.lines(0)[:-1],
            [
                "MPI_Ibarrier comm=1 request=1",
                "MPI_Isend comm=0 peer=1 tag=1 bytes=4 request=2",
                "MPI_Ibcast comm=1 peer=0 bytes=12 extra=12 request=3",
                f"MPI_Isend comm=0{NO_PEER} tag=1 bytes=4 request=4 null_peer",
                "MPI_Ibarrier comm=1 request=5",
                "MPI_Wait",
                "    comm=1 request=5 collective",
                "MPI_Waitany",
                "    comm=1 peer=0 bytes=12 request=3 collective",
                "MPI_Testall success",
                "MPI_Waitall",
                "    comm=1 request=1 collective",
                "    comm=0 peer=1 tag=1 bytes=4 request=2 mode=1",
            ],
        )

    def test_waitany_over_a_barrier_and_a_message(self):
        self.assertEqual(
            self.run_case("waitany", 2).lines(0),
            [
                "MPI_Irecv comm=0 peer=1 tag=5 bytes=16 request=1 receive",
                "MPI_Ibarrier comm=0 request=2",
                "MPI_Waitany",
                "    comm=0 request=2 collective",
                "MPI_Send comm=0 peer=1 tag=6",
                "MPI_Waitany",
                "    comm=0 peer=1 tag=5 bytes=12 request=1 receive",
            ],
        )

    def test_testsome_over_everything(self):
        run = self.run_case("mixture", 2)
        for rank in range(2):
            calls = run.spools[rank][0].calls
            done = [c for call in calls if call.name == "MPI_Testsome" for c in call.completions]
            # The generalised request (not ours), the inactive and the null one do not appear.
            self.assertEqual(
                sorted((c.request, c.operation, c.comm, c.peer, c.bytes) for c in done),
                [
                    (1, "", 0, 1 - rank, 4 * (3 - rank)),
                    (2, "collective", 0, -1, 0),
                    (3, "", 0, 1 - rank, 4 * (2 + rank)),
                    (4, "collective", 0, -1, 8),
                    (5, "collective", 1, -1, 0),
                ],
            )
            last = [c for c in calls if c.name == "MPI_Testsome"][-1]
            self.assertEqual((last.completions, last.polls, last.flags), ([], 1, set()))  # the inactive one is left

    def test_tens_of_thousands_of_open_requests(self):
        run = self.run_case("many", 2)
        for rank in range(2):
            calls = run.spools[rank][0].calls
            posted = [c.request for c in calls if c.request]
            done = [c.request for call in calls for c in call.completions]
            self.assertEqual(len(posted), 2 * 3 * 5000)
            self.assertEqual(sorted(done), posted)
            # Waitall reports in the order of the array, even where half of the requests share one handle.
            self.assertEqual([c.request for c in calls[-2].completions], posted[len(posted) // 2 :])

    def test_cancelling_and_freeing_a_collective_does_no_harm(self):
        self.assertEqual(
            self.run_case("misused", 2).lines(0),
            [
                "MPI_Iallreduce comm=0 bytes=8 extra=8 request=1",
                "MPI_Cancel failed",
                "MPI_Wait",
                "    comm=0 bytes=8 request=1 collective",
                "MPI_Ibarrier comm=1 request=2",
                # MPICH refuses, and the request goes on.
                *(["MPI_Request_free failed", "MPI_Wait", "    comm=1 request=2 collective"]
                  if IS_MPICH else ["MPI_Request_free request=2"]),
                "MPI_Ibcast comm=1 peer=0 bytes=4 extra=4 request=3",
                "MPI_Wait",
                "    comm=1 peer=0 bytes=4 request=3 collective",
            ],
        )

    def test_failed_calls_leave_no_request(self):
        run = self.run_case("errors", 2)
        self.assertEqual(
            run.lines(0),
            ["MPI_Ibcast failed", "MPI_Iallreduce failed", "MPI_Ibarrier failed", "MPI_Comm_idup failed"],
        )


class Idup(Nonblocking):
    def test_duplicates_cross_messages_and_each_other(self):
        run = self.run_case("idup", 2)
        known = [{c.comm: c for c in run.spools[rank][0].communicators} for rank in range(2)]
        for rank in range(2):
            spool = run.spools[rank][0]
            first, second = [c for c in spool.calls if c.name == "MPI_Comm_idup"]
            self.assertEqual((first.comm, first.extra - 1, first.request), (0, 2, 1))
            self.assertEqual((second.comm, second.extra - 1, second.request), (0, 3, 2))
            done = [c for call in spool.calls for c in call.completions if c.operation]
            order = [2, 1] if rank == 0 else [1, 2]
            self.assertEqual([(c.request, c.operation, c.comm) for c in done], [(i, "newcomm", 0) for i in order])
            self.assertEqual([c.comm for c in spool.calls if c.name == "MPI_Barrier"], [3, 2])
            derived = [c for c in spool.calls if c.name == "MPI_Comm_dup"][0]
            self.assertEqual(known[rank][derived.extra - 1].parent_gid, known[rank][3].gid)
        # Both ranks mean the same communicator, although they have completed them in different order.
        shared = [[c.gid for c in known[rank].values() if c.size == 2] for rank in range(2)]
        self.assertEqual(shared[0], shared[1])
        self.assertEqual(len({c.gid for c in known[0].values()}), len(known[0]))


class Threads(Nonblocking):
    def test_one_thread_posts_and_another_completes(self):
        run = self.run_case("threads", 1)
        main, *others = run.spools[0]
        comms = {c.extra - 1 for c in main.calls if c.name == "MPI_Comm_dup"}
        self.assertEqual(len(comms), 3)
        posts = {c.request: c for s in others for c in s.calls if c.request}
        completions = [(call, c) for s in others for call in s.calls for c in call.completions]
        self.assertEqual(len(posts), 3 * 500 * 4)
        self.assertEqual(sorted(c.request for _, c in completions), sorted(posts))
        for call, done in completions:
            post = posts[done.request]
            self.assertEqual(done.comm, post.comm)
            self.assertEqual(done.operation, "" if "send" in post.name or "recv" in post.name else "collective")
            self.assertLessEqual(post.leave, call.leave)
            if post.name == "MPI_Irecv":
                self.assertEqual((done.peer, done.tag, done.bytes), (0, post.tag, 4))
        for spool in others:
            names = {c.name for c in spool.calls}
            posting = {"MPI_Irecv", "MPI_Isend", "MPI_Iallreduce", "MPI_Ibarrier"}
            self.assertIn(names, ({"MPI_Waitany", "MPI_Waitall"}, posting))


if __name__ == "__main__":
    unittest.main()
