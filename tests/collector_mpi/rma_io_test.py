# SPDX-License-Identifier: BSD-3-Clause
"""The exact records of programs/rma.c and programs/io.c, and that the programs cannot tell that they are recorded."""

import re
import unittest

from harness import IS_MPICH, NO_PEER, PROGRAMS, Case


class Compared(Case):
    """Each case also runs without the collector and must print the same."""

    sizes = (1, 3, 4)
    mpi = {}  # environment that chooses a component of Open MPI

    def environment(self, **settings):
        return super().environment(**self.mpi, **settings)

    def run_case(self, program, case, ranks, *arguments):
        runs = []
        for recorded in (False, True):
            for file in self.trace.glob("spool/*"):
                file.unlink()
            if (self.trace / "spool").is_dir():
                (self.trace / "spool").rmdir()
            files = self.directory / f"files.{len(list(self.directory.iterdir()))}"
            files.mkdir()
            command = [PROGRAMS / program, case, files, *arguments]
            runs.append(self.run_recorded(ranks, command) if recorded else self.run_plain(ranks, command))
        plain, run = runs
        self.assertEqual(plain.returncode, 0, plain.stdout + plain.stderr)
        self.assertEqual((run.code, run.stdout), (0, plain.stdout), run.stderr)
        theirs = [line for line in run.stderr.splitlines(True) if not line.startswith("cpcollect: ")]
        self.assertEqual("".join(theirs), plain.stderr)
        for spools in run.spools:
            self.assertEqual([spool.header.lost for spool in spools], [0] * len(spools))
        run.files = files
        return run

    def each(self, program, case, expected, *arguments):
        """`expected(rank, size)`: the lines of each rank, for all sizes."""
        for size in self.sizes:
            run = self.run_case(program, case, size, *arguments)
            for rank in range(size):
                with self.subTest(case=case, size=size, rank=rank, **self.mpi):
                    self.assertEqual(run.lines(rank), expected(rank, size))

    def check_failures(self, run, size):
        """The calls failed and succeeded as the program saw it, and the failed ones say nothing else."""
        for rank in range(size):
            seen = re.findall(rf"^{rank} (MPI_\w+)\(.*\): (\d+)", run.stdout, re.MULTILINE)
            failed = [name for name, error_class in seen if error_class != "0"]
            self.assertGreater(len(failed), 10)
            calls = [line for line in run.lines(rank) if line.endswith(" failed")]
            self.assertEqual(calls, [f"{name} failed" for name in failed])

    def check_threads(self, run, size, post, threads, rounds, size_of):
        """Each request is posted by the thread of its object and completed by the thread before it."""
        for rank in range(size):
            spools = run.spools[rank]
            self.assertEqual(len(spools), threads)
            posts = {c.request: (thread, c) for thread, s in enumerate(spools) for c in s.calls if c.name == post}
            self.assertEqual(len(posts), threads * rounds)
            completed = [
                (thread, c.name, done) for thread, s in enumerate(spools) for c in s.calls for done in c.completions
            ]
            self.assertEqual(sorted(done.request for _, _, done in completed), sorted(posts))
            next_thread = {}
            for thread, name, done in completed:
                posting_thread, call = posts[done.request]
                self.assertEqual((name, done.comm, done.tag), ("MPI_Wait", call.comm, call.tag))
                self.assertEqual(done.bytes, size_of(call.tag))
                self.assertNotEqual(thread, posting_thread)
                self.assertEqual(next_thread.setdefault(thread, call.tag), call.tag)


# ---- one-sided communication

CREATED = "MPI_Win_create comm=0 tag=0 bytes=256"
FREED = "MPI_Win_free comm=0 tag=0"


def constants(case):
    """MPI_MODE_NOPRECEDE, ..._NOSUCCEED, ..._NOCHECK, ..._NOPUT."""
    return [int(word) for word in case.run_plain(1, [PROGRAMS / "rma", "constants", "0"]).stdout.split()]


class Transfers:
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
                f"MPI_Compare_and_swap {to} bytes=4 extra=4",
                f"MPI_Win_fence comm=0 tag=0 extra={no_succeed}",
                FREED,
            ]

        return expected

    def test_fence_and_transfers(self):
        self.each("rma", "fence", self.expected_fence())

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
            run = self.run_case("rma", "pscw", size)
            for rank in range(size):
                lines = [line for line in run.lines(rank) if "polls" not in line]
                self.assertEqual(lines, expected(rank, size))

    def test_unsuccessful_tests_are_a_poll_run(self):
        run = self.run_case("rma", "poll", 3)
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

        self.each("rma", "lock", expected)

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
        self.each("rma", "requests", self.expected_requests)

    def test_errors_reach_the_application_and_move_nothing(self):
        for size in self.sizes:
            self.check_failures(self.run_case("rma", "errors", size), size)


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
                "MPI_Win_fence tag=2",
                "MPI_Win_free comm=0 tag=5",
                "MPI_Win_free comm=0 tag=4",
                "MPI_Win_free comm=0 tag=3",
                "MPI_Win_free tag=2",
                "MPI_Win_free comm=1 tag=1",
                "MPI_Win_free comm=0 tag=0",
            ]

        self.each("rma", "windows", expected)
        objects = [spools[0].objects for spools in self.run_case("rma", "windows", 3).spools]
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
        run = self.run_case("rma", "large_group", size)
        for rank in (0, 9):
            others = [other for other in range(size) if other != rank]
            members = {c.name: c.members for c in run.spools[rank][0].calls if c.members}
            self.assertEqual(members, {"MPI_Win_post": others, "MPI_Win_start": others})


class UsualWindows(Transfers, Compared):
    """With the component that Open MPI takes by itself, and with MPI_THREAD_MULTIPLE."""

    sizes = (3, 4)

    def test_requests_with_threads(self):
        self.each("rma", "requests", self.expected_requests, "multiple")

    def test_fence_with_threads(self):
        self.each("rma", "fence", self.expected_fence(), "multiple")

    def test_threads_complete_the_requests_of_others(self):
        run = self.run_case("rma", "threads", 3, "multiple")
        self.check_threads(run, 3, "MPI_Rput", 3, 50, lambda _window: 4)


# ---- files

FILE = " comm=0 tag=0"
MADE = (f"MPI_File_open{FILE}", f"MPI_File_set_view{FILE}", f"MPI_File_write_at_all{FILE} bytes=128")
CLOSED = f"MPI_File_close{FILE}"


class FileOperations:
    def test_files_have_ids_names_and_common_identities(self):
        def expected(_rank, _size):
            return [
                "MPI_File_open comm=0 tag=0",
                "MPI_File_open failed",
                "MPI_File_open comm=0 tag=1",
                "MPI_File_open comm=1 tag=2",
                "MPI_File_open tag=3",
                "MPI_File_write_at tag=3 bytes=4",
                "MPI_File_close comm=0 tag=0",
                "MPI_File_close comm=0 tag=1",
                "MPI_File_close comm=1 tag=2",
                "MPI_File_close tag=3",
            ]

        self.each("io", "open_close", expected)
        run = self.run_case("io", "open_close", 3)
        objects = [spools[0].objects for spools in run.spools]
        for rank, mine in enumerate(objects):
            self.assertEqual({o.function for o in mine}, {"MPI_File_open"})
            path = str(run.files)
            names = [f"{path}/first"[-31:], "23456789-123456789-123456789-1", f"{path}/own.{rank}"[-31:]]
            names.append(f"{path}/unknown"[-31:])
            self.assertEqual(
                [(o.type, o.id, o.comm, o.name) for o in mine],
                [("file", i, comm, names[i]) for i, comm in enumerate((0, 0, 1, -1))],
            )
            self.assertEqual(mine[3].gid, (0, 0))
        for on_world in (0, 1):
            self.assertEqual(len({mine[on_world].gid for mine in objects}), 1)
        self.assertEqual(len({mine[2].gid for mine in objects}), 3)
        self.assertEqual(len({o.gid for o in objects[0]}), 4)

    def test_meta(self):
        operations = "set_size preallocate set_view sync seek_shared set_atomicity set_info close".split()

        def expected(_rank, _size):
            lines = [f"MPI_File_{name} comm=0 tag=0" for name in operations]
            return [*MADE, *lines[:2], "MPI_File_get_size", *lines[2:]]

        self.each("io", "meta", expected)

    def test_blocking(self):
        def expected(rank, size):
            at_end = [f"MPI_File_read_at{FILE} extra=8"] * 2 + [f"MPI_File_read_at{FILE}"]
            return [
                *MADE,
                f"MPI_File_write_at{FILE} bytes=12",
                f"MPI_File_write_at{FILE} bytes=16",
                f"MPI_File_write_at{FILE}",
                f"MPI_File_read_at{FILE} extra=24",
                f"MPI_File_read_at{FILE} extra=8",
                f"MPI_File_write{FILE} bytes=20",
                f"MPI_File_write{FILE} bytes=4",
                f"MPI_File_read{FILE} extra=16",
                f"MPI_File_read{FILE} extra=16",
                *(at_end if rank == size - 1 else []),
                CLOSED,
            ]

        self.each("io", "blocking", expected)

    def test_collective(self):
        def expected(rank, _size):
            return [
                *MADE,
                f"MPI_File_write_at_all{FILE} bytes=12",
                f"MPI_File_write_at_all{FILE}" + (f" bytes={4 * rank}" if rank else ""),
                f"MPI_File_read_at_all{FILE} extra=24",
                f"MPI_File_read_at_all{FILE} extra=8",
                f"MPI_File_write_all{FILE} bytes=20",
                f"MPI_File_write_all{FILE} bytes=4",
                f"MPI_File_read_all{FILE} extra=16",
                f"MPI_File_read_all{FILE} extra=16",
                CLOSED,
            ]

        self.each("io", "collective", expected)

    def test_shared_pointer_and_rank_order(self):
        def expected(rank, _size):
            return [
                f"MPI_File_open{FILE}",
                f"MPI_File_write_ordered{FILE} bytes={4 * rank + 4}",
                f"MPI_File_write_ordered{FILE} bytes=8",
                f"MPI_File_seek_shared{FILE}",
                f"MPI_File_read_ordered{FILE} extra={4 * rank + 4}",
                f"MPI_File_read_ordered{FILE} extra=8",
                f"MPI_File_write_shared{FILE} bytes=12",
                f"MPI_File_write_shared{FILE} bytes=12",
                f"MPI_File_seek_shared{FILE}",
                f"MPI_File_read_shared{FILE} extra=4",
                f"MPI_File_read_shared{FILE} extra=4",
                CLOSED,
            ]

        self.each("io", "shared", expected)

    def test_split(self):
        def both(name, moved):
            return [f"MPI_File_{name}_begin{FILE} {moved}", f"MPI_File_{name}_end{FILE} {moved}"]

        def expected(_rank, _size):
            return [
                *MADE,
                *both("write_at_all", "bytes=12"),
                *both("read_at_all", "extra=12"),
                *both("write_all", "bytes=8"),
                *both("read_all", "extra=20"),
                f"MPI_File_set_view{FILE}",
                *both("write_ordered", "bytes=16"),
                f"MPI_File_seek_shared{FILE}",
                *both("read_ordered", "extra=16"),
                CLOSED,
            ]

        self.each("io", "split", expected)

    def test_nonblocking(self):
        expected = [
            *MADE,
            f"MPI_File_iwrite_at{FILE} bytes=12 request=1",
            f"MPI_File_iwrite_at{FILE} bytes=16 request=2",
            f"MPI_File_iwrite_at{FILE} request=3",
            "MPI_Wait",
            f"   {FILE} bytes=16 request=2 file",
            "MPI_Waitall",
            f"   {FILE} bytes=12 request=1 file",
            f"   {FILE} request=3 file",
            f"MPI_File_iread_at{FILE} extra=8 request=4",
            "MPI_Wait",
            f"   {FILE} bytes=8 request=4 file",
            f"MPI_File_iwrite{FILE} bytes=20 request=5",
            "MPI_Test success",
            f"   {FILE} bytes=20 request=5 file",
            f"MPI_File_iread{FILE} extra=24 request=6",
            "MPI_Wait",
            f"   {FILE} bytes=24 request=6 file",
            CLOSED,
        ]
        for size in self.sizes:
            run = self.run_case("io", "nonblocking", size)
            for rank in range(size):
                self.assertEqual([line for line in run.lines(rank) if "polls" not in line], expected)

    def test_nonblocking_shared(self):
        def expected(_rank, _size):
            return [
                f"MPI_File_open{FILE}",
                f"MPI_File_iwrite_shared{FILE} bytes=8 request=1",
                "MPI_Wait",
                f"   {FILE} bytes=8 request=1 file",
                "MPI_Barrier comm=0",
                f"MPI_File_seek_shared{FILE}",
                f"MPI_File_iread_shared{FILE} extra=4 request=2",
                "MPI_Wait",
                f"   {FILE} bytes=4 request=2 file",
                CLOSED,
            ]

        self.each("io", "nonblocking_shared", expected)

    def expected_nonblocking_collective(self, _rank, _size):
        operations = (("iwrite_at", 12), ("iread_at", 12), ("iwrite", 8), ("iread", 16))
        lines = list(MADE)
        for request, (name, moved) in enumerate(operations, start=1):
            key = "bytes" if "write" in name else "extra"
            lines += [f"MPI_File_{name}_all{FILE} {key}={moved} request={request}", "MPI_Wait"]
            lines += [f"   {FILE} bytes={moved} request={request} file"]
        return [*lines, CLOSED]

    def test_errors_reach_the_application_and_move_nothing(self):
        for size in self.sizes:
            self.check_failures(self.run_case("io", "errors", size), size)

    def test_threads_complete_the_requests_of_others(self):
        run = self.run_case("io", self.threads, 3, "multiple")
        self.check_threads(run, 3, "MPI_File_iwrite_at", 3, 20, lambda file: 4 * file + 4)


class Files(FileOperations, Compared):
    mpi = {"OMPI_MCA_io": "ompio"}
    threads = "threads_in_turn"

    def test_nonblocking_collective(self):
        self.each("io", "nonblocking_collective", self.expected_nonblocking_collective)


class OtherFiles(FileOperations, Compared):
    """Open MPI 4.1.4 itself crashes in the non-blocking collectives of this component."""

    mpi = {"OMPI_MCA_io": "romio321"}
    threads = "threads"


if __name__ == "__main__":
    unittest.main()
