#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# check_install.sh PREFIX   records, replays and reports a small program with the tools installed in PREFIX, and
# fails if they need anything outside it. The build directory is not used.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: scripts/check_install.sh PREFIX" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
. "$here/environment.sh"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/critpath-install.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export PATH="$prefix/bin:$PATH"

mpirun --oversubscribe -n 2 cpcollect -q -o trace /usr/bin/python3 -c '
from mpi4py import MPI
ranks = MPI.COMM_WORLD.allreduce(1)
if MPI.COMM_WORLD.rank == 0:
    print(ranks)' >output
[ "$(cat output)" = 2 ] || { echo "check_install: the recorded program printed something else:" >&2; cat output >&2; exit 1; }
mpirun --oversubscribe -n 2 cpreplay trace >replay.log 2>&1 || { cat replay.log >&2; exit 1; }
cpreport hotspots trace >hotspots.txt
grep -q . hotspots.txt || { echo "check_install: cpreport printed nothing" >&2; exit 1; }
for tool in cpcollect cpreplay cpreport; do
    "$tool" --version >/dev/null
done
echo "check_install: the tools in $prefix work" >&2
