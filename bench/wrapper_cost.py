#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a recorded MPI call, by its calls and in MPI_Finalize, beside the floor: two clock reads and a 64-byte store
into a mapped file. One process on one core; also its memory."""

import json
import os
import shutil

import pairs


def measurements(output):
    """kind -> ns a call, and "memory ..." -> KiB, from the lines of calls.c."""
    lines = [line.split() for line in output.splitlines()]
    return {f"memory {a}" if name == "memory" else name: float(value) for name, a, value in lines}


# What is recorded with each call, and how many functions lie between main and the calls.
VARIANTS = {
    "no call paths": (1, ["--callpath=none"]),
    "site": (1, ["--callpath=site"]),
    "call paths, depth 5": (5, ["--callpath=full"]),
    "call paths, depth 20": (20, ["--callpath=full"]),
    "depth 5, kernel's timer": (5, ["--callpath=full", "--timer=kernel"]),
    "one software counter": (1, ["--callpath=none", "--counters=perf::PAGE-FAULTS"]),
}
# MPI calls of one pass, where they are judged together.
TOGETHER = {"irecv_isend_waitall_self": 3, "isend_recv_wait_self": 3, "test_and_iprobe_in_vain": 2}


def main():
    with pairs.Bench(__doc__, repetitions=15) as bench:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        calls = bench.built("bench", "calls")
        cpcollect = bench.built("bin", "cpcollect")
        floor_program = bench.built("bench", "floor")
        trace = os.path.join(bench.scratch, "trace")

        def plain():
            return measurements(bench.run(calls)[0])

        def recorded(depth, options):
            shutil.rmtree(trace, ignore_errors=True)
            return measurements(bench.run(cpcollect, "-q", "-o", trace, *options, calls, str(depth))[0])

        def floor():
            measured = json.loads(bench.run(floor_program, "--benchmark_format=json")[0])
            return {entry["run_name"].split("/")[0]: entry["real_time"] for entry in measured["benchmarks"]}

        # In each round the ways come one after the other, so that all see the same machine.
        ways = {"floor": floor, "plain": plain}
        ways |= {name: lambda variant=variant: recorded(*variant) for name, variant in VARIANTS.items()}
        rounds = bench.rounds(list(ways.values()))
        results = dict(zip(ways, rounds))

        floors = results.pop("floor")
        without = results.pop("plain")
        kinds, memory = {}, {}
        for kind in without[0]:
            if kind.startswith("memory"):
                memory[kind.removeprefix("memory ")] = {
                    name: pairs.summary([run[kind] for run in runs]) for name, runs in {"plain": without, **results}.items()}
                continue
            kinds[kind] = {"without_ns": pairs.summary([run[kind] for run in without])}
            count = TOGETHER.get(kind, 1)
            for name, runs in results.items():
                added = [count * (b[kind] - a[kind]) for a, b in zip(without, runs)]
                ratio = [ns / f["clock_reads_and_store"] for ns, f in zip(added, floors)]
                kinds[kind][name] = {"added_ns": pairs.summary(added), "added_by_floor": pairs.summary(ratio)}
        pairs.print_result("wrapper_cost", rounds=bench.repetitions,
                           floor_ns={name: pairs.summary([f[name] for f in floors]) for name in floors[0]},
                           calls=kinds, peak_memory_kib=memory)


if __name__ == "__main__":
    main()
