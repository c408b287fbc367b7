# SPDX-License-Identifier: BSD-3-Clause
"""Runs the synthetic recorder under MPI in a temporary directory; shared by the tests of this directory."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from machine import MPI_ENVIRONMENT  # noqa: E402


def options(*more):
    parser = argparse.ArgumentParser()
    for name in ("mpiexec", "program", "library", "otf2-print", *more):
        parser.add_argument(f"--{name}", required=True)
    return parser.parse_args()


def environment():
    return os.environ | MPI_ENVIRONMENT


def run(args, trace, *extra, ranks=4):
    """Returns what rank 0 reports about the archive step, a dict."""
    command = [args.mpiexec, "-n", str(ranks), args.program, args.library, str(trace), *extra]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=90)
    expect(done.returncode, 0, f"exit code of {' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def scratch():
    return tempfile.TemporaryDirectory(prefix="critpath-archive-")


def expect(found, wanted, what):
    if found == wanted:
        return
    print(f"{what}\n  found:  {found}\n  wanted: {wanted}", file=sys.stderr)
    if isinstance(found, list) and isinstance(wanted, list):
        for i in range(max(len(found), len(wanted))):
            pair = found[i : i + 1], wanted[i : i + 1]
            if pair[0] != pair[1]:
                print(f"  first difference at {i}: found {pair[0]}, wanted {pair[1]}", file=sys.stderr)
                break
    sys.exit(1)


def files(directory):
    return sorted(str(p.relative_to(directory)) for p in Path(directory).rglob("*") if p.is_file())
