// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way into the Fortran part of the MPI library: its procedures, its constants and the conversion of its
// handles and statuses, looked up at run time when the first of them is needed. Most programs have no Fortran.
//
// How Fortran calls MPI: everything by reference; handles and statuses as INTEGER; LOGICAL and lengths of strings as
// the compiler has them; constants such as MPI_STATUS_IGNORE as addresses of common blocks; ierror may be missing with
// `use mpi_f08`. A wrapper gives MPI's own Fortran procedure the very arguments that it was given, except for what MPI
// would fill and the application does not want: status and ierror. So all that depends on the compiler stays with MPI,
// and the wrapper only reads.
#pragma once

#include "collector/mpi/pmpi.hpp"
#include "formats/functions/functions.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace critpath::preload::fortran
{

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of INTEGER are read as arrays of int");

/// The bindings that are wrapped.
enum Index : int {
#define CRITPATH_FORTRAN(symbol) index_##symbol,
#include "fortran_symbols.inc"
#undef CRITPATH_FORTRAN
    index_count,
};

/// MPI's own entries, nullptr where there is none or none was looked for yet.
extern void* entries[index_count];

/// Looks everything up, if an MPI library with Fortran is loaded. Once one was found, later calls do nothing. When the
/// recording begins `where` is Linked, so that the first call from Fortran, if there is one, need not do it.
enum class Where : std::uint8_t { Linked, Anywhere };
void resolve(Where where);

/// The entry, after resolve() if need be.
void* look_up(Index index);

/// What a binding calls; nullptr if there is nothing.
template <class Function>
Function* real(Index index)
{
    void* entry = __atomic_load_n(&entries[index], __ATOMIC_ACQUIRE);
    return reinterpret_cast<Function*>(entry != nullptr ? entry : look_up(index));
}

/// There is nothing to call: a line on stderr, and MPI_ERR_OTHER where the application gives an `ierror`.
void report_missing(functions::FunctionId function, MPI_Fint* ierror);

/// Fortran's constants that are addresses. A name has an address for each convention of compilers.
struct Constants {
    static constexpr int names = 6;
    const void* status_ignore[names];
    const void* statuses_ignore[names];
    const void* in_place[names];
};
extern Constants constants;

inline bool is_one_of(const void* const (&addresses)[Constants::names], const void* address)
{
    for (const void* one : addresses) {
        if (one == address) {
            return address != nullptr;
        }
    }
    return false;
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#ifdef OPEN_MPI
#define CRITPATH_CONVERSIONS(X)                                                                                        \
    X(MPI_Comm, comm, "PMPI_Comm_f2c")                                                                                 \
    X(MPI_Datatype, type, "PMPI_Type_f2c")                                                                             \
    X(MPI_File, file, "PMPI_File_f2c")                                                                                 \
    X(MPI_Group, group, "PMPI_Group_f2c")                                                                              \
    X(MPI_Message, message, "PMPI_Message_f2c")                                                                        \
    X(MPI_Op, op, "PMPI_Op_f2c")                                                                                       \
    X(MPI_Request, request, "PMPI_Request_f2c")                                                                        \
    X(MPI_Win, win, "PMPI_Win_f2c")
#else
#define CRITPATH_CONVERSIONS(X) X(MPI_File, file, "PMPI_File_f2c")
#endif

/// From Fortran to C, without checks and side effects. Handles that are not here are the same in both languages.
struct Conversions {
    int (*status)(const MPI_Fint*, MPI_Status*);
#define CRITPATH_CONVERSION(type, member, symbol) type (*member)(MPI_Fint);
    CRITPATH_CONVERSIONS(CRITPATH_CONVERSION)
#undef CRITPATH_CONVERSION
};
extern Conversions conversions;

/// A handle of Fortran as C knows it. After an entry was found.
template <class Handle>
Handle from_fortran(MPI_Fint handle)
{
    return handle;
}

#define CRITPATH_CONVERSION(type, member, symbol)                                                                      \
    template <>                                                                                                        \
    inline type from_fortran<type>(MPI_Fint handle)                                                                    \
    {                                                                                                                  \
        return conversions.member(handle);                                                                             \
    }
CRITPATH_CONVERSIONS(CRITPATH_CONVERSION)
#undef CRITPATH_CONVERSION
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace critpath::preload::fortran
