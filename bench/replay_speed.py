#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Time of cpreplay beside a bare read of the same trace through libotf2, on a halo exchange of about a million events.
Elapsed times of whole processes; `empty` is cpreplay on a trace of nearly nothing, which is the start of MPI."""

import json
import os
import shutil

import pairs

RANKS = 2


def main():
    with pairs.Bench(__doc__, repetitions=9) as bench:
        cpcollect, cpreplay = bench.built("bin", "cpcollect"), bench.built("bin", "cpreplay")
        halo, read_trace = bench.built("workloads", "halo"), bench.built("bench", "read_trace")

        def record(name, iterations):
            trace = os.path.join(bench.scratch, name)
            bench.run("mpirun", "-n", RANKS, cpcollect, "-q", "-o", trace, halo, iterations)
            return trace

        large, empty = record("large", 28000), record("empty", 1)
        events = []

        def read():
            said = json.loads(bench.run(read_trace, os.path.join(large, "traces.otf2"))[0])
            events.append(said["events"])
            return said["seconds"]

        def replay(trace, processes):
            shutil.rmtree(os.path.join(trace, "critpath"), ignore_errors=True)
            return bench.run("mpirun", "-n", processes, cpreplay, trace)[1]

        result = {}
        for processes in (1, RANKS):
            reads, replays = bench.pairs(read, lambda processes=processes: replay(large, processes))
            starts = [replay(empty, processes) for _ in range(bench.repetitions)]
            spent = [seconds - pairs.statistics.median(starts) for seconds in replays]
            result[f"{processes} processes"] = {
                "read_seconds": pairs.summary(reads), "replay_seconds": pairs.summary(replays),
                "empty_seconds": pairs.summary(starts), "replay_by_read": pairs.ratios(replays, reads),
                "replay_without_start_by_read": pairs.ratios(spent, reads),
                "read_ns_per_event": pairs.summary([1e9 * seconds / events[0] for seconds in reads]),
                "replay_ns_per_event_without_start": pairs.summary([1e9 * seconds / events[0] for seconds in spent])}
        pairs.print_result("replay_speed", pairs=bench.repetitions, events=events[0], **result)


if __name__ == "__main__":
    main()
