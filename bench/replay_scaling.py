#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a replay costs, from the return of MPI_Init until the result is on disk, and how that grows. One figure a run:

  read          beside a bare read of the same files through libotf2 by as many processes
  engines       beside the literal engine, which sends each message and enters each collective again
  events        by the number of events, with the memory
  locations     by the number of ranks
  walks         the ways to walk the path, on one that changes its location a million times
  applications  of LAMMPS and hpcc, beside what these took themselves

Traces are generated (bench/generate_trace), those of the applications recorded. All ways of a figure run alternately, with
one process a core, bound to it. `empty` is a trace of a few events with the same ranks.
"""

import contextlib
import json
import os
import shutil
import sqlite3
import statistics

import application_overhead
import pairs


def number(text):
    return int(float(text))


def numbers(text):
    return [number(word) for word in text.split(",")]


def add_options(parser):
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("figure", choices=("read", "engines", "events", "locations", "walks", "applications"))
    parser.add_argument("--processes", type=int, default=cores, help="default: one a core, %(default)s here")
    parser.add_argument("--patterns", default="halo,collective", help="that are generated (default: %(default)s)")
    parser.add_argument("--events", type=numbers, help="a trace, about; of the figure `events` a list, like 1e5,1e6")
    parser.add_argument("--locations", type=numbers, help="ranks; of the figure `locations` a list")
    parser.add_argument("--walks", default="gather,segments,lifting", help="default: %(default)s")
    parser.add_argument("--steps", type=int, default=18000, help="of LAMMPS (default: %(default)s)")
    parser.add_argument("--hpl-size", type=int, default=10000, help="of hpcc (default: %(default)s)")
    parser.add_argument("--replay", default="", metavar="OPTIONS", help="of every replay")


class Scaling:
    def __init__(self, bench):
        self.bench, self.options = bench, bench.options
        self.cpreplay = bench.built("bin", "cpreplay")
        self.mpirun = ("mpirun", *self.placement(), "-n", self.options.processes)

    def placement(self):
        return ("--bind-to", "core") if self.options.processes <= os.cpu_count() else ("--oversubscribe",)

    def generate(self, pattern, locations, events, *options):
        """A trace and what it contains."""
        trace = os.path.join(self.bench.scratch, "-".join(map(str, (pattern, locations, events, *options))))
        output = self.bench.run(*self.mpirun, self.bench.built("bench", "generate_trace"), "--pattern", pattern,
                                "--locations", locations, "--events", events, *options, trace)[0]
        return trace, json.loads(output)

    def empty(self, pattern, locations):
        return self.generate(pattern, locations, 1)[0]

    def read(self, trace):
        anchor = os.path.join(trace, "traces.otf2")
        return json.loads(self.bench.run(*self.mpirun, self.bench.built("bench", "read_trace"), anchor)[0])

    def replay(self, trace, *options):
        """What --timings says: {phase or total: costs}."""
        shutil.rmtree(os.path.join(trace, "critpath"), ignore_errors=True)
        errors = self.bench.run_measured(*self.mpirun, self.cpreplay, "-q", "--timings=json",
                                         *self.options.replay.split(), *options, trace)[3]
        said = next(line for line in errors.splitlines() if line.startswith("{"))
        return {phase["name"]: phase for phase in json.loads(said)["phases"]}

    def events(self, default):
        return self.options.events or default

    def locations(self, default):
        return self.options.locations or default

    def patterns(self):
        return self.options.patterns.split(",")

    # ---- the figures: each returns what is printed

    def figure_read(self):
        result = {}
        for pattern in self.patterns():
            trace, about = self.generate(pattern, self.locations([2])[0], self.events([2_000_000])[0])
            reads, replays = self.bench.pairs(lambda trace=trace: self.read(trace),
                                              lambda trace=trace: self.replay(trace))
            result[pattern] = {
                "events": about["events"], "locations": about["locations"],
                "read": per_event(reads, about, self.options.processes),
                "replay": per_event(totals(replays), about, self.options.processes),
                "replay / read": pairs.ratios(seconds(totals(replays)), seconds(reads)),
                "replay / read, processor time": pairs.ratios(processor(totals(replays)), processor(reads)),
                "phases": phases(replays)}
        return result

    def figure_engines(self):
        result = {}
        for pattern in self.patterns():
            trace, about = self.generate(pattern, self.locations([4])[0], self.events([1_000_000])[0])
            literal, replays = self.bench.pairs(lambda trace=trace: self.replay(trace, "--engine=literal"),
                                                lambda trace=trace: self.replay(trace))
            result[pattern] = {
                "events": about["events"], "locations": about["locations"],
                "literal": per_event(totals(literal), about, self.options.processes),
                "replay": per_event(totals(replays), about, self.options.processes),
                "literal / replay": pairs.ratios(seconds(totals(literal)), seconds(totals(replays))),
                "phases of literal": phases(literal), "phases": phases(replays)}
        return result

    def figure_events(self):
        result = {}
        for pattern in self.patterns():
            locations = self.locations([4])[0]
            result[pattern] = self.sizes(pattern, [(locations, events) for events in
                                                   self.events([100_000, 1_000_000, 10_000_000])])
        return result

    def figure_locations(self):
        result = {}
        for pattern in self.patterns():
            events = self.events([10_000_000])[0]
            result[pattern] = self.sizes(pattern, [(locations, events) for locations in
                                                   self.locations([4, 64, 1024, 4096])])
        return result

    def sizes(self, pattern, sizes):
        """Cost by the size of the trace, each also as a multiple of the first one's in the same round."""
        generated = [self.generate(pattern, *size) for size in sizes]
        empty = {locations: self.empty(pattern, locations) for locations in dict(sizes)}
        ways = [lambda trace=trace: self.replay(trace) for trace in [*empty.values(), *(trace for trace, _ in generated)]]
        runs = self.bench.rounds(ways)
        of_empty, of_sizes = dict(zip(empty, runs)), runs[len(empty):]
        result = {}
        for (trace, about), replays in zip(generated, of_sizes):
            before = of_empty[about["locations"]]
            cost = per_event(totals(replays), about, self.options.processes)
            cost["by the first"] = ratios_per_event(replays, about, of_sizes[0], generated[0][1])
            cost["above empty"] = per_event(above(totals(replays), totals(before)), about, self.options.processes)
            cost["peak bytes an event above empty"] = pairs.summary(
                [1024 * (run["peak_kib"] - peak(before)) / about["events"] for run in totals(replays)])
            cost["phases"] = phases(replays)
            result[f"{about['locations']} ranks, {about['events']} events"] = cost
        return result

    def figure_walks(self):
        """One row of ranks: each six events, a receive and a send, are a change of location. Without any point at which
        all ranks meet, and with some, from which parts of the path can be walked at the same time."""
        return {name: self.walks(every) for name, every in
                {"no synchronisation": 0, "an Allreduce each 1000 sweeps": 1000}.items()}

    def walks(self, allreduce_every):
        trace, about = self.generate("wavefront", self.locations([4])[0], self.events([6_000_000])[0], "--rows", 1,
                                     "--allreduce-every", allreduce_every)
        names = self.options.walks.split(",")
        runs = self.bench.rounds([lambda walk=walk: self.replay(trace, f"--walk={walk}") for walk in names])
        restores = [[run["restore"] for run in of_walk] for of_walk in runs]
        result = {"events": about["events"], "hops": fact(trace, "hops")}
        for name, of_walk in zip(names, restores):
            result[name] = {"seconds": pairs.summary(seconds(of_walk)),
                            f"by {names[0]}": pairs.ratios(seconds(of_walk), seconds(restores[0]))}
        return result

    def figure_applications(self):
        applications = application_overhead.Applications(self.bench.scratch, self.options.steps, self.options.hpl_size)
        result = {}
        for name in ("lammps", "hpcc"):
            trace = os.path.join(self.bench.scratch, name)
            _, job, _, _ = self.bench.run_measured(*self.mpirun, self.bench.built("bin", "cpcollect"), "-q", "-o", trace,
                                                   *applications.commands[name])
            reads, replays = self.bench.pairs(lambda trace=trace: self.read(trace),
                                              lambda trace=trace: self.replay(trace))
            result[name] = {"job_seconds": job, "events": reads[0]["events"],
                            "replay_seconds": pairs.summary(seconds(totals(replays))),
                            "replay / job": pairs.summary([s / job for s in seconds(totals(replays))]),
                            "read_seconds": pairs.summary(seconds(reads)), "phases": phases(replays)}
        return result


def totals(replays):
    return [run["total"] for run in replays]


def seconds(costs):
    return [cost["seconds"] for cost in costs]


def processor(costs):
    return [cost["processor_seconds"] for cost in costs]


def peak(replays):
    return statistics.median([run["peak_kib"] for run in totals(replays)])


def above(costs, empty):
    """What is left of each cost without that of the empty trace."""
    return [{key: cost[key] - statistics.median([e[key] for e in empty]) for key in ("seconds", "processor_seconds")}
            for cost in costs]


def per_event(costs, about, processes):
    events = about["events"]
    return {"seconds": pairs.summary(seconds(costs)),
            "ns of a process an event": pairs.summary([1e9 * processes * s / events for s in seconds(costs)]),
            "processor ns an event": pairs.summary([1e9 * s / events for s in processor(costs)])}


def ratios_per_event(replays, about, first, about_first):
    return {"seconds": pairs.ratios([s / about["events"] for s in seconds(totals(replays))],
                                    [s / about_first["events"] for s in seconds(totals(first))]),
            "processor": pairs.ratios([s / about["events"] for s in processor(totals(replays))],
                                      [s / about_first["events"] for s in processor(totals(first))])}


def phases(replays):
    """Median seconds of each."""
    return {name: round(statistics.median([run[name]["seconds"] for run in replays]), 6)
            for name in replays[0] if name != "total"}


def fact(trace, key):
    with contextlib.closing(sqlite3.connect(os.path.join(trace, "critpath", "critpath.sqlite"))) as database:
        return database.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()[0]


def main():
    with pairs.Bench(__doc__, repetitions=9, add_options=add_options) as bench:
        figure = bench.options.figure
        result = getattr(Scaling(bench), f"figure_{figure}")()
        pairs.print_result("replay_scaling", figure=figure, processes=bench.options.processes, rounds=bench.repetitions,
                           options=bench.options.replay, **result)


if __name__ == "__main__":
    main()
