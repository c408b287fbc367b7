# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what cpreplay says of archives whose files do not fit: one message and one exit code, or the result.

usage: archives.py cpreplay make_tiny_trace
"""

import contextlib
import hashlib
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

CPREPLAY, MAKE_TRACE = sys.argv[1:3]
DONE, FAILED, USAGE, BAD_TRACE = 0, 1, 2, 3
STRING, LOCATION, GROUP = 10, 14, 18  # types of global definitions
HEADER = 18  # bytes


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def compressed(value):
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "little")


def fields(content, kinds):
    """The first fields of a record: "c" a compressed integer, "b" a byte; and the rest of it."""
    values = []
    for kind in kinds:
        size = content[0] if kind == "c" and content[0] != 0xff else 0
        values.append(int.from_bytes(content[1:1 + size], "little") if kind == "c" else content[0])
        content = content[1 + size:]
    return values, content


class Archives(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="critpath-test-")
        self.addCleanup(shutil.rmtree, self.scratch)
        self.trace = self.make_trace("trace")
        self.definitions = os.path.join(self.trace, "traces.def")

    def make_trace(self, name, *arguments):
        trace = os.path.join(self.scratch, name)
        subprocess.run([MAKE_TRACE, trace, *arguments], check=True)
        return trace

    def event_files(self, trace=None):
        directory = os.path.join(trace or self.trace, "traces")
        return sorted(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(".evt"))

    def records(self):
        """The global definitions: type and content of each."""
        data = read(self.definitions)
        at, records = HEADER, []
        while data[at] > 2:
            length, begin = data[at + 1], at + 2
            if length == 0xff:
                length, begin = struct.unpack_from("<Q", data, begin)[0], begin + 8
            records.append((data[at], data[begin:begin + length]))
            at = begin + length
        return records

    def define(self, records):
        data = read(self.definitions)[:HEADER]
        for kind, content in records:
            length = bytes([len(content)]) if len(content) < 0xff else b"\xff" + struct.pack("<Q", len(content))
            data += bytes([kind]) + length + content
        write(self.definitions, data + b"\x02\x01")

    def redefine(self, kind, change):
        """Changes the last definition of its kind."""
        records = self.records()
        last = max(i for i, record in enumerate(records) if record[0] == kind)
        records[last] = (kind, change(records[last][1]))
        self.define(records)

    def replay(self):
        result = subprocess.run([CPREPLAY, "--quiet", self.trace], capture_output=True, text=True, timeout=60,
                                cwd=self.scratch)
        self.said = f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
        messages = [line for line in result.stderr.splitlines() if line.startswith("cpreplay: ")]
        # Of a trace that was replayed before it was damaged.
        return result.returncode, [line for line in messages if not line.endswith("the result there is of an earlier replay")]

    def refuse(self, *words):
        code, messages = self.replay()
        self.assertEqual((code, len(messages)), (BAD_TRACE, 1), self.said)
        for word in (*words, "; "):
            self.assertIn(word, messages[0], self.said)

    def accept(self):
        self.assertEqual(self.replay()[0], DONE, self.said)

    def digest(self):
        self.accept()
        directory = os.path.join(self.trace, "critpath")
        return [hashlib.sha256(read(os.path.join(directory, name))).hexdigest() for name in sorted(os.listdir(directory))]

    def fact(self, key):
        with contextlib.closing(sqlite3.connect(os.path.join(self.trace, "critpath", "critpath.sqlite"))) as database:
            return database.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()[0]

    # ---- definitions

    def test_order_of_definitions_does_not_matter(self):
        expected = self.digest()
        records = self.records()
        self.define(records)
        self.assertEqual(self.digest(), expected)
        for seed in range(3):
            random.Random(seed).shuffle(records)
            self.define(records)
            self.assertEqual(self.digest(), expected, f"order {seed}")

    def test_more_members_than_the_record_has(self):
        def change(content):
            (name, text, kind, _), members = fields(content, "ccbc")
            return compressed(name) + compressed(text) + bytes([kind]) + compressed(2**32 - 2) + members
        self.redefine(GROUP, change)
        self.refuse("traces.def: damaged")

    def test_more_events_than_any_memory_holds(self):
        def change(content):
            (name, text, kind, _), rest = fields(content, "ccbc")
            return compressed(name) + compressed(text) + bytes([kind]) + compressed(2**40) + rest
        self.redefine(LOCATION, change)
        self.refuse(".evt: has ", f"promise {2**40} events")

    def test_more_events_than_any_memory_holds_in_a_file_with_a_hole(self):
        """The size of the file does not tell then; what is said is not that memory should be larger."""
        (location, *_), _ = fields([record for record in self.records() if record[0] == LOCATION][-1][1], "ccbc")
        self.test_more_events_than_any_memory_holds()
        path = os.path.join(self.trace, "traces", f"{location}.evt")
        os.truncate(path, 2**41)
        self.refuse(f"{path}: the definitions promise {2**40} events, ", " could be read")

    def test_member_that_does_not_exist(self):
        def change(content):
            (name, text, kind, count), members = fields(content, "ccbc")
            values, rest = fields(members, "c" * count)
            values[-1] = 99
            return (compressed(name) + compressed(text) + bytes([kind]) + compressed(count) +
                    b"".join(map(compressed, values)) + rest)
        self.redefine(GROUP, change)
        self.refuse("99")

    def test_string_without_end(self):
        self.redefine(STRING, lambda content: content[:-1] + b"x")
        self.assertIn(self.replay()[0], (DONE, BAD_TRACE), self.said)

    # ---- files

    def test_files_of_nothing(self):
        for path in (os.path.join(self.trace, "traces.otf2"), self.definitions, *self.event_files()[:1]):
            with self.subTest(file=path):
                content = read(path)
                write(path, b"")
                self.refuse(os.path.basename(path))
                write(path, content)

    def test_what_is_no_file(self):
        for path in (self.definitions, *self.event_files()[:1]):
            content = read(path)
            os.remove(path)
            with self.subTest(what="directory", file=path):
                os.mkdir(path)
                self.refuse(f"{path}: not a file")
                os.rmdir(path)
            with self.subTest(what="a link to itself", file=path):
                os.symlink(path, path)
                self.refuse(path)
                os.remove(path)
            write(path, content)

    def test_event_file_of_another_run(self):
        other = self.make_trace("other", "11")
        shutil.copy(self.event_files(other)[1], self.event_files()[1])
        self.refuse(self.event_files()[1], "promise 68 events, 74 could be read")

    def test_event_files_of_another_run_of_equal_length(self):
        """The times tell, whether it is one file or all of them. In archives of other tools they need not be exact."""
        for start in ("90000000", "300000"):
            with self.subTest(start=start):
                self.trace = self.make_trace("own" + start, "10", "0")
                self.accept()
                own, other = self.event_files(), self.event_files(self.make_trace("other" + start, "10", start))
                shutil.copy(other[1], own[1])
                self.refuse(own[1], "another run", "copy the whole trace again")
                for theirs, ours in zip(other, own):
                    shutil.copy(theirs, ours)
                self.refuse("another run")
        self.trace = self.make_trace("foreign", "10")
        other = self.event_files(self.make_trace("far", "10", "5000000000000"))
        shutil.copy(other[1], self.event_files()[1])
        self.accept()
        self.assertIn("files of several runs may have been mixed", self.said)

    def test_event_files_of_other_ranks(self):
        """As many events as promised; that the messages do not fit is all that can be seen."""
        first, second = self.event_files()[:2]
        content = read(first)
        shutil.copy(second, first)
        write(second, content)
        self.accept()
        self.assertGreater(self.fact("unmatched_sends"), 0)

    def test_time_that_goes_back(self):
        path = self.event_files()[0]
        content = bytearray(read(path))
        middle = content.index(b"\x05", len(content) // 2)
        stamps = [at for at in range(middle, len(content) - 9) if content[at] == 5 and content[at + 4:at + 9] == bytes(5)]
        content[stamps[0] + 1:stamps[0] + 9] = struct.pack("<Q", 5000)
        write(path, content)
        self.accept()
        self.assertGreater(self.fact("clock_violations"), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
