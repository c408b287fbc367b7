#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Elapsed time of LAMMPS and hpcc with and without cpcollect, with everything that is recorded by default: of LAMMPS' time
loop (recording) and of the whole jobs (recording, and making the archive in MPI_Finalize). One rank a core, bound to it,
so that nobody competes. Also the bytes of the archive an OTF2 event, and the memory of the largest process."""

import json
import os
import re
import shutil

import pairs


def event_bytes(trace):
    """Of all event files."""
    directory = os.path.join(trace, "traces")
    return sum(os.path.getsize(os.path.join(directory, f)) for f in os.listdir(directory) if f.endswith(".evt"))


def main():
    with pairs.Bench(__doc__, repetitions=9) as bench:
        cpcollect, read_trace = bench.built("bin", "cpcollect"), bench.built("bench", "read_trace")
        trace = os.path.join(bench.scratch, "trace")
        shutil.copy(os.path.join(pairs.ROOT, "tests", "e2e", "programs", "hpccinf.txt"), bench.scratch)
        script = os.path.join(pairs.ROOT, "scripts", "demo", "in.imbalance")
        ranks = min(os.cpu_count(), 4)
        applications = {"lammps": ("lmp", "-in", script, "-log", "none"), "hpcc": ("hpcc",)}

        def measure(*command):
            output, seconds, kib = bench.run_measured("mpirun", "--bind-to", "core", "-n", ranks, *command)
            loop = re.search(r"Loop time of (\S+)", output)
            return {"job_seconds": seconds, "peak_memory_kib": kib} | ({"loop_seconds": float(loop.group(1))} if loop else {})

        def recorded(command):
            shutil.rmtree(trace, ignore_errors=True)
            return measure(cpcollect, "-q", "-o", trace, *command)

        result = {}
        for name, command in applications.items():
            without, with_ = bench.pairs(lambda command=command: measure(*command),
                                         lambda command=command: recorded(command))
            result[name] = {}
            for what in without[0]:
                plain, measured = [run[what] for run in without], [run[what] for run in with_]
                result[name][what] = {"without": pairs.summary(plain), "recorded": pairs.summary(measured),
                                      "recorded_by_without": pairs.ratios(measured, plain)}
            events = json.loads(bench.run(read_trace, os.path.join(trace, "traces.otf2"))[0])["events"]
            result[name] |= {"events": events, "bytes_per_event": round(event_bytes(trace) / events, 2)}
        pairs.print_result("application_overhead", ranks=ranks, pairs=bench.repetitions, **result)


if __name__ == "__main__":
    main()
