# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what the kernel knows about a thread and the trace says: time off the processor, page faults, counters, and
samples on the clock of the calls, also where a time namespace has set that clock."""

import collections
import itertools
import json
import os
import shutil

import harness

OFF = ("[preempted]", "[blocked]")

Interval = collections.namedtuple("Interval", "name begin end depth")


class Thread:
    """The events of one location, with every interval of its regions."""

    def __init__(self, location):
        self.name = location.name
        self.properties = {}
        self.intervals = []
        self.samples = []  # (time, attributes by name)
        self.times = []

    def count(self, name):
        return self.properties.get(f"critpath.{name}", 0)

    def of(self, *names):
        return [interval for interval in self.intervals if interval.name in names]


def region_of(event):
    return (event.region if hasattr(event, "region") else event.calling_context.region).name


def read_trace(anchor):
    """The threads by location, and the properties of their processes by rank."""
    import otf2
    from otf2 import events

    threads = {}
    with otf2.reader.open(anchor) as trace:
        processes = [
            {p.name: p.value for p in trace.definitions.location_group_properties if p.location_group is group}
            for group in trace.definitions.location_groups
        ]
        open_regions = collections.defaultdict(list)
        for location, event in trace.events:
            thread = threads.setdefault(location, Thread(location))
            thread.times.append(event.time)
            stack = open_regions[location]
            if isinstance(event, (events.Enter, events.CallingContextEnter)):
                stack.append((region_of(event), event.time))
            elif isinstance(event, (events.Leave, events.CallingContextLeave)):
                name, begin = stack.pop()
                if name != region_of(event):
                    raise AssertionError(f"{location.name}: {region_of(event)} is left at {event.time} inside {name}")
                thread.intervals.append(Interval(name, begin, event.time, len(stack)))
            elif isinstance(event, events.CallingContextSample):
                attributes = {a.name: value for a, value in (event.attributes or {}).items()}
                thread.samples.append((event.time, attributes))
        for location, thread in threads.items():
            thread.properties = {
                p.name: p.value for p in trace.definitions.location_properties if p.location is location
            }
    return list(threads.values()), processes


def counted_at(anchor, function):
    """By location: for each call of the function the values of all counters at its enter and at its leave. And the names
    of the counters."""
    import otf2
    from otf2 import events

    counted, before = collections.defaultdict(list), {}
    with otf2.reader.open(anchor) as trace:
        names = [member.name for metric in trace.definitions.metrics for member in metric.members]
        for location, event in trace.events:
            if isinstance(event, events.Metric):
                before[location] = event
                continue
            is_enter = isinstance(event, events.CallingContextEnter)
            if (is_enter or isinstance(event, events.CallingContextLeave)) and region_of(event) == function:
                if before[location].time != event.time:
                    raise AssertionError(f"{location.name}: nothing counted at {event.time}")
                if is_enter:
                    counted[location].append([])
                counted[location][-1].append(before[location].values)
    return names, list(counted.values())


class Kernel(harness.Case):
    def setUp(self):
        super().setUp()
        if reason := harness.perf_event_refused():
            self.skipTest(f"perf_event_open is refused on this machine: {reason}")

    def read(self):
        return read_trace(os.path.join(self.trace, "traces.otf2"))

    def test_time_off_the_processor(self):
        program = os.path.join(harness.PROGRAMS, "sleeper.py")
        result = self.record(2, harness.PYTHON, "-B", program)
        self.validate()
        threads, _ = self.read()
        masters = [thread for thread in threads if thread.name == "Master thread"]
        self.assertEqual(len(masters), 2)
        slept = {tuple(map(int, line.split()[1:])) for line in result.out.splitlines()}
        for begin, end in slept:
            inside = [
                [i for i in thread.of(*OFF) if i.begin >= begin and i.end <= end and i.end - i.begin > 150_000_000]
                for thread in masters
            ]
            # The process whose sleep it is has been blocked for all of it.
            self.assertIn([("[blocked]", True)], [[(i.name, i.end - i.begin < end - begin) for i in t] for t in inside])
        for thread in threads:
            off = thread.of(*OFF)
            for name, sum_of, count_of in (("[preempted]", "preempted_ns", "preemptions"),
                                           ("[blocked]", "blocked_ns", "blocks")):
                mine = [i for i in off if i.name == name]
                bridged = name == "[preempted]"
                time = thread.count(sum_of) + (thread.count("bridged_ns") if bridged else 0)
                self.assertEqual(sum(i.end - i.begin for i in mine), time)
                self.assertEqual(len(mine), thread.count(count_of) - (thread.count("bridges") if bridged else 0))
            for sample, _ in thread.samples:
                self.assertFalse([i for i in off if i.begin + 50_000 < sample < i.end],
                                 "a sample where the thread did not run")
        for thread in masters:
            faults = sum(attributes.get("critpath.page_faults", 0) for _, attributes in thread.samples)
            self.assertGreaterEqual(faults, 4000)
            self.assertGreaterEqual(thread.properties["critpath.page_faults"], faults)
        self.replay_on(1, 2)
        blocked = sum(thread.count("blocked_ns") for thread in threads)
        self.assertEqual(self.fact("blocked_ns"), blocked)

    @harness.retry_once
    def test_waits_behind_sleeps(self):
        """Alone on its processor and beside others (tests/workloads/woken.c), a thread is blocked for as long as it wants
        to sleep, and without a processor for as long as the kernel has counted."""
        processor = min(os.sched_getaffinity(0))
        for others in (0, 2):
            with self.subTest(others):
                self.setUp()
                with harness.competitors(processor, others):
                    out = self.record_replay_report(1, harness.workload("woken"), "60", str(processor))
                wanted, _, waited = map(int, out.split())
                threads, _ = self.read()
                thread, = (thread for thread in threads if thread.name == "Master thread")
                if waited == 0:
                    self.assertEqual(thread.count("woken_ns"), 0)
                    self.assertEqual(thread.count("no_run_delay"), 1)
                    self.skipTest("this kernel does not count how long threads wait for a processor")
                self.assertNotIn("critpath.no_run_delay", thread.properties)
                self.assertGreater(thread.count("blocked_ns"), 0.99 * wanted)
                off = sorted(thread.of(*OFF), key=lambda interval: interval.begin)
                woken = [wait.end - wait.begin for blocked, wait in itertools.pairwise(off)
                         if blocked.name == "[blocked]" and blocked.end == wait.begin]
                self.assertEqual(len(woken), thread.count("wake_ups"))
                self.assertGreaterEqual(sum(woken), thread.count("woken_ns"))  # a preemption may be close behind
                if any(thread.count(name) for name in ("respite_ns", "wait_respite_ns", "lost_samples")):
                    continue  # not all is known
                looks = (off[-1].end - off[0].begin) / 25e6 + 1
                neglected = 20e3 * (thread.count("blocks") + looks)
                self.assertGreater(thread.count("preempted_ns"), 0.99 * waited - neglected)
                if thread.count("woken_ns") > 0.05 * wanted:
                    rows = json.loads(self.report("hotspots", "--format", "json", "--by", "callpath", "--top", "0"))
                    below = [row["call_path"] for row in rows["call_paths"] if row["call_path"].endswith("[preempted]")]
                    self.assertTrue([path for path in below if "sleeps" in path.split(";")], below)

    def test_events_of_samples(self):
        """One process alone is the path, so that all that it counted until its last sample is on it."""
        program = os.path.join(harness.PROGRAMS, "sleeper.py")
        asked = ["minor-faults", "task-clock", "instructions"]
        result = self.record(1, harness.PYTHON, "-B", program, options=("-F", "999", "--events", ",".join(asked)))
        self.validate()
        self.replay_on(1)

        def counts(event, *options):
            report = json.loads(self.report("hotspots", "--event", event, "--format", "json", *options or ("--top", "0")))
            self.assertEqual(sum(row["count"] or 0 for row in report["events"]) + report.get("count_below_error", 0),
                             report["count"])
            return report["count"]

        faults = counts("page-faults")
        self.assertGreaterEqual(faults, 4000)
        self.assertGreaterEqual(counts("minor-faults"), 4000)
        # The kernel counts a fault as it begins, and as a minor one as it ends: the first sample of a thread can be between,
        # and so can the borders of what is on the path, where counts are rounded.
        threads, _ = self.read()
        self.assertLessEqual(counts("minor-faults"), 1.001 * faults + len(threads))
        for by in ("line", "thread", "rank"):
            self.assertEqual(counts("page-faults", "--by", by, "--top", "0"), faults)
        self.assertEqual(counts("page-faults", "--by", "phase"), faults)
        parts = [("--to", "30%"), ("--from", "30%", "--to", "80%"), ("--from", "80%")]
        self.assertEqual(sum(counts("page-faults", "--top", "0", *part) for part in parts), faults)
        computed = sum(row["path_seconds"] for row in self.hotspots() if not row["function"].startswith("["))
        self.assertGreater(counts("task-clock"), computed * 1e9 / 2)
        unknown = harness.run(harness.tool("cpreport"), "hotspots", "--event", "instructions", self.trace)
        if "cpcollect: event instructions: " in result.err:
            self.assert_message(unknown, 2, "page-faults, minor-faults, task-clock")
            self.assertIn("refused when the run was recorded", unknown.err)
        else:
            self.assertGreater(counts("instructions"), 0)

    def test_counters(self):
        """Between the i-th barrier and the next, programs/counters.c of the collector's tests touches 100 i pages; some
        more are the recorder's."""
        program = os.environ["E2E_COUNTERS"]
        if not os.path.exists(program + "_papi"):
            self.skipTest("libpapi-dev was not there when the tests were built")
        if harness.papi_refused():
            self.skipTest(harness.papi_refused())
        result = self.record(2, program, "faults", options=("--counters", "perf::PAGE-FAULTS,perf::TASK-CLOCK"))
        self.assertNotIn("counter ", result.err)
        self.validate()
        names, threads = counted_at(os.path.join(self.trace, "traces.otf2"), "MPI_Barrier")
        self.assertEqual(names, ["perf::PAGE-FAULTS", "perf::TASK-CLOCK"])
        self.assertEqual([len(calls) for calls in threads], [6, 6])
        for calls in threads:
            for i in range(1, 6):
                (_, left), (entered, _) = calls[i - 1], calls[i]
                self.assertIn(entered[0] - left[0], range(100 * i, 100 * i + 20))
                self.assertGreater(entered[1], left[1])
            for entered, left in calls:
                self.assertTrue(all(a <= b for a, b in zip(entered, left)), f"{entered} {left}")
        self.replay_on(1, 2)
        self.assert_sound(expected_anomalies=("ignored_metric_records",))

    def test_no_samples_no_switches(self):
        self.record(2, harness.workload("halo"), "20", options=("--no-samples",))
        self.validate()
        threads, _ = self.read()
        self.assertFalse([i for thread in threads for i in thread.of(*OFF)])

    def test_closed_descriptors_are_told(self):
        """Events that the application closes end the samples, which is said once; what was in their files' stead is its
        own."""
        for how in ((), ("take",)):
            with self.subTest(how):
                shutil.rmtree(self.trace, ignore_errors=True)
                result = self.record(2, harness.workload("closes"), *how)
                self.assertEqual(result.err.count("the application closed descriptors"), 1, result.err)
                self.assertIn("cpcollect: next:", result.err)
                if how:
                    self.assertRegex(result.out, r"taken ([1-9]\d*), left \1, written 0\n")
                self.validate()
                self.replay(2)
                self.assertGreater({row["function"]: row["path_seconds"] for row in self.hotspots()}["work_before"], 0.05)
                self.assertEqual(self.fact("stopped_timers"), 1)

    def test_timers_go_on_without_their_files(self):
        result = self.record(2, harness.workload("closes"), "take", options=("--sampler=timer",))
        self.assertRegex(result.out, r"taken ([1-9]\d*), left \1, written 0\n")
        self.assertNotIn("closed", result.err)
        self.assertIn("cpcollect: next:", result.err)
        self.validate()
        self.replay(2)
        seconds = {row["function"]: row["path_seconds"] for row in self.hotspots()}
        self.assertGreater(seconds["work_after"], 0.2)

    def time_namespace_needed(self):
        if harness.run("unshare", "-T", "--monotonic", "1000", "true").code != 0:
            self.skipTest("unshare -T is refused: a time namespace needs root and Linux 5.6")

    def test_time_namespace(self):
        """The kernel stamps samples with its own clock, the process lives a thousand seconds later."""
        self.time_namespace_needed()
        inside = ("unshare", "-T", "--monotonic", "1000", "--")
        result = harness.run(*inside, harness.MPIEXEC, "-n", "2", harness.tool("cpcollect"), "-o", self.trace,
                             harness.workload("halo"), "100", "2000", cwd=self.scratch)
        self.succeed(result)
        self.validate()
        threads, processes = self.read()
        for process in processes:
            self.assertTrue(process["critpath.boot_id"].endswith("+1000000000000"), process)
        self.assertGreater(sum(len(thread.samples) for thread in threads), 0)
        masters = [thread for thread in threads if thread.name == "Master thread"]
        self.assertEqual(len(masters), 2)
        for thread in masters:
            calls = [i for i in thread.intervals if i.name.startswith("MPI_")]
            self.assertGreater(len(calls), 0)
            self.assertGreater(len(thread.samples), 0)
            first, last = calls[0].begin, max(call.end for call in calls)
            # All are from the life of the process, and some from between its first and its last call.
            self.assertTrue(all(abs(time - first) < 100_000_000_000 for time, _ in thread.samples))
            self.assertTrue([time for time, _ in thread.samples if first <= time <= last])
        self.replay(2)
        self.assertGreater(sum(1 for row in self.hotspots() if row["function"].startswith("work")), 0)

    def test_respites_of_threads_that_switch_too_often(self):
        """In a time namespace, whose clock the times of the kernel do not have."""
        self.time_namespace_needed()
        processor = str(min(os.sched_getaffinity(0)))
        self.succeed(harness.run("unshare", "-T", "--monotonic", "1000", "--", harness.MPIEXEC, "-n", "2", "taskset", "-c",
                                 processor, harness.tool("cpcollect"), "-q", "-o", self.trace, harness.workload("yields"),
                                 cwd=self.scratch))
        self.validate()
        threads, _ = self.read()
        self.assertGreater(sum(thread.count("respite_ns") for thread in threads), 0)
        for thread in (thread for thread in threads if thread.name == "Master thread"):
            self.assertNotIn("critpath.clipped_times", thread.properties)
            begin, end = thread.intervals[0].begin, max(i.end for i in thread.intervals)
            self.assertLess(thread.count("respite_ns") + thread.count("preempted_ns"), end - begin)
            # The sleep, but for a respite at its beginning.
            self.assertTrue([i for i in thread.of("[blocked]") if i.end - i.begin > 150_000_000])


if __name__ == "__main__":
    harness.main()
