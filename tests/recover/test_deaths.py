# SPDX-License-Identifier: BSD-3-Clause
"""Whatever an application dies of, it dies as it would without us, and what was recorded until then becomes a trace."""

import collections
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

import deaths
from deaths import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "collector_mpi"))
import spool  # noqa: E402

RANKS = 4
ITERATIONS = 203  # not at a collective


class Deaths(deaths.Case):
    def check(self, how, *more, reason, victims=range(1, 2), options=()):
        self.run_both(RANKS, ITERATIONS, how, *more, options=options)
        self.assertTrue(os.path.isdir(self.spool()))
        result = self.succeed(self.recover())
        self.assertIn(f"the recording is incomplete: {reason}", result.out)
        self.assertIn(f"next: mpirun -n {RANKS} cpreplay {self.trace}", result.out)
        self.assertFalse(os.path.exists(self.spool()), "the spool is still there")
        self.assert_recovered(RANKS, victims)
        return self.assert_analyzed(RANKS, reason)

    def test_kill_of_one_rank(self):
        segments = self.check("kill", 1, reason="died: 0-3")
        # Nobody's wait for the rank that died is on the path. What was computed behind an earlier wait may be.
        last = segments[-1]
        waits = last.function == "MPI_Waitall" and last.kind not in ("compute", "tool")
        self.assertFalse(waits and last.rank in self.open_calls(), last)

    def test_the_others_were_in_calls(self):
        self.run_recorded(RANKS, ITERATIONS, "kill", 1)
        self.succeed(self.recover())
        waiting = self.open_calls()
        self.assertNotIn(1, waiting)
        # At least the neighbour to the right has not got its message of the next iteration.
        self.assertIn(2, waiting)

    def test_abort(self):
        self.check("abort", 1, reason="died: 0-3", victims=())

    def test_samples_before_an_abort(self):
        """Fewer than the helper is woken for: they are in memory until somebody saves them."""
        if reason := harness.perf_event_refused():
            self.skipTest(f"perf_event_open is refused on this machine: {reason}")
        self.run_recorded(1, 2000, "abort")
        self.replay(1)
        self.assertGreater(json.loads(self.report("summary", "--format", "json"))["samples"], 0)

    def test_segmentation_fault(self):
        self.check("segv", 1, reason="died: 0-3")

    def test_exit_that_runs_nothing(self):
        self.check("_exit", 1, reason="died:")

    def test_exit_without_finalize(self):
        # The rank that exits closes its files; mpirun kills those that wait for it.
        self.check("exit", 1, reason="died: 0,2-3; no MPI_Finalize: 1")

    def test_all_ranks_return_without_finalize(self):
        result = self.run_both(RANKS, ITERATIONS, "return")
        recovered = self.succeed(self.recover())
        # mpirun kills those who have not returned when the first has, which may be rank 0, which says it.
        if not re.search(r"died: 0\b", recovered.out):
            self.assertIn("the application ended without MPI_Finalize", result.err)
            self.assertIn("cpcollect recover trace", result.err)
        self.validate()
        self.assertTrue(set(self.logged(RANKS)) == set(self.calls().values()))

    def test_without_samples_and_paths(self):
        self.check("kill", 1, reason="died: 0-3", options=("-F", "0", "--callpath", "none"))

    def test_the_end_of_a_jobs_time(self):
        codes = []
        for recorder in ([], [harness.tool("cpcollect"), "-o", self.trace]):
            process = subprocess.Popen([harness.MPIEXEC, "-n", str(RANKS), *recorder, deaths.DEATHS, self.log(), "0", "run"],
                                       env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       cwd=self.scratch)
            process.stdout.readline()
            time.sleep(1)
            process.send_signal(signal.SIGTERM)
            codes.append(process.wait(60))
            process.stdout.close()
        if "mpich" not in harness.MPIEXEC:  # Hydra ends with 15 or with 0, with us and without
            self.assertEqual(codes[0], codes[1])
        self.succeed(self.recover())
        self.assert_recovered(RANKS)
        self.assert_analyzed(RANKS, "died: 0-3")

    def test_an_archive_that_cannot_be_written(self):
        os.mkdir(self.trace)
        process = subprocess.Popen([harness.MPIEXEC, "-n", str(RANKS), harness.tool("cpcollect"), "-o", self.trace,
                                    deaths.DEATHS, self.log(), str(ITERATIONS), "finalize", "-1", "5000"],
                                   env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        os.mkdir(os.path.join(self.trace, "traces"))  # as of somebody else
        out, err = map(harness.text, process.communicate(timeout=60))
        self.assertEqual((process.returncode, out), (0, "finalized\n"))
        self.assertIn("traces: exists already", err)
        self.assertIn(f"next: cpcollect recover {self.trace}", err)
        result = self.succeed(self.recover())
        self.assertNotIn("incomplete", result.out)
        self.validate()
        self.assertEqual(self.calls(), {rank: count + 1 for rank, count in enumerate(self.logged(RANKS))})
        self.replay(2)
        self.assert_sound()


class Polling(deaths.Case):
    """A run of polls is one record, which grows on the stage: what stands there when the process dies is the run so far.
    """

    POLLS = 20000
    INACCURACY = 100_000  # ns: far more than that of the collector's clock, far less than the run

    def test_killed_between_two_polls(self):
        harness.mpirun(2, harness.tool("cpcollect"), "-o", self.trace, "-F", "0", "--", os.environ["RECOVER_POLLING"],
                       self.log(), self.POLLS, cwd=self.scratch)
        recorded = [[call for call in spool.read_spool(self.spool(f"{rank}.0.calls")).calls if call.polls]
                    for rank in range(2)]
        self.assertIn("died: 0-1", self.succeed(self.recover()).out)
        self.validate()
        found = self.times("MPI_Test")
        with open(self.log(), "rb") as file:
            log = list(struct.iter_unpack("<3Q", file.read()))
        for rank, (polls, _, _) in enumerate(log):
            self.assertGreaterEqual(polls, self.POLLS)
            # Of rank 1, which mpirun killed, one may have been finished that it had not counted yet.
            self.assertIn(sum(run.polls for run in recorded[rank]) - polls, (0, 1) if rank == 1 else (0,))
            self.assertLess(len(recorded[rank]), polls / 10)
            self.assertEqual(found["LEAVE", rank], [run.leave for run in recorded[rank]])
            self.assertEqual(found["ENTER", rank][:len(recorded[rank])], [run.enter for run in recorded[rank]])
        _, begin, end = log[0]
        self.assertIn(found["LEAVE", 0][-1], range(begin - self.INACCURACY, end + self.INACCURACY))
        self.assert_analyzed(2, "died: 0-1")

    def times(self, function):
        """When each rank entered and left it."""
        times = collections.defaultdict(list)
        events = self.succeed(harness.run("otf2-print", os.path.join(self.trace, "traces.otf2"))).out
        pattern = rf'^CALLING_CONTEXT_(ENTER|LEAVE) +(\d+) +(\d+) .*"{function}"'
        for kind, rank, time in re.findall(pattern, events, re.M):
            times[kind, int(rank)].append(int(time))
        return times


class Replay(deaths.Case):
    def setUp(self):
        super().setUp()
        self.run_recorded(RANKS, ITERATIONS, "kill", 2)

    def test_the_replay_recovers_by_itself(self):
        result = self.replay(3)
        self.assertIn(f"{self.trace}: the recording was left without an archive; made it", result.err)
        self.assertFalse(os.path.exists(self.spool()))
        self.assert_recovered(RANKS, victims=(2,))

    def test_without_a_name_it_is_the_newest_trace(self):
        result = self.succeed(harness.run(harness.tool("cpreplay"), cwd=self.scratch))
        self.assertIn("the recording is incomplete", result.out)

    def test_samples_up_to_the_end(self):
        if reason := harness.perf_event_refused():
            self.skipTest(f"perf_event_open is refused on this machine: {reason}")
        self.replay(1)
        self.assertGreater(json.loads(self.report("summary", "--format", "json"))["samples"], 0)


class Rebuilt(deaths.Case):
    """A program that is built anew after it died: nothing gets the names of what did not run."""

    def check(self, *strip):
        program = shutil.copy(deaths.DEATHS, os.path.join(self.scratch, "app"))
        if strip:
            self.succeed(harness.run("objcopy", *strip, program))
        kept = shutil.copy2(program, os.path.join(self.scratch, "kept"))
        harness.mpirun(2, harness.tool("cpcollect"), "-o", self.trace, "--sampler=timer", program, self.log(), ITERATIONS,
                       "kill", 1, cwd=self.scratch)
        with open(os.environ["RECOVER_POLLING"], "rb") as other, open(program, "wb") as file:
            file.write(other.read())  # into the same inode
        result = self.succeed(self.recover())
        self.assertIn(f"cpcollect: {program}: is another file than the one that ran", result.err)
        self.assertIn(f"cpcollect recover --force {self.trace}", result.err)
        self.assertEqual(self.functions(program), {"[app]"})
        self.replay(1)
        self.assertEqual(self.fact("replaced_files"), 2)

        os.remove(program)
        result = self.succeed(self.recover("--force"))
        self.assertIn(f"cpcollect: {program}: is gone", result.err)
        shutil.copy2(kept, program)
        result = self.succeed(self.recover("--force"))
        self.assertEqual(result.err, "")
        self.assertIn("main", self.functions(program))
        self.assertFalse(os.path.exists(self.spool()), "the spool is still there")

    def functions(self, module):
        """The functions of a binary that the trace names."""
        anchor = os.path.join(self.trace, "traces.otf2")
        definitions = self.succeed(harness.run("otf2-print", "-G", anchor)).out
        return set(re.findall(rf'^REGION .*Name: "([^"]*)" .* Descr.: "{re.escape(module)}"', definitions, re.M))

    def test_with_a_build_id(self):
        self.check()

    @unittest.skipIf(shutil.which("objcopy") is None, "objcopy (package binutils) is not there")
    def test_without_a_build_id(self):
        self.check("--remove-section=.note.gnu.build-id")


class Running(deaths.Case):
    def start(self, how="run", pause="1000"):
        self.process = subprocess.Popen([harness.MPIEXEC, "-n", "2", harness.tool("cpcollect"), "-o", self.trace,
                                         deaths.DEATHS, self.log(), "0", how, "-1", pause],
                                        env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.end)
        self.process.stdout.readline()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def test_is_left_alone(self):
        self.start()
        self.assert_message(self.recover(), 2, "is still running", "wait until the application has ended")
        self.assert_message(harness.run(harness.tool("cpreplay"), self.trace), 2, "is still running")
        self.assertTrue(os.path.exists(self.spool("0.0.calls")))
        self.end()
        self.succeed(self.recover())
        self.assert_recovered(2)

    def test_force(self):
        self.start()
        self.succeed(self.recover("--force", "--keep"))
        self.validate()
        self.assertTrue(os.path.exists(self.spool("0.0.calls")))
        self.assertEqual(self.process.poll(), None)

    # What is defined between the two passes over the records has no number in the archive.
    def test_force_while_it_defines(self):
        self.start("define", "100")
        for _ in range(5):
            self.succeed(self.recover("--force", "--keep"))
            self.validate()
            self.assertFalse(os.path.exists(self.spool("copy")))
        self.assertEqual(self.process.poll(), None)


if __name__ == "__main__":
    harness.main()
