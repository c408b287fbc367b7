#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a recorded MPI call beside the floor: two clock reads and a 64-byte store into a mapped file."""

import json
import os
import shutil

import pairs


def ns_per_call(output):
    """kind -> ns a call, from the lines of calls.c."""
    return {name: float(ns) for name, _, ns in (line.split() for line in output.splitlines())}


def main():
    with pairs.Bench(__doc__, repetitions=15) as bench:
        calls = bench.built("bench", "calls")
        cpcollect = bench.built("bin", "cpcollect")
        trace = os.path.join(bench.scratch, "trace")

        def plain():
            return ns_per_call(bench.run(calls)[0])

        def recorded():
            shutil.rmtree(trace, ignore_errors=True)
            return ns_per_call(bench.run(cpcollect, "-q", "-o", trace, calls)[0])

        without, with_ = bench.pairs(plain, recorded)
        measured = json.loads(bench.run(bench.built("bench", "floor"), "--benchmark_format=json",
                                        f"--benchmark_repetitions={bench.repetitions}")[0])
        floors = {}
        for entry in measured["benchmarks"]:
            if entry["run_type"] == "iteration":
                floors.setdefault(entry["run_name"].split("/")[0], []).append(entry["real_time"])
        floor = pairs.summary(floors["clock_reads_and_store"])

        kinds = {}
        for kind in without[0]:
            added = pairs.summary([b[kind] - a[kind] for a, b in zip(without, with_)])
            kinds[kind] = {"without_ns": pairs.summary([run[kind] for run in without]),
                           "recorded_ns": pairs.summary([run[kind] for run in with_]),
                           "added_ns": added, "added_by_floor": round(added["median"] / floor["median"], 2)}
        pairs.print_result("wrapper_cost", pairs=bench.repetitions,
                           floor_ns={name: pairs.summary(values) for name, values in floors.items()}, calls=kinds)


if __name__ == "__main__":
    main()
