! SPDX-FileCopyrightText: the critpath authors
! SPDX-License-Identifier: BSD-3-Clause
!
! usage: mpirun -n N imbalance
!
! Rank i of N does i + 1 shares of work in a subroutine of a module, then all exchange a value in a ring and add up. The
! last rank never waits, so the critical path is its work.
#include "bindings.inc"
module physics
    implicit none
contains
    ! `seconds` of processor time, and a number that keeps the compiler from leaving it out.
    subroutine relax(seconds, energy)
        real, intent(in) :: seconds
        double precision, intent(inout) :: energy
        real :: begin, time
        integer :: i
        call cpu_time(begin)
        do
            do i = 1, 200000
                energy = energy * 0.999999d0 + 1d-6 / (energy + 1d0)
            end do
            call cpu_time(time)
            if (time - begin >= seconds) exit
        end do
    end subroutine
end module

program imbalance
    use physics
#include "use_mpi.inc"
    integer :: rank, size, step, ierr
    double precision :: energy, left, total
    REQUEST_T :: requests(2)
    energy = 1
    left = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank IERROR)
    call MPI_Comm_size(MPI_COMM_WORLD, size IERROR)
    do step = 1, 4
        call relax(0.1 * (rank + 1), energy)
        call MPI_Irecv(left, 1, MPI_DOUBLE_PRECISION, modulo(rank - 1, size), step, MPI_COMM_WORLD, requests(1) IERROR)
        call MPI_Isend(energy, 1, MPI_DOUBLE_PRECISION, modulo(rank + 1, size), step, MPI_COMM_WORLD, requests(2) IERROR)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERROR)
        call MPI_Allreduce(left, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERROR)
    end do
    if (rank == 0) print '(a,l2)', 'energy is finite', total < huge(total)
    call MPI_Finalize(ierr)
end program
