#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""How long `cpreport` takes for each of its views, on the result of a run of LAMMPS on many ranks (more than the cores; the
analysis does not know), and the processor time of that, with objdump's. The medians should be below 0.2 s.
"""

import json
import os
import resource

import application_overhead
import pairs

VIEWS = [line.split() for line in """
summary
hotspots
hotspots --sort all
hotspots --inclusive
hotspots --inclusive --inlined
hotspots --inlined
hotspots --inlined --sort all
hotspots --by line
hotspots --by line --sort all
hotspots --by line --rank 1
hotspots --by line --from 40% --to 60%
hotspots --by line --event page-faults
hotspots --by module
hotspots --by callpath
hotspots --by callpath --recursion all
hotspots --by callpath --event page-faults
hotspots --by rank
hotspots --by node
hotspots --by phase
hotspots --by thread
hotspots --by thread --module MPI
hotspots --by transfer
hotspots --inside
hotspots --from 40% --to 60%
hotspots --rank 1
hotspots --event page-faults
explain
explain --top 0
path
path --all
path --all --format json
annotate
annotate --instructions
diff
diff --by line
diff --by inlined
""".strip().splitlines()]


def add_options(parser):
    parser.add_argument("--ranks", type=int, default=64, help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=500, help="of LAMMPS (default: %(default)s)")
    parser.add_argument("--trace", help="that cpreplay has been run on, instead of a run of LAMMPS")


def function_on_path(bench, cpreport, trace):
    """One that samples have found on the path, of those the one with most time on all ranks."""
    text = bench.run(cpreport, "hotspots", "--sort", "all", "--top", "0", "--format", "json", trace)[0]
    return next(row["function"] for row in json.loads(text)["hotspots"]
                if row["kind"] == "sampled" and row["path_samples"] > 0)


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    with pairs.Bench(__doc__, repetitions=9, add_options=add_options) as bench:
        cpreport = bench.built("bin", "cpreport")
        trace = os.path.abspath(bench.options.trace) if bench.options.trace else os.path.join(bench.scratch, "trace")
        if not bench.options.trace:
            applications = application_overhead.Applications(bench.scratch, bench.options.steps)
            bench.run("mpirun", "--oversubscribe", "-n", bench.options.ranks, bench.built("bin", "cpcollect"), "-q", "-o",
                      trace, *applications.commands["lammps"])
            bench.run("mpirun", "-n", min(os.cpu_count(), bench.options.ranks), bench.built("bin", "cpreplay"), "-q", trace)
        function = function_on_path(bench, cpreport, trace)

        def view(words):
            more = [function] if words[0] == "annotate" else [trace] if words[0] == "diff" else []

            def run():
                before = processor_seconds()
                seconds = bench.run(cpreport, *words, *more, trace)[1]
                return seconds, processor_seconds() - before

            return run

        measured = bench.rounds([view(words) for words in VIEWS])
        result = {}
        for i, name in enumerate(("seconds", "processor_seconds")):
            result[name] = {" ".join(words): pairs.summary([run[i] for run in runs])
                            for words, runs in zip(VIEWS, measured)}
        pairs.print_result("report_latency", repetitions=bench.repetitions, function=function, **result)


if __name__ == "__main__":
    main()
