# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns how cpreplay behaves on the command line: options, defaults, one message and one exit code for each kind of bad
input on any number of processes, and no hang.

usage: command_line.py mpiexec processes cpreplay make_tiny_trace
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

MPIEXEC, PROCESSES, CPREPLAY, MAKE_TRACE = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
DONE, FAILED, USAGE, BAD_TRACE = 0, 1, 2, 3
PHASES = "open load clocks cut pair one-sided collect resolve restore peers attribute sources write".split()


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr
        self.messages = [line for line in process.stderr.splitlines() if line.startswith("cpreplay: ")]

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="critpath-test-")
        self.addCleanup(shutil.rmtree, self.scratch)
        self.trace = self.make_trace("cp-tiny")

    def make_trace(self, name):
        trace = os.path.join(self.scratch, name)
        subprocess.run([MAKE_TRACE, trace], check=True)
        return trace

    def run_bare(self, *arguments, cwd=None):
        command = [CPREPLAY, *arguments]
        return Result(subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd or self.scratch))

    def run_many(self, *arguments, processes=PROCESSES):
        command = [MPIEXEC, "-n", str(processes), CPREPLAY, *arguments]
        return Result(subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.scratch))

    def refuse(self, code, *words, arguments=None):
        result = self.run_many(*(arguments or [self.trace]))
        self.assertEqual(result.code, code, result)
        self.assertEqual(len(result.messages), 1, result)
        self.assertIn("; ", result.messages[0])
        for word in words:
            self.assertIn(word, result.messages[0], result)

    def files(self, extension):
        directory = os.path.join(self.trace, "traces")
        return sorted(os.path.join(directory, f) for f in os.listdir(directory) if f.endswith(extension))

    def overwrite(self, name, offset, content):
        with open(os.path.join(self.trace, name), "r+b") as file:
            file.seek(offset)
            file.write(content)

    def digest(self):
        result = {}
        for name in ("critpath.sqlite", "segments.bin", "attribution.bin", "counts.bin", "totals.bin", "computed.bin"):
            with open(os.path.join(self.trace, "critpath", name), "rb") as file:
                result[name] = hashlib.sha256(file.read()).hexdigest()
        return result

    # ---- what works

    def test_replay(self):
        result = self.run_many(self.trace)
        self.assertEqual(result.code, DONE, result)
        self.assertEqual(result.messages, [], result)
        self.assertTrue(result.out.startswith("makespan 0.001200 s, 4 ranks, "), result)
        self.assertIn("40 messages", result.out)
        self.assertTrue(result.out.endswith(f"next: cpreport hotspots {self.trace}\n"), result)
        self.assertEqual(sorted(os.listdir(os.path.join(self.trace, "critpath"))), ["attribution.bin", "computed.bin", "counts.bin", "critpath.sqlite", "segments.bin", "totals.bin"])

    def test_same_bytes_without_mpirun(self):
        self.assertEqual(self.run_many(self.trace).code, DONE)
        many = self.digest()
        self.assertEqual(self.run_bare(self.trace).code, DONE)
        self.assertEqual(self.digest(), many)

    def test_anchor_instead_of_directory(self):
        result = self.run_many(os.path.join(self.trace, "traces.otf2"), "--quiet")
        self.assertEqual((result.code, result.out), (DONE, ""), result)
        self.assertTrue(os.path.exists(os.path.join(self.trace, "critpath", "critpath.sqlite")))

    def test_inside_of_the_trace(self):
        result = self.run_bare("traces.otf2", cwd=self.trace)
        self.assertEqual(result.code, DONE, result)
        self.assertTrue(os.path.exists(os.path.join(self.trace, "critpath", "critpath.sqlite")))
        self.assertEqual(self.run_bare(cwd=self.trace).code, DONE)

    def test_newest_trace_is_the_default(self):
        newer = self.make_trace("cp-another")
        later = time.time() + 10
        os.utime(os.path.join(newer, "traces.otf2"), (later, later))
        os.mkdir(os.path.join(self.scratch, "cp-no-trace"))
        result = self.run_many()
        self.assertEqual(result.code, DONE, result)
        self.assertTrue(result.out.endswith("next: cpreport hotspots cp-another\n"), result)
        self.assertFalse(os.path.exists(os.path.join(self.trace, "critpath")))

    def test_what_is_next_can_be_copied_into_a_shell(self):
        for name, word in (("sp ace", "'sp ace'"), ("it's", "'it'\\''s'"), ("b\x1b[1m", "'b\N{REPLACEMENT CHARACTER}[1m'")):
            self.make_trace(name)
            result = self.run_many(name)
            self.assertEqual(result.code, DONE, result)
            self.assertTrue(result.out.endswith(f"next: cpreport hotspots {word}\n"), result)

    def test_more_processes_than_ranks(self):
        result = self.run_many(self.trace, processes=6)
        self.assertEqual(result.code, DONE, result)
        self.assertEqual(result.messages, ["cpreplay: 6 processes for 4 traced ranks: 2 stay idle; use mpirun -n 4"])
        idle = self.digest()
        self.assertEqual(self.run_many(self.trace).code, DONE)
        self.assertEqual(self.digest(), idle)
        self.assertEqual(self.run_many(self.trace, processes=5).messages,
                         ["cpreplay: 5 processes for 4 traced ranks: 1 stays idle; use mpirun -n 4"])

    def test_directory_of_debug_files_that_is_missing(self):
        with mock.patch.dict(os.environ, CRITPATH_DEBUG_PATH=f":{self.scratch}::{self.scratch}/gone:"):
            result = self.run_many(self.trace)
        self.assertEqual(result.code, DONE, result)
        self.assertEqual(result.messages, [f"cpreplay: {self.scratch}/gone: no directory; CRITPATH_DEBUG_PATH says to "
                                           "look for debug files there"])

    def test_result_is_replaced(self):
        self.assertEqual(self.run_many(self.trace, "--rules=paper").code, DONE)
        paper = self.digest()
        self.assertEqual(self.run_many(self.trace).code, DONE)
        arrival = self.digest()
        self.assertNotEqual(arrival, paper)  # the result says by which rules it was made
        self.assertEqual(self.run_many(self.trace, "--rules=paper").code, DONE)
        self.assertEqual(self.digest(), paper)

    def test_waits_for_another_that_writes_its_result(self):
        self.assertEqual(self.run_many(self.trace).code, DONE)
        alone = self.digest()
        self.assertEqual(self.run_many(self.trace, "--rules=paper").code, DONE)
        directory = os.open(os.path.join(self.trace, "critpath"), os.O_RDONLY)
        self.addCleanup(os.close, directory)
        fcntl.flock(directory, fcntl.LOCK_EX)
        waiting = subprocess.Popen([MPIEXEC, "-n", str(PROCESSES), CPREPLAY, self.trace], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, cwd=self.scratch)
        self.assertIn("another cpreplay is writing its result there", waiting.stderr.readline())
        self.assertIsNone(waiting.poll())
        self.assertNotEqual(self.digest(), alone)
        fcntl.flock(directory, fcntl.LOCK_UN)
        self.assertEqual(waiting.communicate(timeout=60)[1], "")
        self.assertEqual(waiting.returncode, DONE)
        self.assertEqual(self.digest(), alone)

    def test_several_at_once(self):
        self.assertEqual(self.run_bare(self.trace).code, DONE)
        alone = self.digest()
        replays = [subprocess.Popen([CPREPLAY, self.trace], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for _ in range(8)]
        self.assertEqual([replay.wait(timeout=60) for replay in replays], [DONE] * len(replays))
        self.assertEqual(self.digest(), alone)

    def test_timings(self):
        result = self.run_many(self.trace, "--timings=json")
        self.assertEqual(result.code, DONE, result)
        timings = json.loads(result.err)
        self.assertEqual(timings["processes"], PROCESSES)
        *phases, total = timings["phases"]
        self.assertEqual([phase["name"] for phase in phases], PHASES)
        for key in ("seconds", "processor_seconds"):
            self.assertAlmostEqual(sum(phase[key] for phase in phases), total[key], delta=1e-5)
        peaks = [phase["peak_kib"] for phase in phases]
        self.assertEqual(peaks, sorted(peaks))
        self.assertEqual(total["peak_kib"], peaks[-1])
        self.assertGreater(peaks[0], 1000 * PROCESSES)
        table = self.run_many(self.trace, "--timings=table")
        self.assertEqual([line.split()[1] for line in table.messages], ["phase", *PHASES, "total"])
        self.assertEqual(result.out, table.out)

    def test_engines_give_the_same_bytes(self):
        self.assertEqual(self.run_many(self.trace).code, DONE)
        aggregated = self.digest()
        for processes in (1, PROCESSES, 6):
            shutil.rmtree(os.path.join(self.trace, "critpath"))
            result = self.run_many(self.trace, "--engine=literal", processes=processes)
            self.assertEqual(result.code, DONE, result)
            self.assertEqual(self.digest(), aggregated)

    def test_ways_to_walk_give_the_same_bytes(self):
        self.assertEqual(self.run_many(self.trace).code, DONE)
        expected = self.digest()
        for way in ("gather", "token", "segments", "lifting"):
            shutil.rmtree(os.path.join(self.trace, "critpath"))
            result = self.run_many(self.trace, "--walk=" + way, processes=PROCESSES)
            self.assertEqual(result.code, DONE, result)
            self.assertEqual(self.digest(), expected)

    def test_progress(self):
        result = self.run_many(self.trace, "--progress=always")
        self.assertEqual(result.code, DONE, result)
        self.assertEqual([line.split()[1] for line in result.messages], PHASES)

    def test_help_and_version(self):
        result = self.run_many("--help")
        self.assertEqual((result.code, result.err), (DONE, ""), result)
        self.assertEqual(result.out.count("Usage: cpreplay"), 1, result)
        self.assertLessEqual(len(result.out.splitlines()), 30)
        self.assertIn("Examples:", result.out)
        version = self.run_bare("--version")
        self.assertEqual(version.code, DONE)
        self.assertRegex(version.out, r"^cpreplay \d+\.\d+\.\d+\n$")

    # ---- what does not

    def test_unknown_option(self):
        self.refuse(USAGE, "--no-such-option: no such option", arguments=["--no-such-option", self.trace])

    def test_size_of_memory(self):
        for word in ("abc", "500X", "1.5G", "-5", "99999999999G", "5Mib5"):
            self.refuse(USAGE, f"--memory: '{word}' is not a size; give bytes, or a unit, for example: --memory=500M",
                        arguments=[f"--memory={word}", self.trace])
        for word in ("1048576", "900k", "500M", "2GiB", "1tb", "all"):
            self.assertEqual(self.run_bare("--memory", word, "-q", self.trace).code, DONE)

    def test_values_that_are_missing_or_too_many(self):
        self.refuse(USAGE, "--memory: its value is missing", arguments=[self.trace, "--memory"])
        self.refuse(USAGE, "--rules: may be given once only", arguments=["--rules=enter", "--rules=paper", self.trace])

    def test_unknown_rules(self):
        self.refuse(USAGE, "guess", arguments=["--rules=guess", self.trace])

    def test_unknown_format_of_timings(self):
        self.refuse(USAGE, "xml", arguments=["--timings=xml", self.trace])

    def test_unknown_engine(self):
        self.refuse(USAGE, "steam", arguments=["--engine=steam", self.trace])

    def test_unknown_way_to_walk(self):
        self.refuse(USAGE, "backwards", arguments=["--walk=backwards", self.trace])

    def test_empty_name_of_a_trace(self):
        """As of a variable of a shell that is not set: the newest trace here is not meant."""
        self.refuse(USAGE, "TRACE: the name is empty", arguments=[""])

    def test_two_traces(self):
        self.refuse(USAGE, f"{self.trace}: one argument too many", arguments=[self.trace, self.trace])

    def test_no_trace_here(self):
        shutil.rmtree(self.trace)
        result = self.run_many()
        self.assertEqual(result.code, USAGE, result)
        self.assertEqual(len(result.messages), 1, result)

    def test_missing_trace(self):
        self.refuse(BAD_TRACE, "nowhere: no such file", arguments=["nowhere"])

    def test_directory_without_anchor(self):
        os.remove(os.path.join(self.trace, "traces.otf2"))
        self.refuse(BAD_TRACE, self.trace, "no .otf2 file")

    def test_anchor_of_garbage(self):
        self.overwrite("traces.otf2", 0, b"garbage!")
        self.refuse(BAD_TRACE, "traces.otf2: not an OTF2 anchor file")

    def test_compressed(self):
        self.overwrite("traces.otf2", 29, b"\x02")
        self.refuse(BAD_TRACE, "traces.otf2", "ZLIB")

    def test_definitions_missing(self):
        os.remove(os.path.join(self.trace, "traces.def"))
        self.refuse(BAD_TRACE, "traces.def: missing")

    def test_definitions_cut_short(self):
        os.truncate(os.path.join(self.trace, "traces.def"), 300)
        self.refuse(BAD_TRACE, "traces.def: damaged, or cut short")

    def test_event_file_missing(self):
        for file in (self.files(".evt")[0], self.files(".evt")[-1]):
            content = os.path.join(self.scratch, "aside")
            os.rename(file, content)
            self.refuse(BAD_TRACE, f"{file}: missing", "promise 68 events")
            os.rename(content, file)

    def test_event_file_cut_short(self):
        file = self.files(".evt")[0]
        os.truncate(file, os.path.getsize(file) // 2)
        self.refuse(BAD_TRACE, file, "promise 68 events", "could be read")

    def test_all_event_files_cut_short(self):
        for file in self.files(".evt"):
            os.truncate(file, os.path.getsize(file) // 2)
        result = self.run_many(self.trace)
        self.assertEqual(result.code, BAD_TRACE, result)
        self.assertEqual(len(result.messages), min(PROCESSES, 4), result)  # each process names its first

    def test_garbage_behind_the_events(self):
        with open(self.files(".evt")[-1], "ab") as file:
            file.write(b"garbage")
        self.refuse(BAD_TRACE, self.files(".evt")[-1], "appended")

    def test_result_of_an_earlier_replay(self):
        """It stays, with a mark, until a replay succeeds. Without a result there is nothing to mark."""
        def mark():
            try:
                with open(os.path.join(self.trace, "critpath", "failed_replay.txt"), encoding="utf-8") as file:
                    return file.read()
            except FileNotFoundError:
                return None
        file, whole = self.files(".evt")[0], os.path.join(self.scratch, "whole")
        shutil.copyfile(file, whole)
        os.truncate(file, os.path.getsize(file) // 2)
        self.refuse(BAD_TRACE, file, "promise 68 events")
        self.assertIsNone(mark())
        shutil.copyfile(whole, file)
        self.assertEqual(self.run_many(self.trace).code, DONE)
        before = self.digest()
        os.truncate(file, os.path.getsize(file) // 2)
        result = self.run_many(self.trace)
        self.assertEqual(result.code, BAD_TRACE, result)
        self.assertEqual(len(result.messages), 2, result)
        self.assertIn(f"{self.trace}: the result there is of an earlier replay", result.messages[1])
        self.assertEqual(f"cpreplay: {mark()}", result.messages[0] + "\n")
        self.assertEqual(self.digest(), before)
        shutil.copyfile(whole, file)
        self.assertEqual(self.run_many(self.trace).code, DONE)
        self.assertIsNone(mark())

    def test_another_file_beside_the_anchor_is_no_replay_of_the_trace(self):
        """Refused, but the result there is as good as before."""
        self.assertEqual(self.run_many(self.trace).code, DONE)
        for name in ("traces.def", "notes.txt", "other.otf2"):
            file = os.path.join(self.trace, name)
            if not os.path.exists(file):
                shutil.copyfile(os.path.join(self.trace, "traces.def"), file)
            result = self.run_many(file)
            self.assertEqual(result.code, BAD_TRACE, result)
            self.assertEqual(len(result.messages), 1, result)
        self.assertFalse(os.path.exists(os.path.join(self.trace, "critpath", "failed_replay.txt")))

    def test_full_disk_behind_standard_output(self):
        """By itself, since launchers read what their processes print."""
        for arguments in ([self.trace], ["--help"], ["--version"]):
            with open("/dev/full", "wb") as full:
                run = subprocess.run([CPREPLAY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(run.returncode, FAILED)
            self.assertIn("cpreplay: standard output: No space left on device; ", run.stderr)
        self.digest()  # which is there

    def test_result_cannot_be_written(self):
        with open(os.path.join(self.trace, "critpath"), "w", encoding="utf-8"):
            pass
        self.refuse(FAILED, "critpath")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
