#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whether what is on the critical path is critical, by real MPI alone: performs random programs (`lengthened`, which sleeps where they
compute), records each once, and then runs it without the recorder with one computation of the path longer, for each of the largest. The
whole run must get longer by as much. By how much it falls short of that is slack; a step that has more than what runs differ by anyway is
false-critical. Such steps are run again, more often, and also lengthened by less, before they count: where a longer computation changes
which message comes first, the run is another one, and only a small change says what the recorded one would have done.
"""

import json
import os
import shutil
import sys

import pairs


def add_options(parser):
    parser.add_argument("--first", type=int, default=1, help="seed (default: %(default)s)")
    parser.add_argument("--count", type=int, default=10, help="of seeds (default: %(default)s)")
    parser.add_argument("--ranks", type=int, default=0, help="default: 2 to 4, by seed")
    parser.add_argument("--steps", type=int, default=8, help="at most so many of a program (default: %(default)s)")
    parser.add_argument("--least-ms", type=float, default=3, help="of the path, that a step has (default: %(default)s)")
    parser.add_argument("--longer-ms", type=float, default=20, help="by how much (default: %(default)s)")
    parser.add_argument("--little-ms", type=float, default=6, help="when run again (default: %(default)s)")
    parser.add_argument("--again", type=int, default=11, help="rounds of what is suspicious (default: %(default)s)")
    parser.add_argument("--recordings", type=int, default=4, help="the shortest counts (default: %(default)s)")
    parser.add_argument("--keep", help="directory for the traces of programs with suspicious steps")
    parser.add_argument("--program", action="append", default=[], help="an option for `lengthened`")


class Program:
    """The random program of one seed."""

    def __init__(self, bench, seed):
        self.bench = bench
        self.ranks = bench.options.ranks or 2 + seed % 3
        self.command = [bench.built("bench", "lengthened"), seed, *bench.options.program]
        self.mpirun = ("mpirun", "--bind-to", "none", "-n", self.ranks)

    def record(self):
        """Of the shortest of some recordings: steps that compute as (rank, step) -> seconds of the path, and how long the
        run was. In a longer one, a rank without a processor may have made it another run."""
        best = None
        for _ in range(self.bench.options.recordings):
            shares, seconds = self.record_once()
            if best is None or seconds < best[1]:
                best = shares, seconds
                shutil.rmtree(os.path.join(self.bench.scratch, "best"), ignore_errors=True)
                os.rename(os.path.join(self.bench.scratch, "recording"), os.path.join(self.bench.scratch, "best"))
        return best

    def record_once(self):
        recording = os.path.join(self.bench.scratch, "recording")
        shutil.rmtree(recording, ignore_errors=True)
        os.mkdir(recording)
        trace, steps = (os.path.join(recording, name) for name in ("trace", "steps"))
        self.bench.run(*self.mpirun, self.bench.built("bin", "cpcollect"), "-q", "-o", trace, *self.command,
                       "--steps", steps)
        self.bench.run("mpirun", "-n", 1, self.bench.built("bin", "cpreplay"), "-q", trace)
        report = json.loads(self.bench.run(self.bench.built("bin", "cpreport"), "path", "--all", "--format", "json",
                                           trace)[0])
        begin = begin_of(self.bench.run("otf2-print", "-G", os.path.join(trace, "traces.otf2"))[0])
        return on_path(report["path"], read_steps(steps, self.ranks, begin))

    def keep(self, directory):
        shutil.copytree(os.path.join(self.bench.scratch, "best"), os.path.join(directory, str(self.command[1])))

    def compare(self, ways, rounds):
        """Seconds of the program as it is, and of each of the ways ((rank, step), ms), by round. Ranks that wait give way, so
        that runs differ less."""
        options = [f"--lengthen={rank}:{step}:{ms}" for (rank, step), ms in ways]
        give_way = ("--mca", "mpi_yield_when_idle", 1, "-x", f"LD_PRELOAD={self.bench.built('bench', 'give_way.so')}")
        output = self.bench.run(*self.mpirun, *give_way, *self.command, "--rounds", rounds, *options)[0]
        return json.loads(output)["seconds"]


def begin_of(definitions):
    """Of the trace, in nanoseconds of the collector's clock."""
    return int(definitions.split("Global Offset:")[1].split(",")[0])


def read_steps(prefix, ranks, begin):
    """(rank, step, from, to) of all that compute, in seconds of the trace, and when the program began and ended."""
    computes, times = [], []
    for rank in range(ranks):
        with open(f"{prefix}.{rank}", encoding="utf-8") as file:
            for line in file:
                step, what, *moments = line.split()
                moments = [(int(moment) - begin) / 1e9 for moment in moments]
                times += moments
                if what == "compute":
                    computes.append((rank, int(step), *moments))
    return computes, min(times), max(times)


def on_path(path, steps):
    """The seconds that each step has of the path, and that the path has from the program's begin to its end."""
    computes, begin, end = steps
    result = {}
    for row in path:
        for rank, step, first, last in computes:
            common = min(row["end_seconds"], last) - max(row["begin_seconds"], first)
            if row["kind"] == "compute" and row["rank"] == rank and common > 0:
                result[rank, step] = result.get((rank, step), 0) + common
    return result, end - begin


def spread(seconds):
    """How far the shortest of these may be off: by what it is shorter than the next one."""
    return sorted(seconds)[1] - min(seconds)


def slack(runs, way, ms):
    """Milliseconds, and what they may be off by. Programs sleep as long each time, and whatever else runs on the machine
    only makes them longer: so the shortest run counts."""
    longer = min(runs[1 + way]) - min(runs[0])
    return ms - longer * 1e3, 1e3 * (spread(runs[0]) + spread(runs[1 + way]))


def look_again(program, options, steps):
    """By step: slack when lengthened by as much, and by little."""
    ways = [(step, ms) for step in steps for ms in (options.longer_ms, options.little_ms)]
    runs = program.compare(ways, options.again)
    slacks = [slack(runs, i, ms) for i, (_, ms) in enumerate(ways)]
    return {step: (slacks[2 * i], slacks[2 * i + 1]) for i, step in enumerate(steps)}


def is_more(slack_and_error, options):
    return slack_and_error[0] > max(options.least_ms, slack_and_error[1])


def kind_of(much, little, longer_ms, options):
    """What a suspicious step turns out to be. `longer_ms`: by how much the recorded run was longer than the others,
    or shorter."""
    if not is_more(much, options):
        return "critical"
    if little[0] <= max(options.little_ms / 2, little[1]):
        return "much_longer"  # a little longer, it makes the run longer; much longer, it makes it another one
    if abs(longer_ms) > min(much[0], options.longer_ms / 2):
        return "other_run"  # in which it may have been critical
    return "false"


def check(program, options):
    """What is known of one program."""
    shares, seconds = program.record()
    largest = sorted(shares, key=shares.get, reverse=True)[:options.steps]
    chosen = [step for step in largest if shares[step] * 1e3 > options.least_ms]
    runs = program.compare([(step, options.longer_ms) for step in chosen], program.bench.repetitions)
    suspicious = [step for i, step in enumerate(chosen) if is_more(slack(runs, i, options.longer_ms), options)]
    again = look_again(program, options, suspicious) if suspicious else {}
    if suspicious and options.keep:
        program.keep(options.keep)
    result = {"ranks": program.ranks, "recorded_seconds": seconds, "seconds": min(runs[0]),
              "steps": len(chosen), "checked_seconds": sum(shares[step] for step in chosen),
              "computing_seconds": sum(shares.values()), "false_seconds": 0, "much_longer_seconds": 0,
              "other_run_seconds": 0, "suspicious": []}
    longer_ms = (seconds - result["seconds"]) * 1e3
    for (rank, step), (much, little) in again.items():
        kind = kind_of(much, little, longer_ms, options)
        if kind != "critical":
            result[f"{kind}_seconds"] += shares[rank, step]
        result["suspicious"].append({"rank": rank, "step": step, "path_ms": round(shares[rank, step] * 1e3, 1),
                                     "slack_ms": [round(x, 1) for x in much], "kind": kind,
                                     "slack_if_little_longer_ms": [round(x, 1) for x in little]})
    return result


def main():
    with pairs.Bench(__doc__, repetitions=3, add_options=add_options) as bench:
        if bench.options.keep:
            bench.options.keep = os.path.abspath(bench.options.keep)
        programs, failed = {}, {}
        for seed in range(bench.options.first, bench.options.first + bench.options.count):
            try:
                programs[seed] = check(Program(bench, seed), bench.options)
                print(seed, json.dumps(programs[seed]), file=sys.stderr, flush=True)
            except SystemExit as failure:
                failed[seed] = str(failure)[:400]
                print(seed, failure, file=sys.stderr, flush=True)
        total = {key: sum(program[key] for program in programs.values())
                 for key in ("recorded_seconds", "computing_seconds", "checked_seconds", "false_seconds",
                             "much_longer_seconds", "other_run_seconds", "steps")}
        pairs.print_result("lengthened_steps", programs=len(programs), failed=failed, **total,
                           false_percent=100 * total["false_seconds"] / max(total["checked_seconds"], 1e-9),
                           suspicious={seed: p["suspicious"] for seed, p in programs.items() if p["suspicious"]})


if __name__ == "__main__":
    main()
