# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the scripts: what programs under Open MPI need on a small machine or in a container.
# shellcheck shell=bash

# Open MPI asks for these two before it runs as root, which is what a container is.
if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Debian's LAMMPS, hpcc and mpi4py are built with it, so all but the preset mpich must be, too.
if command -v mpirun >/dev/null 2>&1 && ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "mpirun is not that of Open MPI; choose it with: update-alternatives --auto mpirun; update-alternatives --auto mpi" >&2
    exit 1
fi
# One thread a rank: the ranks are already more than the cores.
export OMP_NUM_THREADS=1
# Found by cmake: a second build of the same sources then takes seconds.
if command -v ccache >/dev/null 2>&1; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
