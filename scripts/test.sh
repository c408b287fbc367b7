#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs what is needed, builds, and runs every check: formatting, all tests, the unit tests under sanitizers, the
# installed tools from a fresh prefix, and what depends on the MPI library once more with MPICH. With CI=true a skipped
# test is a failure unless scripts/allowed_skips.txt allows its reason.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bash scripts/setup.sh
. scripts/environment.sh
# Tests run side by side, so that Open MPI does not see that its ranks share cores: waiting ranks shall give way.
export OMPI_MCA_mpi_yield_when_idle=1
# What Open MPI takes here anyway; to look for fast networks first costs a fifth of a second each time.
export OMPI_MCA_pml=ob1
# Starting programs takes much of the processors' time. No test needs what hwloc asks the PCI bus for, which a virtual
# machine answers slowly, nor the files on the disk in which Open MPI's launcher tells its ranks what messages can tell.
export HWLOC_COMPONENTS=-pci,-linux:pci,-linux:io PMIX_MCA_gds=hash

scratch=$(mktemp -d "${TMPDIR:-/tmp}/critpath-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# More than the cores: much of a test is waiting (for mpirun to end, for a time limit). Tests in which cores matter run
# alone.
jobs=$((4 * $(getconf _NPROCESSORS_ONLN)))

step() { echo "== $*" >&2; }

# run_ctest <preset> <ctest option>...   fails as ctest does; ends the script where a test was skipped that must not be
run_ctest() {
    local preset=$1 status=0
    shift
    # The reasons for skips stand at the end of what tests print, which is cut without the last option.
    ctest --preset "$preset" --output-junit "$scratch/$preset.xml" "$@" --test-output-size-passed 100000 || status=$?
    /usr/bin/python3 scripts/check_skips.py "$scratch/$preset.xml" scripts/allowed_skips.txt || exit 1
    return "$status"
}

# only_disturbed <preset>: whether all that failed is labelled as what other processes on the machine can disturb.
only_disturbed() {
    local failed=build/$1/Testing/Temporary/LastTestsFailed.log may_be
    may_be=$(ctest --preset "$1" --show-only --label-regex '^measures_time$' | sed -n 's/^ *Test *#[0-9]*: //p')
    [ -s "$failed" ] && ! cut -d: -f2- "$failed" | grep --invert-match --line-regexp --fixed-strings "$may_be" >/dev/null
}

# run_tests <preset> <ctest option>...
run_tests() {
    local preset=$1 status=0
    rm -f "build/$preset/Testing/Temporary/LastTestsFailed.log"
    run_ctest "$@" --parallel "$jobs" || status=$?
    if [ "$status" -ne 0 ] && only_disturbed "$preset"; then
        step "what failed may have been disturbed: once more, alone"
        status=0
        run_ctest "$preset" --rerun-failed || status=$?
    fi
    return "$status"
}

step "formatting"
find analysis bench collector formats replayer tests -name '*.[ch]' -o -name '*.[ch]pp' |
    sort | xargs clang-format --dry-run --Werror

step "build (ci)"
cmake --preset ci >"$scratch/configure.log" || { cat "$scratch/configure.log"; exit 1; }
cmake --build --preset ci

step "unit tests under AddressSanitizer and UndefinedBehaviorSanitizer"
cmake --preset asan >"$scratch/configure.log" || { cat "$scratch/configure.log"; exit 1; }
cmake --build --preset asan
# Left out is what runs whole tools or the preload library, which is not sanitized. Open MPI keeps memory until the process
# ends.
ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" run_tests asan --label-exclude 'e2e|mpi'

step "the installed tools"
cmake --install build/ci --prefix "$scratch/prefix" >/dev/null
bash scripts/check_install.sh "$scratch/prefix"

step "all tests"
run_tests ci

step "the collector under MPICH"
# What is the same with each MPI library is not compiled once more.
cmake --preset mpich "-DCRITPATH_LIBRARIES_FROM=$root/build/ci" >"$scratch/configure.log" ||
    { cat "$scratch/configure.log"; exit 1; }
cmake --build --preset mpich
# The preset leaves out the endings in which a rank ends without MPI_Finalize: Hydra then kills the other processes, those
# that observe the ranks among them, at one moment or another.
# Not all of its ranks give way while they wait: fewer at the same time than of Open MPI's.
jobs=$((2 * $(getconf _NPROCESSORS_ONLN))) run_tests mpich
