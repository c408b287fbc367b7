# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns how two ways to do the same are compared: alternately, in one run of the script, so that both see the same
machine; medians, and the median of the ratios of the pairs with their quartiles."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Bench:
    """Options that all scripts share, a scratch directory, and commands run in it."""

    def __init__(self, description, repetitions, add_options=None):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"),
                            help="build directory (default: %(default)s)")
        parser.add_argument("--repetitions", type=int, default=repetitions, help="pairs (default: %(default)s)")
        if add_options is not None:
            add_options(parser)
        self.options = parser.parse_args()
        self.build = os.path.abspath(self.options.build)
        self.repetitions = self.options.repetitions
        self.scratch = tempfile.mkdtemp(prefix="critpath-bench.")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def built(self, *parts):
        path = os.path.join(self.build, *parts)
        if not os.path.exists(path):
            sys.exit(f"{path}: not built; run: cmake --preset release && cmake --build --preset release")
        return path

    def run(self, *command):
        """Standard output of a command and its elapsed seconds."""
        return self.run_measured(*command)[:2]

    def run_measured(self, *command):
        """The same, the memory that the largest process of it has had, in KiB, and standard error."""
        environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_MCA_rmaps_base_oversubscribe="1")
        if os.geteuid() == 0:
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        words = [str(word) for word in command]
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            begin = time.monotonic()
            process = subprocess.Popen(words, cwd=self.scratch, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            errors.seek(0)
            if process.returncode != 0:
                sys.exit(f"{' '.join(words)}: exit code {process.returncode}\n{output.read()}{errors.read()}")
            return output.read(), seconds, usage.ru_maxrss, errors.read()

    def pairs(self, first, second):
        """Calls both alternately, in changing order; the results of each in a list. One pair before does not count."""
        return self.rounds([first, second])

    def rounds(self, ways):
        """As pairs, for any number of ways: every other round goes backwards."""
        results = [[] for _ in ways]
        for way in ways:
            way()
        for repetition in range(self.repetitions):
            order = range(len(ways)) if repetition % 2 == 0 else reversed(range(len(ways)))
            for side in order:
                results[side].append(ways[side]())
        return results


def summary(values):
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return {"median": round(middle, 6), "quartiles": [round(low, 6), round(high, 6)]}


def ratios(numerators, denominators):
    return summary([a / b for a, b in zip(numerators, denominators)])


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = {line.split(":", 1)[1].strip() for line in file if line.startswith("model name")}
    return {"processor": ", ".join(sorted(models)), "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 2)}


def print_result(name, **result):
    print(json.dumps({"benchmark": name, "machine": machine(), **result}, indent=2))
