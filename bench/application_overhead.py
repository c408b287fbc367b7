#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Elapsed time of LAMMPS with and without cpcollect: of its time loop (recording) and of the whole job (recording, and
making the archive in MPI_Finalize). One rank a core, so that nobody competes."""

import os
import re
import shutil

import pairs


def main():
    with pairs.Bench(__doc__, repetitions=9) as bench:
        cpcollect = bench.built("bin", "cpcollect")
        script = os.path.join(pairs.ROOT, "scripts", "demo", "in.imbalance")
        trace = os.path.join(bench.scratch, "trace")
        ranks = min(os.cpu_count(), 4)
        lammps = ("lmp", "-in", script, "-log", "none")

        def times(*command):
            output, seconds = bench.run("mpirun", "-n", ranks, *command)
            return float(re.search(r"Loop time of (\S+)", output).group(1)), seconds

        def recorded():
            shutil.rmtree(trace, ignore_errors=True)
            return times(cpcollect, "-q", "-o", trace, *lammps)

        without, with_ = bench.pairs(lambda: times(*lammps), recorded)
        result = {}
        for index, what in enumerate(("loop", "job")):
            plain, measured = [run[index] for run in without], [run[index] for run in with_]
            result[what] = {"without_seconds": pairs.summary(plain), "recorded_seconds": pairs.summary(measured),
                            "recorded_by_without": pairs.ratios(measured, plain)}
        pairs.print_result("application_overhead", application="lmp", ranks=ranks, pairs=bench.repetitions, **result)


if __name__ == "__main__":
    main()
