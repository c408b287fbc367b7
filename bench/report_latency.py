#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""How long `cpreport` takes for each of its views, on the result of a run of LAMMPS on many ranks (more than the cores; the
analysis does not know). The medians should be below 0.2 s.
"""

import os

import application_overhead
import pairs

VIEWS = [
    ("summary",), ("hotspots",), ("hotspots", "--sort", "all"), ("hotspots", "--inclusive"), ("hotspots", "--inlined"),
    ("hotspots", "--by", "line"), ("hotspots", "--by", "module"), ("hotspots", "--by", "callpath"),
    ("hotspots", "--by", "callpath", "--recursion", "all"), ("hotspots", "--by", "rank"), ("hotspots", "--by", "node"),
    ("hotspots", "--by", "phase"), ("hotspots", "--by", "thread"), ("hotspots", "--by", "transfer"),
    ("hotspots", "--inside"), ("hotspots", "--from", "40%", "--to", "60%"), ("hotspots", "--rank", "1"),
    ("hotspots", "--event", "page-faults"), ("hotspots", "--by", "line", "--event", "page-faults"),
    ("explain",), ("explain", "--top", "0"), ("path",), ("annotate",), ("diff",)
]


def add_options(parser):
    parser.add_argument("--ranks", type=int, default=64, help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=500, help="of LAMMPS (default: %(default)s)")
    parser.add_argument("--function", default="LAMMPS_NS::PairLJCut::compute(int, int)",
                        help="to annotate (default: %(default)s)")


def main():
    with pairs.Bench(__doc__, repetitions=9, add_options=add_options) as bench:
        applications = application_overhead.Applications(bench.scratch, bench.options.steps)
        trace = os.path.join(bench.scratch, "trace")
        bench.run("mpirun", "--oversubscribe", "-n", bench.options.ranks, bench.built("bin", "cpcollect"), "-q", "-o", trace,
                  *applications.commands["lammps"])
        bench.run("mpirun", "-n", min(os.cpu_count(), bench.options.ranks), bench.built("bin", "cpreplay"), "-q", trace)
        cpreport = bench.built("bin", "cpreport")

        def view(words):
            more = [bench.options.function] if words == ("annotate",) else [trace] if words == ("diff",) else []
            return lambda: bench.run(cpreport, *words, *more, trace)[1]

        seconds = bench.rounds([view(words) for words in VIEWS])
        pairs.print_result("report_latency", ranks=bench.options.ranks, repetitions=bench.repetitions,
                           seconds={" ".join(words): pairs.summary(values) for words, values in zip(VIEWS, seconds)})


if __name__ == "__main__":
    main()
