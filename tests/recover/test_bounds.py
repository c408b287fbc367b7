# SPDX-License-Identifier: BSD-3-Clause
"""The spool is bounded, and so is the disk: nothing is lost at the bound, and what stands on a full disk stays."""

import os
import re
import shlex
import shutil

import deaths
from deaths import harness

HEADER = 4096
ITERATIONS = 40003
QUICK = ("-F", "0", "--callpath", "none")


class Buffer(deaths.Case):
    def test_nothing_is_lost_at_the_bound(self):
        self.run_both(2, ITERATIONS, "finalize", options=("--buffer", "60", *QUICK))
        self.validate()
        self.assertEqual(self.calls(), {rank: count + 1 for rank, count in enumerate(self.logged(2))})
        self.replay_on(1, 2)
        self.assert_sound()

    def test_packing_is_the_tools_time(self):
        self.run_recorded(1, ITERATIONS, "finalize", options=("--buffer", "60", *QUICK))
        whole = harness.run("otf2-print", os.path.join(self.trace, "traces.otf2")).out
        self.assertGreaterEqual(len(re.findall(r"^MEASUREMENT_ON_OFF.*Mode: OFF", whole, re.M)), ITERATIONS * 3 // 960)

    def test_the_file_holds_packed_records(self):
        self.run_recorded(2, ITERATIONS, "kill", 1, options=("--buffer", "60", *QUICK))
        for rank in range(2):
            self.assertLess(os.path.getsize(self.spool(f"{rank}.0.calls")), ITERATIONS * 3 * 64 // 4)
        self.succeed(self.recover())
        self.assert_recovered(2, victims=(1,))
        self.assert_analyzed(2)

    def test_cut_among_the_packed_records(self):
        self.run_recorded(2, ITERATIONS, "kill", 1, options=("--buffer", "60", *QUICK))
        whole = os.path.join(self.scratch, "whole")
        shutil.copytree(self.trace, whole)
        size = os.path.getsize(self.spool("0.0.calls"))
        stage_end = HEADER + (60 << 10)
        for at in (HEADER, HEADER + 64, stage_end - 1, stage_end, stage_end + 31, stage_end + 32, size // 2, size - 1):
            shutil.rmtree(self.trace)
            shutil.copytree(whole, self.trace)
            os.truncate(self.spool("0.0.calls"), at)
            self.succeed(self.recover())
            self.validate()
            found = self.calls()
            self.assertEqual(found[1], self.logged(2)[1])
            self.assertLess(found.get(0, 0), self.logged(2)[0], "what follows the gap cannot be used")
            self.replay(2)


class Disk(deaths.Case):
    """On a file system of its own."""

    def in_mount(self, options, script):
        """Runs a shell script with a tmpfs at self.trace, which goes when it ends."""
        os.mkdir(self.trace)
        mount = f"mount -t tmpfs -o {options} none {shlex.quote(self.trace)}"
        probe = harness.run("unshare", "--mount", "sh", "-c", mount)
        if probe.code != 0:
            self.skipTest("cannot mount a file system on this machine")
        return harness.run("unshare", "--mount", "sh", "-c", f"{mount} && {script}", cwd=self.scratch)

    def application(self, *arguments, options=()):
        return shlex.join([harness.MPIEXEC, "-n", "2", harness.tool("cpcollect"), "-o", self.trace, *options, "--",
                           deaths.DEATHS, self.log(), *map(str, arguments)])

    def test_full(self):
        """The application does not notice, MPI_Finalize cannot write the archive, and once the records are where there is
        room they become a trace up to the last one that fitted."""
        saved = os.path.join(self.scratch, "saved")
        result = self.in_mount("size=2m", f"{self.application(200000, 'finalize', options=QUICK)}; code=$?; "
                                          f"cp -r {shlex.quote(self.trace)} {shlex.quote(saved)}; exit $code")
        self.assertEqual((result.code, result.out), (0, "2 ranks, finalize\nfinalized\n"), harness.describe(result))
        self.assertIn("the raw records are kept", result.err)
        self.trace = saved
        self.assertIn("no room: 0-1", self.succeed(self.recover()).out)
        self.validate()
        found, logged = self.calls(), self.logged(2)
        for rank in range(2):
            self.assertGreater(found[rank], 10000)
            self.assertLess(found[rank], logged[rank])
        self.assert_analyzed(2, "no room: 0-1")

    def test_room_for_the_records_but_not_for_the_archive(self):
        saved = os.path.join(self.scratch, "saved")
        result = self.in_mount("size=4m", f"{self.application(60000, 'finalize', options=QUICK)}; code=$?; "
                                          f"cp -r {shlex.quote(self.trace)} {shlex.quote(saved)}; exit $code")
        self.assertEqual((result.code, result.out), (0, "2 ranks, finalize\nfinalized\n"), harness.describe(result))
        self.assertIn("the raw records are kept", result.err)
        self.trace = saved
        self.succeed(self.recover())
        self.validate()
        self.assertEqual(self.calls(), {rank: count + 1 for rank, count in enumerate(self.logged(2))})

    def test_read_only(self):
        """What cannot be written is said, and nothing is touched."""
        remount = f"mount -o remount,ro {shlex.quote(self.trace)}"
        recover = shlex.join([harness.tool("cpcollect"), "recover", self.trace])
        check = f"test -e {shlex.quote(self.spool('0.0.calls'))}"
        result = self.in_mount("size=40m", f"{self.application(203, 'kill', 1)} >/dev/null 2>&1; {remount}; "
                                           f"{recover}; code=$?; {check} && exit $code")
        self.assert_message(result, 1, "Read-only file system", "the recording is kept in")


if __name__ == "__main__":
    harness.main()
