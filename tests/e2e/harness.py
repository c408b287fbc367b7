# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns how an end-to-end test runs the tools: commands with a time limit, and the four steps of every test (record,
validate, replay, report).

A test file defines unittest cases and calls main(). ctest runs one case a process:

    E2E_BIN=<bin of the build> E2E_WORKLOADS=<directory> E2E_MPIEXEC=<mpirun> python3 test_x.py Class.test_y

What ctest makes of it stands in tests/run_cases.py. Time limits guard against hangs; nothing here asserts how
fast something is.
"""

import collections
import contextlib
import csv
import functools
import io
import itertools
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from machine import MPI_ENVIRONMENT, papi_refused, perf_event_refused  # noqa: E402, F401
from run_cases import main  # noqa: E402, F401

BIN = os.environ.get("E2E_BIN", "")
WORKLOADS = os.environ.get("E2E_WORKLOADS", "")
MPIEXEC = os.environ.get("E2E_MPIEXEC", "mpirun")
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
PYTHON = "/usr/bin/python3"

Result = collections.namedtuple("Result", "command code out err")
Segment = collections.namedtuple("Segment", "begin end kind rank function")


def tool(name):
    return os.path.join(BIN, name)


def workload(name):
    return os.path.join(WORKLOADS, name)


def environment(**more):
    """Of every command. Where cores are few, waiting ranks give way."""
    return dict(os.environ, **MPI_ENVIRONMENT, OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1", **more)


def run(*command, timeout=120, stdin=b"", cwd=None, env=None):
    """Runs a command in a process group of its own, which is killed as a whole if it does not end in time."""
    command = [str(word) for word in command]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                               env=env or environment(), start_new_session=True)
    try:
        out, err = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"still running after {timeout} s: {shlex.join(command)}\n{text(out)}{text(err)}") from None
    return Result(command, process.returncode, text(out), text(err))


def text(data):
    return data.decode("utf-8", "replace")


def mpirun(ranks, *command, **options):
    return run(MPIEXEC, "-n", ranks, *command, **options)


def describe(result):
    return f"{shlex.join(result.command)}\nexit code {result.code}\n--- stdout\n{result.out}\n--- stderr\n{result.err}"


def retry_once(case):
    """For cases whose answer another process on the machine can disturb (a rank that gets no core for long). The first
    failure is printed, so that a case that needs this often does not hide."""

    @functools.wraps(case)
    def wrapper(self):
        try:  # subTest would keep the failure to itself
            with unittest.mock.patch.object(self, "subTest", lambda *_, **__: contextlib.nullcontext()):
                case(self)
        except (AssertionError, KeyError) as failure:  # or a row that is not there
            print(f"RETRY after: {failure}", file=sys.stderr)
            self.setUp()
            case(self)

    return wrapper


KEEP_BUSY = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile os.getppid() == int(sys.argv[2]): pass"


@contextlib.contextmanager
def competitors(processor, number):
    """Processes that do nothing but keep a processor busy. In sessions of their own: what is in one may have to share."""
    processes = [subprocess.Popen([sys.executable, "-c", KEEP_BUSY, str(processor), str(os.getpid())],
                                  start_new_session=True) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Case(unittest.TestCase):
    """A scratch directory for each case (self.scratch) and the steps that all cases share."""

    maxDiff = None

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="critpath-e2e.")
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.trace = os.path.join(self.scratch, "trace")

    def succeed(self, result):
        if result.code != 0:
            self.fail(describe(result))
        return result

    def record(self, ranks, *application, options=(), **run_options):
        result = mpirun(ranks, tool("cpcollect"), "-o", self.trace, *options, "--", *application,
                        **dict({"cwd": self.scratch}, **run_options))
        self.succeed(result)
        self.assertTrue(os.path.exists(os.path.join(self.trace, "traces.otf2")),
                        f"no anchor file in the trace\n{describe(result)}")
        return result

    def validate(self):
        """otf2-print accepts the trace without a word."""
        result = run("otf2-print", "--silent", "--warnings-as-errors", os.path.join(self.trace, "traces.otf2"))
        self.assertEqual((result.code, result.out.strip(), result.err), (0, "=== OTF2-PRINT ===", ""), describe(result))

    def replay(self, processes, *options):
        return self.succeed(mpirun(processes, tool("cpreplay"), *options, self.trace))

    def replay_on(self, *process_counts):
        """Every number of processes gives the same bytes, and so does the literal engine on the last one."""
        reference = None
        for processes, engine in [(n, "aggregated") for n in process_counts] + [(process_counts[-1], "literal")]:
            shutil.rmtree(os.path.join(self.trace, "critpath"), ignore_errors=True)
            self.replay(processes, f"--engine={engine}")
            result = {}
            for name in ("critpath.sqlite", "segments.bin", "attribution.bin", "counts.bin", "totals.bin", "computed.bin"):
                with open(os.path.join(self.trace, "critpath", name), "rb") as file:
                    result[name] = file.read()
            reference = reference or result
            for name, content in result.items():
                self.assertTrue(content == reference[name], f"{name} of {processes} processes with the {engine} engine "
                                f"differs from that of {process_counts[0]}")

    def report(self, view, *options):
        return self.succeed(run(tool("cpreport"), view, *options, self.trace)).out

    def hotspots(self, sort="name", *options):
        """All rows of `cpreport hotspots`, as dictionaries; in the order of their names, all that were seen anywhere."""
        return json.loads(self.report("hotspots", "--format", "json", "--top", "0", "--sort", sort, *options))["hotspots"]

    @staticmethod
    def path_times(hotspots):
        """What the rows have on the path: of those that have anything there."""
        columns = ("function", "module", "kind", "path_seconds", "path_percent", "path_percent_low", "path_percent_high",
                   "path_samples")
        return [[row[column] for column in columns] for row in hotspots if row["path_seconds"] > 0]

    def lines(self, *options):
        """All rows of `cpreport hotspots --by line`, as dictionaries, also those below the sampling error."""
        return json.loads(self.report("hotspots", "--format", "json", "--top", "0", "--sort", "name", "--by", "line",
                                      *options))["hotspots"]

    def path(self):
        """The critical path: Segments in order of time, in seconds."""
        rows = csv.DictReader(io.StringIO(self.report("path", "--format", "csv", "--all")))
        return [Segment(float(row["begin_seconds"]), float(row["end_seconds"]), row["kind"], int(row["rank"]),
                        row["mpi_function"]) for row in rows]

    def fact(self, key):
        with contextlib.closing(sqlite3.connect(os.path.join(self.trace, "critpath", "critpath.sqlite"))) as database:
            return database.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()[0]

    def assert_sound(self, expected_anomalies=()):
        """The path is contiguous, as long as the run, and divided among the rows without remainder; every operation
        found its partner and nothing was lost."""
        segments = self.path()
        self.assertGreater(len(segments), 0)
        for before, after in itertools.pairwise(segments):
            self.assertAlmostEqual(before.end, after.begin, delta=2e-9, msg=f"a hole in the path: {before} {after}")
        hotspots = self.hotspots()
        self.assertAlmostEqual(sum(row["path_seconds"] for row in hotspots), segments[-1].end, delta=1e-6)
        self.assertEqual(self.path_times(self.hotspots("name", "--from", "0")), self.path_times(hotspots))
        if any(row["kind"] == "sampled" for row in hotspots):
            self.assert_parts_sum_to_rows(hotspots)
        summary = json.loads(self.report("summary", "--format", "json"))
        self.assertAlmostEqual(summary["makespan_seconds"], segments[-1].end, delta=1e-6)
        anomalies = [entry for entry in summary.get("anomalies", []) if entry["fact"] not in expected_anomalies]
        self.assertEqual(anomalies, [])
        return segments

    def assert_parts_sum_to_rows(self, hotspots):
        """What is shown inside of a row of MPI or of transfers divides it without remainder, and changes no row."""
        rows = self.hotspots("name", "--inside")
        self.assertEqual([{key: row[key] for key in hotspots[0]} for row in rows if not row["inside"]], hotspots)
        for row in rows:
            if row["kind"] == "mpi" or row["function"] == "[transfer]":
                parts = [part["path_seconds"] for part in rows if part["inside"] == row["function"]]
                if parts:  # else it is too short for samples
                    total = row["path_seconds"]
                    self.assertAlmostEqual(sum(parts), total, delta=2e-9 * (len(parts) + 1), msg=str(row))

    def record_replay_report(self, ranks, *application, options=(), **run_options):
        """All steps; returns what the application wrote to standard output."""
        result = self.record(ranks, *application, options=("-q", *options), **run_options)
        self.validate()
        self.replay_on(*dict.fromkeys((1, 2, ranks)))
        return result.out

    def assert_message(self, result, code, *words):
        """Exit code, nothing on standard output, and one message that contains the words and says what to do next."""
        self.assertEqual(result.code, code, describe(result))
        self.assertEqual(result.out, "", describe(result))
        messages = [line for line in result.err.splitlines() if line.startswith(("cpcollect:", "cpreplay:", "cpreport:"))]
        self.assertEqual(len(messages), 1, f"not one message\n{describe(result)}")
        self.assertRegex(messages[0], "; |is not one of ", f"no next action\n{describe(result)}")
        for word in words:
            self.assertIn(word, messages[0], describe(result))
