#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Records LAMMPS on 2 ranks, one of which has most of the work, and prints where the time went: once over all ranks,
# once on the critical path.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ranks=2
bash "$root/scripts/setup.sh"
. "$root/scripts/environment.sh"

log=$(mktemp "${TMPDIR:-/tmp}/critpath-demo-build.XXXXXX")
if ! (cd "$root" && cmake --preset release -DCRITPATH_TESTS=OFF -DCRITPATH_BENCH=OFF && cmake --build --preset release) \
        >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "demo: the build failed; everything it said is in $log" >&2
    exit 1
fi
rm -f "$log"

export PATH="$root/build/release/bin:$PATH"
work=$(mktemp -d "${TMPDIR:-/tmp}/critpath-demo.XXXXXX")
cd "$work"

show() {
    echo
    echo "\$ $*"
}

echo "demo: the trace will be in $work/trace" >&2
input=$root/scripts/demo/in.imbalance
show mpirun -n $ranks cpcollect -o trace lmp -in in.imbalance
mpirun -n $ranks cpcollect -o trace lmp -in "$input" -log none >lammps.out
grep '^Loop time' lammps.out

show mpirun -n $ranks cpreplay trace
mpirun -n $ranks cpreplay trace

show cpreport hotspots --sort all trace
cpreport hotspots --sort all trace

show cpreport hotspots trace
cpreport hotspots trace

echo
echo "demo: the trace stays in $work/trace; look further with 'cpreport path $work/trace', remove it with 'rm -r $work'" >&2
