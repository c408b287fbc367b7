! SPDX-FileCopyrightText: the critpath authors
! SPDX-License-Identifier: BSD-3-Clause
!
! usage: mpirun -n 2 calls FILE
!
! calls.c in Fortran, call by call: it must leave the same records.
#include "bindings.inc"
program calls
#include "use_mpi.inc"
    integer :: rank, other, provided, ierr
    integer :: a(64), b(64)
    integer :: counts(2) = [1, 2], displs(2) = [0, 4]
    character(len=200) :: name

    a = 0
    b = 0
    call get_command_argument(1, name)
    call MPI_Init_thread(MPI_THREAD_SINGLE, provided IERROR)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank IERROR)
    other = 1 - rank
    call messages
    call requests
    call collectives
    call communicators
    call windows
    call files
    call local_work
    call MPI_Finalize(ierr)

contains

    subroutine messages
        STATUS_T :: status
        logical :: flag
        MESSAGE_T :: message
        REQUEST_T :: request
        character, save, target :: buffer(4096)
        integer :: tag, size
#if BINDING == 8 || BINDING == 108
        type(c_ptr) :: detached
#else
        character :: detached(8)
#endif
        call MPI_Buffer_attach(buffer, 4096 IERROR)
        if (rank == 0) then
            call MPI_Send(a, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD IERROR)
            call MPI_Bsend(a, 2, MPI_INTEGER, 1, 2, MPI_COMM_WORLD IERROR)
            call MPI_Ssend(a, 3, MPI_INTEGER, 1, 3, MPI_COMM_WORLD IERROR)
            call MPI_Barrier(MPI_COMM_WORLD IERROR)
            call MPI_Rsend(a, 4, MPI_INTEGER, 1, 4, MPI_COMM_WORLD IERROR)
            call MPI_Send(a, 4, MPI_INTEGER, MPI_PROC_NULL, 4, MPI_COMM_WORLD IERROR)
        else
            call MPI_Recv(b, 64, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
            call MPI_Recv(b, 64, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, status IERROR)
            call MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status IERROR)
            call MPI_Recv(b, 64, MPI_INTEGER, SOURCE_OF(status), TAG_OF(status), MPI_COMM_WORLD, status IERROR)
            call MPI_Irecv(b, 64, MPI_INTEGER, 0, 4, MPI_COMM_WORLD, request IERROR)
            call MPI_Barrier(MPI_COMM_WORLD IERROR)
            call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
            call MPI_Recv(b, 64, MPI_INTEGER, MPI_PROC_NULL, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
        end if
        call MPI_Buffer_detach(detached, size IERROR)
        call MPI_Sendrecv(a, 5, MPI_INTEGER, other, 5, b, 64, MPI_INTEGER, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
        call MPI_Sendrecv_replace(a, 6, MPI_INTEGER, other, 6, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, status IERROR)
        if (rank == 0) then
            do tag = 7, 9
                call MPI_Send(a, tag, MPI_INTEGER, 1, tag, MPI_COMM_WORLD IERROR)
            end do
            call MPI_Barrier(MPI_COMM_WORLD IERROR)
        else
            call MPI_Barrier(MPI_COMM_WORLD IERROR)
            do
                call MPI_Iprobe(0, 7, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE IERROR)
                if (flag) exit
            end do
            call MPI_Recv(b, 64, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
            call MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE IERROR)
            call MPI_Mrecv(b, 64, MPI_INTEGER, message, MPI_STATUS_IGNORE IERROR)
            do
                call MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, flag, message, status IERROR)
                if (flag) exit
            end do
            call MPI_Imrecv(b, 64, MPI_INTEGER, message, request IERROR)
            call MPI_Wait(request, status IERROR)
        end if
    end subroutine

    subroutine requests
        REQUEST_T :: r(4), some(2)
        STATUS_T :: status
        STATUSES_T(s, 4)
        logical :: flag
        integer :: index, count, indices(4), i
        call MPI_Irecv(b, 16, MPI_INTEGER, other, 1, MPI_COMM_WORLD, r(1) IERROR)
        call MPI_Irecv(b(17), 16, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, r(2) IERROR)
        call MPI_Isend(a, 1, MPI_INTEGER, other, 1, MPI_COMM_WORLD, r(3) IERROR)
        call MPI_Issend(a, 2, MPI_INTEGER, other, 2, MPI_COMM_WORLD, r(4) IERROR)
        call MPI_Waitall(4, r, MPI_STATUSES_IGNORE IERROR)
        call MPI_Waitall(4, r, s IERROR)
        call MPI_Irecv(b, 16, MPI_INTEGER, other, 3, MPI_COMM_WORLD, r(1) IERROR)
        r(2) = MPI_REQUEST_NULL
        call MPI_Irsend(a, 3, MPI_INTEGER, MPI_PROC_NULL, 3, MPI_COMM_WORLD, r(3) IERROR)
        call MPI_Send(a, 3, MPI_INTEGER, other, 3, MPI_COMM_WORLD IERROR)
        call MPI_Wait(r(3), status IERROR)
        call MPI_Waitany(2, r, index, MPI_STATUS_IGNORE IERROR)
        call MPI_Waitany(2, r, index, status IERROR)
        call MPI_Testany(2, r, index, flag, status IERROR)
        call MPI_Testsome(2, r, count, indices, s IERROR)
        call MPI_Testall(2, r, flag, MPI_STATUSES_IGNORE IERROR)
        call MPI_Test(r(1), flag, MPI_STATUS_IGNORE IERROR)
        call MPI_Recv_init(b, 16, MPI_INTEGER, other, 4, MPI_COMM_WORLD, r(1) IERROR)
        call MPI_Send_init(a, 4, MPI_INTEGER, other, 4, MPI_COMM_WORLD, r(2) IERROR)
        call MPI_Ssend_init(a, 5, MPI_INTEGER, other, 4, MPI_COMM_WORLD, r(3) IERROR)
        do i = 1, 2
            call MPI_Startall(2, r IERROR)
            call MPI_Wait(r(2), MPI_STATUS_IGNORE IERROR)
            some = [MPI_REQUEST_NULL, r(1)]
            if (i == 1) then
                call MPI_Waitsome(2, some, count, indices, s IERROR)
            else
                call MPI_Waitsome(2, some, count, indices, MPI_STATUSES_IGNORE IERROR)
            end if
        end do
        call MPI_Start(r(1) IERROR)
        call MPI_Start(r(3) IERROR)
        call MPI_Wait(r(3), MPI_STATUS_IGNORE IERROR)
        call MPI_Wait(r(1), status IERROR)
        call MPI_Request_free(r(1) IERROR)
        call MPI_Request_free(r(2) IERROR)
        call MPI_Request_free(r(3) IERROR)
        call MPI_Irecv(b, 16, MPI_INTEGER, other, 99, MPI_COMM_WORLD, r(1) IERROR)
        call MPI_Request_get_status(r(1), flag, MPI_STATUS_IGNORE IERROR)
        call MPI_Cancel(r(1) IERROR)
        call MPI_Wait(r(1), status IERROR)
        call MPI_Irecv(b, 16, MPI_INTEGER, other, 6, MPI_COMM_WORLD, r(1) IERROR)
        do i = 1, 5
            call MPI_Testall(1, r, flag, MPI_STATUSES_IGNORE IERROR)
        end do
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        call MPI_Send(a, 6, MPI_INTEGER, other, 6, MPI_COMM_WORLD IERROR)
        call MPI_Wait(r(1), status IERROR)
        call MPI_Irecv(b, 16, MPI_INTEGER, other, 5, MPI_COMM_WORLD, r(1) IERROR)
        call MPI_Bsend_init(a, 5, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD, r(2) IERROR)
        call MPI_Request_free(r(2) IERROR)
        call MPI_Send(a, 5, MPI_INTEGER, other, 5, MPI_COMM_WORLD IERROR)
        do
            call MPI_Test(r(1), flag, status IERROR)
            if (flag) exit
        end do
    end subroutine

    subroutine collectives
        TYPE_T :: sendtypes(2), recvtypes(2), integers(2)
        REQUEST_T :: r(3)
        integer :: bytes(2), ones(2), sendcounts(2), recvcounts(2)
        bytes = [0, 64]
        ones = 1
        integers = MPI_INTEGER
        call MPI_Allreduce(a, b, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
        call MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
        call MPI_Allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD IERROR)
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD IERROR)
        call MPI_Allgatherv(a, counts(rank + 1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD IERROR)
        call MPI_Alltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD IERROR)
        sendcounts = merge(counts, [2, 2], rank == 0)
        recvcounts = merge([1, 2], [2, 2], rank == 0)
        call MPI_Alltoallv(a, sendcounts, displs, MPI_INTEGER, b, recvcounts, displs, MPI_INTEGER, MPI_COMM_WORLD IERROR)
        sendtypes = integers
        recvtypes = integers
        if (rank == 1) then
            sendtypes(2) = MPI_DOUBLE_PRECISION
            recvtypes(2) = MPI_DOUBLE_PRECISION
        end if
        call MPI_Alltoallw(a, ones, bytes, sendtypes, b, ones, bytes, recvtypes, MPI_COMM_WORLD IERROR)
        call MPI_Alltoallw(MPI_IN_PLACE, ones, bytes, integers, b, ones, bytes, integers, MPI_COMM_WORLD IERROR)
        call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
        call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
        call MPI_Bcast(a, 7, MPI_INTEGER, 1, MPI_COMM_WORLD IERROR)
        if (rank == 0) then
            call MPI_Scatter(a, 3, MPI_INTEGER, MPI_IN_PLACE, 3, MPI_INTEGER, 0, MPI_COMM_WORLD IERROR)
        else
            call MPI_Scatter(a, 3, MPI_INTEGER, b, 3, MPI_INTEGER, 0, MPI_COMM_WORLD IERROR)
        end if
        call MPI_Scatterv(a, counts, displs, MPI_INTEGER, b, counts(rank + 1), MPI_INTEGER, 1, MPI_COMM_WORLD IERROR)
        if (rank == 0) then
            call MPI_Reduce(MPI_IN_PLACE, a, 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD IERROR)
            call MPI_Gather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 1, MPI_COMM_WORLD IERROR)
        else
            call MPI_Reduce(a, a, 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD IERROR)
            call MPI_Gather(MPI_IN_PLACE, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 1, MPI_COMM_WORLD IERROR)
        end if
        call MPI_Gatherv(a, counts(rank + 1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD IERROR)
        call MPI_Scan(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
        call MPI_Exscan(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
        call MPI_Ibarrier(MPI_COMM_WORLD, r(1) IERROR)
        call MPI_Ibcast(a, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, r(2) IERROR)
        call MPI_Iallreduce(MPI_IN_PLACE, b, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(3) IERROR)
        call MPI_Waitall(3, r, MPI_STATUSES_IGNORE IERROR)
        call MPI_Ialltoallw(a, ones, bytes, integers, b, ones, bytes, integers, MPI_COMM_WORLD, r(1) IERROR)
        call MPI_Wait(r(1), MPI_STATUS_IGNORE IERROR)
    end subroutine

    subroutine communicators
        COMM_T :: world, dup, split, cart, sub, graph, dist, adjacent, inter, merged, made, grouped, idup
        GROUP_T :: group
        REQUEST_T :: request
        TYPE_T :: integers(1)
        integer :: dims(1), index(2), edges(2), root
        integer(kind=MPI_ADDRESS_KIND) :: bytes(1)
        logical :: periods(1), remain(1)
        world = MPI_COMM_WORLD
        dims = 2
        index = [1, 2]
        edges = [1, 0]
        bytes = 0
        integers = MPI_INTEGER
        periods = .true.
        remain = .true.
        call MPI_Comm_dup(world, dup IERROR)
        call MPI_Comm_dup_with_info(world, MPI_INFO_NULL, made IERROR)
        call MPI_Comm_free(made IERROR)
        call MPI_Comm_split(world, merge(1, MPI_UNDEFINED, rank == 0), 0, split IERROR)
        if (split /= MPI_COMM_NULL) then
            call MPI_Barrier(split IERROR)
            call MPI_Comm_disconnect(split IERROR)
        end if
        call MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, split IERROR)
        call MPI_Comm_free(split IERROR)
        call MPI_Comm_group(world, group IERROR)
        call MPI_Comm_create(dup, group, made IERROR)
        call MPI_Comm_free(made IERROR)
        call MPI_Comm_create_group(world, group, 3, grouped IERROR)
        call MPI_Barrier(grouped IERROR)
        call MPI_Comm_free(grouped IERROR)
        call MPI_Group_free(group IERROR)
        call MPI_Comm_idup(world, idup, request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        call MPI_Barrier(idup IERROR)
        call MPI_Comm_free(idup IERROR)
        call MPI_Cart_create(world, 1, dims, periods, .false., cart IERROR)
        call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, cart IERROR)
        call MPI_Cart_sub(cart, remain, sub IERROR)
        call MPI_Comm_free(sub IERROR)
        call MPI_Comm_free(cart IERROR)
        call MPI_Graph_create(world, 2, index, edges, .false., graph IERROR)
        call MPI_Neighbor_alltoall(a, 3, MPI_INTEGER, b, 3, MPI_INTEGER, graph IERROR)
        call MPI_Comm_free(graph IERROR)
        call MPI_Dist_graph_create(world, 1, [rank], [1], [other], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., dist IERROR)
        call MPI_Comm_free(dist IERROR)
        call MPI_Dist_graph_create_adjacent(world, 1, [other], MPI_UNWEIGHTED, 1, [other], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., adjacent IERROR)
        call MPI_Neighbor_alltoallv(a, [2], [0], MPI_INTEGER, b, [2], [0], MPI_INTEGER, adjacent IERROR)
        call MPI_Neighbor_alltoallw(a, [2], bytes, integers, b, [2], bytes, integers, adjacent IERROR)
        call MPI_Comm_free(adjacent IERROR)
        call MPI_Comm_split(world, rank, 0, split IERROR)
        call MPI_Intercomm_create(split, 0, world, other, 5, inter IERROR)
        root = merge(MPI_ROOT, 0, rank == 0)
        call MPI_Bcast(a, 1, MPI_INTEGER, root, inter IERROR)
        call MPI_Intercomm_merge(inter, rank == 1, merged IERROR)
        call MPI_Barrier(merged IERROR)
        call MPI_Comm_free(merged IERROR)
        call MPI_Comm_free(inter IERROR)
        call MPI_Comm_free(split IERROR)
        call MPI_Comm_free(dup IERROR)
    end subroutine

    subroutine windows
        integer, save :: memory(16)
        WIN_T :: win
        GROUP_T :: group, world
        REQUEST_T :: request
        logical :: flag
        integer(kind=MPI_ADDRESS_KIND) :: at
#if BINDING == 77
        integer(kind=MPI_ADDRESS_KIND) :: allocated
#else
        type(c_ptr) :: allocated
#endif
        call MPI_Win_create(memory, 64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win IERROR)
        call MPI_Win_fence(0, win IERROR)
        at = 0
        call MPI_Put(a, 2, MPI_INTEGER, other, at, 2, MPI_INTEGER, win IERROR)
        at = 4
        call MPI_Get(b, 3, MPI_INTEGER, other, at, 3, MPI_INTEGER, win IERROR)
        call MPI_Win_fence(0, win IERROR)
        call MPI_Comm_group(MPI_COMM_WORLD, world IERROR)
        call MPI_Group_incl(world, 1, [other], group IERROR)
        call MPI_Win_post(group, 0, win IERROR)
        call MPI_Win_start(group, 0, win IERROR)
        at = 8
        call MPI_Accumulate(a, 1, MPI_INTEGER, other, at, 1, MPI_INTEGER, MPI_SUM, win IERROR)
        call MPI_Win_complete(win IERROR)
        call MPI_Win_wait(win IERROR)
        call MPI_Win_post(group, 0, win IERROR)
        call MPI_Win_start(group, 0, win IERROR)
        call MPI_Win_complete(win IERROR)
        call MPI_Barrier(MPI_COMM_WORLD IERROR)
        do
            call MPI_Win_test(win, flag IERROR)
            if (flag) exit
        end do
        call MPI_Win_free(win IERROR)
        call MPI_Win_allocate(64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, allocated, win IERROR)
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win IERROR)
        at = 0
        call MPI_Rput(a, 2, MPI_INTEGER, other, at, 2, MPI_INTEGER, win, request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        call MPI_Win_flush(other, win IERROR)
        call MPI_Win_unlock(other, win IERROR)
        call MPI_Win_lock_all(0, win IERROR)
        at = 3
        call MPI_Fetch_and_op(a, b, MPI_INTEGER, other, at, MPI_NO_OP, win IERROR)
        call MPI_Compare_and_swap(a, a, b, MPI_INTEGER, other, at, win IERROR)
        call MPI_Get_accumulate(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, other, at, 1, MPI_INTEGER, MPI_SUM, win IERROR)
        call MPI_Win_flush_all(win IERROR)
        call MPI_Win_sync(win IERROR)
        call MPI_Win_unlock_all(win IERROR)
        call MPI_Win_free(win IERROR)
        call MPI_Group_free(group IERROR)
        call MPI_Group_free(world IERROR)
    end subroutine

    subroutine files
        FILE_T :: file
        STATUS_T :: status
        REQUEST_T :: request
        integer(kind=MPI_OFFSET_KIND) :: start
        start = rank * 4
        call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file IERROR)
        call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL IERROR)
        call MPI_File_write_at(file, start, a, 4, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_sync(file IERROR)
        call MPI_File_read_at_all(file, start, b, 4, MPI_INTEGER, status IERROR)
        call MPI_File_iwrite_at(file, start, a, 3, MPI_INTEGER, request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        call MPI_File_read_at_all_begin(file, start, b, 2, MPI_INTEGER IERROR)
        call MPI_File_read_at_all_end(file, b, MPI_STATUS_IGNORE IERROR)
        call MPI_File_close(file IERROR)
    end subroutine

    subroutine local_work
        character :: packed(64)
        integer :: position
#if BINDING == 77
        integer(kind=MPI_ADDRESS_KIND) :: memory
#else
        type(c_ptr) :: memory
        integer, pointer :: view(:)
#endif
        position = 0
        call MPI_Pack(a, 2, MPI_INTEGER, packed, 64, position, MPI_COMM_WORLD IERROR)
        position = 0
        call MPI_Unpack(packed, 64, position, b, 2, MPI_INTEGER, MPI_COMM_WORLD IERROR)
        call MPI_Alloc_mem(64_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory IERROR)
#if BINDING == 77
        call free_at(memory)
#else
        call c_f_pointer(memory, view, [16])
        call MPI_Free_mem(view IERROR)
#endif
        call MPI_Pcontrol(7)
    end subroutine

#if BINDING == 77
    ! What MPI_Alloc_mem gives is an address in an integer.
    subroutine free_at(memory)
        integer(kind=MPI_ADDRESS_KIND), intent(in) :: memory
        integer, pointer :: view(:)
        call c_f_pointer(transfer(memory, c_null_ptr), view, [16])
        call MPI_Free_mem(view, ierr)
    end subroutine
#endif

end program
