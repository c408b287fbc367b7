#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# fake_srun.sh MPIEXEC MODE N COMMAND...     starts N tasks with the variables that srun sets, in job 4711
#   pmi     tasks and MPI library know each other, as with srun --mpi=pmi2 or pmix: of mpiexec only the connection stays
#   none    each task is an MPI program of its own, as with srun --mpi=none
#   below   mpiexec, as the task of another launcher
set -u
mpiexec=$1 mode=$2 tasks=$3
shift 3

# In a shell that has $rank.
task_variables='
    export SLURM_JOB_ID=4711 SLURM_STEP_ID=2 SLURM_STEP_NUM_TASKS=$tasks SLURM_NTASKS=$tasks
    export SLURM_PROCID=$rank SLURM_LOCALID=$rank SLURM_NODEID=0'

case $mode in
pmi)
    export tasks
    exec "$mpiexec" -n "$tasks" sh -c '
        rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}
        unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE
        unset MPI_LOCALRANKID MPI_LOCALNRANKS
        '"$task_variables"'
        exec "$@"' sh "$@"
    ;;
none)
    status=0 started=
    rank=0
    while [ "$rank" -lt "$tasks" ]; do
        (
            eval "$task_variables"
            exec "$@"
        ) &
        started="$started $!"
        rank=$((rank + 1))
    done
    for task in $started; do
        wait "$task" || status=$?
    done
    exit "$status"
    ;;
below)
    # What the outer launcher told its only task is inherited by all ranks.
    export SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_STEP_ID=2
    if "$mpiexec" --version 2>&1 | grep -q HYDRA; then
        export PMIX_RANK=0
    else
        export PMI_RANK=0 PMI_SIZE=1
    fi
    export JOB_ID=4711
    exec "$mpiexec" -n "$tasks" "$@"
    ;;
*)
    echo "fake_srun: $mode: no such mode" >&2
    exit 2
    ;;
esac
