#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Time of the literal engine beside that of the default one, on a halo exchange of about a million events: of the phases
that they do differently, and of the whole replay."""

import os
import re
import shutil

import pairs

RANKS = 2
PHASES = ("pair", "collect", "restore")


def main():
    with pairs.Bench(__doc__, repetitions=9) as bench:
        trace = os.path.join(bench.scratch, "halo")
        bench.run("mpirun", "-n", RANKS, bench.built("bin", "cpcollect"), "-q", "-o", trace,
                  bench.built("workloads", "halo"), 28000)

        def replay(processes, engine):
            """Seconds of each phase, and of the whole process."""
            shutil.rmtree(os.path.join(trace, "critpath"), ignore_errors=True)
            output, seconds = bench.run("sh", "-c", '"$@" 2>&1', "sh", "mpirun", "-n", processes,
                                        bench.built("bin", "cpreplay"), "-q", "--progress=always", f"--engine={engine}",
                                        trace)
            phases = dict(re.findall(r"^cpreplay: (\w+) +([0-9.]+) s", output, re.M))
            return {**{phase: float(phases[phase]) for phase in PHASES}, "whole": seconds}

        result = {}
        for processes in (1, RANKS):
            aggregated, literal = bench.pairs(*(lambda engine=engine: replay(processes, engine)
                                                for engine in ("aggregated", "literal")))
            result[f"{processes} processes"] = {
                what: {"aggregated_seconds": pairs.summary([run[what] for run in aggregated]),
                       "literal_seconds": pairs.summary([run[what] for run in literal]),
                       "literal_by_aggregated": pairs.ratios([max(run[what], 1e-3) for run in literal],
                                                             [max(run[what], 1e-3) for run in aggregated])}
                for what in (*PHASES, "whole")}
        pairs.print_result("engines", pairs=bench.repetitions, **result)


if __name__ == "__main__":
    main()
