# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns the closed-form answers of tests/workloads: for each program, the ranks on the critical path in order and the
processor time of each named function on it.

Tolerances. Rank sequence: exact, of the computation between MPI calls in pieces of at least 20 ms (the shortest piece
that belongs to an answer has 30 ms; what is shorter is start-up and scheduling). Processor time of a function: 10 % of its
formula plus 10 ms a piece, for the sampling (1 ms) and for the competition of ranks at the borders of a piece. A function
that is not on the path gets at most 3 % of the path's work."""

import csv
import io
import itertools
import json
import os
import re

import harness

SHORTEST = 0.020


class Workload(harness.Case):
    def check(self, ranks, *application, path, pieces, absent=()):
        """`path`: ranks in order. `pieces`: function -> (number of pieces on the path, milliseconds of each)."""
        program, *arguments = application
        self.record_replay_report(ranks, harness.workload(program), *arguments)
        self.check_ranks(path)
        refused = harness.perf_event_refused()
        if refused:
            self.skipTest(f"perf_event_open is refused on this machine ({refused}): ranks checked, functions not")
        self.check_functions(pieces, absent)

    def check_ranks(self, expected, shortest=SHORTEST, most_missing=0):
        """`most_missing`: so many stays may be cut into short pieces by what else the machine does."""
        segments = self.assert_sound()
        begin = next(i for i, s in enumerate(segments) if s.kind == "compute" and s.function == "MPI_Barrier")
        long_enough = [s for s in segments[begin:] if s.kind == "compute" and s.end - s.begin >= shortest]
        found = [rank for rank, _ in itertools.groupby(s.rank for s in long_enough)]
        listing = "ranks on the path\n" + "\n".join(map(str, segments[begin:]))
        if most_missing == 0:
            self.assertEqual(found, list(expected), listing)
            return
        rest = iter(expected)
        self.assertTrue(all(rank in rest for rank in found), f"{found}: more than\n{listing}")
        self.assertGreaterEqual(len(found), len(expected) - most_missing, listing)

    def check_functions(self, pieces, absent):
        rows = sorted(self.hotspots(), key=lambda row: -row["path_seconds"])
        seconds = {row["function"]: row["path_seconds"] for row in rows}
        everywhere = {row["function"]: row["all_ranks_seconds"] for row in rows}
        listing = "\n".join(map(str, rows[:12]))
        for function, (number, milliseconds) in pieces.items():
            formula = number * milliseconds * 1e-3
            self.assertAlmostEqual(seconds.get(function, 0), formula, delta=0.1 * formula + 0.010 * number,
                                   msg=f"{function}\n{listing}")
        work = sum(number * milliseconds * 1e-3 for number, milliseconds in pieces.values())
        for function in absent:
            self.assertLessEqual(seconds.get(function, 0), 0.03 * work, f"{function}\n{listing}")
            self.assertGreater(everywhere.get(function) or 0, 0, f"{function} is not in the list at all\n{listing}")

    @harness.retry_once
    def test_late_sender(self):
        self.check(2, "late_sender", path=[0, 1] * 8, pieces={"work_late": (8, 100), "work_after": (8, 50)},
                   absent=["work_early"])
        # By turns: each is the other's peer, so that together they take as long as their peers.
        stretch = json.loads(self.report("explain", "--format", "json", "--top", "1"))["stretches"][0]
        self.assertEqual((stretch["verdict"], stretch["slowest_rank"]), ("unequal", 0), stretch)
        self.assertAlmostEqual(stretch["fastest_rank_percent"], 50, delta=10, msg=stretch)

    def check_team(self, program, policy):
        """What the others of its team do while a thread waits for them, whether it spins or sleeps."""
        self.setUp()
        # Otherwise a rank alone is bound to one core. (Where others take the processors, the parts of the two threads
        # meet at other times.)
        self.record_replay_report(1, harness.workload(program), env=harness.environment(
            OMP_WAIT_POLICY=policy, OMPI_MCA_hwloc_base_binding_policy="none"))
        if harness.perf_event_refused():
            self.skipTest("nothing is sampled on this machine")
        rows = {row["function"]: row for row in self.hotspots()}
        seconds = {function: row["path_seconds"] for function, row in rows.items()}
        if seconds.get("[preempted]", 0) > 0.2 * sum(seconds.values()):
            self.fail("other processes took the processors")
        self.check_functions({"work_late": (8, 80), "work_early": (8, 20), "work_after": (8, 30)}, absent=[])
        # And it is theirs.
        threads = json.loads(self.report("hotspots", "--by", "thread", "--format", "json"))["threads"]
        others = sum(row["path_seconds"] for row in threads if row["thread"] != "rank 0")
        self.assertAlmostEqual(others, seconds["work_late"], delta=0.1 * sum(seconds.values()))
        for row in threads:  # what samples divide has an interval
            self.assertLess(row["path_percent_low"], row["path_percent"], row)
            self.assertGreater(row["path_percent_high"], row["path_percent"], row)
        # The first one waits for work_late, the second one while the first works alone: for 0.88 s, and more or less as
        # other processes hold up one or the other. That is not work of the library.
        waits = rows["[waiting for threads]" if policy == "active" else "[blocked]"]
        self.assertGreater(waits["all_ranks_seconds"], 0.6 * 8 * (0.080 + 0.030), rows)
        self.assertFalse([row for row in rows.values() if re.search("/lib(omp|gomp)", row["module"])], rows)

    @harness.retry_once
    def test_team_of_threads(self):
        for policy in "active", "passive":
            with self.subTest(policy):
                self.check_team("team", policy)

    @harness.retry_once
    def test_team_of_threads_of_llvm(self):
        # In a library that Debian strips, so that its functions have no names.
        if not os.path.exists(harness.workload("team_llvm")):
            self.skipTest("no clang with OpenMP was there when this was built; install libomp-dev and configure again")
        for policy in "active", "passive":
            with self.subTest(policy):
                self.check_team("team_llvm", policy)

    @harness.retry_once
    def test_a_team_that_spins_on_too_few_processors(self):
        # Two ranks of two threads on two processors: what the second thread of rank 1 works is 40 ms a step, however
        # long it has to wait for a processor to do so while others spin.
        processors = sorted(os.sched_getaffinity(0))[:2]
        if len(processors) < 2:
            self.skipTest("there is one processor only")
        steps = 15
        self.record_replay_report(
            2, "taskset", "--cpu-list", ",".join(map(str, processors)), harness.workload("uneven_team"), str(steps),
            env=harness.environment(OMP_WAIT_POLICY="active", OMPI_MCA_hwloc_base_binding_policy="none"))
        if harness.perf_event_refused():
            self.skipTest("nothing is sampled on this machine")
        rows = {row["function"]: row for row in self.hotspots()}
        work = rows["work_second"]
        self.assertLess(work["path_seconds"], 1.05 * 0.040 * steps, rows)
        self.assertLess(work["path_seconds"], 1.05 * work["all_ranks_seconds"], rows)
        self.assertGreater(work["path_seconds"] + rows["[preempted]"]["path_seconds"], 0.8 * 0.035 * steps, rows)
        # Nobody else is in there, and in the program the second threads are nowhere else.
        threads, ranks = (json.loads(self.report("hotspots", "--by", by, "--module", "uneven_team", "--format", "json"))[f"{by}s"]
                          for by in ("thread", "rank"))
        second = sum(row["path_seconds"] for row in threads if row["thread"].endswith(" thread 1"))
        self.assertAlmostEqual(second, work["path_seconds"], delta=0.02, msg=threads)
        self.assertAlmostEqual(sum(row["path_seconds"] for row in threads), sum(row["path_seconds"] for row in ranks), delta=1e-6)

    @harness.retry_once
    def test_thread_beside(self):
        # A thread that works on while another one is back from being blocked was not what that one waited for.
        for how, blocked in ("sleeps", True), ("waits", False), ("shortly", False), ("joins", False), ("briefly", False):
            with self.subTest(how):
                self.setUp()
                self.record_replay_report(1, harness.workload("helper"), how, env=harness.environment(
                    OMPI_MCA_hwloc_base_binding_policy="none"))
                if harness.perf_event_refused():
                    self.skipTest("nothing is sampled on this machine")
                seconds = {row["function"]: row["path_seconds"] for row in self.hotspots()}
                if seconds.get("[preempted]", 0) > 0.2 * sum(seconds.values()):
                    self.fail("other processes took the processors")
                if blocked:  # or longer, until it has a processor again
                    self.check_functions({"work_after": (8, 20)}, absent=[])
                    self.assertGreater(seconds["[blocked]"], 0.9 * 8 * 0.040, seconds)
                    self.assertLess(seconds["work_beside"], 0.03, "it is joined in the end, after 5 ms at most")
                else:
                    self.check_functions({"work_after": (8, 20), "work_late": (8, 40)}, absent=[])

    @harness.retry_once
    def test_function_that_is_blocked(self):
        # It has no samples, and does not come before or after any that has: somebody has to look where it is.
        self.record_replay_report(1, harness.workload("sleeper"))
        if harness.perf_event_refused():
            self.skipTest("nobody records when a thread is blocked on this machine")
        seconds = {row["function"]: row["path_seconds"] for row in self.hotspots("name", "--inclusive")}
        for function in ("waits_for_disk", "wait_with_frame"):
            self.assertAlmostEqual(seconds.get(function, 0), 8 * 0.100, delta=0.2 * 8 * 0.100, msg=function)
        # Where nobody looked in time, as on a busy machine, it is taken for one or the other of two equally long waits.
        self.assertGreater(seconds.get("wait_in_poll", 0), 0.1 * 8 * 0.050, seconds)

    @harness.retry_once
    def test_thread_that_receives(self):
        # Nobody records for whom a thread waits; the one that receives is the only one at work when it goes on.
        for how in ("joins", "waits"):
            with self.subTest(how):
                self.setUp()
                self.record_replay_report(2, harness.workload("receiver"), how, env=harness.environment(
                    OMPI_MCA_hwloc_base_binding_policy="none"))
                self.check_ranks([1, 0] * 5)
                if not harness.perf_event_refused():
                    self.check_functions({"work_send": (5, 60), "work_received": (5, 40), "work_after": (5, 20)},
                                         absent=[])
                    summary = json.loads(self.report("summary", "--format", "json"))
                    self.assertLess(summary["blocked_beside_threads_seconds"], 0.05, "each is known")

    @harness.retry_once
    def test_lines(self):
        # All work is in the loop of a function that the compiler has inlined into the one that is sampled.
        source = os.path.join(os.path.dirname(__file__), "..", "workloads", "work.h")
        with open(source, encoding="utf-8") as file:
            loop = {number for number, line in enumerate(file, 1) if "for (int i" in line or "x = x *" in line}
        self.record_replay_report(2, harness.workload("late_sender"))
        if harness.perf_event_refused():
            self.skipTest("nothing is sampled on this machine")
        rows = self.lines()
        of_function = [row for row in rows if "work_late" in (row["function"], row["inlined_into"])]
        in_loop = [row for row in of_function if row["function"] == "use_processor" and row["line"] in loop and
                   os.path.samefile(row["file"], source)]
        listing = "\n".join(map(str, rows))
        seconds = sum(row["path_seconds"] for row in of_function)
        self.assertAlmostEqual(seconds, 0.8, delta=0.1 * 0.8 + 0.08, msg=listing)
        self.assertGreater(sum(row["path_seconds"] for row in in_loop), 0.95 * seconds, listing)
        # Without the lines.
        inlined = json.loads(self.report("hotspots", "--inlined", "--top", "0", "--format", "json"))["hotspots"]  # a place without a line is the function's there
        self.assertAlmostEqual(sum(row["path_seconds"] for row in inlined if row["inlined_into"] == "work_late"),
                               sum(row["path_seconds"] for row in of_function if row["inlined_into"]), delta=0.02)
        functions = json.loads(self.report("hotspots", "--top", "0", "--format", "json"))["hotspots"]
        self.assertAlmostEqual(sum(row["path_seconds"] for row in functions), sum(row["path_seconds"] for row in inlined), delta=1e-6)
        late = next(row for row in functions if row["function"] == "work_late")
        self.assertEqual(os.path.basename(late["file"]), "late_sender.c")
        with open(late["file"], encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines()[late["line"] - 1], "WORK(work_late)")
        self.assertRegex(self.report("hotspots"), "use_processor has [0-9.]+ % of the path, most of it in[ \n]work_late")
        self.assertRegex(self.report("annotate", "work_late"),
                         r"Inlined here, of its time: use_processor [0-9.]+ % \(work\.h:[0-9]+(-[0-9]+)?\)\.")
        # Annotated, a function that was inlined is all of its copies; objdump tells its instructions.
        annotated = json.loads(self.report("annotate", "use_processor", "--instructions", "--format", "json"))
        everywhere = sum(row["path_seconds"] for row in rows if row["function"] == "use_processor")
        self.assertAlmostEqual(annotated["path_seconds"], everywhere, places=6)
        for table in "lines", "instructions":
            self.assertAlmostEqual(sum(row["path_seconds"] or 0 for row in annotated[table]), everywhere, places=6)
        self.assertIn("x = x * 0.999999 + 1e-6;", {row["source"].strip() for row in annotated["lines"]})
        self.assertEqual({row["function"] for row in annotated["instructions"]}, {"work_late", "work_after"})
        # In CSV, all of them have a key of their own.
        rows = list(csv.DictReader(io.StringIO(
            self.report("annotate", "use_processor", "--instructions", "--format", "csv"))))
        self.assertEqual([row["kind"] for row in rows],
                         ["line"] * len(annotated["lines"]) + ["instruction"] * len(annotated["instructions"]))
        keys = [tuple(row[key] for key in ("kind", "file", "line", "function", "module", "address")) for row in rows]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertNotIn("changed after the recording", self.report("annotate", "use_processor"))
        os.utime(os.path.join(self.trace, "traces.otf2"), (0, 0))
        self.assertIn("work.h: changed after the recording", self.report("annotate", "use_processor"))

    def test_lines_of_calls(self):
        """MPI functions, and what is without a processor or in flight in them, stand at the lines that call them."""
        source = os.path.join(os.path.dirname(__file__), "..", "workloads", "uneven.c")
        with open(source, encoding="utf-8") as file:
            calls = [number for number, line in enumerate(file, 1) if "MPI_Allreduce(&one, &sum, 1" in line][:2]
        self.record_replay_report(2, harness.workload("uneven"), "phases", "40")
        for options in ([], ["--rank", "1"], ["--from", "30%", "--to", "95%"]):
            functions = self.hotspots("name", *options)
            rows = self.lines(*options)
            at_calls = [row for row in rows if row["line"] in calls and row["file"].endswith("/uneven.c")]
            if "--from" not in options:
                # What samples find at lines is that of the functions. (MPI's own functions, which have it a second time,
                # are left out where they are off the path.)
                of_lines, of_functions = (sum(row["all_ranks_seconds"] or 0 for row in of if row["kind"] != "mpi")
                                          for of in (rows, functions))
                self.assertGreater(of_lines, 0)
                self.assertAlmostEqual(of_lines, of_functions, places=6)
            self.assertAlmostEqual(sum(row["path_seconds"] for row in rows),
                                   sum(row["path_seconds"] for row in functions), places=6)
            seconds = {row["line"]: row["path_seconds"] for row in rows
                       if row["function"] == "MPI_Allreduce" and row["path_seconds"]}
            self.assertTrue(seconds and set(seconds) <= {row["line"] for row in at_calls}, seconds)
            whole = [row["path_seconds"] for row in functions if row["function"] == "MPI_Allreduce"]
            self.assertAlmostEqual(sum(seconds.values()), sum(whole), places=8)
            self.assertTrue(all(os.path.samefile(row["file"], source) for row in at_calls))
            self.assertTrue(all(row in at_calls for row in rows
                                if row["function"] == "MPI_Allreduce" and row["path_seconds"]))
            # Counts of calls stand at the same lines.
            counted = json.loads(self.report("hotspots", "--event", "page-faults", "--by", "line", "--format", "json",
                                             *options))["events"]
            of_calls = {(row["function"], row["file"], row["line"]) for row in counted if row["kind"] == "mpi"}
            self.assertLessEqual(of_calls, {(row["function"], row["file"], row["line"]) for row in rows})
            for row in at_calls:
                if row["kind"] == "pseudo" and row["path_seconds"]:
                    seconds[row["line"]] = seconds.get(row["line"], 0) + row["path_seconds"]
            annotated = json.loads(self.report("annotate", "two_phases", "--format", "json", *options))
            self.assertAlmostEqual(annotated["mpi_seconds"], sum(seconds.values()), places=8)
            in_source = {row["line"]: row["mpi_seconds"] for row in annotated["lines"] if row["mpi_seconds"]}
            self.assertEqual(in_source, {line: round(value, 9) for line, value in seconds.items()})
        tree = json.loads(self.report("hotspots", "--format", "json", "--top", "0", "--by", "callpath"))["call_paths"]
        sites = {row["call_site"] for row in tree if row["function"] == "MPI_Allreduce"}
        self.assertEqual({os.path.basename(site) for site in sites}, {f"uneven.c:{line}" for line in calls})
        # Where intervals are wide, there is less room for names: "at une…n.c:119".
        self.assertRegex(self.report("hotspots", "--by", "callpath", "--top", "0"),
                         rf"MPI_Allreduce at une\S*n\.c:{calls[0]}\b")

    def test_calls_without_lines(self):
        """Without debug information, addresses tell calls of one function apart, and it is said what is missing."""
        program = os.path.join(self.scratch, "uneven")
        self.succeed(harness.run("objcopy", "--strip-debug", harness.workload("uneven"), program))
        self.record_replay_report(2, program, "phases", "40")
        tree = self.report("hotspots", "--by", "callpath", "--top", "0")
        calls = re.findall(r"MPI_Allreduce at uneven\+(0x[0-9a-f]+)", tree)
        self.assertEqual((len(calls), len(set(calls))), (2, 2), tree)
        self.assertRegex(tree, r"MPI_Init +MPI")
        rows = self.lines()
        self.assertEqual({row["line"] for row in rows if row["kind"] == "mpi"}, {None})
        self.assertIn("No lines of uneven", self.report("hotspots", "--by", "line", "--module", "MPI"))
        functions = {row["function"]: row["path_seconds"] for row in self.hotspots()}
        paths = json.loads(self.report("hotspots", "--format", "json", "--top", "0", "--by", "callpath"))["call_paths"]
        caller = next(row["call_path"].split(";")[-2] for row in paths if row["function"] == "MPI_Allreduce")
        annotated = json.loads(self.report("annotate", caller, "--format", "json"))
        self.assertGreaterEqual(annotated["mpi_seconds"], functions["MPI_Allreduce"] - 1e-8)

    def check_sums(self, tree):
        """A row has its own time and that of the rows right below it; what these lack is of rows that are left out."""
        left_out = {None: tree["path_seconds"]}
        open_rows = []  # the row and those that it is below, the outermost first
        for row in tree["call_paths"]:  # each before those below it
            while open_rows and not row["call_path"].startswith(open_rows[-1] + ";"):
                open_rows.pop()
            left_out[open_rows[-1] if open_rows else None] -= row["path_seconds"]
            left_out[row["call_path"]] = row["path_seconds"] - row["own_path_seconds"]
            open_rows.append(row["call_path"])
        for path, seconds in left_out.items():
            self.assertGreaterEqual(seconds, -1e-7, path)
        self.assertAlmostEqual(sum(left_out.values()), tree["below_error_seconds"], delta=1e-7)

    @harness.retry_once
    def test_inlined_functions_in_call_paths(self):
        self.record_replay_report(2, harness.workload("inlined"))
        refused = harness.perf_event_refused()
        if refused:
            self.skipTest(f"perf_event_open is refused on this machine ({refused})")
        tree = json.loads(self.report("hotspots", "--by", "callpath", "--format", "json", "--top", "0"))
        rows = tree["call_paths"]
        self.check_sums(tree)
        tails = [(row["call_path"].split(";main;")[-1], row) for row in rows]
        paths = dict(tails)
        self.assertEqual(len({row["call_path"] for row in rows}), len(rows), [row["call_path"] for row in rows])
        listing = "\n".join(map(str, rows))

        def seconds(path):
            """With all below it, but without what other programs took."""
            return sum(row["own_path_seconds"] for name, row in tails
                       if f"{name};".startswith(f"{path};") and row["function"] != "[preempted]")

        def outermost(path):
            """One that only leads to another one has the row of that."""
            return next(row["path_seconds"] for name, row in sorted(tails, key=lambda tail: len(tail[0]))
                        if f"{name};".startswith(f"{path};"))

        expected = {"step": 1000, "step;work_inside": 600, "step;smooth": 400, "work_inside": 200}
        for path, milliseconds in expected.items():
            # Samples at the edges of pieces may be off by one period (7 ms) each way.
            self.assertAlmostEqual(seconds(path), 1e-3 * milliseconds, delta=1e-4 * milliseconds + 0.08,
                                   msg=f"{path}\n{listing}")
        self.assertEqual(paths["step"]["inlined"], 1, listing)
        self.assertAlmostEqual(paths["step"]["own_path_seconds"], 0, delta=0.02, msg=listing)
        barriers = [path for path in paths if path.endswith("exchange;MPI_Barrier")]
        self.assertEqual(barriers, ["step;exchange;MPI_Barrier"], "two copies of one call")
        functions = {row["function"]: row for row in json.loads(self.report(
            "hotspots", "--inclusive", "--inlined", "--format", "json", "--top", "0"))["hotspots"]}
        self.assertAlmostEqual(functions["step"]["path_seconds"], paths["step"]["path_seconds"], delta=1e-6)
        self.assertEqual({name: functions[name]["inlined"] for name in ("main", "step", "smooth", "work_inside")},
                         {"main": 0, "step": 1, "smooth": 1, "work_inside": 0})
        self.assertEqual(functions["step"]["inlined_path_seconds"], functions["step"]["path_seconds"])
        self.assertEqual(functions["work_inside"]["inlined_path_seconds"], 0)
        self.assertIn("[I] step ", self.report("hotspots", "--inclusive", "--inlined"))
        inside = functions["work_inside"]["path_seconds"]
        # A row that stands for its callers, too, has at least 95 % of their time.
        self.assertAlmostEqual(outermost("step;work_inside") + outermost("work_inside"), inside, delta=0.05 * inside)
        self.assertIn("[I] step", self.report("hotspots", "--by", "callpath"))

    @harness.retry_once
    def test_poll_loop(self):
        self.check(2, "poll_loop", path=[0, 1] * 8, pieces={"work_late": (8, 100), "work_after": (8, 50)},
                   absent=["work_early"])

    @harness.retry_once
    def test_polls_between_which_a_rank_is_blocked(self):
        # Blocked until something is done is work; for a while, it is the wait.
        for what, late, milliseconds in ("read", 0, 45), ("sleep", 1, 20):
            with self.subTest(what):
                self.setUp()
                rounds = 15
                self.record_replay_report(2, harness.workload("polls_blocked"), what, str(rounds))
                if harness.perf_event_refused():
                    self.skipTest("nobody is known to be blocked on this machine")
                segments = self.assert_sound()
                begin = next(i for i, s in enumerate(segments) if s.kind == "compute" and s.function == "MPI_Barrier")
                seconds = sum(s.end - s.begin for s in segments[begin:] if s.kind == "compute" and s.rank == late)
                expected = 1e-3 * milliseconds * rounds
                self.assertAlmostEqual(seconds, expected, delta=0.1 * expected, msg="\n".join(map(str, segments)))
                summary = json.loads(self.report("summary", "--format", "json"))
                self.assertLess(summary["led_by_doubt_percent"], 10, summary)

    @harness.retry_once
    def test_late_receiver_of_synchronous_send(self):
        self.check(2, "late_receiver", "ssend", path=[1, 0] * 8,
                   pieces={"work_late": (8, 100), "work_after": (8, 50)}, absent=["work_early"])

    @harness.retry_once
    def test_late_receiver_of_large_message(self):
        self.check(2, "late_receiver", "large", path=[1, 0] * 8,
                   pieces={"work_late": (8, 100), "work_after": (8, 50)}, absent=["work_early"])

    @harness.retry_once
    def test_a_large_message_stands_still_while_its_receiver_works(self):
        self.check(2, "posted", "send", path=[1, 0] * 10,
                   pieces={"work_beside": (10, 40), "work_after": (10, 30)}, absent=["work_early"])

    @harness.retry_once
    def test_an_allreduce_stands_still_while_a_member_works(self):
        self.check(3, "posted", "allreduce", path=[1, 0] * 10,
                   pieces={"work_beside": (10, 40), "work_after": (10, 30)}, absent=[])

    @harness.retry_once
    def test_an_allreduce_goes_on_when_a_member_looks_while_it_works(self):
        self.check(3, "posted", "look", path=[1, 0] * 10, pieces={"work_beside": (10, 40), "work_after": (10, 150)},
                   absent=["work_behind"])

    @harness.retry_once
    def test_a_root_looks_while_another_member_works_before_it_posts(self):
        self.check(3, "posted", "reduce", path=[1, 0] * 10, pieces={"work_beside": (10, 40), "work_after": (10, 30)},
                   absent=["work_early"])

    def test_operations_with_processes_that_are_not_recorded_are_counted(self):
        self.record_replay_report(2, harness.workload("spawns"))
        self.assertEqual(self.fact("foreign_operations"), 3)
        words = " ".join(self.report("summary").split())
        self.assertIn("3 messages and collectives with processes that are not in the trace", words)

    @harness.retry_once
    def test_rotating_slow_rank_before_allreduce(self):
        self.check(3, "rotating_allreduce", path=[0, 1, 2] * 3, pieces={"work_slow": (9, 100)}, absent=["work_fast"])
        stretch = self.costliest()
        self.check_excess(stretch)
        self.assertEqual((stretch["ranks_on_path"], stretch["verdict"]), (3, "transient"), stretch)

    def costliest(self):
        """What `cpreport explain` says of the computation that the path spends most time in."""
        return json.loads(self.report("explain", "--format", "json", "--top", "1"))["stretches"][0]

    def check_excess(self, stretch):
        """The slow rank works 100 ms and the others 20 ms, though these may have to wait for a core that long."""
        self.assertEqual((stretch["from"], stretch["to"]), ("MPI_Allreduce", "MPI_Allreduce"), stretch)
        self.assertEqual((stretch["gaps"], stretch["compared_gaps"], stretch["slowest_gaps"]), (8, 8, 8), stretch)
        self.assertGreater(stretch["excess_percent"], 100, stretch)
        parts = ("on_processor_seconds", "preempted_seconds", "blocked_seconds")
        self.assertAlmostEqual(sum(stretch[part] for part in parts),
                               stretch["compared_seconds"] - stretch["peers_seconds"], delta=1e-8)

    @harness.retry_once
    def test_explain_a_slow_rank(self):
        self.record_replay_report(3, harness.workload("rotating_allreduce"), "1")
        stretch = self.costliest()
        self.check_excess(stretch)
        self.assertEqual((stretch["rank"], stretch["rank_percent"]), (1, 100), stretch)
        self.assertEqual(stretch["verdict"], "persistent rank", stretch)

    @harness.retry_once
    def test_bcast_late_root(self):
        # Round k: the root k mod 3, then the next rank; that is the root of round k + 1.
        self.check(3, "rooted", "bcast", "late", path=[0, 1, 2] * 3 + [0],
                   pieces={"work_late": (9, 100), "work_after": (9, 50)}, absent=["work_early"])

    @harness.retry_once
    def test_bcast_early_root(self):
        self.check(3, "rooted", "bcast", "early", path=[1, 2, 0] * 3, pieces={"work_late": (9, 100)},
                   absent=["work_early", "work_unseen"])

    @harness.retry_once
    def test_reduce_late_root(self):
        self.check(3, "rooted", "reduce", "late", path=[0, 1, 2] * 3, pieces={"work_late": (9, 100)},
                   absent=["work_early", "work_unseen"])

    @harness.retry_once
    def test_reduce_early_root(self):
        self.check(3, "rooted", "reduce", "early", path=[1, 0, 2, 1, 0, 2] * 3,
                   pieces={"work_late": (9, 100), "work_after": (9, 50)}, absent=["work_early"])

    @harness.retry_once
    def test_persistent_bcast_early_root(self):
        self.check(3, "rooted", "bcast", "early", "persistent", path=[1, 2, 0] * 3, pieces={"work_late": (9, 100)},
                   absent=["work_early", "work_unseen"])

    @harness.retry_once
    def test_persistent_reduce_early_root(self):
        self.check(3, "rooted", "reduce", "early", "persistent", path=[1, 0, 2, 1, 0, 2] * 3,
                   pieces={"work_late": (9, 100), "work_after": (9, 50)}, absent=["work_early"])

    @harness.retry_once
    def test_pipeline(self):
        self.check(3, "pipeline", path=[0, 1, 2],
                   pieces={"work_first": (1, 40), "work_middle": (8, 100), "work_last": (1, 40)})

    @harness.retry_once
    def test_master_worker_any_source(self):
        self.check(3, "master_worker", path=[0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0],
                   pieces={"work_prepare": (5, 50), "work_long": (5, 150), "work_collect": (5, 30)},
                   absent=["work_short"])

    @harness.retry_once
    def test_waitall_with_late_partner(self):
        self.check(3, "waitall", path=[1, 0, 2, 0] * 3, pieces={"work_late": (6, 100), "work_after": (6, 50)},
                   absent=["work_early", "work_posted"])

    @harness.retry_once
    def test_waitany(self):
        self.check(3, "waitany", path=[1, 0, 2, 0] * 2, pieces={"work_quick": (4, 60), "work_first": (4, 250)},
                   absent=["work_slow"])

    @harness.retry_once
    def test_code_that_was_made_at_run_time(self):
        self.check(2, "compiled", path=[0], pieces={"script::loop (made)": (4, 100)})
        rows = {row["function"]: row["module"] for row in self.hotspots()}
        self.assertEqual(rows["script::loop (made)"], "[jit]")

    @harness.retry_once
    def test_windows(self):
        # Late posts, late ends of epochs, held locks, late fences. Rank b of a round is rank a of the next one.
        self.check(3, "windows", path=[0, 1] * 4 + [0], pieces={"work_late": (8, 100), "work_after": (8, 50)},
                   absent=["work_early"])

    @harness.retry_once
    def test_stores_into_shared_memory(self):
        self.check(2, "flags", path=[0, 1] * 2, pieces={"work_late": (4, 100)}, absent=["work_early"])

    @harness.retry_once
    def test_files(self):
        # Late to open, late to write together, late to write in order, at once and split.
        self.check(3, "files", self.scratch, path=[1, 2, 0, 1, 2],
                   pieces={"work_before_open": (1, 200), "work_before_write": (5, 100), "work_before_ordered": (1, 150),
                           "work_before_split": (1, 120), "work_after_split": (1, 60)},
                   absent=["work_early"])

    @harness.retry_once
    def test_creations_that_not_all_take_part_in(self):
        self.check(3, "creations", path=[0, 1, 2, 0, 1] * 3 + [0],
                   pieces={"work_late": (6, 100), "work_between": (6, 50), "work_after": (6, 50)},
                   absent=["work_early"])

    @harness.retry_once
    def test_buffer_that_is_detached(self):
        self.check(2, "detach", path=[1, 0] * 6, pieces={"work_late": (6, 100), "work_after": (6, 50)},
                   absent=["work_early"])

    @harness.retry_once
    def test_groups_that_meet(self):
        self.check(3, "meeting", path=[2, 1, 2, 1, 2], pieces={"work_late": (4, 100), "work_after": (4, 50)},
                   absent=["work_early"])

    @harness.retry_once
    def test_neighbours(self):
        self.check(3, "neighbours", path=[0, 1] * 6, pieces={"work_late": (6, 100), "work_after": (6, 50)},
                   absent=["work_early", "work_unseen"])
        # Who is whose neighbour is in the trace, and no guess.
        definitions = self.succeed(harness.run("otf2-print", "-G", os.path.join(self.trace, "traces.otf2"))).out
        self.assertRegex(definitions, r"CART_DIMENSION +0 +.*Size: 3, Periodicity: FALSE")
        self.assertRegex(definitions, r'CART_TOPOLOGY +0 +.*"Communicator 2" <2>, 1 Dimension')
        self.assertEqual(definitions.count("\nCART_COORDINATE"), 3)

    @harness.retry_once
    def test_neighbours_in_a_graph(self):
        self.check(3, "neighbours", "graph", path=[0, 1] * 6, pieces={"work_late": (6, 100), "work_after": (6, 50)},
                   absent=["work_early", "work_unseen"])
        # What was made while nothing was recorded is known all the same.
        self.setUp()
        self.record(3, harness.workload("neighbours"), "graph", options=("-q", "--range", "5:1000"))
        events = self.succeed(harness.run("otf2-print", os.path.join(self.trace, "traces.otf2"))).out
        self.assertEqual((events.count("\nCOMM_CREATE"), events.count("critpath.in_neighbour")), (3, 4))

    def check_turns(self, *how):
        """Twice as many ranks as processors: who waits gives way, some hundred thousand times a second. What that leaves
        unsampled is the waiting, and nothing of the work."""
        ranks, rounds = 2 * len(os.sched_getaffinity(0)), 240
        self.record_replay_report(ranks, harness.workload("turns"), str(rounds), *how)
        self.check_ranks([i % ranks for i in range(rounds)], shortest=0.004, most_missing=rounds // 50)
        if harness.perf_event_refused():
            return
        # With the reading of the clock, which takes a twelfth of it on some machines.
        rows = json.loads(self.report("hotspots", "--by", "callpath", "--top", "0", "--format", "json"))["call_paths"]
        work = sum(row["own_path_seconds"] for row in rows
                   if row["kind"] == "sampled" and "work_in_turn" in row["call_path"].split(";"))
        self.assertAlmostEqual(work, rounds * 0.005, delta=0.1 * rounds * 0.005)
        self.assertGreater(self.fact("wait_respite_ns"), 0)
        self.assertLess(self.fact("respite_ns"), 0.1 * ranks * rounds * 0.005 * 1e9)

    @harness.retry_once
    def test_turns_on_shared_processors(self):
        self.check_turns()

    @harness.retry_once
    def test_turns_on_shared_processors_with_polls(self):
        self.check_turns("poll")


if __name__ == "__main__":
    harness.main()
