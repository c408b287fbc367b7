// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way into the MPI library: pointers to its PMPI functions and its predefined handles, looked up at run time.
// The preload library is not linked to MPI, because it is also loaded into programs without MPI (a shell that starts
// the application) and into programs that load MPI late and privately (Python with mpi4py).
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdint>

namespace critpath::preload
{

/// A pointer for each function that is wrapped (pmpi.inc, generated) or that the wrappers use themselves. The
/// pointers are never null: before the library is found they lead to the search. A function that has no PMPI name is
/// called by its MPI name; one that the library has not got at all says so and returns MPI_ERR_OTHER.
struct Pmpi {
#define CRITPATH_PMPI(name, function) decltype(&function) name;  // NOLINT(bugprone-macro-parentheses)
#include "pmpi.inc"
#undef CRITPATH_PMPI
};
extern Pmpi pmpi;

/// What the application would have called without us: the same function of another library that stands before MPI (a
/// PMPI tool that the user preloads, or that the application is linked to), or else as in `pmpi`. Through this table a
/// wrapper passes on the application's call; all that the library asks for itself goes through `pmpi`, unseen.
extern Pmpi next_mpi;

// NOLINTBEGIN(bugprone-macro-parentheses)
#define CRITPATH_HANDLES(X)                                                                                            \
    X(MPI_Comm, comm_null, MPI_COMM_NULL, ompi_mpi_comm_null)                                                          \
    X(MPI_Comm, comm_world, MPI_COMM_WORLD, ompi_mpi_comm_world)                                                       \
    X(MPI_Comm, comm_self, MPI_COMM_SELF, ompi_mpi_comm_self)                                                          \
    X(MPI_Group, group_null, MPI_GROUP_NULL, ompi_mpi_group_null)                                                      \
    X(MPI_Request, request_null, MPI_REQUEST_NULL, ompi_request_null)                                                  \
    X(MPI_Message, message_no_proc, MPI_MESSAGE_NO_PROC, ompi_message_no_proc)                                         \
    X(MPI_Errhandler, errors_return, MPI_ERRORS_RETURN, ompi_mpi_errors_return)                                        \
    X(MPI_Datatype, type_byte, MPI_BYTE, ompi_mpi_byte)                                                                \
    X(MPI_Datatype, type_int, MPI_INT, ompi_mpi_int)                                                                   \
    X(MPI_Datatype, type_uint64, MPI_UINT64_T, ompi_mpi_uint64_t)                                                      \
    X(MPI_Op, op_min, MPI_MIN, ompi_mpi_op_min)                                                                        \
    X(MPI_Op, op_max, MPI_MAX, ompi_mpi_op_max)                                                                        \
    X(MPI_Op, op_no_op, MPI_NO_OP, ompi_mpi_op_no_op)                                                                  \
    X(MPI_Op, op_replace, MPI_REPLACE, ompi_mpi_op_replace)

/// MPI's predefined handles; in Open MPI the addresses of its data symbols.
struct Handles {
#define CRITPATH_HANDLE(type, member, constant, symbol) type member;
    CRITPATH_HANDLES(CRITPATH_HANDLE)
#undef CRITPATH_HANDLE
    std::uint64_t shared_request;  // the handle that stands for any finished request (Open MPI), or 0
};
// NOLINTEND(bugprone-macro-parentheses)
extern Handles handles;

/// True if an MPI library is already loaded. Looks nothing else up.
bool mpi_is_loaded();

/// True if that library is not the one that critpath was built with (Open MPI, MPICH), so that handles and constants
/// have other types and values: neither can a call be recorded, nor should one go through a wrapper.
bool loaded_mpi_is_foreign();

/// A line on stderr that says so.
void say_foreign();

/// Where to look symbols up: everywhere (nullptr is RTLD_DEFAULT), or in one library that was loaded privately.
struct Scope {
    void* handle;
    bool found;
};

/// Where the symbol `probe` is found. A library that was loaded privately stays loaded from now on.
Scope find_scope(const char* probe);

/// True if somebody has asked the loader for PMPI_Init, to call it past the wrappers.
bool pmpi_init_was_looked_up();

/// Looks everything up; later calls do nothing. Returns false, after a line on stderr, if nothing can be recorded:
/// there is no MPI library, it is foreign, or it has no PMPI functions (then the calls go to its MPI functions).
bool resolve_mpi();

/// A handle as a number, whatever type the MPI library gives it.
template <class Handle>
std::uint64_t key_of(Handle handle)
{
    return (std::uint64_t)handle;  // NOLINT: a pointer in Open MPI, an integer elsewhere
}

}  // namespace critpath::preload
