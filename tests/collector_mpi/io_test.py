# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""The exact records of programs/io.c, and that it cannot tell that it is recorded."""

import unittest

from compared import Compared

FILE = " comm=0 tag=0"
MADE = (f"MPI_File_open{FILE}", f"MPI_File_set_view{FILE}", f"MPI_File_write_at_all{FILE} bytes=128")
CLOSED = f"MPI_File_close{FILE}"


class FileOperations:
    program = "io"

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

        self.each("open_close", expected)
        run = self.run_case("open_close", 3)
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
        operations = "set_size preallocate get_size set_view sync seek_shared get_position_shared set_atomicity set_info"

        def expected(rank, _size):
            lines = [f"MPI_File_{name}" + (FILE if "get_" not in name else "") for name in operations.split()]
            return [*MADE, *lines, CLOSED, *(["MPI_File_delete"] if rank == 0 else [])]

        self.each("meta", expected)

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

        self.each("blocking", expected)

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

        self.each("collective", expected)

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

        self.each("shared", expected)

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

        self.each("split", expected)

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
            run = self.run_case("nonblocking", size)
            for rank in range(size):
                self.assertEqual(run.lines(rank, polls=False), expected)

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

        self.each("nonblocking_shared", expected)

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
            self.check_failures(self.run_case("errors", size), size)

    def test_threads_complete_the_requests_of_others(self):
        run = self.run_case(self.threads, 3, "multiple")
        self.check_threads(run, 3, "MPI_File_iwrite_at", 3, 20, lambda file: 4 * file + 4)


class Files(FileOperations, Compared):
    mpi = {"OMPI_MCA_io": "ompio"}
    threads = "threads_in_turn"

    def test_nonblocking_collective(self):
        self.each("nonblocking_collective", self.expected_nonblocking_collective)


class OtherFiles(FileOperations, Compared):
    """Open MPI 4.1.4 itself crashes in the non-blocking collectives of this component."""

    mpi = {"OMPI_MCA_io": "romio321"}
    sizes = (3,)
    threads = "threads"


if __name__ == "__main__":
    unittest.main()
