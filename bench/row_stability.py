#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the rows of `cpreport hotspots` are the same from run to run: records LAMMPS and hpcc some times each, and says of all
sampled functions with 1 % of the critical path or more how far their shares are apart, and for how many pairs of runs no further than
the two sampling errors together; of what is exact (MPI, time without a processor), how far it is apart. Errors are of
sampling: what the machine does otherwise from run to run comes on top.
"""

import itertools
import json
import math
import os
import shutil
import statistics

import application_overhead
import pairs

SMALLEST = 1.0  # percent of the path, by the mean of the runs


def add_options(parser):
    parser.add_argument("--steps", type=int, default=6000, help="of LAMMPS (default: %(default)s)")
    parser.add_argument("--hpl-size", type=int, default=5000, help="of hpcc (default: %(default)s)")
    parser.add_argument("--ranks", type=int, default=min(os.cpu_count(), 4), help="default: one a core, at most 4")


def shares(bench, command):
    """function -> (percent of the path, low and high end of its interval or None) of one run."""
    trace = os.path.join(bench.scratch, "trace")
    shutil.rmtree(trace, ignore_errors=True)
    mpirun = ("mpirun", "--bind-to", "core", "-n", bench.options.ranks)
    bench.run(*mpirun, bench.built("bin", "cpcollect"), "-q", "-o", trace, *command)
    bench.run(*mpirun, bench.built("bin", "cpreplay"), "-q", trace)
    report = json.loads(bench.run(bench.built("bin", "cpreport"), "hotspots", "--format", "json", "--top", 0, trace)[0])
    return report["path_seconds"], {(row["function"], os.path.basename(row["module"])):
                                    (row["path_percent"], row["path_percent_low"], row["path_percent_high"])
                                    for row in report["hotspots"]}


def is_near(a, b):
    """Whether the interval of the difference of two shares has 0 in it (Newcombe's, as in `cpreport diff`)."""
    small, large = sorted((a, b))
    return large[0] - small[0] <= math.hypot(large[0] - large[1], small[2] - small[0])


def compare(runs):
    """A row for each function with SMALLEST of the path."""
    rows = {}
    for name in sorted(set().union(*runs)):
        values = [run.get(name, (0.0, None, None)) for run in runs]
        percent = [value[0] for value in values]
        if statistics.mean(percent) < SMALLEST:
            continue
        row = {"percent": round(statistics.mean(percent), 2), "deviation": round(statistics.stdev(percent), 2)}
        if all(value[1] is not None for value in values):
            near = [is_near(a, b) for a, b in itertools.combinations(values, 2)]
            row |= {"half_width": round(statistics.mean((value[2] - value[1]) / 2 for value in values), 2),
                    "pairs_in_interval": sum(near), "pairs": len(near)}
        rows[" ".join(name)] = row
    return dict(sorted(rows.items(), key=lambda item: -item[1]["percent"]))


def main():
    with pairs.Bench(__doc__, repetitions=5, add_options=add_options) as bench:
        applications = application_overhead.Applications(bench.scratch, bench.options.steps, bench.options.hpl_size)
        result = {}
        for name in ("lammps", "hpcc"):
            runs = [shares(bench, applications.commands[name]) for _ in range(bench.repetitions)]
            rows = compare([run[1] for run in runs])
            sampled = [row for row in rows.values() if "pairs" in row]
            result[name] = {"path_seconds": pairs.summary([run[0] for run in runs]), "rows": rows,
                            "pairs": sum(row["pairs"] for row in sampled),
                            "pairs_in_interval": sum(row["pairs_in_interval"] for row in sampled)}
        pairs.print_result("row_stability", ranks=bench.options.ranks, runs=bench.repetitions, **result)


if __name__ == "__main__":
    main()
