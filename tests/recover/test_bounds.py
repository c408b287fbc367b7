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

    def test_memory_does_not_grow_with_the_calls(self):
        needed = []
        for iterations in (ITERATIONS // 10, ITERATIONS):
            self.trace = os.path.join(self.scratch, f"trace-{iterations}")
            self.run_recorded(1, iterations, "finalize", options=("--buffer", "1024"))
            needed.append(self.logged_memory())
        self.assertLess(needed[1] - needed[0], 1024, "KiB")

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
            self.assertIn("records lost: 0", self.succeed(self.recover()).out)
            self.validate()
            found = self.calls()
            self.assertEqual(found[1], self.logged(2)[1])
            self.assertLess(found.get(0, 0), self.logged(2)[0], "what follows the gap cannot be used")
            self.replay(2)

    def test_one_bit_among_the_packed_records(self):
        self.run_recorded(1, ITERATIONS, "kill", 0, options=("--buffer", "60", *QUICK))
        with open(self.spool("0.0.calls"), "r+b") as file:
            file.seek(os.path.getsize(self.spool("0.0.calls")) // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes((byte ^ 1,)))
        result = self.succeed(self.recover())
        self.assertRegex(result.err, "[0-9]+ records stand in or behind damaged parts of the files in ")
        self.assertIn("the raw records are kept in ", result.out)
        self.assertTrue(os.path.exists(self.spool("0.0.calls")))
        self.assertLess(self.calls()[0], self.logged(1)[0])


class Disk(deaths.Case):
    """On a file system of its own."""

    def in_mount(self, script, options="size=40m", disk=None):
        """Runs a shell script with a file system of its own at self.trace, which goes when it ends: a tmpfs, or what is on
        the `disk`, a file."""
        os.mkdir(self.trace)
        at = shlex.quote(self.trace)
        mount = f"mount -t tmpfs -o {options} none {at}" if disk is None else f"mount -o loop,{options} {disk} {at}"
        probe = harness.run("unshare", "--mount", "sh", "-c", f"{mount} && umount {at}")
        if probe.code != 0:
            self.skipTest("cannot mount a file system on this machine")
        return harness.run("unshare", "--mount", "sh", "-c", f"{mount} && {script}", cwd=self.scratch)

    def application(self, *arguments, options=(), shell=()):
        """`shell`: what a shell does in the place of each rank before it becomes the rank."""
        words = [deaths.DEATHS, self.log(), *map(str, arguments)]
        words = ["sh", "-c", f"{shell} && exec {shlex.join(words)}"] if shell else words
        return shlex.join([harness.MPIEXEC, "-n", "2", harness.tool("cpcollect"), "-o", self.trace, *options, "--", *words])

    def record_in_mount(self, size, iterations):
        """The application does not notice that there is too little room. self.trace then is a copy of what was left."""
        saved = os.path.join(self.scratch, "saved")
        result = self.in_mount(f"{self.application(iterations, 'finalize', options=QUICK)}; code=$?; "
                               f"cp -r {shlex.quote(self.trace)} {shlex.quote(saved)}; exit $code", f"size={size}")
        self.assertEqual((result.code, result.out), (0, "2 ranks, finalize\nfinalized\n"), harness.describe(result))
        self.assertIn("the raw records are kept", result.err)
        self.trace = saved

    def test_full(self):
        """MPI_Finalize cannot write the archive, and once the records are where there is room they become a trace up to the
        last one that fitted."""
        self.record_in_mount("2m", 200000)
        self.assertIn("records lost: 0-1", self.succeed(self.recover()).out)
        self.validate()
        found, logged = self.calls(), self.logged(2)
        for rank in range(2):
            self.assertGreater(found[rank], 10000)
            self.assertLess(found[rank], logged[rank])
        self.assert_analyzed(2, "records lost: 0-1")

    def test_room_for_the_records_but_not_for_the_archive(self):
        self.record_in_mount("4m", 60000)
        self.succeed(self.recover())
        self.validate()
        self.assertEqual(self.calls(), {rank: count + 1 for rank, count in enumerate(self.logged(2))})

    def write_result_on_full_disk(self, room=""):
        """That is a failure, and the result that was there stays. `room`: a shell's words that make some, in the trace."""
        trace = shlex.quote(self.trace)
        replay = shlex.join([harness.MPIEXEC, "-n", "2", harness.tool("cpreplay"), "-q", self.trace])
        return self.in_mount(f"{self.application(2003, 'finalize', options=QUICK)} >/dev/null 2>&1; "
                             f"{replay} --rules=paper || exit 9; cp -r {trace}/critpath before; "
                             f"dd if=/dev/zero of={trace}/fill bs=4k 2>/dev/null; (cd {trace}; {room or ':'}); {replay}; "
                             f"code=$?; diff -r before {trace}/critpath >&2 || exit 8; exit $code")

    def test_full_at_the_start(self):
        """Nothing can be recorded, and so nothing is left that could be taken for a trace."""
        below = os.path.join(self.trace, "recording")
        application = self.application(203, "finalize").replace(f"-o {self.trace} ", f"-o {below} ")
        result = self.in_mount(f"{application}; code=$?; test ! -e {shlex.quote(below)} || exit 8; exit $code", "size=16k")
        self.assertEqual((result.code, result.out), (0, "2 ranks, finalize\nfinalized\n"), harness.describe(result))
        self.assertIn("No space left on device, nothing will be recorded; ", result.err)

    def record_with_little_room(self, sizes, mount):
        """Whatever there is room for, the application does not notice, and what is left is a whole archive or the raw
        records. `mount(size)`: the arguments of in_mount() for so many KiB."""
        below = os.path.join(self.trace, "recording")
        application = self.application(2003, "finalize").replace(f"-o {self.trace} ", f"-o {below} ")
        replay = shlex.join([harness.MPIEXEC, "-n", "2", harness.tool("cpreplay"), "-q", below])
        kept = 0
        for size in sizes:
            script = (f"{application}; code=$?; {replay}; replayed=$?; "
                      f"test -d {below}/spool && echo kept; echo replayed $replayed; exit $code")
            result = self.in_mount(script, *mount(size))
            os.rmdir(self.trace)
            self.assertEqual(result.code, 0, harness.describe(result))
            self.assertIn("2 ranks, finalize\nfinalized\n", result.out, harness.describe(result))
            self.assertNotIn("defect", result.err)
            # Where the archive is whole there may be no room for the result.
            is_kept = "kept\n" in result.out
            refused = "replayed 3\n" in result.out and "nothing will be recorded" not in result.err
            self.assertFalse(refused and not is_kept, harness.describe(result))
            kept += is_kept
        self.assertGreater(kept, 0)

    def test_room_for_a_part_of_the_archive(self):
        """libotf2 does not report every failed write."""
        def mount(size):
            disk = os.path.join(self.scratch, f"disk{size}")
            make = f"truncate -s {size}K {disk} && PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -O ^has_journal {disk}"
            if harness.run("sh", "-c", make).code != 0:
                self.skipTest("cannot make a file system on this machine")
            return "rw", disk
        self.record_with_little_room(range(600, 1001, 100), mount)

    def test_room_for_a_part_of_the_records(self):
        """A hole in a file of a full tmpfs, if it is mapped, is a signal to who reads it."""
        self.record_with_little_room(range(200, 601, 50), lambda size: (f"size={size}k",))

    def test_full_when_the_result_is_written(self):
        self.assert_message(self.write_result_on_full_disk(), 1, "segments.bin.part: cannot be written: No space left",
                            "check the permissions and the free space")

    def test_room_for_the_records_of_the_result_only(self):
        # As much as the old ones have, and some pages for their ends; less than any database has.
        room = "truncate -s -$(($(cat critpath/*.bin | wc -c) + 49152)) fill"
        self.assert_message(self.write_result_on_full_disk(room), 1, "critpath.sqlite: cannot be written: No space left",
                            "free some space and run cpreplay again")

    def test_read_only_at_recovery(self):
        """What cannot be written is said, and nothing is touched."""
        remount = f"mount -o remount,ro {shlex.quote(self.trace)}"
        recover = shlex.join([harness.tool("cpcollect"), "recover", self.trace])
        check = f"test -e {shlex.quote(self.spool('0.0.calls'))}"
        result = self.in_mount(f"{self.application(203, 'kill', 1)} >/dev/null 2>&1; {remount}; "
                               f"{recover}; code=$?; {check} && exit $code")
        self.assert_message(result, 1, "Read-only file system", "the recording is kept in")

    def assert_not_recorded(self, result, place):
        self.assertEqual((result.code, result.out), (0, "2 ranks, finalize\nfinalized\n"), harness.describe(result))
        (said,) = [line for line in result.err.splitlines() if line.startswith("cpcollect: ")]
        self.assertIn(f"{place}: Read-only file system, nothing will be recorded; ", said)

    def test_read_only_at_the_start(self):
        remount = f"mount -o remount,ro {shlex.quote(self.trace)}"
        self.assert_not_recorded(self.in_mount(f"{remount}; {self.application(203, 'finalize')}"), self.trace)

    def test_read_only_before_mpi_init(self):
        rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"  # 0: whose cpcollect has looked at the directory
        remount = f"{{ test {rank} != 0 || mount -o remount,ro {shlex.quote(self.trace)}; }}"
        self.assert_not_recorded(self.in_mount(self.application(203, "finalize", shell=remount)), "spool")

    def test_becomes_read_only(self):
        """As ext4 does after an error of the disk, while the application runs and its records' file is open."""
        disk = os.path.join(self.scratch, "disk")
        if harness.run("sh", "-c", f"truncate -s 64M {disk} && PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q {disk}").code != 0:
            self.skipTest("cannot mount a file system on this machine")
        command = f"mount -o remount,abort {shlex.quote(self.trace)}; ! touch {shlex.quote(self.spool('new'))} 2>/dev/null"
        application = self.application(1500, "command", 0, options=("-F", "0"))
        script = f"rmdir {shlex.quote(self.trace)}/*; export COMMAND={shlex.quote(command)}; {application}"
        result = self.in_mount(script, "errors=remount-ro", disk)
        self.assertEqual((result.code, result.out), (0, "2 ranks, command\nfinalized\n"), harness.describe(result))
        said = [line for line in result.err.splitlines() if line.startswith("cpcollect: ")]
        self.assertEqual(len([line for line in said if "Read-only file system" in line]), 1, said)


if __name__ == "__main__":
    harness.main()
