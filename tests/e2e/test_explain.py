# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what `cpreport explain` says of runs in which it is known why some rank takes longer (tests/workloads/uneven.c,
uneven_loop.c).

Tolerances. Work is processor time, so the formulas are of time on the processor, 10 %; by how much longer a rank takes
depends on what else the machine does, and is only bounded."""

import contextlib
import json
import os
import re
import sqlite3

import harness


class Explain(harness.Case):
    def explain(self, ranks, how, steps, *arguments):
        """What is said of the steps behind the first one, where the path is in all of them or most."""
        return self.explain_application(steps, ranks, harness.workload("uneven"), how, str(steps), *map(str, arguments))

    def explain_application(self, steps, ranks, *application, **environment):
        self.record(ranks, *application, options=("-q",), env=harness.environment(**environment))
        self.replay(1)
        if harness.perf_event_refused():
            self.skipTest("nothing is sampled on this machine")
        self.assert_sound()
        stretch = json.loads(self.report("explain", "--format", "json", "--top", "1"))["stretches"][0]
        self.assertEqual((stretch["from"], stretch["to"]), ("MPI_Allreduce", "MPI_Allreduce"))
        self.assertRegex(stretch["caller"], "^main( > two_phases)?$")
        self.assertGreaterEqual(stretch["compared_gaps"], steps - 1, stretch)
        return stretch

    def largest_rows(self, number):
        rows = sorted(self.hotspots(), key=lambda row: -row["path_seconds"])
        return [row["function"] for row in rows[:number]]

    def check_difference(self, stretch):
        """work_step is what all ranks do alike."""
        self.assertEqual(stretch["longer_function"], "work_more", stretch)
        self.assertGreater(stretch["longer_function_percent"], 80, stretch)
        self.assertEqual(stretch["longer_function_inlined"], "use_processor", stretch)
        self.assertRegex(stretch["finding"],
                         r"The difference is in work_more \(\d+ %, mostly use_processor, inlined\)\.")

    @harness.retry_once
    def test_a_rank_that_shares_its_processor(self):
        processors = sorted(os.sched_getaffinity(0))
        if len(processors) < 2:
            self.skipTest("there is one processor only")
        steps = 15
        with harness.competitors(processors[-1], 5):
            stretch = self.explain(2, "share", steps, processors[-1])
        self.assertEqual((stretch["longer_rank"], stretch["cause"], stretch["verdict"]), (1, "preempted", "persistent rank"),
                         stretch)
        self.assertGreater(stretch["excess_percent"], 50, stretch)
        # What it lacked is exact: the rest is the work.
        self.assertAlmostEqual(stretch["path_seconds"] - stretch["own_preempted_seconds"] - stretch["own_blocked_seconds"],
                               0.010 * (steps - 1), delta=0.1 * 0.010 * steps, msg=stretch)
        self.assertRegex(stretch["finding"], r"It lacked a processor for .* (Always|Mostly) rank 1 .*: find out who else uses its")

    @harness.retry_once
    def test_a_rank_that_moves_between_processors(self):
        processors = sorted(os.sched_getaffinity(0))
        if len(processors) < 2:
            self.skipTest("there is one processor only")
        steps = 20
        stretch = self.explain(2, "moves", steps, *processors[:2])
        self.assertEqual((stretch["longer_rank"], stretch["slowest_rank"]), (1, 1), stretch)
        # Ten times a step, and more often if the kernel moves it, too.
        formula = 10 * (steps - 1) * stretch["rank_percent"] / 100
        self.assertGreater(stretch["migrations"], 0.9 * formula, stretch)
        self.assertLess(stretch["migrations"], 1.5 * formula, stretch)
        self.assertLess(stretch["peers_migrations"], 0.5 * formula, stretch)
        self.assertRegex(stretch["finding"], r"It came back on another processor [0-9]+ times, its peers (never|[0-9]+ times? each): "
                                             r"see whether ranks are bound to processors\.")

    @harness.retry_once
    def test_a_partner_that_shares_its_processor(self):
        """It is in MPI_Recv in time (tests/workloads/crowded.c). 256 KiB take 0.3 ms at most, while 100 messages of the
        sender's wait some ms each for the receiver, which has a third of a processor."""
        processors = sorted(os.sched_getaffinity(0))
        if len(processors) < 2:
            self.skipTest("there is one processor only")
        steps = 100
        with harness.competitors(processors[-1], 2):
            self.record(2, harness.workload("crowded"), str(steps), str(processors[-1]), options=("-q",))
        self.replay(2)
        if harness.perf_event_refused():
            self.skipTest("nothing is sampled on this machine")
        self.assert_sound()
        rows = json.loads(self.report("hotspots", "--format", "json", "--by", "callpath", "--top", "0"))["call_paths"]
        def seconds(*ends):
            return sum(row["own_path_seconds"] for row in rows if row["call_path"].split(";")[-len(ends):] == list(ends))
        lacks = seconds("MPI_Recv", "[preempted]")
        self.assertGreater(lacks, 0.001 * steps, rows)
        waits = seconds("MPI_Send") + seconds("MPI_Recv") + seconds("MPI_Recv", "[transfer]")
        self.assertLess(waits, 0.0006 * steps, rows)
        work = sum(row["own_path_seconds"] for row in rows  # some of it is inlined there
                   if "work_sender" in row["call_path"].split(";") and row["kind"] == "sampled")
        self.assertAlmostEqual(work, 0.008 * steps, delta=0.1 * 0.008 * steps, msg=rows)
        self.assertRegex(self.report("explain"), r"had\s+no\s+processor\s+\([0-9.]+ %,\s+most\s+of\s+it\s+on\s+rank\s+1\)")

    @harness.retry_once
    def test_a_rank_that_has_page_faults(self):
        steps = 40
        stretch = self.explain(2, "faults", steps)
        self.assertEqual((stretch["longer_rank"], stretch["cause"], stretch["verdict"]),
                         (1, "page faults", "persistent rank"), stretch)
        formula = 4096 * (steps - 1) * stretch["rank_percent"] / 100
        self.assertAlmostEqual(stretch["page_faults"], formula, delta=0.1 * formula, msg=stretch)
        self.assertLess(stretch["peers_page_faults"], 0.1 * formula, stretch)
        self.assertRegex(stretch["finding"], r"It had [0-9,]+ page faults, its peers [0-9,]+ each: .* (Always|Mostly) rank 1 "
                         r".*: avoid its page faults")

    @harness.retry_once
    def test_a_rank_that_misses_its_caches(self):
        """All follow as many links, by the same instructions."""
        steps = 60
        stretch = self.explain(2, "caches", steps)
        self.assertEqual((stretch["longer_rank"], stretch["verdict"], stretch["function"], stretch["longer_function"]),
                         (1, "persistent rank", "follow_links", "follow_links"), stretch)
        self.assertGreater(stretch["excess_percent"], 50, stretch)
        if stretch["cycles_per_instruction_seconds"] is None:  # without hardware events nobody knows by what
            self.assertEqual((stretch["cause"], stretch["slow_instructions_by"]), ("on processor", None), stretch)
            self.assertIn("Which of instructions, cycles per instruction and frequency it is cannot be told",
                          re.sub(r"\s+", " ", self.report("explain")))
        else:
            self.assertEqual((stretch["cause"], stretch["slow_instructions_by"]),
                             ("cycles per instruction", "cache misses"), stretch)
            self.assertGreater(stretch["cache_misses_per_1000_instructions"], 5, stretch)  # with those of work_step

    def check_now_and_then(self, stretch, steps):
        """Each 7th step takes six times as long; where ranks are preempted, others may, too."""
        self.assertEqual(stretch["verdict"], "transient", stretch)
        self.assertLess(stretch["persistent_percent"], 50, stretch)
        self.assertGreaterEqual(stretch["much_longer_gaps"], steps // 7 - 1, stretch)

    @harness.retry_once
    def test_a_rank_that_is_slow_now_and_then(self):
        steps = 84
        stretch = self.explain(2, "sometimes", steps)
        self.check_now_and_then(stretch, steps)
        self.assertEqual(stretch["longer_rank"], 1, stretch)
        self.assertRegex(stretch["finding"], r"Not always, but now and then .* mostly on rank 1 ")
        options = re.search(r" Most of all once on rank 1, .* longer than on its peers: cpreport "
                            r"hotspots (--rank 1 --from .*) --to ([0-9.]+) (\S+)$",
                            stretch["finding"])
        self.assertEqual(options[3], str(self.trace), stretch)
        there = json.loads(self.report("hotspots", *options[1].split(), "--to", options[2], "--format", "json"))["hotspots"]
        sampled = [row for row in there if row["kind"] == "sampled"]
        self.assertEqual(max(sampled, key=lambda row: row["path_seconds"])["function"], "work_more", there)
        self.check_difference(stretch)

    @harness.retry_once
    def test_a_rank_that_is_slow_in_one_part_of_the_run(self):
        """programs/phase.py says when: what is told begins and ends in the first and the last of these steps, but
        that a few of their neighbours may be as long by noise."""
        steps = 80  # 20 of them
        program = os.path.join(harness.PROGRAMS, "phase.py")
        output = self.record(2, harness.PYTHON, program, str(steps), options=("-q",), env=harness.environment()).out
        self.replay(1)
        if harness.perf_event_refused():
            self.skipTest("nothing is sampled on this machine")
        times = [tuple(map(int, line.split())) for line in output.splitlines()]
        self.assertEqual(len(times), steps // 4)
        with contextlib.closing(sqlite3.connect(os.path.join(self.trace, "critpath", "critpath.sqlite"))) as database:
            (began,) = database.execute("SELECT value FROM facts WHERE key = 'begin_ns'").fetchone()
        finding = json.loads(self.report("explain", "--format", "json", "--top", "1"))["stretches"][0]["finding"]
        told = re.search(r"Not always, but mostly in one part of the run \(transient, .* (?:1[89]|2[0-4]) of these among the [0-9]+ "
                         r"from ([0-9.]+) s to ([0-9.]+) s, mostly on rank 1 .* What it does there: cpreport hotspots --rank 1 "
                         r"--from \1 --to \2 ", finding)
        self.assertTrue(told, finding)
        for seconds, (begin, end) in ((told[1], times[0]), (told[2], times[-1])):
            self.assertLess((begin - began) / 1e9 - 0.05, float(seconds), finding)
            self.assertGreater((end - began) / 1e9 + 0.05, float(seconds), finding)

    @harness.retry_once
    def test_two_ranks_are_slow_for_different_reasons(self):
        """One sleeps always, the other one works more now and then, and each is the peer of the other: together they take
        longer by work, which the one that always takes longer has not more of."""
        steps = 50
        stretch = self.explain(2, "reasons", steps)
        self.assertEqual((stretch["verdict"], stretch["slowest_rank"]), ("persistent rank", 0), stretch)
        self.assertEqual((stretch["cause"], stretch["cause_rank"], stretch["other_rank"]), ("blocked", 0, 1), stretch)
        self.assertIn(stretch["other_cause"], ("on processor", "instructions"), stretch)
        # Rank 0 sleeps 40 ms in each step, but is not on the path in the three in which rank 1 takes 560 ms longer, or more.
        sleeps = 0.040 * (steps - 4)
        self.assertAlmostEqual(stretch["own_blocked_seconds"], sleeps, delta=0.1 * sleeps, msg=stretch)
        self.assertGreater(stretch["other_rank_percent"], 0.9 * 100 * 3 * 0.560 / (3 * 0.560 + sleeps), stretch)
        self.assertRegex(stretch["finding"], r"rank 0( most)? \(persistent, \d+ %( but for preemption)?\): find out what it waits for outside of MPI: .*"
                         r"\. Rank 1 has \d+ % of the difference for its own reason, in \d of \d+ times: look at what it does then")
        self.assertNotIn("move work", stretch["finding"])

    @harness.retry_once
    def test_other_ranks_are_slow_by_turns(self):
        steps = 84
        stretch = self.explain(2, "wander", steps)
        self.check_now_and_then(stretch, steps)
        self.assertEqual(stretch["ranks_on_path"], 2, stretch)
        self.assertRegex(stretch["finding"], r"transient.*(noise, or work that moves between|who else uses)")

    @harness.retry_once
    def test_each_of_two_phases_has_its_slow_rank(self):
        """Both are between two calls of one function in one caller."""
        steps = 60
        self.explain(2, "phases", steps)
        stretches = json.loads(self.report("explain", "--format", "json", "--top", "2"))["stretches"]
        self.assertEqual(sorted((s["function"], s["longer_rank"]) for s in stretches), [("work_more", 1), ("work_step", 0)])
        for stretch in stretches:
            self.assertEqual(stretch["verdict"], "persistent rank", stretch)
            self.assertRegex(stretch["from_site"], r"/uneven\.c:\d+$")
            self.assertRegex(stretch["finding"], r"from MPI_Allreduce \(uneven\.c:\d+\) to MPI_Allreduce \(uneven\.c:\d+\)")
        self.assertEqual([(s["from_site"], s["to_site"]) for s in stretches],
                         [(s["to_site"], s["from_site"]) for s in reversed(stretches)])

    @harness.retry_once
    def test_branches_of_ranks_are_one_place(self):
        stretch = self.explain(2, "branches", 60)
        self.assertEqual((stretch["longer_rank"], stretch["verdict"], stretch["compared_by"]),
                         (1, "persistent rank", "both calls"), stretch)
        self.assertEqual((stretch["from_site"], stretch["to_site"]), (None, None))
        self.check_difference(stretch)

    @harness.retry_once
    def test_a_rank_that_has_little_to_do(self):
        stretch = self.explain(3, "spare", 80)
        self.assertEqual((stretch["verdict"], stretch["slow_ranks"], stretch["fastest_rank"]), ("faster ranks", 2, 2),
                         stretch)
        self.assertLess(stretch["fastest_rank_percent"], 30, stretch)
        self.assertRegex(stretch["finding"], r"Most ranks take as long \(2 of 3\); only rank 2 takes less, ")

    @harness.retry_once
    def test_a_rank_that_waits_for_its_threads(self):
        """For the second half of a loop, which takes seven times as long as the first (tests/workloads/uneven_loop.c)."""
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("this process has one processor only")
        steps, loop = 20, "smooth_rows._omp_fn.0"  # as GCC calls the loop of smooth_rows
        # s a step for which the first thread waits; it may share its processor with rank 0, which works first and polls then
        least, most = 0.030, 0.045
        for policy in "active", "passive":
            with self.subTest(policy):
                self.setUp()
                stretch = self.explain_application(
                    steps, 2, harness.workload("uneven_loop"), str(steps),
                    OMP_WAIT_POLICY=policy, OMPI_MCA_hwloc_base_binding_policy="none")
                self.assertEqual((stretch["longer_rank"], stretch["cause"], stretch["verdict"]),
                                 (1, "threads", "persistent rank"), stretch)
                self.assertEqual((stretch["function"], stretch["threads_function"]), (loop, loop), stretch)
                self.assertGreater(stretch["threads_seconds"], 0.9 * least * (steps - 1), stretch)
                self.assertLess(stretch["threads_seconds"] - stretch["threads_preempted_seconds"],
                                1.1 * most * (steps - 1), stretch)
                self.assertRegex(stretch["finding"], rf"It waited for its own threads for .*, which were in {loop} "
                                 rf"meanwhile .* (Always|Mostly) rank 1 .*: share the work of {loop} out evenly")
                # On the path, what the second thread works, and how much of that the first one waits for.
                rows = {row["function"]: row for row in self.hotspots()}
                self.assertEqual(max(rows.values(), key=lambda row: row["path_seconds"])["function"], loop, rows)
                self.assertGreater(rows[loop]["path_seconds"], 0.9 * (0.0075 + least) * steps, rows)
                self.assertLess(rows[loop]["path_seconds"], 1.1 * (0.0075 + most) * steps, rows)
                waits = rows["[waiting for threads]" if policy == "active" else "[blocked]"]
                self.assertLess(waits["path_seconds"], 0.1 * most * steps, rows)
                threads = {row["thread"]: row for row in
                           json.loads(self.report("hotspots", "--by", "thread", "--format", "json"))["threads"]}
                self.assertGreater(threads["rank 1 thread 1"]["path_seconds"], 0.9 * least * steps, threads)

    def test_counters_that_the_machine_refused(self):
        """Who has no hardware counters is not told to record with them. Whether there are any, the recording says: by what it
        samples, and of each event that was asked for."""
        for options, asked in ((("--events", "instructions"), "cycles"), (("--sampler", "timer"), None)):
            with self.subTest(options):
                self.setUp()
                result = self.record(2, harness.workload("uneven"), "sometimes", "10", options=options)
                if "cpcollect: no samples" in result.err:
                    self.skipTest("nothing is sampled on this machine")
                self.replay(1)
                refused = json.loads(self.report("summary", "--format", "json"))["refused_events"]
                self.assertEqual(json.loads(self.report("explain", "--format", "json"))["refused_events"], refused)
                samples_cycles = json.loads(self.report("summary", "--format", "json"))["event"] == "cycles"
                said = " ".join(self.report("explain").split())
                if asked is None or samples_cycles:
                    self.assertNotIn("cycles", refused)
                    self.assertNotIn("counters were refused", said)
                    continue
                self.assertRegex(refused, r"^(cycles, instructions: not (supported|permitted)|.*cycles: )")
                self.assertRegex(said, r"counters were refused on this machine \(cycles: not (supported|permitted)\)")
                self.assertNotIn("--counters", said)


if __name__ == "__main__":
    harness.main()
