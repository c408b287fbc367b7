# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns that the process of an application is what it is without the collector, and ends as it ends without."""

import os
import shutil
import stat
import unittest

import observed
from observed import OPEN_MPI, e2e, program, tool


class Process(observed.Case):
    def test_while_it_lives(self):
        self.compare(2, program("process"), "one", "", "a b", "*", wrapper=("env", "SOME=thing"), ends="exit 17",
                     expect=["SOME=thing", "argument a b", "terminated 2 times", "cancelled 1", "== after MPI_Finalize"],
                     modes=observed.WITH_TIMERS)


class Endings(observed.Case):
    def end(self, way, ends, **options):
        options.setdefault("modes", ["full"])
        return self.compare(2, program("endings"), way, ends=ends, expect=["message from 1"], **options)

    def test_return(self):
        self.end("return", "exit 3")

    def test_exit_without_finalize(self):
        for way, code in (("_exit", 5), ("quick_exit", 6)):
            with self.subTest(way=way):
                self.end(way, f"exit {code}")

    def test_exit_without_finalize_says_so(self):
        self.end("exit", "exit 4", say="the application ended without MPI_Finalize")

    def test_abort(self):
        # The other rank is ended by the launcher, by one signal or another.
        self.end("abort", "exit 7", only_ranks=[0])

    def test_abort_of_itself(self):
        self.end("abort_itself", "exit 8", only_ranks=[0])

    def test_fatal_error(self):
        plain = self.end("fatal_error", None, only_ranks=[0])
        self.assertRegex(plain.ranks[0].end, "^exit [1-9]")

    def test_signals(self):
        for way, number in (("fault", 11), ("fault_with_mpi", 11), ("term", 15), ("kill", 9), ("abrt", 6)):
            with self.subTest(way=way):
                self.end(way, f"signal {number}")

    def test_finalize_after_main(self):
        for way, code in (("atexit", 9), ("destructor", 10)):
            with self.subTest(way=way):
                self.end(way, f"exit {code}", modes=observed.USUAL_MODES)

    def test_main_thread_ends_first(self):
        self.end("main_thread", "exit 0", modes=observed.WITH_TIMERS)

    def test_closed_streams(self):
        self.end("closed_streams", "exit 11")

    @unittest.skipUnless(OPEN_MPI, "MPICH is given a descriptor to speak with its launcher")
    def test_all_descriptors_closed(self):
        self.end("closed_all", "exit 3")

    def test_another_directory_and_umask(self):
        self.end("elsewhere", "exit 12")

    def test_allowed_after_finalize(self):
        self.end("after", "exit 13")

    def test_goes_on_as_another_program(self):
        self.end("exec", "exit 14")

    def test_becomes_another_program_early(self):
        self.end("exec_early", "exit 15")

    def test_trace_is_removed(self):
        for way in ("trace_removed", "trace_never_there"):
            with self.subTest(way=way):
                self.end(way, "exit 3", wrapper=("env", "REMOVE={trace}"), say="cpcollect: ", readable=False)


class Refused(observed.Case):
    """What cannot be recorded is not started, and cpcollect says why."""

    def refuse(self, *command, words):
        # Without a launcher: Hydra, which is told of the failure, would end who observes it.
        self.assert_message(e2e.run(tool("cpcollect"), "-o", self.trace, *command), 2, *words)
        self.assertFalse(os.path.exists(self.trace))

    def test_static(self):
        self.refuse(program("static"), words=["static: is linked statically", "; link it with the shared MPI library"])

    def test_setuid(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a program of another user")
        copy = os.path.join(self.scratch, "setuid")
        shutil.copy(program("calls"), copy)
        os.chown(copy, 12345, -1)
        os.chmod(copy, stat.S_ISUID | 0o755)
        self.refuse(copy, words=["setuid: is setuid", "; record a copy without that bit"])


if __name__ == "__main__":
    observed.main()
