// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what stands between the arguments of a Fortran binding and the functions that record
// (collector/mpi/record_*.hpp), which speak C: the error code, statuses, arrays of requests and types, buffers,
// strings.
#pragma once

#include "collector/fortran/library.hpp"
#include "collector/mpi/completion.hpp"

#include <cstddef>

namespace critpath::preload::fortran
{

/// INTEGERs of a status. MPI_F_STATUS_SIZE came with MPI-3.1 in some libraries only.
inline constexpr std::size_t status_size = sizeof(MPI_Status) / sizeof(MPI_Fint);

/// Where the error code goes: into the application's variable, or, if it gives none, into ours.
class Ierror
{
public:
    explicit Ierror(MPI_Fint* theirs) : used_(theirs != nullptr ? theirs : &own_) {}
    MPI_Fint* get() { return used_; }
    [[nodiscard]] int value() const { return *used_; }

private:
    MPI_Fint own_ = MPI_SUCCESS;
    MPI_Fint* used_;
};

inline void convert_status(const MPI_Fint* from, MPI_Status& to)
{
    conversions.status(from, &to);
}

/// The status that MPI fills: the application's, or our own where the application ignores it.
class FortranStatus
{
public:
    FortranStatus(MPI_Fint* theirs, bool needed)
        : used_(needed && is_one_of(constants.status_ignore, theirs) ? own_ : theirs)
    {
    }
    MPI_Fint* fortran() { return used_; }

    /// As C knows it. After the call.
    const MPI_Status* get()
    {
        convert_status(used_, converted_);
        return &converted_;
    }

private:
    MPI_Fint own_[status_size] = {};
    MPI_Fint* used_;
    MPI_Status converted_ = {};
};

/// As FortranStatus, for an array.
class FortranStatuses
{
public:
    FortranStatuses(Call& call, int count, MPI_Fint* theirs) : used_(theirs)
    {
        if (call.recorded() && count > 0 &&
            (is_one_of(constants.statuses_ignore, theirs) || is_one_of(constants.status_ignore, theirs))) {
            MPI_Fint* own = call.thread().statuses.room<MPI_Fint>(static_cast<std::size_t>(count) * status_size);
            known_ = own != nullptr;
            used_ = known_ ? own : theirs;
        }
    }
    MPI_Fint* fortran() { return used_; }

    /// False if there was no memory for them.
    [[nodiscard]] bool known() const { return known_; }

    [[nodiscard]] MPI_Status at(int i) const
    {
        MPI_Status status = {};
        convert_status(used_ + static_cast<std::size_t>(i) * status_size, status);
        return status;
    }

private:
    MPI_Fint* used_;
    bool known_ = true;
};

/// A handle that a successful call has filled in.
template <class Handle>
Handle after(int result, const MPI_Fint* handle)
{
    return result == MPI_SUCCESS ? from_fortran<Handle>(*handle) : Handle();
}

/// A buffer as C knows it: MPI_IN_PLACE is C's.
inline void* to_buffer(void* buffer)
{
    return is_one_of(constants.in_place, buffer) ? MPI_IN_PLACE : buffer;  // NOLINT: a number made a pointer, by MPI
}

/// The types of MPI_Alltoallw and its kin. Those to send are not looked at if `sendbuf` says that they mean nothing.
class TypeArrays
{
public:
    TypeArrays(Thread& thread, int result, MPI_Comm comm, bool neighbours, const void* sendbuf, const MPI_Fint* send,
               const MPI_Fint* receive);

    /// False if the call has failed or there was no memory.
    [[nodiscard]] bool good() const { return types_ != nullptr; }
    [[nodiscard]] const MPI_Datatype* send() const { return types_; }
    [[nodiscard]] const MPI_Datatype* receive() const { return types_ + sent_; }

private:
    MPI_Datatype* types_ = nullptr;
    int sent_ = 0;
};

/// Length of a string without the blanks at its end.
inline std::size_t trimmed(const char* text, std::size_t length)
{
    while (length > 0 && text[length - 1] == ' ') {
        --length;
    }
    return length;
}

}  // namespace critpath::preload::fortran
