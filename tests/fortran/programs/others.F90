! SPDX-FileCopyrightText: the critpath authors
! SPDX-License-Identifier: BSD-3-Clause
!
! usage: mpirun -n 2 others FILE
!
! others.c in Fortran, call by call: it must leave the same records.
#include "bindings.inc"
#ifndef MPICH
#include "../../mpi_4.h"
#endif
program others
#include "use_mpi.inc"
    integer :: rank, other, provided, ierr
    integer, save :: a(64), b(16, 16)
    integer, save :: counts(2) = [1, 2], displs(2) = [0, 4], twos(2) = 2, zeros(2) = 0
    COMM_T :: world
    character(len=200) :: name

    a = 0
    b = 0
    call get_command_argument(1, name)
    call MPI_Init_thread(MPI_THREAD_SINGLE, provided IERROR)
    world = MPI_COMM_WORLD
    call MPI_Comm_rank(world, rank IERROR)
    other = 1 - rank
    call messages
    call collectives
    call neighbours
    call persistent
    call windows
    call files
    call local_work
#ifndef MPICH
    call ports
#endif
    call MPI_Finalize(ierr)

contains

    subroutine messages
        REQUEST_T :: request
        character, save, target :: buffer(4096)
        integer :: size
#if BINDING == 8 || BINDING == 108
        type(c_ptr) :: detached
#else
        character :: detached(8)
#endif
        call MPI_Buffer_attach(buffer, 4096 IERROR)
        call MPI_Ibsend(a, 3, MPI_INTEGER, other, 1, world, request IERROR)
        call MPI_Recv(b, 64, MPI_INTEGER, other, 1, world, MPI_STATUS_IGNORE IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        call MPI_Buffer_detach(detached, size IERROR)
        call MPI_Rsend_init(a, 2, MPI_INTEGER, MPI_PROC_NULL, 2, world, request IERROR)
        call MPI_Start(request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        call MPI_Request_free(request IERROR)
    end subroutine

    subroutine collectives
        REQUEST_T :: r(13)
        integer :: mine
        mine = counts(rank + 1)
        call MPI_Iallgather(a, 2, MPI_INTEGER, b(:, 1), 2, MPI_INTEGER, world, r(1) IERROR)
        call MPI_Iallgatherv(a, mine, MPI_INTEGER, b(:, 2), counts, displs, MPI_INTEGER, world, r(2) IERROR)
        call MPI_Ialltoall(a, 2, MPI_INTEGER, b(:, 3), 2, MPI_INTEGER, world, r(3) IERROR)
        call MPI_Ialltoallv(a, twos, displs, MPI_INTEGER, b(:, 4), twos, displs, MPI_INTEGER, world, r(4) IERROR)
        call MPI_Ireduce_scatter(a, b(:, 5), counts, MPI_INTEGER, MPI_SUM, world, r(5) IERROR)
        call MPI_Ireduce_scatter_block(a, b(:, 6), 2, MPI_INTEGER, MPI_SUM, world, r(6) IERROR)
        call MPI_Iscatter(a, 3, MPI_INTEGER, b(:, 7), 3, MPI_INTEGER, 1, world, r(7) IERROR)
        call MPI_Iscatterv(a, counts, displs, MPI_INTEGER, b(:, 8), mine, MPI_INTEGER, 1, world, r(8) IERROR)
        call MPI_Ireduce(a, b(:, 9), 3, MPI_INTEGER, MPI_MAX, 0, world, r(9) IERROR)
        call MPI_Igather(a, 2, MPI_INTEGER, b(:, 10), 2, MPI_INTEGER, 1, world, r(10) IERROR)
        call MPI_Igatherv(a, mine, MPI_INTEGER, b(:, 11), counts, displs, MPI_INTEGER, 0, world, r(11) IERROR)
        call MPI_Iscan(a, b(:, 12), 2, MPI_INTEGER, MPI_SUM, world, r(12) IERROR)
        call MPI_Iexscan(a, b(:, 13), 2, MPI_INTEGER, MPI_SUM, world, r(13) IERROR)
        call MPI_Waitall(13, r, MPI_STATUSES_IGNORE IERROR)
    end subroutine

    subroutine neighbours
        COMM_T :: graph
        REQUEST_T :: r(5)
        TYPE_T :: types(1)
        integer(kind=MPI_ADDRESS_KIND) :: bytes(1)
        bytes = 0
        types = MPI_INTEGER
        call MPI_Dist_graph_create_adjacent(world, 1, [other], MPI_UNWEIGHTED, 1, [other], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph IERROR)
        call MPI_Neighbor_allgatherv(a, 2, MPI_INTEGER, b(:, 1), twos, zeros, MPI_INTEGER, graph IERROR)
        call MPI_Ineighbor_allgather(a, 1, MPI_INTEGER, b(:, 2), 1, MPI_INTEGER, graph, r(1) IERROR)
        call MPI_Ineighbor_allgatherv(a, 2, MPI_INTEGER, b(:, 3), twos, zeros, MPI_INTEGER, graph, r(2) IERROR)
        call MPI_Ineighbor_alltoall(a, 3, MPI_INTEGER, b(:, 4), 3, MPI_INTEGER, graph, r(3) IERROR)
        call MPI_Ineighbor_alltoallv(a, twos, zeros, MPI_INTEGER, b(:, 5), twos, zeros, MPI_INTEGER, graph, r(4) IERROR)
        call MPI_Ineighbor_alltoallw(a, twos, bytes, types, b(:, 6), twos, bytes, types, graph, r(5) IERROR)
        call MPI_Waitall(5, r, MPI_STATUSES_IGNORE IERROR)
        call MPI_Comm_free(graph IERROR)
    end subroutine

    subroutine persistent
        COMM_T :: graph
        REQUEST_T :: request
        TYPE_T :: types(1), integers(2)
        integer(kind=MPI_ADDRESS_KIND) :: bytes(1)
        integer :: mine, last(1) = [3]
        mine = counts(rank + 1)
        bytes = 0
        types = MPI_INTEGER
        integers = MPI_INTEGER
        call MPI_Dist_graph_create_adjacent(world, 1, [other], MPI_UNWEIGHTED, 1, [other], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph IERROR)
        call MPI_Barrier_init(world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Bcast_init(a, 3, MPI_INTEGER, 0, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Allreduce_init(a, b(:, 1), 3, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Alltoallw_init(a, twos, displs, integers, b(:, 2), twos, displs, integers, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Allgather_init(a, 2, MPI_INTEGER, b(:, 3), 2, MPI_INTEGER, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Allgatherv_init(a, mine, MPI_INTEGER, b(:, 4), counts, displs, MPI_INTEGER, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Alltoall_init(a, 2, MPI_INTEGER, b(:, 5), 2, MPI_INTEGER, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Alltoallv_init(a, twos, displs, MPI_INTEGER, b(:, 6), twos, displs, MPI_INTEGER, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Reduce_scatter_init(a, b(:, 7), counts, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Reduce_scatter_block_init(a, b(:, 8), 2, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Scatter_init(a, 3, MPI_INTEGER, b(:, 9), 3, MPI_INTEGER, 1, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Scatterv_init(a, counts, displs, MPI_INTEGER, b(:, 10), mine, MPI_INTEGER, 1, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Reduce_init(a, b(:, 11), 3, MPI_INTEGER, MPI_MAX, 0, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Gather_init(a, 2, MPI_INTEGER, b(:, 12), 2, MPI_INTEGER, 1, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Gatherv_init(a, mine, MPI_INTEGER, b(:, 13), counts, displs, MPI_INTEGER, 0, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Scan_init(a, b(:, 14), 2, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Exscan_init(a, b(:, 15), 2, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Neighbor_allgather_init(a, 1, MPI_INTEGER, b(:, 1), 1, MPI_INTEGER, graph, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Neighbor_allgatherv_init(a, 2, MPI_INTEGER, b(:, 2), twos, zeros, MPI_INTEGER, graph, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Neighbor_alltoall_init(a, 3, MPI_INTEGER, b(:, 3), 3, MPI_INTEGER, graph, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Neighbor_alltoallv_init(a, twos, zeros, MPI_INTEGER, b(:, 4), twos, zeros, MPI_INTEGER, graph, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Neighbor_alltoallw_init(a, twos, bytes, types, b(:, 5), twos, bytes, types, graph, MPI_INFO_NULL, request IERROR)
        call perform(request)
        call MPI_Comm_free(graph IERROR)
#ifdef MPICH
        call MPI_Isendrecv(a, 2, MPI_INTEGER, other, 6, b, 3, MPI_INTEGER, other, 6, world, request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        call MPI_Isendrecv_replace(a, 2, MPI_INTEGER, other, 7, other, 7, world, request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        if (rank == 0) then
            call MPI_Psend_init(a, 4, 2_MPI_COUNT_KIND, MPI_INTEGER, 1, 8, world, MPI_INFO_NULL, request IERROR)
            call MPI_Start(request IERROR)
            call MPI_Pready(2, request IERROR)
            call MPI_Pready_range(0, 1, request IERROR)
            call MPI_Pready_list(1, last, request IERROR)
        else
            call MPI_Precv_init(a, 4, 2_MPI_COUNT_KIND, MPI_INTEGER, 0, 8, world, MPI_INFO_NULL, request IERROR)
            call MPI_Start(request IERROR)
        end if
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        call MPI_Request_free(request IERROR)
#endif
    end subroutine

    ! One at a time: MPICH 4.0 hangs where several have been initialised.
    subroutine perform(request)
        REQUEST_T :: request
        call MPI_Start(request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        call MPI_Request_free(request IERROR)
    end subroutine

    subroutine windows
        integer, save :: memory(16)
        integer(kind=MPI_ADDRESS_KIND) :: size, at(3)
        WIN_T :: win
        REQUEST_T :: r(3)
        size = 64
        at = [4, 8, 3]
        call MPI_Win_create_dynamic(MPI_INFO_NULL, world, win IERROR)
        call MPI_Win_attach(win, memory, size IERROR)
        call MPI_Win_detach(win, memory IERROR)
        call MPI_Win_free(win IERROR)
        call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, world, win IERROR)
        call MPI_Win_lock_all(0, win IERROR)
        call MPI_Rget(b(:, 1), 3, MPI_INTEGER, other, at(1), 3, MPI_INTEGER, win, r(1) IERROR)
        call MPI_Raccumulate(a, 1, MPI_INTEGER, other, at(2), 1, MPI_INTEGER, MPI_SUM, win, r(2) IERROR)
        call MPI_Rget_accumulate(a, 1, MPI_INTEGER, b(:, 2), 1, MPI_INTEGER, other, at(3), 1, MPI_INTEGER, MPI_SUM, win, r(3) IERROR)
        call MPI_Waitall(3, r, MPI_STATUSES_IGNORE IERROR)
        call MPI_Win_flush_local(other, win IERROR)
        call MPI_Win_flush_local_all(win IERROR)
        call MPI_Win_unlock_all(win IERROR)
        call MPI_Win_free(win IERROR)
    end subroutine

    subroutine files
        FILE_T :: file
        INFO_T :: info
        REQUEST_T :: r
        integer(kind=MPI_OFFSET_KIND) :: place, bytes
        bytes = 4096
        call MPI_Info_create(info IERROR)
        call MPI_File_open(world, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file IERROR)
        call MPI_File_set_size(file, bytes IERROR)
        call MPI_File_preallocate(file, bytes IERROR)
        call MPI_File_get_size(file, place IERROR)
        call MPI_File_set_atomicity(file, .false. IERROR)
        call MPI_File_set_info(file, info IERROR)
        place = 0
        call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL IERROR)
        call MPI_File_write(file, a, 4, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_read(file, b, 5, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_write_all(file, a, 3, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_read_all(file, b, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_write_shared(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_read_shared(file, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_Barrier(world IERROR)
        call MPI_File_seek_shared(file, place, MPI_SEEK_SET IERROR)
        call MPI_File_get_position_shared(file, place IERROR)
        call MPI_Barrier(world IERROR)
        call MPI_File_write_ordered(file, a, rank + 1, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_read_ordered(file, b, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
        call MPI_File_iwrite(file, a, 3, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        call MPI_File_iread(file, b, 2, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        place = 3
        call MPI_File_iread_at(file, place, b, 4, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        call MPI_File_iwrite_shared(file, a, 1, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        call MPI_File_iread_shared(file, b, 1, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        call MPI_File_iwrite_all(file, a, 2, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        call MPI_File_iread_all(file, b, 3, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        place = 4 * rank
        call MPI_File_iwrite_at_all(file, place, a, 4, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        call MPI_File_iread_at_all(file, place, b, 2, MPI_INTEGER, r IERROR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERROR)
        call MPI_File_write_at_all_begin(file, place, a, 4, MPI_INTEGER IERROR)
        call MPI_File_write_at_all_end(file, a, MPI_STATUS_IGNORE IERROR)
        call MPI_File_write_all_begin(file, a, 3, MPI_INTEGER IERROR)
        call MPI_File_write_all_end(file, a, MPI_STATUS_IGNORE IERROR)
        call MPI_File_read_all_begin(file, b, 2, MPI_INTEGER IERROR)
        call MPI_File_read_all_end(file, b, MPI_STATUS_IGNORE IERROR)
        call MPI_File_write_ordered_begin(file, a, 1, MPI_INTEGER IERROR)
        call MPI_File_write_ordered_end(file, a, MPI_STATUS_IGNORE IERROR)
        call MPI_File_read_ordered_begin(file, b, 2, MPI_INTEGER IERROR)
        call MPI_File_read_ordered_end(file, b, MPI_STATUS_IGNORE IERROR)
        call MPI_File_close(file IERROR)
        call MPI_Info_free(info IERROR)
    end subroutine

    subroutine local_work
        integer(kind=MPI_ADDRESS_KIND) :: size, position
        character :: packed(64)
        integer :: place
        size = 64
        position = 0
        call MPI_Pack_external('external32', a, 2, MPI_INTEGER, packed, size, position IERROR)
        position = 0
        call MPI_Unpack_external('external32', packed, size, position, b, 2, MPI_INTEGER IERROR)
        call MPI_Reduce_local(a, b, 2, MPI_INTEGER, MPI_SUM IERROR)
        call MPI_Cart_map(world, 1, [2], [.true.], place IERROR)
        call MPI_Graph_map(world, 2, [1, 2], [1, 0], place IERROR)
    end subroutine

#ifndef MPICH
    subroutine ports
        character(len=MPI_MAX_PORT_NAME) :: port, found
        COMM_T :: peer
        port = ' '
        if (rank == 0) then
            call MPI_Open_port(MPI_INFO_NULL, port IERROR)
            call MPI_Publish_name('critpath in fortran', MPI_INFO_NULL, port IERROR)
            call MPI_Lookup_name('critpath in fortran', MPI_INFO_NULL, found IERROR)
            call MPI_Unpublish_name('critpath in fortran', MPI_INFO_NULL, port IERROR)
            call MPI_Send(found, 1000, MPI_CHARACTER, 1, 1, world IERROR)
            call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, peer IERROR)
            call MPI_Close_port(port IERROR)
        else
            call MPI_Recv(port, 1000, MPI_CHARACTER, 0, 1, world, MPI_STATUS_IGNORE IERROR)
            call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, peer IERROR)
        end if
        call MPI_Comm_disconnect(peer IERROR)
    end subroutine
#endif

end program
