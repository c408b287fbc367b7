! SPDX-License-Identifier: BSD-3-Clause
!
! One source for the three bindings. BINDING: 77 is mpif.h, 90 is `use mpi`, 8 is `use mpi_f08` without ierror, 108 the
! same with it.
#if BINDING == 8 || BINDING == 108
#define COMM_T type(MPI_Comm)
#define TYPE_T type(MPI_Datatype)
#define REQUEST_T type(MPI_Request)
#define GROUP_T type(MPI_Group)
#define WIN_T type(MPI_Win)
#define FILE_T type(MPI_File)
#define MESSAGE_T type(MPI_Message)
#define INFO_T type(MPI_Info)
#define STATUS_T type(MPI_Status)
#define STATUSES_T(name, count) type(MPI_Status) :: name(count)
#define SOURCE_OF(status) status%MPI_SOURCE
#define TAG_OF(status) status%MPI_TAG
#define ERROR_OF(status) status%MPI_ERROR
#define SOURCE_AT(statuses, i) statuses(i)%MPI_SOURCE
#define TAG_AT(statuses, i) statuses(i)%MPI_TAG
#define VALUE_OF(handle) handle%MPI_VAL
#else
#define COMM_T integer
#define TYPE_T integer
#define REQUEST_T integer
#define GROUP_T integer
#define WIN_T integer
#define FILE_T integer
#define MESSAGE_T integer
#define INFO_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)
#define STATUSES_T(name, count) integer :: name(MPI_STATUS_SIZE, count)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#define ERROR_OF(status) status(MPI_ERROR)
#define SOURCE_AT(statuses, i) statuses(MPI_SOURCE, i)
#define TAG_AT(statuses, i) statuses(MPI_TAG, i)
#define VALUE_OF(handle) handle
#endif
#if BINDING == 8
#define IERROR
#else
#define IERROR , ierr
#endif
