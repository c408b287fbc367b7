# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns whose name an address has in a process whose code changes: libraries that are unloaded, files that are replaced
while they run (tests/workloads/plugins.c says how much each function works).

All ranks work at the same time, so that the path has each function once. Shares within 10 % of the work, for the sampling
and the competition of ranks."""

import json
import os
import shutil
import unittest
from unittest import mock

import harness

RANKS = 2


def callers_in(anchor, function):
    """For each call of the function that has a calling context: the names of its callers, innermost first."""
    import otf2
    from otf2 import events

    callers = []
    with otf2.reader.open(anchor) as trace:
        for _, event in trace.events:
            if isinstance(event, events.CallingContextEnter) and event.calling_context.region.name == function:
                names = []
                context = event.calling_context.parent
                while context is not None:
                    names.append(context.region.name)
                    context = context.parent
                callers.append(names)
    return callers


class Names(harness.Case):
    def record_plugins(self, case, program=None, directory=harness.WORKLOADS, options=()):
        result = self.record(RANKS, program or harness.workload("plugins"), case, directory, options=options)
        self.validate()
        self.replay(RANKS)
        return result

    def assert_work(self, **milliseconds):
        """Of the functions that are given, each has its part of the path."""
        rows = {row["function"]: row for row in self.hotspots()}
        all_seconds = sum(rows.get(name, {"path_seconds": 0})["path_seconds"] for name in milliseconds)
        self.assertGreater(all_seconds, 0)
        for name, share in milliseconds.items():
            self.assertIn(name, rows)
            self.assertAlmostEqual(rows[name]["path_seconds"] / all_seconds, share / sum(milliseconds.values()), delta=0.1)
        return rows

    def check_turns(self, sampler):
        # Where the loader puts the second one, the kernel decides by chance now and then.
        for _ in range(5):
            shutil.rmtree(self.trace, ignore_errors=True)
            result = self.record_plugins("turns", options=(f"--sampler={sampler}",))
            if "same place" in result.out:
                break
        self.assertIn("same place", result.out, "the loader has put them apart: this test shows nothing")
        rows = self.assert_work(one_work=300, two_work=100)
        self.assertEqual(os.path.basename(rows["one_work"]["module"]), "libone.so")
        self.assertEqual(os.path.basename(rows["two_work"]["module"]), "libtwo.so")
        self.assertEqual(self.fact("unseen_unloads"), 0)
        self.assertEqual(self.fact("replaced_files"), 0)

    @unittest.skipIf(harness.perf_event_refused(), "perf_event_open is refused on this machine")
    def test_unloaded_libraries_with_perf_event(self):
        self.check_turns("perf")

    def test_unloaded_libraries_with_timers(self):
        self.check_turns("timer")

    def test_call_paths_through_unloaded_libraries(self):
        for mode in ("site", "full"):
            with self.subTest(mode):
                shutil.rmtree(self.trace, ignore_errors=True)
                self.record_plugins("turns", options=(f"--callpath={mode}", "--sampler=timer"))
                callers = callers_in(os.path.join(self.trace, "traces.otf2"), "MPI_Barrier")
                innermost = [names[0] for names in callers if names and names[0].endswith("_run")]
                self.assertEqual(sorted(innermost), ["one_run"] * RANKS + ["two_run"] * RANKS, callers)

    def test_what_is_unloaded_unseen_is_told(self):
        result = self.record_plugins("unseen", options=("--sampler=timer",))
        self.assertEqual(self.fact("unseen_unloads"), RANKS)
        self.assertIn("unseen", self.report("summary"), result.err)
        self.assert_work(one_work=300)  # it had been seen before

    def test_who_unloads_all_the_time_is_not_held_up(self):
        result = self.record_plugins("often", options=("--sampler=timer",))
        self.assertIn("libraries of a rank were unloaded and not noted", result.err)
        self.assertGreater(self.fact("unseen_unloads"), RANKS * 1000)
        self.assertIn("unseen", self.report("summary"))
        self.assert_work(one_work=300)

    def test_a_file_that_was_replaced(self):
        program = shutil.copy(harness.workload("plugins"), self.scratch)
        for name in ("libone.so", "libtwo.so"):
            shutil.copy(harness.workload(name), self.scratch)
        self.record_plugins("replaced", program, self.scratch, options=("--sampler=timer",))
        # As the program's own file can always be read; that of a library where the kernel permits it.
        rows = {row["function"]: row for row in self.hotspots()}
        self.assertIn("own_work", rows)
        self.assertEqual(rows["own_work"]["module"], program)
        lost = self.fact("replaced_files")
        if lost == 0:
            self.assert_work(one_work=300, own_work=100)
            self.assertEqual(rows["one_work"]["module"], os.path.join(self.scratch, "libone.so"))
        else:
            self.assertEqual(lost, RANKS)
            self.assertTrue([name for name in rows if name.startswith("libone.so+0x")], rows.keys())
            self.assertIn("replaced", self.report("summary"))
        self.assertFalse([name for name in rows if "two_" in name], "names of the file that came later")

    def test_a_file_that_was_renamed(self):
        program = shutil.copy(harness.workload("plugins"), self.scratch)
        for name in ("libone.so", "libtwo.so"):
            shutil.copy(harness.workload(name), self.scratch)
        self.record_plugins("renamed", program, self.scratch, options=("--sampler=timer",))
        rows = self.assert_work(one_work=300, own_work=100)
        self.assertEqual(rows["own_work"]["module"], program + ".old")
        self.assertEqual(rows["one_work"]["module"], os.path.join(self.scratch, "libone.so.old"))
        self.assertEqual(self.fact("replaced_files"), 0)
        self.assertEqual(self.fact("unseen_unloads"), 0)
        self.assertFalse([name for name in rows if "two_" in name], "names of the file that came later")
        modules = {row["module"] for row in rows.values()}
        self.assertFalse(modules & {program, os.path.join(self.scratch, "libone.so")}, "one binary under two names")

    @unittest.skipIf(shutil.which("objcopy") is None, "objcopy (package binutils) is not there")
    def test_a_debug_file_names_functions_afterwards(self):
        program = os.path.join(self.scratch, "app")
        debug = os.path.join(self.scratch, "debug")
        os.mkdir(debug)
        for options in (("--only-keep-debug", harness.workload("uneven"), os.path.join(debug, "app.debug")),
                        ("--strip-all", harness.workload("uneven"), program)):
            self.succeed(harness.run("objcopy", *options))
        self.record(RANKS, program, "sometimes", 20, options=("--sampler=timer",))
        self.replay(1)
        stripped = {row["function"]: row for row in self.hotspots()}
        self.assertNotIn("work_step", stripped)
        places = [name for name in stripped if name.startswith("app+0x")]
        self.assertTrue(places, stripped.keys())
        annotated = json.loads(self.report("annotate", places[0], "--instructions", "--context", "100000", "--format", "json"))
        self.assertEqual("app+" + annotated["instructions"][0]["address"], places[0])

        with mock.patch.dict(os.environ, CRITPATH_DEBUG_PATH=debug):
            named = {row["function"]: row for row in self.hotspots()}
            self.assertIn("work_step", named)
            # Nothing but the names has changed, whatever part of the run is looked at.
            for options in ((), ("--from", "20%", "--to", "80%"), ("--rank", "0")):
                parts = [row["path_seconds"] for row in self.hotspots("path", *options)]
                with mock.patch.dict(os.environ, CRITPATH_DEBUG_PATH=""):
                    self.assertAlmostEqual(sum(parts), sum(row["path_seconds"] for row in self.hotspots("path", *options)),
                                           places=6)
            self.assertIn(";work_step;", self.report("hotspots", "--by", "callpath", "--top", "0", "--sort", "all", "--format", "csv"))
            annotated = json.loads(self.report("annotate", "work_step", "--format", "json"))
            self.assertAlmostEqual(annotated["path_seconds"], named["work_step"]["path_seconds"], places=6)
            stretches = json.loads(self.report("explain", "--format", "json"))["stretches"]
            self.assertEqual({stretch["caller"] for stretch in stretches
                              if stretch["from"] != "the start of the process"}, {"main"})
            for by in "function", "module", "line", "rank", "inlined":
                same = json.loads(self.report("diff", "--by", by, "--format", "json", self.trace))
                self.assertEqual(same["differences"], [], by)
                self.assertGreater(same["rows"], 0, by)
        refused = harness.run(harness.tool("cpreport"), "annotate", "work_step", self.trace)
        self.assertEqual(refused.code, 2, refused)

        # What the replay finds, the result has.
        with mock.patch.dict(os.environ, CRITPATH_DEBUG_PATH=debug):
            self.replay(2)
        shutil.rmtree(debug)
        self.assertEqual({row["function"]: row for row in self.hotspots()}, named)


    def test_lines_are_those_of_the_program_that_ran(self):
        """The result has them: a report is the same when the program has been built anew, or is gone."""
        program = os.path.join(self.scratch, "app")
        shutil.copy(harness.workload("uneven"), program)
        self.record(RANKS, program, "sometimes", 20, options=("--sampler=timer",))
        results = []
        for processes in (1, 3):
            self.replay(processes)
            with open(os.path.join(self.trace, "critpath", "critpath.sqlite"), "rb") as file:
                results.append(file.read())
        self.assertEqual(*results)
        questions = [("hotspots", "--format", "json", "--top", "0", "--sort", "all", *more)
                     for more in ((), ("--by", "line"), ("--inlined",), ("--by", "callpath"), ("--by", "line", "--rank", "1"))]
        questions += [("explain", "--format", "json"), ("annotate", "work_step", "--format", "json")]
        before = [self.report(*question) for question in questions]
        lines = [row for row in self.lines() if row["function"] == "use_processor" and row["line"]]
        self.assertGreater(sum(row["path_seconds"] for row in lines), 0, self.lines())
        self.assertEqual({os.path.basename(row["file"]) for row in lines}, {"work.h"})
        for change in (lambda: shutil.copy(harness.workload("late_sender"), program), lambda: os.remove(program)):
            change()
            for question, answer in zip(questions, before):
                self.assertEqual(self.report(*question), answer, question)
            # What the instructions were, nobody knows any more.
            annotated = self.report("annotate", "work_step", "--instructions")
            self.assertIn("No instructions of app: it is not there, or has changed since the run.", annotated)
            self.assertNotIn("0x", annotated)


if __name__ == "__main__":
    harness.main()
