! SPDX-FileCopyrightText: the critpath authors
! SPDX-License-Identifier: BSD-3-Clause
!
! usage: mpirun -n 2 visible FILE            all but:
!        mpirun -n 2 visible FILE spawn      two processes are started by MPI, without arguments
!        mpirun -n 2 visible FILE abort      rank 1 calls MPI_Abort(MPI_COMM_WORLD, 7)
!
! Prints everything that MPI lets a Fortran program see, where it is the same in each run: with and without the collector
! the output must not differ by a character.
#include "bindings.inc"
module handlers
#include "use_mpi.inc"
    integer :: errors = 0, copies = 0
contains
#if BINDING == 8 || BINDING == 108
    subroutine count_error(comm, error)
        type(MPI_Comm) :: comm
        integer :: error
#else
    subroutine count_error(comm, error)
        integer :: comm, error
#endif
        integer :: size, ierr, class
        errors = errors + 1
        call MPI_Comm_size(comm, size, ierr)
        call MPI_Error_class(error, class, ierr)
        print '(a,i0,a,i0)', 'handler: class ', class, ' on a communicator of ', size
    end subroutine

#if BINDING == 77 || BINDING == 90
    subroutine copy_attribute(comm, keyval, extra, old, new, flag, ierror)
        integer :: comm, keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extra, old, new
        logical :: flag
        copies = copies + 1
        new = old + extra
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine add_twice(in, inout, length, type)
        integer :: length, type
        integer :: in(length), inout(length)
        inout = inout + 2 * in
    end subroutine
#endif
end module

program visible
    use handlers
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: rank, other, ierr
    integer :: a(64), b(64), i
    character(len=200) :: name, mode
    COMM_T :: parent

    ierr = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank IERROR)
    call MPI_Comm_get_parent(parent IERROR)
    if (parent /= MPI_COMM_NULL) then
        call child
    else
        other = 1 - rank
        a = [(100 * rank + i, i = 1, 64)]
        b = -1
        call get_command_argument(1, name)
        call get_command_argument(2, mode)
        if (mode == 'spawn') then
            call spawn
        else if (mode == 'abort') then
            call abort_with_7
        else
            call statuses
            call null_requests
            call finished_at_once
            call completions
            call types
            call constants
            call errors_returned
            call topologies
            call callbacks
            call windows
            call files
        end if
    end if
    call MPI_Finalize(ierr)
    print '(a,i0)', 'finalized ', ierr

contains

    subroutine show(what, status)
        character(len=*), intent(in) :: what
        STATUS_T, intent(in) :: status
        integer :: count
        logical :: cancelled
        call MPI_Get_count(status, MPI_INTEGER, count IERROR)
        cancelled = .false.
        if (what /= 'probe') call MPI_Test_cancelled(status, cancelled IERROR)  ! MPICH leaves it as it was
        print '(a,4(1x,i0),1x,l1,1x,i0)', what, rank, SOURCE_OF(status), TAG_OF(status), count, cancelled, ierr
    end subroutine

    subroutine statuses
        STATUS_T :: status
        if (rank == 0) then
            call MPI_Ssend(a, 3, MPI_INTEGER, 1, 5, MPI_COMM_WORLD IERROR)
            call MPI_Ssend(a, 0, MPI_INTEGER, 1, 6, MPI_COMM_WORLD IERROR)
        else
            call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status IERROR)
            call show('probe', status)
            call MPI_Recv(b, 64, MPI_INTEGER, SOURCE_OF(status), TAG_OF(status), MPI_COMM_WORLD, status IERROR)
            call show('recv', status)
            call MPI_Recv(b, 64, MPI_INTEGER, 0, 6, MPI_COMM_WORLD, status IERROR)
            call show('empty', status)
        end if
        call MPI_Recv(b, 64, MPI_INTEGER, MPI_PROC_NULL, 6, MPI_COMM_WORLD, status IERROR)
        call show('null', status)
        call MPI_Sendrecv(a, 2, MPI_INTEGER, other, 7, b, 3, MPI_INTEGER, other, 7, MPI_COMM_WORLD, status IERROR)
        call show('sendrecv', status)
        print '(a,4(1x,i0))', 'data', rank, b(1:3)
    end subroutine

    subroutine null_requests
        REQUEST_T :: r(3)
        STATUS_T :: status
        STATUSES_T(s, 3)
        integer :: index, count, indices(3), guard(2)
        logical :: flag
        r = MPI_REQUEST_NULL
        indices = -7
        guard = 4711
        call MPI_Wait(r(1), status IERROR)
        call show('null wait', status)
        call MPI_Waitall(3, r, s IERROR)
        print '(a,6(1x,i0))', 'null waitall', (SOURCE_AT(s, i), TAG_AT(s, i), i = 1, 3)
        call MPI_Waitany(3, r, index, status IERROR)
        print '(a,l2)', 'null waitany', index == MPI_UNDEFINED
        call MPI_Waitsome(3, r, count, indices, s IERROR)
        print '(a,l2,3(1x,i0))', 'null waitsome', count == MPI_UNDEFINED, indices
        flag = .false.
        call MPI_Test(r(1), flag, MPI_STATUS_IGNORE IERROR)
        print '(a,l2)', 'null test', flag
        call MPI_Testall(3, r, flag, MPI_STATUSES_IGNORE IERROR)
        print '(a,l2)', 'null testall', flag
        call MPI_Testany(3, r, index, flag, MPI_STATUS_IGNORE IERROR)
        print '(a,2l2)', 'null testany', index == MPI_UNDEFINED, flag
        call MPI_Testsome(3, r, count, indices, MPI_STATUSES_IGNORE IERROR)
        print '(a,l2,3(1x,i0))', 'null testsome', count == MPI_UNDEFINED, indices
        call MPI_Waitall(0, r, s IERROR)
        call MPI_Request_get_status(r(1), flag, status IERROR)
        print '(a,l2)', 'null status', flag
        ! inactive
        call MPI_Recv_init(b, 3, MPI_INTEGER, other, 1, MPI_COMM_WORLD, r(2) IERROR)
        call MPI_Waitany(3, r, index, status IERROR)
        print '(a,l2)', 'inactive waitany', index == MPI_UNDEFINED
        call MPI_Test(r(2), flag, status IERROR)
        call show('inactive test', status)
        call MPI_Start(r(2) IERROR)
        call MPI_Send(a, 3, MPI_INTEGER, other, 1, MPI_COMM_WORLD IERROR)
        call MPI_Waitany(3, r, index, status IERROR)
        print '(a,i0,l2)', 'persistent ', index, r(2) /= MPI_REQUEST_NULL
        call show('persistent', status)
        call MPI_Request_free(r(2) IERROR)
        print '(a,l2,2(1x,i0))', 'freed', r(2) == MPI_REQUEST_NULL, guard
    end subroutine

    ! Open MPI gives requests that are finished when they are posted one handle.
    subroutine finished_at_once
        REQUEST_T :: r(4), copies(4)
        STATUSES_T(s, 4)
        integer :: count, indices(4)
        do i = 1, 4
            call MPI_Isend(a, i, MPI_INTEGER, other, i, MPI_COMM_WORLD, r(i) IERROR)
        end do
        do i = 1, 4
            call MPI_Recv(b, 64, MPI_INTEGER, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
        end do
        copies = r
        count = 0
        do while (count < 4)
            call MPI_Waitsome(4, copies, i, indices, s IERROR)
            count = count + i
        end do
        print '(a,4l2)', 'sent', (copies(i) == MPI_REQUEST_NULL, i = 1, 4)
    end subroutine

    subroutine completions
        REQUEST_T :: r(4)
        STATUS_T :: status
        STATUSES_T(s, 4)
        integer :: index, count, indices(4), seen(4), done
        logical :: flag
        r(1) = MPI_REQUEST_NULL
        do i = 2, 4
            call MPI_Irecv(b(10 * i), 10, MPI_INTEGER, other, i, MPI_COMM_WORLD, r(i) IERROR)
        end do
        call MPI_Testsome(4, r, count, indices, s IERROR)
        print '(a,1x,i0)', 'testsome', count
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        call MPI_Send(a, 3, MPI_INTEGER, other, 3, MPI_COMM_WORLD IERROR)
        call MPI_Waitany(4, r, index, status IERROR)
        print '(a,1x,i0,l2)', 'waitany', index, r(3) == MPI_REQUEST_NULL
        call show('waitany', status)
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        call MPI_Send(a, 4, MPI_INTEGER, other, 4, MPI_COMM_WORLD IERROR)
        do
            call MPI_Testany(4, r, index, flag, status IERROR)
            if (flag) exit
        end do
        print '(a,1x,i0)', 'testany', index
        call show('testany', status)
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        call MPI_Send(a, 2, MPI_INTEGER, other, 2, MPI_COMM_WORLD IERROR)
        do
            call MPI_Testsome(4, r, count, indices, s IERROR)
            if (count /= 0) exit
        end do
        print '(a,4(1x,i0))', 'testsome', count, indices(1), SOURCE_AT(s, 1), TAG_AT(s, 1)
        ! several at once: which ones finish together is not certain, their sum is
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        do i = 1, 4
            call MPI_Irecv(b(10 * i), 10, MPI_INTEGER, other, i, MPI_COMM_WORLD, r(i) IERROR)
        end do
        do i = 1, 4
            call MPI_Send(a, i, MPI_INTEGER, other, i, MPI_COMM_WORLD IERROR)
        end do
        seen = 0
        done = 0
        do while (done < 4)
            call MPI_Waitsome(4, r, count, indices, s IERROR)
            do i = 1, count
                if (indices(i) >= 1) seen(indices(i)) = seen(indices(i)) + TAG_AT(s, i)
            end do
            done = done + count
        end do
        print '(a,5(1x,i0))', 'waitsome', done, seen
        call MPI_Irecv(b, 10, MPI_INTEGER, other, 77, MPI_COMM_WORLD, r(1) IERROR)
        call MPI_Cancel(r(1) IERROR)
        call MPI_Wait(r(1), status IERROR)
        call MPI_Test_cancelled(status, flag IERROR)
        print '(a,l2)', 'cancelled', flag
    end subroutine

    subroutine types
        TYPE_T :: every_second
        STATUS_T :: status
        integer :: count
        call MPI_Type_vector(4, 1, 2, MPI_INTEGER, every_second IERROR)
        call MPI_Type_commit(every_second IERROR)
        b = -1
        call MPI_Sendrecv(a, 1, every_second, other, 1, b, 64, MPI_INTEGER, other, 1, MPI_COMM_WORLD, status IERROR)
        call MPI_Get_elements(status, MPI_INTEGER, count IERROR)
        print '(a,6(1x,i0))', 'vector', count, b(1:5)
        b = -1
        call MPI_Sendrecv(a, 4, MPI_INTEGER, other, 1, b, 1, every_second, other, 1, MPI_COMM_WORLD, status IERROR)
        call MPI_Type_free(every_second IERROR)
        call MPI_Get_elements(status, MPI_INTEGER, count IERROR)
        print '(a,9(1x,i0))', 'vector', count, b(1:8)
        ! a section of an array
        b = -1
        call MPI_Sendrecv(a(1:10:3), 4, MPI_INTEGER, other, 1, b, 4, MPI_INTEGER, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
        print '(a,5(1x,i0))', 'section', b(1:5)
    end subroutine

    subroutine constants
        TYPE_T :: absolute
        integer(kind=MPI_ADDRESS_KIND) :: address
        integer, save :: here(3), there(3)
        integer :: sums(2)
        REQUEST_T :: request
        here = a(1:3)
        there = -1
        call MPI_Get_address(here, address IERROR)
        call MPI_Type_create_hindexed(1, [3], [address], MPI_INTEGER, absolute IERROR)
        call MPI_Type_commit(absolute IERROR)
        call MPI_Isend(MPI_BOTTOM, 1, absolute, other, 1, MPI_COMM_WORLD, request IERROR)
        call MPI_Recv(there, 3, MPI_INTEGER, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        print '(a,3(1x,i0))', 'bottom', there
        call MPI_Bcast(MPI_BOTTOM, 1, absolute, 1, MPI_COMM_WORLD IERROR)
        print '(a,3(1x,i0))', 'bottom', here
        call MPI_Type_free(absolute IERROR)
        sums = [rank + 1, 10]
        call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
        print '(a,2(1x,i0))', 'in place', sums
        b(1:2) = a(1) * (rank + 1)
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, MPI_COMM_WORLD IERROR)
        print '(a,2(1x,i0))', 'in place', b(1:2)
        print '(a,2l2)', 'ignored', all([MPI_STATUS_SIZE] > 0), MPI_PROC_NULL < 0
    end subroutine

    subroutine errors_returned
        STATUS_T :: status
        STATUSES_T(s, 2)
        REQUEST_T :: r(2)
        integer :: class, length
        character(len=MPI_MAX_ERROR_STRING) :: text
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
        ierr = 0
        call MPI_Send(a, 1, MPI_INTEGER, 99, 1, MPI_COMM_WORLD IERROR)
        call explain('rank', text, length, class)
        call MPI_Bcast(a, -1, MPI_INTEGER, 0, MPI_COMM_WORLD IERROR)
        call explain('count', text, length, class)
        call MPI_Barrier(MPI_COMM_NULL IERROR)
        call explain('communicator', text, length, class)
        call MPI_Send(a, 4, MPI_INTEGER, other, 1, MPI_COMM_WORLD IERROR)
        call MPI_Recv(b, 2, MPI_INTEGER, other, 1, MPI_COMM_WORLD, status IERROR)
        call explain('truncated', text, length, class)
        print '(a,2(1x,i0))', 'truncated', SOURCE_OF(status), TAG_OF(status)
        call MPI_Send(a, 4, MPI_INTEGER, other, 1, MPI_COMM_WORLD IERROR)
        call MPI_Recv(b, 2, MPI_INTEGER, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
        call explain('truncated', text, length, class)
        call MPI_Irecv(b, 2, MPI_INTEGER, other, 1, MPI_COMM_WORLD, r(1) IERROR)
        call MPI_Irecv(b(10), 4, MPI_INTEGER, other, 2, MPI_COMM_WORLD, r(2) IERROR)
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        call MPI_Send(a, 4, MPI_INTEGER, other, 2, MPI_COMM_WORLD IERROR)
        call MPI_Send(a, 4, MPI_INTEGER, other, 1, MPI_COMM_WORLD IERROR)
        call MPI_Recv(b(20), 1, MPI_INTEGER, 9, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
        call explain('no rank', text, length, class)
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        call MPI_Waitall(2, r, s IERROR)
        call explain('waitall', text, length, class)
        call MPI_Waitany(-1, r, i, status IERROR)
        call explain('waitany', text, length, class)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
    end subroutine

    subroutine explain(what, text, length, class)
        character(len=*), intent(in) :: what
        character(len=*), intent(inout) :: text
        integer, intent(inout) :: length, class
        integer :: code
        code = ierr
        call MPI_Error_class(code, class, ierr)
        call MPI_Error_string(code, text, length, ierr)
#ifdef MPICH
        print '(a,1x,i0,1x,l1)', what, class, length > 0  ! its texts have addresses in them
#else
        print '(a,1x,i0,1x,a)', what, class, text(1:length)
#endif
        ierr = 0
    end subroutine

    subroutine topologies
        COMM_T :: cart, part
        logical :: periods(2), remain(2), reorder, got(2), inter
        integer :: dims(2), coordinates(2), size, length
        character(len=MPI_MAX_OBJECT_NAME) :: text
        periods = [.true., .false.]
        dims = [2, 1]
        reorder = .false.
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, cart IERROR)
        call MPI_Cart_get(cart, 2, dims, got, coordinates IERROR)
        print '(a,2(1x,i0),2l2)', 'cart', coordinates, got
        call MPI_Comm_set_name(cart, 'a grid  ' IERROR)
        call MPI_Comm_get_name(cart, text, length IERROR)
        print '(a,1x,i0,1x,a,a)', 'name', length, text(1:length), '|'
        remain = [.false., .true.]
        call MPI_Cart_sub(cart, remain, part IERROR)
        call MPI_Comm_size(part, size IERROR)
        call MPI_Comm_test_inter(part, inter IERROR)
        print '(a,1x,i0,l2)', 'part', size, inter
        call MPI_Comm_free(part IERROR)
        call MPI_Comm_free(cart IERROR)
        print '(a,2l2)', 'freed', part == MPI_COMM_NULL, cart == MPI_COMM_NULL
        call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 1, rank == 0), 0, part IERROR)
        print '(a,1x,l1)', 'split', part == MPI_COMM_NULL
        if (part /= MPI_COMM_NULL) call MPI_Comm_free(part IERROR)
    end subroutine

    subroutine callbacks
        COMM_T :: copy
#if BINDING == 8 || BINDING == 108
        type(MPI_Errhandler) :: handler
#else
        integer :: handler, keyval, op
        integer(kind=MPI_ADDRESS_KIND) :: value
        logical :: flag
#endif
        call MPI_Comm_create_errhandler(count_error, handler IERROR)
        call MPI_Comm_dup(MPI_COMM_WORLD, copy IERROR)
        call MPI_Comm_set_errhandler(copy, handler IERROR)
        call MPI_Send(a, 1, MPI_INTEGER, 55, 1, copy IERROR)
        call MPI_Bcast(a, 1, MPI_INTEGER, 55, copy IERROR)
        print '(a,i0)', 'handled ', errors
        call MPI_Comm_free(copy IERROR)
        call MPI_Errhandler_free(handler IERROR)
#if BINDING == 77 || BINDING == 90
        call MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, keyval, 5_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 37_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
        call MPI_Comm_get_attr(copy, keyval, value, flag, ierr)
        print '(a,2(1x,i0),l2)', 'attribute', copies, value, flag
        call MPI_Comm_free(copy, ierr)
        call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierr)
        call MPI_Comm_free_keyval(keyval, ierr)
        call MPI_Op_create(add_twice, .true., op, ierr)
        call MPI_Allreduce(a, b, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
        print '(a,2(1x,i0))', 'operation', b(1:2)
        call MPI_Op_free(op, ierr)
#endif
    end subroutine

    subroutine windows
        WIN_T :: win
        integer(kind=MPI_ADDRESS_KIND) :: size, at
        integer :: unit
        integer, pointer :: mine(:), first(:)
        type(c_ptr) :: base
        size = 16
#if BINDING == 77
        call window_allocate(size, base, win)
        call window_query(win, size, unit, base, first)
        call c_f_pointer(base, mine, [4])
#else
        call MPI_Win_allocate_shared(size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win IERROR)
        call c_f_pointer(base, mine, [4])
        call MPI_Win_shared_query(win, 0, size, unit, base IERROR)
        call c_f_pointer(base, first, [4])
#endif
        mine = rank
        call MPI_Win_fence(0, win IERROR)
        at = 2
        call MPI_Put([rank + 5], 1, MPI_INTEGER, other, at, 1, MPI_INTEGER, win IERROR)
        call MPI_Win_fence(0, win IERROR)
        print '(a,2(1x,i0),4(1x,i0))', 'window', size, unit, mine
        if (rank == 0) print '(a,4(1x,i0))', 'window', first
        call MPI_Win_free(win IERROR)
        print '(a,l2)', 'freed', win == MPI_WIN_NULL
    end subroutine

#if BINDING == 77
    subroutine window_allocate(size, base, win)
        integer(kind=MPI_ADDRESS_KIND) :: size, address
        type(c_ptr) :: base
        integer :: win
        call MPI_Win_allocate_shared(size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, address, win, ierr)
        base = transfer(address, base)
    end subroutine

    subroutine window_query(win, size, unit, base, first)
        integer :: win, unit
        integer(kind=MPI_ADDRESS_KIND) :: size, address
        type(c_ptr) :: base
        integer, pointer :: first(:)
        call MPI_Win_shared_query(win, 0, size, unit, address, ierr)
        call c_f_pointer(transfer(address, base), first, [4])
    end subroutine
#endif

    subroutine files
        FILE_T :: file
        STATUS_T :: status
        integer(kind=MPI_OFFSET_KIND) :: place
        integer :: count, length
        TYPE_T :: etype, filetype
        character(len=10) :: representation
        call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file IERROR)
        place = 0
        call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'native   ', MPI_INFO_NULL IERROR)
        call MPI_File_get_view(file, place, etype, filetype, representation IERROR)
        print '(a,a,a)', 'view ', representation, '|'
        place = 10 * rank
        call MPI_File_write_at_all(file, place, a, 10, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_sync(file IERROR)
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        call MPI_File_read_at(file, 10 * other + 5_MPI_OFFSET_KIND, b, 5, MPI_INTEGER, status IERROR)
        call MPI_Get_count(status, MPI_INTEGER, count IERROR)
        print '(a,6(1x,i0))', 'file', count, b(1:5)
        call MPI_File_close(file IERROR)
        print '(a,l2)', 'closed', file == MPI_FILE_NULL
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL IERROR)
#ifndef MPICH
        ! MPICH 4.0 itself ends in a segmentation fault here
        name = '/nonexistent/file'
        call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
        call MPI_Error_class(ierr, length, i)
        print '(a,2l2)', 'missing', ierr /= MPI_SUCCESS, length == MPI_ERR_NO_SUCH_FILE
        ierr = 0
#endif
    end subroutine

    subroutine spawn
        COMM_T :: children, all
        integer :: codes(2), size, sum
        character(len=200) :: command
        call get_command_argument(0, command)
        call MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE IERROR)
        call talk(children)
        codes = -1
        call MPI_Comm_spawn_multiple(1, [command], MPI_ARGVS_NULL, [1], [MPI_INFO_NULL], 0, MPI_COMM_WORLD, children, codes IERROR)
        print '(a,1x,i0)', 'error codes', codes(1)
        call talk(children)
    end subroutine

    subroutine child
        rank = 2
        call talk(parent)
    end subroutine

    ! Everybody gives its rank, the child 2.
    subroutine talk(inter)
        COMM_T, intent(inout) :: inter
        COMM_T :: all
        integer :: sum
        call MPI_Intercomm_merge(inter, rank == 2, all IERROR)
        call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, all IERROR)
        if (rank /= 2) print '(a,1x,i0)', 'sum', sum
        call MPI_Comm_free(all IERROR)
        call MPI_Comm_disconnect(inter IERROR)
    end subroutine

    subroutine abort_with_7
        print '(a)', 'before'
        flush (6)
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        if (rank == 1) call MPI_Abort(MPI_COMM_WORLD, 7, ierr)
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
    end subroutine

end program
