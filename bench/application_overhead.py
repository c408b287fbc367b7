#!/usr/bin/env python3
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Elapsed time of LAMMPS and hpcc with and without cpcollect, with everything that is recorded by default: of LAMMPS' time
loop (recording), of hpcc's two RandomAccess runs between processes, which poll at each update, of all else in hpcc, and of
the whole jobs (recording, and making the archive in MPI_Finalize). One rank a core, bound to it, so that nobody
competes, unless --ranks asks for more: then they share the cores and give way while they wait, also in the workload
`turns`, which does nothing but that. Also the bytes of the archive an OTF2 event, and the memory of the largest process.
"""

import json
import os
import re
import shutil

import pairs

HPL_SIZE = 3000  # instead of the 1500 of the end-to-end tests, of which a third is the start of the job


def event_bytes(trace):
    """Of all event files."""
    directory = os.path.join(trace, "traces")
    return sum(os.path.getsize(os.path.join(directory, f)) for f in os.listdir(directory) if f.endswith(".evt"))


def add_options(parser):
    parser.add_argument("--also", action="append", default=[], metavar="OPTIONS",
                        help="measure cpcollect with these options as well; may be repeated")
    parser.add_argument("--steps", type=int, default=1500,
                        help="of LAMMPS; where the machine changes its speed, many short runs say more (default: 1500)")
    parser.add_argument("--only", choices=("lammps", "hpcc", "turns"), help="only this application")
    parser.add_argument("--ranks", type=int, default=min(os.cpu_count(), 4), help="default: one a core, at most 4")


class Applications:
    """How each is run in the scratch directory, and what it says of its parts."""

    def __init__(self, scratch, steps, hpl_size=HPL_SIZE):
        self.summary = os.path.join(scratch, "hpccoutf.txt")
        with open(os.path.join(pairs.ROOT, "tests", "e2e", "programs", "hpccinf.txt"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(scratch, "hpccinf.txt"), "w", encoding="utf-8") as file:
            file.write(re.sub(r"^\d+ +Ns$", f"{hpl_size} Ns", text, flags=re.MULTILINE))
        script = os.path.join(pairs.ROOT, "scripts", "demo", "in.imbalance")
        turns = os.path.join(pairs.ROOT, "build", "release", "workloads", "turns")
        self.commands = {"lammps": ("lmp", "-in", script, "-log", "none", "-var", "steps", steps), "hpcc": ("hpcc",),
                         "turns": (turns, 600)}

    def parts(self, name, output, job_seconds):
        if name == "turns":
            return {}
        if name == "lammps":
            return {"loop_seconds": float(re.search(r"Loop time of (\S+)", output).group(1))}
        with open(self.summary, encoding="utf-8") as file:
            text = file.read()
        os.remove(self.summary)  # hpcc appends
        polling = sum(float(t) for t in re.findall(r"^MPIRandomAccess(?:_LCG)?_time=(\S+)", text, re.MULTILINE))
        return {"random_access_seconds": polling, "else_seconds": job_seconds - polling}


def main():
    with pairs.Bench(__doc__, repetitions=9, add_options=add_options) as bench:
        cpcollect, read_trace = bench.built("bin", "cpcollect"), bench.built("bench", "read_trace")
        trace = os.path.join(bench.scratch, "trace")
        applications = Applications(bench.scratch, bench.options.steps)
        ranks = bench.options.ranks
        placement = ("--bind-to", "core") if ranks <= os.cpu_count() else ("--oversubscribe",)

        def measure(name, *collector):
            shutil.rmtree(trace, ignore_errors=True)
            output, seconds, kib, _ = bench.run_measured("mpirun", *placement, "-n", ranks, *collector,
                                                      *applications.commands[name])
            result = {"job_seconds": seconds, "peak_memory_kib": kib} | applications.parts(name, output, seconds)
            if collector:
                result["events"] = json.loads(bench.run(read_trace, os.path.join(trace, "traces.otf2"))[0])["events"]
                result["bytes_per_event"] = event_bytes(trace) / result["events"]
            return result

        def ways(name):
            collectors = {"without": (), "recorded": (cpcollect, "-q", "-o", trace)}
            collectors |= {options: (*collectors["recorded"], *options.split()) for options in bench.options.also}
            return {way: lambda collector=collector: measure(name, *collector) for way, collector in collectors.items()}

        result = {}
        for name in [bench.options.only] if bench.options.only else applications.commands:
            named = ways(name)
            runs = dict(zip(named, bench.rounds(list(named.values()))))
            result[name] = {}
            for way, measured in runs.items():
                for what in measured[0]:
                    figures = {way: pairs.summary([run[what] for run in measured])}
                    for other in named:
                        if way != "without" and other != way and what in runs[other][0]:
                            figures[f"{way} / {other}"] = pairs.ratios([run[what] for run in measured],
                                                                       [run[what] for run in runs[other]])
                    result[name].setdefault(what, {}).update(figures)
        pairs.print_result("application_overhead", ranks=ranks, pairs=bench.repetitions, **result)


if __name__ == "__main__":
    main()
