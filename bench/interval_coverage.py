#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the 95 % intervals of `cpreport hotspots` hold what they promise: records runs of a program that knows what each of its
functions took of the critical path (bench/shares.c, bench/phases.c), and counts how often that lies in the interval: of each function alone, and
of their callers with what they call (--inclusive).

    interval_coverage.py BUILD_DIRECTORY [RUNS] [SECONDS] [alone | ranks | team | phases | kinds]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

RANKS = {"alone": 1, "ranks": 2, "team": 1, "phases": 2, "kinds": 2}


def run(*command):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")
    return subprocess.run(list(map(str, command)), env=environment, check=True, capture_output=True, text=True).stdout


def shares(build, seed, seconds, how, directory):
    """function -> (seconds that it took, seconds that were reported, ends of their interval)"""
    trace = os.path.join(directory, str(seed))
    tool = os.path.join(build, "bin", "")
    out = run("mpirun", "-n", RANKS[how], tool + "cpcollect", "-q", "-o", trace, "--",
              os.path.join(build, "bench", "phases" if how in ("phases", "kinds") else "shares"), seed, seconds, how)
    truth = {name: float(took) for name, took in (line.split() for line in out.splitlines())}
    run("mpirun", "-n", 1, tool + "cpreplay", "-q", trace)
    views = [json.loads(run(tool + "cpreport", "hotspots", "--format", "json", "--top", 0, "--sort", "name", *options, trace))
             for options in ((), ("--inclusive",))]
    shutil.rmtree(trace)
    alone, inclusive = ({row["function"]: row for row in view["hotspots"]} for view in views)
    path, samples = views[0]["path_seconds"], views[0]["path_samples"]
    # Nothing of n samples: up to z^2 / (n + z^2), as the interval of no hits has it.
    unseen = 3.8415 / (samples + 3.8415) * 100
    result = {}
    for name, took in truth.items():
        rows = inclusive if name.startswith("caller") else alone
        row = rows.get(name)
        if row is None or row["path_samples"] == 0 and row["path_seconds"] == 0:  # or on other ranks and threads only
            row = {"path_seconds": 0, "path_percent_low": 0, "path_percent_high": unseen}
        low, high = (row["path_percent"] if row[end] is None else row[end]  # what is called exact
                     for end in ("path_percent_low", "path_percent_high"))
        result[name] = took, row["path_seconds"], low / 100 * path, high / 100 * path
    return result


def main():
    build = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 2
    how = sys.argv[4] if len(sys.argv) > 4 else "alone"
    found = {}
    with tempfile.TemporaryDirectory(prefix="critpath-bench.") as directory:
        for seed in range(1, runs + 1):
            for name, values in shares(build, seed, seconds, how, directory).items():
                found.setdefault(name, []).append(values)
    print(json.dumps({name: {
        "took_seconds": round(sum(v[0] for v in values) / len(values), 4),
        "runs": len(values),
        "runs_in_interval": sum(low <= took <= high for took, _, low, high in values),
        "mean_of_reported_less_taken_seconds": round(sum(v[1] - v[0] for v in values) / len(values), 4),
        "mean_low_seconds": round(sum(v[2] for v in values) / len(values), 4),
        "mean_high_seconds": round(sum(v[3] for v in values) / len(values), 4),
    } for name, values in sorted(found.items())}, indent=1))


if __name__ == "__main__":
    main()
