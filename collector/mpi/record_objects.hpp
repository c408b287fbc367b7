// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the wrappers of windows, one-sided transfers and files write down after the call (the table in
// formats/spool/record.hpp). Arguments are those of the C binding; nothing is read through a pointer, and nothing is
// asked of MPI, unless the call has succeeded. Where a function has a `status`, it is one that MPI has filled.
#pragma once

#include "collector/mpi/record_calls.hpp"

#include <cstring>
#include <limits>

namespace critpath::preload
{

// ---- windows

inline constexpr int all_targets = std::numeric_limits<int>::min();  // not -1: that may be MPI_PROC_NULL
inline constexpr int no_assertions = 0;

/// A handle that a call is about to take away, and what is known of it. `followed` false: nothing is looked up.
template <class Handle>
struct Taken {
    Taken(bool followed, Objects& objects, const Handle* variable)
    {
        if (followed && variable != nullptr) {
            handle = *variable;
            object = objects.find(key_of(handle));
        }
    }
    Handle handle{};
    Object object;
};

/// MPI_Win_free: before the call, because another thread may get the handle again at once.
inline Taken<MPI_Win> taken_window(const Call& call, const MPI_Win* win)
{
    return {call.follows(), process.windows, win};
}

/// MPI_File_close: as taken_window.
inline Taken<MPI_File> taken_file(const Call& call, const MPI_File* fh)
{
    return {call.follows(), process.files, fh};
}

inline void set_object(spool::Record& record, const Object& object)
{
    record.comm = object.comm;
    record.tag = object.id;
}

/// Window and target; sets flag_null_peer where there is no target that could be told.
inline void set_target(spool::Record& record, const Object& window, int target)
{
    set_object(record, window);
    record.peer = target == all_targets ? -1 : target;
    if (target == MPI_PROC_NULL || window.comm < 0) {
        record.flags |= spool::flag_null_peer;
    }
}

/// `size`: of this process's part, 0 for a dynamic window.
inline void record_win_create(Call& call, int result, MPI_Aint size, MPI_Comm comm, const MPI_Win* win)
{
    const auto function = static_cast<FunctionId>(call.record().function);
    const ObjectOrigin origin = counts_as_creation(function, result) ? process.windows.next(comm) : ObjectOrigin();
    if (result == MPI_SUCCESS) {
        spool::Record& record = call.record();
        set_object(record, process.windows.add(key_of(*win), origin, function, PathEnd(), call.thread().spool));
        record.bytes = static_cast<std::uint64_t>(size);
    }
    call.write();
}

inline void record_win_free(Call& call, int result, const Taken<MPI_Win>& taken)
{
    if (result == MPI_SUCCESS && taken.object.id >= 0) {
        set_object(call.record(), taken.object);
        process.windows.remove(key_of(taken.handle), taken.object.id);
    }
    call.write();
}

/// MPI_Win_fence, and with no_assertions what has only a window.
inline void record_win(Call& call, int result, int assertions, MPI_Win win)
{
    if (result == MPI_SUCCESS) {
        set_object(call.record(), process.windows.find(key_of(win)));
        call.record().extra = static_cast<std::uint32_t>(assertions);
    }
    call.write();
}

/// MPI_Win_start, MPI_Win_post.
void record_win_group(Call& call, int result, MPI_Group group, int assertions, MPI_Win win);

/// `site`: where the application calls from.
inline void record_win_test(Call& call, int result, MPI_Win win, const int* flag, const void* site)
{
    if (result == MPI_SUCCESS) {
        set_object(call.record(), process.windows.find(key_of(win)));
        if (*flag == 0) {
            call.write_poll(key_of(win), site);
            return;
        }
        call.flag(spool::flag_success);
    }
    call.write();
}

/// `target`: all_targets for MPI_Win_lock_all, which locks as MPI_LOCK_SHARED does.
inline void record_win_lock(Call& call, int result, int lock_type, int target, MPI_Win win)
{
    if (result == MPI_SUCCESS) {
        set_target(call.record(), process.windows.find(key_of(win)), target);
        call.record().extra = lock_type == MPI_LOCK_EXCLUSIVE ? 1 : 2;
    }
    call.write();
}

/// MPI_Win_unlock*, MPI_Win_flush*. `target`: all_targets for those that end in _all.
inline void record_win_target(Call& call, int result, int target, MPI_Win win)
{
    if (result == MPI_SUCCESS) {
        set_target(call.record(), process.windows.find(key_of(win)), target);
    }
    call.write();
}

// ---- one-sided transfers

/// Elements that go to, or come from, the target. Of type bytes only if `count` is not 0.
struct Elements {
    MPI_Count count = 0;
    MPI_Datatype type{};
    bool replace = false;  // what is there, whatever that is
};

/// What an accumulating call brings to the target: nothing if it only reads.
inline Elements operands(MPI_Count count, MPI_Datatype type, MPI_Op op)
{
    return {op == handles.op_no_op ? 0 : count, type, op == handles.op_replace};
}

/// `request`: none for functions without one.
inline void record_rma(Call& call, int result, int target, const Elements& to, const Elements& from, MPI_Win win,
                       const RequestVariable& request)
{
    spool::Record& record = call.record();
    if (result == MPI_SUCCESS) {
        set_target(record, process.windows.find(key_of(win)), target);
        record.bytes = bytes_of(to.count, to.type);
        record.extra = bytes_of(from.count, from.type);
        if (to.replace) {
            record.flags |= spool::flag_replaces;
        }
    }
    if (result == MPI_SUCCESS && request.handle != nullptr) {
        post(call, request, spool::Operation::Rma);
    } else {
        call.write();
    }
}

// ---- files

enum class FileData : std::uint8_t { Read, Written };

inline void set_file_bytes(spool::Record& record, FileData data, std::uint64_t bytes)
{
    (data == FileData::Read ? record.extra : record.bytes) = bytes;
}

/// `name` has `length` characters; it is read only after success.
inline void record_file_open(Call& call, int result, MPI_Comm comm, const char* name, std::size_t length,
                             const MPI_File* fh)
{
    const auto function = static_cast<FunctionId>(call.record().function);
    const ObjectOrigin origin = counts_as_creation(function, result) ? process.files.next(comm) : ObjectOrigin();
    if (result == MPI_SUCCESS) {
        spool::Record& record = call.record();
        const PathEnd end(name, length);
        set_object(record, process.files.add(key_of(*fh), origin, function, end, call.thread().spool));
    }
    call.write();
}

inline void record_file_open(Call& call, int result, MPI_Comm comm, const char* name, const MPI_File* fh)
{
    record_file_open(call, result, comm, name, result == MPI_SUCCESS ? std::strlen(name) : 0, fh);
}

inline void record_file_close(Call& call, int result, const Taken<MPI_File>& taken)
{
    if (result == MPI_SUCCESS && taken.object.id >= 0) {
        set_object(call.record(), taken.object);
        process.files.remove(key_of(taken.handle), taken.object.id);
    }
    call.write();
}

inline void record_file(Call& call, int result, MPI_File fh)
{
    if (result == MPI_SUCCESS) {
        set_object(call.record(), process.files.find(key_of(fh)));
    }
    call.write();
}

/// Blocking calls.
inline void record_file_io(Call& call, int result, FileData data, MPI_File fh, MPI_Count count, MPI_Datatype type,
                           const MPI_Status* status)
{
    if (result == MPI_SUCCESS) {
        set_object(call.record(), process.files.find(key_of(fh)));
        set_file_bytes(call.record(), data, bytes_moved(*status, bytes_of(count, type)));
    }
    call.write();
}

inline void record_file_begin(Call& call, int result, FileData data, MPI_File fh, MPI_Count count, MPI_Datatype type)
{
    if (result == MPI_SUCCESS) {
        const std::uint64_t bytes = bytes_of(count, type);
        set_object(call.record(), process.files.find(key_of(fh)));
        set_file_bytes(call.record(), data, bytes);
        process.files.begin_split(key_of(fh), bytes);
    }
    call.write();
}

inline void record_file_end(Call& call, int result, FileData data, MPI_File fh, const MPI_Status* status)
{
    if (result == MPI_SUCCESS) {
        const Object file = process.files.find(key_of(fh));
        set_object(call.record(), file);
        set_file_bytes(call.record(), data, bytes_moved(*status, file.split));
    }
    call.write();
}

inline void record_file_iio(Call& call, int result, FileData data, MPI_File fh, MPI_Count count, MPI_Datatype type,
                            const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    set_object(call.record(), process.files.find(key_of(fh)));
    set_file_bytes(call.record(), data, bytes_of(count, type));
    post(call, request, spool::Operation::File);
}

}  // namespace critpath::preload
