# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""The exact records of programs/rma.c, and that it cannot tell that it is recorded."""

import unittest

from compared import Compared
from harness import NO_PEER, PROGRAMS

CREATED = "MPI_Win_create comm=0 tag=0 bytes=256"
REPLACES = "success"  # the same bit
FREED = "MPI_Win_free comm=0 tag=0"


def constants(case):
    """MPI_MODE_NOPRECEDE, ..._NOSUCCEED, ..._NOCHECK, ..._NOPUT."""
    return [int(word) for word in case.run_plain(1, [PROGRAMS / "rma", "constants"]).stdout.split()]


class Transfers:
    program = "rma"

    def expected_fence(self):
        no_precede, no_succeed, _, _ = constants(self)

        def expected(rank, size):
            to = f"comm=0 peer={(rank + 1) % size} tag=0"
            return [
                CREATED,
                f"MPI_Win_fence comm=0 tag=0 extra={no_precede}",
                f"MPI_Put {to} bytes=12",
                f"MPI_Put {to} bytes=8",
                f"MPI_Put comm=0{NO_PEER} tag=0 bytes=12 null_peer",
                f"MPI_Put {to}",
                f"MPI_Get {to} extra=8",
                f"MPI_Get comm=0{NO_PEER} tag=0 extra=8 null_peer",
                f"MPI_Accumulate {to} bytes=16",
                f"MPI_Get_accumulate {to} bytes=4 extra=4",
                f"MPI_Get_accumulate {to} extra=8",
                f"MPI_Fetch_and_op {to} bytes=4 extra=4",
                f"MPI_Fetch_and_op {to} extra=4",
                f"MPI_Fetch_and_op {to} bytes=4 extra=4 {REPLACES}",
                f"MPI_Compare_and_swap {to} bytes=4 extra=4",
                f"MPI_Win_fence comm=0 tag=0 extra={no_succeed}",
                FREED,
            ]

        return expected

    def test_fence_and_transfers(self):
        self.each("fence", self.expected_fence())

    def test_start_post_complete_wait(self):
        no_put = constants(self)[3]

        def expected(rank, size):
            right, left = (rank + 1) % size, (rank + size - 1) % size
            return [
                CREATED,
                "MPI_Win_post comm=0 tag=0",
                f"    members {left}",
                "MPI_Win_start comm=0 tag=0",
                f"    members {right}",
                f"MPI_Put comm=0 peer={right} tag=0 bytes=4",
                "MPI_Win_complete comm=0 tag=0",
                "MPI_Win_wait comm=0 tag=0",
                f"MPI_Win_post comm=0 tag=0 extra={no_put}",
                f"    members {left}",
                "MPI_Win_start comm=0 tag=0",
                f"    members {right}",
                "MPI_Win_complete comm=0 tag=0",
                "MPI_Win_test comm=0 tag=0 success",
                "MPI_Win_post comm=0 tag=0",
                "MPI_Win_start comm=0 tag=0",
                "MPI_Win_complete comm=0 tag=0",
                "MPI_Win_wait comm=0 tag=0",
                FREED,
            ]

        for size in self.sizes:
            run = self.run_case("pscw", size)
            for rank in range(size):
                lines = run.lines(rank, polls=False)
                self.assertEqual(lines, expected(rank, size))

    def test_unsuccessful_tests_are_a_poll_run(self):
        run = self.run_case("poll", 3)
        for rank in (1, 2):
            tests = [call for call in run.spools[rank][0].calls if call.name == "MPI_Win_test"]
            self.assertGreater(sum(call.polls for call in tests), 1)
            self.assertLess(len(tests), sum(call.polls for call in tests))
            self.assertEqual([call.polls for call in tests if "success" in call.flags], [0])
            self.assertEqual({(call.comm, call.tag) for call in tests}, {(0, 0)})

    def test_lock(self):
        def expected(rank, size):
            to = f"comm=0 peer={(rank + 1) % size} tag=0"
            return [
                CREATED,
                f"MPI_Win_lock {to} extra=1",
                f"MPI_Put {to} bytes=4",
                f"MPI_Win_flush {to}",
                f"MPI_Win_flush_local {to}",
                f"MPI_Win_unlock {to}",
                f"MPI_Win_lock {to} extra=2",
                f"MPI_Get {to} extra=4",
                f"MPI_Win_unlock {to}",
                "MPI_Win_lock_all comm=0 tag=0 extra=2",
                "MPI_Win_flush_all comm=0 tag=0",
                "MPI_Win_flush_local_all comm=0 tag=0",
                "MPI_Win_sync comm=0 tag=0",
                "MPI_Win_unlock_all comm=0 tag=0",
                FREED,
            ]

        self.each("lock", expected)

    def expected_requests(self, rank, size):
        to = f"comm=0 peer={(rank + 1) % size} tag=0"
        return [
            CREATED,
            "MPI_Win_lock_all comm=0 tag=0 extra=2",
            f"MPI_Rput {to} bytes=12 request=1",
            f"MPI_Rget {to} extra=8 request=2",
            f"MPI_Raccumulate {to} bytes=16 request=3",
            f"MPI_Rget_accumulate {to} bytes=4 extra=4 request=4",
            f"MPI_Rput comm=0{NO_PEER} tag=0 bytes=12 request=5 null_peer",
            "MPI_Wait",
            f"    {to} request=2 rma",
            "MPI_Waitall",
            f"    {to} bytes=12 request=1 rma",
            f"    {to} bytes=16 request=3 rma",
            f"    {to} bytes=4 request=4 rma",
            "MPI_Win_unlock_all comm=0 tag=0",
            FREED,
        ]

    def test_requests(self):
        self.each("requests", self.expected_requests)

    def test_errors_reach_the_application_and_move_nothing(self):
        for size in self.sizes:
            self.check_failures(self.run_case("errors", size), size)


class Windows(Transfers, Compared):
    """Open MPI's usual component makes no window on one process; these do."""

    mpi = {"OMPI_MCA_osc": "pt2pt,sm"}

    def test_windows_have_ids_and_common_identities(self):
        def expected(rank, _size):
            return [
                "MPI_Win_create comm=0 tag=0",
                "MPI_Win_create comm=1 tag=1 bytes=4",
                "MPI_Win_create tag=2 bytes=8",
                "MPI_Win_allocate comm=0 tag=3 bytes=40",
                "MPI_Win_allocate_shared comm=0 tag=4" + (" bytes=80" if rank == 0 else ""),
                "MPI_Win_create_dynamic comm=0 tag=5",
                "MPI_Win_attach",
                "MPI_Win_detach",
                "MPI_Win_fence tag=2",
                "MPI_Win_free comm=0 tag=5",
                "MPI_Win_free comm=0 tag=4",
                "MPI_Win_free comm=0 tag=3",
                "MPI_Win_free tag=2",
                "MPI_Win_free comm=1 tag=1",
                "MPI_Win_free comm=0 tag=0",
            ]

        self.each("windows", expected)
        objects = [spools[0].objects for spools in self.run_case("windows", 3).spools]
        for mine in objects:
            self.assertEqual(
                [(o.type, o.id, o.comm, o.function.removeprefix("MPI_Win_"), o.name) for o in mine],
                [
                    ("window", 0, 0, "create", ""),
                    ("window", 1, 1, "create", ""),
                    ("window", 2, -1, "create", ""),
                    ("window", 3, 0, "allocate", ""),
                    ("window", 4, 0, "allocate_shared", ""),
                    ("window", 5, 0, "create_dynamic", ""),
                ],
            )
            self.assertEqual(mine[2].gid, (0, 0))  # made on a communicator that nobody knows
        for on_world in (0, 3, 4, 5):
            self.assertEqual(len({mine[on_world].gid for mine in objects}), 1)
        self.assertEqual(len({mine[1].gid for mine in objects}), 3)  # one each, on MPI_COMM_SELF
        self.assertEqual(len({o.gid for o in objects[0]}), 6)

    def test_a_group_of_more_than_one_record(self):
        size = 17
        run = self.run_case("large_group", size)
        for rank in (0, 9):
            others = [other for other in range(size) if other != rank]
            members = {c.name: c.members for c in run.spools[rank][0].calls if c.members}
            self.assertEqual(members, {"MPI_Win_post": others, "MPI_Win_start": others})


class UsualWindows(Transfers, Compared):
    """With the component that Open MPI takes by itself, and with MPI_THREAD_MULTIPLE."""

    sizes = (3,)

    def test_requests_with_threads(self):
        self.each("requests", self.expected_requests, "multiple")

    def test_fence_with_threads(self):
        self.each("fence", self.expected_fence(), "multiple")

    def test_threads_complete_the_requests_of_others(self):
        run = self.run_case("threads", 3, "multiple")
        self.check_threads(run, 3, "MPI_Rput", 3, 50, lambda _window: 4)


if __name__ == "__main__":
    unittest.main()
