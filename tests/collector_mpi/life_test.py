# SPDX-License-Identifier: BSD-3-Clause
"""The life of a recorded process: what the application, its children and its user see."""

import unittest

from harness import IS_MPICH, MPIEXEC, PRELOAD, PROGRAMS, Case


LIFE = PROGRAMS / "life"
PLAIN = PROGRAMS / "plain"
ARCHIVE = {"CRITPATH_ARCHIVE_LIBRARY": str(PROGRAMS / "archive.so")}


class Life(Case):
    def test_the_application_behaves_as_without_us(self):
        plain = self.run_plain(2, [LIFE, "hello"])
        run = self.run_recorded(2, [LIFE, "hello"], CRITPATH_QUIET="1", **ARCHIVE)
        self.assertEqual(run.code, 7)
        self.assertEqual(run.code, plain.returncode)
        self.assertEqual(sorted(run.stdout.splitlines()), sorted(plain.stdout.splitlines()))
        self.assertNotIn("cpcollect", run.stderr)

    def test_summary_and_tidying(self):
        run = self.run_recorded(2, [LIFE, "hello"], **ARCHIVE)
        said = [line for line in run.stderr.splitlines() if line.startswith("cpcollect:")]
        self.assertEqual(
            said,
            [
                "cpcollect: 2 ranks, 1234567 calls, 2 samples, 1.5 MiB in trace",
                "cpcollect: next: mpirun -n 2 cpreplay trace",
            ],
        )
        self.assertEqual([p.name for p in self.trace.iterdir()], ["traces.otf2"])

    def test_summary_goes_to_the_stderr_of_the_start(self):
        run = self.run_recorded(1, [LIFE, "closed_stderr"], **ARCHIVE)
        self.assertIn("descriptor 2", run.stdout)
        self.assertIn("cpcollect: next: mpirun -n 1 cpreplay trace", run.stderr)

    def test_without_an_archive_library_the_spool_is_kept(self):
        run = self.run_recorded(2, [LIFE, "hello"])
        self.assertEqual(run.code, 7)
        self.assertIn("check the installation of critpath", run.stderr)
        self.assertIn(f"the raw records are kept in {self.trace}/spool", run.stderr)
        header = run.spools[1][0].header
        self.assertEqual((header.rank, header.size, header.thread, header.closed), (1, 2, 0, 1))
        self.assertEqual(header.command, [str(LIFE).encode(), b"hello"])
        self.assertEqual(header.process_start, header.thread_start)

    def test_an_archive_that_cannot_be_written_keeps_the_spool(self):
        (self.trace / "fail").touch()
        run = self.run_recorded(2, [LIFE, "hello"], **ARCHIVE)
        self.assertEqual(run.code, 7)
        self.assertIn("cpcollect: archive: told to fail; do not tell it", run.stderr)
        self.assertIn("the raw records are kept", run.stderr)
        self.assertEqual(len(run.spools[0]), 1)

    def test_init_and_finalize(self):
        spool = self.run_recorded(1, [LIFE, "hello"]).spools[0][0]
        init, finalize = spool.calls[0], spool.calls[-1]
        self.assertEqual((init.name, finalize.name), ("MPI_Init_thread", "MPI_Finalize"))
        self.assertEqual(finalize.enter, finalize.leave)
        self.assertLess(spool.header.process_start, init.enter)
        self.assertLess(init.enter, init.leave)
        (loaded_from, loaded), (begin, end) = spool.tool[:2]
        self.assertEqual(loaded_from, spool.header.process_start)
        self.assertLess(loaded_from, loaded)
        self.assertLess(loaded, init.enter)
        self.assertEqual(begin, init.leave)
        self.assertLess(begin, end)
        self.assertLessEqual(end, finalize.enter)

    def test_calls_from_callbacks_are_not_recorded(self):
        plain = self.run_plain(2, [LIFE, "callbacks"])
        run = self.run_recorded(2, [LIFE, "callbacks"])
        self.assertEqual(run.stdout, plain.stdout)
        self.assertEqual(
            run.lines(0), ["MPI_Comm_dup comm=0 extra=3", "MPI_Allreduce comm=0 bytes=8 extra=8", "MPI_Comm_free comm=2"]
        )

    def test_fork(self):
        run = self.run_recorded(1, [LIFE, "fork"], CRITPATH_FREQUENCY="1000")
        self.assertEqual(run.stdout, "child 6\n")
        self.assertEqual([c.name for c in run.spools[0][0].calls][1:-1], ["MPI_Send", "MPI_Send"])
        self.assertEqual(run.stderr.count("the raw records are kept"), 1)

    def test_without_finalize_the_spool_is_complete(self):
        run = self.run_recorded(2, [LIFE, "no_finalize"], CRITPATH_QUIET="1")
        self.assertIn("cpcollect: the application ended without MPI_Finalize", run.stderr)
        for rank in range(2):
            spool = run.spools[rank][0]
            self.assertEqual([c.name for c in spool.calls][1:], 5 * ["MPI_Send"] + ["MPI_Barrier"])

    def test_a_killed_process_leaves_its_records(self):
        run = self.run_recorded(1, [LIFE, "killed"])
        self.assertNotEqual(run.code, 0)
        spool = run.spools[0][0]
        self.assertEqual((spool.header.closed, spool.header.records), (0, 0))
        self.assertEqual([c.name for c in spool.calls][1:], 5 * ["MPI_Send"] + ["MPI_Barrier"])

    def test_nothing_of_ours_is_left_in_mpi(self):
        """Neither after a recording nor after one that was refused, here because of the first."""
        for refused in (False, True):
            with self.subTest(refused=refused):
                run = self.run_recorded(2, [PROGRAMS / "freed"], **ARCHIVE)
                self.assertEqual(run.code, 0, run.stderr)
                self.assertEqual("holds a recording already" in run.stderr, refused)
                self.assertEqual(run.stdout.splitlines(), 2 * ["made 1 communicator, left 0 and 0 groups"])

    def test_one_recording_a_directory(self):
        (self.trace / "traces.otf2").touch()
        run = self.run_recorded(2, [LIFE, "hello"])
        self.assertEqual(run.code, 7)
        self.assertIn("holds a recording already, nothing will be recorded", run.stderr)
        self.assertEqual(run.spools, [[], []])


class Environment(Case):
    def shown(self, **more):
        run = self.run_recorded(1, [LIFE, "environment"], **more)
        return run.stdout.splitlines()

    def test_children_see_no_collector(self):
        self.assertEqual(self.shown(CRITPATH_QUIET="1", CRITPATH_FREQUENCY="100"), [])

    def test_children_see_the_original_preload(self):
        original = "/nonexistent/other.so"
        found = self.shown(CRITPATH_ORIGINAL_LD_PRELOAD=original, LD_PRELOAD=f"{PRELOAD}:{original}")
        self.assertEqual(found, [f"before: LD_PRELOAD={original}", f"after: LD_PRELOAD={original}"])

    def test_a_shell_passes_us_on(self):
        script = self.directory / "wrapper.sh"
        script.write_text(f"#!/bin/bash\ntrue\n/bin/true\n{LIFE} hello\nexit 4\n")
        script.chmod(0o755)
        run = self.run_recorded(1, [script], owner=True)
        self.assertEqual(run.code, 4)
        self.assertEqual(run.spools[0][0].calls[0].name, "MPI_Init_thread")
        self.assertNotIn("never called", run.stderr)

    def test_a_program_without_mpi(self):
        run = self.run_recorded(1, [PLAIN], owner=True, CRITPATH_QUIET="1")
        self.assertEqual((run.code, run.stdout), (3, "plain\n"))
        self.assertIn("plain: MPI_Init was never called, nothing was recorded;", run.stderr)
        self.assertFalse(self.trace.exists())

    def test_an_mpi_program_without_init(self):
        run = self.run_recorded(1, [LIFE, "no_init"], owner=True)
        self.assertIn("life: MPI_Init was never called, nothing was recorded;", run.stderr)
        self.assertIn("give cpcollect the MPI program itself", run.stderr)
        self.assertEqual("MPI_Session_init" in run.stderr, IS_MPICH)
        self.assertFalse(self.trace.exists())

    def test_a_shell_that_starts_no_mpi_says_so_once(self):
        run = self.run_recorded(1, ["/bin/bash", "-c", f"/bin/true; {PLAIN}; {PLAIN}; exit 0"], owner=True)
        self.assertEqual(run.stderr.count("never called"), 1)
        self.assertIn("bash: MPI_Init was never called", run.stderr)

    def test_only_the_owner_speaks(self):
        run = self.run_recorded(1, [PLAIN])
        self.assertNotIn("cpcollect", run.stderr)
        self.assertTrue(self.trace.exists())


class Limits(Case):
    def test_records_beyond_the_buffer_are_packed(self):
        run = self.run_recorded(1, [LIFE, "many"], CRITPATH_BUFFER_KB="60")
        self.assertEqual(run.code, 0, run.stderr)
        spool = run.spools[0][0]
        self.assertEqual(spool.header.stage_bytes, 60 << 10)
        self.assertEqual(spool.header.lost, 0)
        self.assertEqual(len(spool.calls), 100000 + 2)
        for before, after in zip(spool.calls, spool.calls[1:]):
            self.assertLessEqual(before.leave, after.enter)
        # The packing stands between the calls, as our time.
        packings = spool.header.records // 960
        self.assertGreaterEqual(len(spool.tool), packings)
        self.assertLessEqual((self.trace / "spool" / "0.0.calls").stat().st_size, spool.header.records * 64 // 4)

    @unittest.skipIf(IS_MPICH, "MPICH's transport does not start with so few descriptors")
    def test_few_descriptors_are_left_to_the_application(self):
        command = ["/bin/bash", "-c", f"ulimit -n 18; exec {LIFE} hello"]
        plain = self.run_plain(2, command)
        run = self.run_recorded(2, command)
        self.assertEqual((plain.returncode, run.code), (7, 7), run.stderr)
        self.assertEqual(sorted(run.stdout.splitlines()), sorted(plain.stdout.splitlines()))
        self.assertEqual(run.stderr.count("too few files may be open for a recording"), 1)
        self.assertEqual(run.spools, [[], []])

    def test_a_directory_that_cannot_be_written_stops_nothing(self):
        run = self.run_recorded(2, [LIFE, "hello"], CRITPATH_TRACE="/proc/nowhere")
        self.assertEqual(run.code, 7)
        self.assertIn("/proc/nowhere/spool: No such file or directory, nothing will be recorded", run.stderr)

    @unittest.skipIf(IS_MPICH, "MPICH's own shared memory would not fit")
    def test_a_file_size_limit_costs_records_only(self):
        run = self.run_recorded(1, ["/bin/bash", "-c", f"ulimit -f 1024; exec {LIFE} many 400000"])
        self.assertEqual(run.code, 0, run.stderr)
        header = run.spools[0][0].header
        self.assertGreater(header.lost, 0)
        # Sends, Init and Finalize, the predefined communicators, a comparison of clocks, and the tool's time, which is lost
        # when the file is full.
        self.assertEqual(header.records + header.lost, 400000 + 2 + 2 + 1 + len(run.spools[0][0].tool) + 1)

    def test_ranks_without_us_are_waited_for_with_a_word(self):
        # MPI_Init of rank 0 never ends, and nothing could be done about that without a risk for the application.
        exports = "".join(f"export {k}='{v}'\n" for k, v in self.settings(CRITPATH_PATIENCE="1").items())
        script = self._script("first_only.sh", "if [ ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} = 0 ]; then\n" + exports +
                              "else\nset -- " + str(PROGRAMS / "life") + " waiting\nfi\n")
        result = self._execute([MPIEXEC, "-n", "2", script, PROGRAMS / "life", "hello"])
        self.assertRegex(result.stderr, "cpcollect: rank 0: has waited 1 s in MPI_Init for the other ranks.*; if it stays so, "
                                        "not all of them were started with cpcollect")
        self.assertNotEqual(result.returncode, 0)  # of rank 1's MPI_Abort

    def test_without_a_trace(self):
        run = self.run_recorded(2, [LIFE, "hello"], CRITPATH_TRACE=None)
        self.assertEqual(run.code, 7)
        self.assertEqual(run.stderr.count("CRITPATH_TRACE is not set"), 1)

    def test_where_cpcollect_has_said_why_not(self):
        run = self.run_recorded(2, [LIFE, "hello"], CRITPATH_TRACE="")
        self.assertEqual(run.code, 7)
        self.assertNotIn("cpcollect", run.stderr)


class Threads(Case):
    def test_each_thread_has_its_spool(self):
        run = self.records("threads", ranks=1)
        main, *others = run.spools[0]
        self.assertEqual([c.name for c in main.calls], ["MPI_Init_thread", "MPI_Finalize"])
        self.assertEqual([s.header.thread for s in others], [1, 2])
        posted, completed = set(), {}
        for spool in others:
            self.assertEqual([c.name for c in spool.calls], 1000 * ["MPI_Irecv", "MPI_Send", "MPI_Wait"])
            (tag,) = {c.tag for c in spool.calls if c.name == "MPI_Irecv"}
            for irecv, wait in zip(spool.calls[::3], spool.calls[2::3]):
                posted.add(irecv.request)
                (done,) = wait.completions
                self.assertEqual((done.request, done.tag, done.comm), (irecv.request, tag, 1))
        self.assertEqual(posted, set(range(1, 2001)))

    def test_threads_that_end_close_their_spools(self):
        run = self.run_recorded(1, [LIFE, "short_threads"], CRITPATH_FREQUENCY="1000")
        self.assertEqual((run.code, run.stdout), (0, ""))
        threads = sorted((s for s in run.spools[0]), key=lambda s: s.header.thread)
        self.assertEqual([s.header.thread for s in threads], list(range(51)))
        for spool in threads[1:]:
            self.assertEqual((spool.header.closed, [c.name for c in spool.calls]), (1, 10 * ["MPI_Send"]))


if __name__ == "__main__":
    unittest.main()
