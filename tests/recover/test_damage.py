# SPDX-License-Identifier: BSD-3-Clause
"""What can be read of a damaged spool becomes a trace; what cannot be read is named; nothing crashes or hangs."""

import os
import random
import shutil
import signal
import struct
import subprocess
import time

import deaths
from deaths import harness

RANKS = 3
HEADER = 4096
RECORD = 64
CALL = 1  # spool::RecordKind


class Damage(deaths.Case):
    def setUp(self):
        super().setUp()
        self.run_recorded(RANKS, 203, "kill", 1, options=("-q",))
        self.whole = os.path.join(self.scratch, "whole")
        shutil.copytree(self.trace, self.whole)

    def fresh(self):
        shutil.rmtree(self.trace)
        shutil.copytree(self.whole, self.trace)

    def cut(self, name, size):
        os.truncate(self.spool(name), size)

    def write(self, name, offset, data):
        with open(self.spool(name), "r+b") as file:
            file.seek(offset)
            file.write(data)

    def test_cut_anywhere(self):
        self.succeed(self.recover())
        whole = self.calls()
        used = HEADER + RECORD * whole[2]
        generator = random.Random(1)
        sizes = sorted({0, 1, HEADER - 1, HEADER, HEADER + 1, HEADER + RECORD - 1, HEADER + RECORD,
                        *(generator.randrange(HEADER, used) for _ in range(20))})
        before = 0
        for size in sizes:
            self.fresh()
            self.cut("2.0.calls", size)
            self.succeed(self.recover())
            self.validate()
            found = self.calls()
            self.assertEqual({rank: found[rank] for rank in (0, 1)}, {rank: whole[rank] for rank in (0, 1)})
            self.assertGreaterEqual(found.get(2, 0), before, f"cut at {size}")
            before = found.get(2, 0)
            self.assertLessEqual(before, whole[2])
            self.replay(2)

    def test_what_the_others_did_behind_a_cut_is_not_analyzed(self):
        os.remove(self.spool("2.0.samples"))  # a sign of life
        self.cut("2.0.calls", HEADER + 40 * RECORD)
        self.succeed(self.recover())
        self.assertLess(self.calls()[2], 40)
        done = self.logged(RANKS)
        # They cannot be more than some iterations ahead of a neighbour whose messages they need.
        self.assertGreater(self.later_calls(), done[0] + done[1] - 4 * 40)
        self.assert_analyzed(RANKS, "died: 0-2")

    def test_cut_samples(self):
        size = os.path.getsize(self.spool("0.0.samples"))
        generator = random.Random(2)
        for _ in range(10):
            self.fresh()
            self.cut("0.0.samples", generator.randrange(size))
            self.succeed(self.recover())
            self.validate()
            self.assertEqual(self.calls()[1], self.logged(RANKS)[1])

    def test_a_damaged_header(self):
        generator = random.Random(3)
        for offset, length in ((8, 4), (16, 8)):  # the version, and the functions that it knows
            self.fresh()
            self.write("1.0.calls", offset, generator.randbytes(length))
            self.assert_message(self.recover(), 3, "1.0.calls: written by another version of critpath")
        for offset, length in ((0, 8), (24, 4), (28, 4), (32, 4), (0, HEADER), (480, 2000)):
            self.fresh()
            self.write("1.0.calls", offset, generator.randbytes(length))
            self.assertIn("1.0.calls: ", self.succeed(self.recover()).err)
            self.validate()
            self.assertEqual(self.calls()[0] - self.logged(RANKS)[0] in (0, 1), True)
            self.replay(2)

    def test_damaged_records(self):
        """What stands before the damage is in the trace, and all of the other ranks."""
        logged = self.logged(RANKS)
        with open(self.spool("0.0.calls"), "rb") as file:
            kinds = file.read()[HEADER::RECORD]
        generator = random.Random(4)
        for _ in range(20):
            self.fresh()
            offsets = [generator.randrange(40000) for _ in range(3)]
            for offset in offsets:
                self.write("0.0.calls", HEADER + offset, generator.randbytes(generator.randrange(1, 200)))
            self.succeed(self.recover())
            self.validate()
            found = self.calls()
            self.assertGreaterEqual(found.get(0, 0), kinds[:min(offsets) // RECORD].count(CALL))
            self.assertEqual(found[1], logged[1])
            self.assertIn(found[2] - logged[2], (0, 1))
            self.assertIn(harness.mpirun(2, harness.tool("cpreplay"), self.trace).code, (0, 3))

    def test_a_missing_file(self):
        os.remove(self.spool("1.0.calls"))
        os.remove(self.spool("1.0.samples"))
        result = self.succeed(self.recover())
        self.assertIn("rank 1: no records in", result.err)
        self.assertIn("missing: 1", result.out)
        self.assertIn("the raw records are kept in", result.out)
        self.validate()
        self.assertEqual(sorted(self.calls()), [0, 2])
        self.replay_on(1, 2, RANKS)
        summary = self.report("summary")
        self.assertIn("missing: 1", summary)
        self.assertNotIn("Clocks", summary)
        # The file turns up.
        shutil.copy(os.path.join(self.whole, "spool", "1.0.calls"), self.spool("1.0.calls"))
        self.assertIn("there already", self.succeed(self.recover()).out)
        self.succeed(self.recover("--force"))
        self.assert_recovered(RANKS, victims=(1,))

    def assert_named(self, *words, calls=None):
        """The recovery names what it leaves out, keeps the raw records, and what it makes can be replayed."""
        before = sorted(name for name in os.listdir(self.spool()) if name != "kept")
        result = self.succeed(self.recover())
        for word in words:
            self.assertIn(word, result.err)
        self.assertIn("left out", result.err)
        self.assertIn("the raw records are kept in", result.out)
        self.assertEqual(sorted(name for name in os.listdir(self.spool()) if name != "kept"), before)
        self.validate()
        found = self.calls()
        for rank, most in (calls or {}).items():
            self.assertLessEqual(found.get(rank, 0), most)
        self.assertEqual(found[2 if calls and 1 in calls else 1], self.whole_calls()[2 if calls and 1 in calls else 1])
        replayed = harness.mpirun(2, harness.tool("cpreplay"), self.trace)
        self.assertIn(replayed.code, (0, 3), harness.describe(replayed))
        self.assertNotIn("years away", replayed.err)
        return result

    def whole_calls(self):
        if not hasattr(self, "calls_of_whole"):
            copy = os.path.join(self.scratch, "copy")
            shutil.copytree(self.whole, copy)
            self.assertEqual(self.succeed(self.recover(trace=copy)).err, "", "what is whole is not damaged")
            self.assertFalse(os.path.exists(os.path.join(copy, "spool")))
            self.calls_of_whole = self.calls(copy)
        return self.calls_of_whole

    def test_a_rank_without_its_calls_is_missing(self):
        os.remove(self.spool("1.0.calls"))  # its samples and its maps are there
        result = self.assert_named("1.0.calls: missing", "rank 1: no records in", calls={1: 0})
        self.assertIn("missing: 1", result.out)
        # They turn up.
        shutil.copy(os.path.join(self.whole, "spool", "1.0.calls"), self.spool("1.0.calls"))
        self.succeed(self.recover("--force"))
        self.assertEqual(self.calls(), self.whole_calls())
        self.assertFalse(os.path.exists(self.spool()))

    def test_other_missing_files(self):
        os.remove(self.spool("1.maps"))
        self.assert_named("1.maps: missing or empty")

    def test_missing_files_of_threads(self):
        """Each thread lists the files that it has, in one that is there from the beginning."""
        with open(self.spool("1.files"), encoding="ascii") as file:
            listed = {f"1.{line.rstrip()}" for line in file}
        there = {name for name in os.listdir(self.spool()) if name.startswith("1.") and name.endswith(("calls", "samples"))}
        self.assertEqual(listed, there)
        for name in sorted(listed - {"1.0.calls"}):
            self.fresh()
            os.remove(self.spool(name))
            self.assert_named(f"{name}: missing; left out")
        self.fresh()
        missing = sorted(name for name in listed if not name.startswith("1.0."))
        for name in missing:
            os.remove(self.spool(name))
        if missing:
            self.assert_named(*(f"{name}: missing; left out" for name in missing))

    def test_a_page_of_zeros(self):
        """As a file system leaves where a block was lost."""
        page = bytes(4096)
        self.write("1.0.calls", HEADER, page)
        self.assert_named("1.0.calls: damaged at record 1, ", "rank 1: no records in", calls={1: 0})
        self.fresh()
        self.write("1.0.calls", HEADER + 4096, page)
        self.assert_named("1.0.calls: damaged at record 65, which is empty", calls={1: 64})
        self.fresh()
        self.write("1.0.samples", HEADER, page)
        self.assert_named("1.0.samples: damaged behind 4096 bytes")

    def test_damaged_times(self):
        """Of which the replay would refuse the trace, or analyze years."""
        with open(self.spool("1.0.calls"), "rb") as file:
            content = file.read()
        kinds = content[HEADER::RECORD]
        call = kinds.index(CALL, 40)
        at = HEADER + call * RECORD
        enter, leave = struct.unpack_from("<QQ", content, at + 8)
        hour = 3600 * 10**9
        for changed in ((2**63, leave), (enter, 2**63 + 5), (enter + 2**57, leave + 2**57), (0, 0), (leave + 1, enter),
                        (enter, leave + hour), (enter + hour, leave + hour)):
            self.fresh()
            self.write("1.0.calls", at + 8, struct.pack("<QQ", *changed))
            result = self.assert_named(f"1.0.calls: damaged at record {call + 1}, ",
                                       calls={1: kinds[:call].count(CALL)})
            self.assertIn("records lost: 1", result.out)
            self.assertEqual(self.calls()[1], kinds[:call].count(CALL))

    def test_an_impossible_function(self):
        self.write("1.0.calls", HEADER + 100 * RECORD, b"\x01\0\xff\xff")
        self.assert_named("1.0.calls: damaged at record 101, which names a function that there is not",
                          calls={1: 100})

    def test_samples_that_end_too_early(self):
        """Within a record, and where no file system ends a block."""
        size = os.path.getsize(self.spool("1.0.samples"))
        record = struct.pack("<IHHQ", 9, 0, 4096, 0)
        self.write("1.0.samples", size, record if (size + len(record)) % 512 != 0 else record + bytes(8))
        self.assert_named(f"1.0.samples: cut off behind {size} bytes")

    def test_the_first_ranks_file_is_missing(self):
        for name in ("0.0.calls", "0.0.samples", "0.maps"):
            os.remove(self.spool(name))
        self.succeed(self.recover())
        self.validate()
        self.assertEqual(sorted(self.calls()), [1, 2])
        self.replay_on(1, RANKS)
        self.assertIn("203 kill 1", self.report("summary"))

    def test_nothing_left(self):
        for name in os.listdir(self.spool()):
            os.remove(self.spool(name))
        self.assert_message(self.recover(), 3, "nothing can be read")
        result = harness.mpirun(2, harness.tool("cpreplay"), self.trace)
        self.assertEqual(result.code, 3, harness.describe(result))
        self.assertIn("nothing can be read", result.err)

    def test_another_version(self):
        for rank in range(RANKS):
            self.write(f"{rank}.0.calls", 8, b"\x63\0\0\0")
        self.assert_message(self.recover(), 3, "use the version that recorded it")

    def test_wrong_arguments(self):
        self.assert_message(self.recover(trace=os.path.join(self.scratch, "nowhere")), 2, "no such directory")
        self.assert_message(self.recover(trace=self.scratch), 3, "holds no records")
        self.assert_message(self.recover("--frobnicate"), 2, "no such option")
        self.assert_message(harness.run(harness.tool("cpcollect"), "recover"), 2, "no trace given")

    def test_interrupted_recoveries(self):
        """The spool is there until the archive is, however often it is tried."""
        for delay in (0.005, 0.01, 0.02, 0.03, 0.05, 0.07):
            process = subprocess.Popen([harness.tool("cpcollect"), "recover", self.trace], stdout=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.succeed(self.recover())
        self.validate()
        self.assertEqual(self.calls()[1], self.logged(RANKS)[1])

    def test_leftovers_of_a_finished_archive(self):
        self.succeed(self.recover())
        self.assertFalse(os.path.exists(self.spool()))
        before = os.path.getmtime(os.path.join(self.trace, "traces.otf2"))
        for removed in (["1.0.calls"], os.listdir(self.spool_of_whole()), []):
            shutil.copytree(self.spool_of_whole(), self.spool())
            for name in removed:
                os.remove(self.spool(name))  # what made the archive was killed while it tidied up
            self.assertIn("the raw records beside it were removed", self.succeed(self.recover()).out)
            self.assertFalse(os.path.exists(self.spool()))
            self.assertIn("nothing to do", self.succeed(self.recover()).out)
        self.assertEqual(os.path.getmtime(os.path.join(self.trace, "traces.otf2")), before)
        self.replay(1)

    def spool_of_whole(self):
        return os.path.join(self.whole, "spool")

    def test_a_spool_that_was_asked_for_stays(self):
        self.succeed(self.recover("--keep"))
        files = sorted(os.listdir(self.spool()))
        self.assertIn("nothing to do", self.succeed(self.recover()).out)
        self.assertEqual(sorted(os.listdir(self.spool())), files)
        self.succeed(self.recover("--force"))
        self.assertFalse(os.path.exists(self.spool()))

    def test_an_anchor_without_content_is_no_archive(self):
        self.succeed(self.recover("--keep"))
        os.truncate(os.path.join(self.trace, "traces.otf2"), 0)
        self.succeed(self.recover())
        self.validate()
        self.assertEqual(self.calls()[1], self.logged(RANKS)[1])


if __name__ == "__main__":
    harness.main()
