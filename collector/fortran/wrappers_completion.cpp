// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the Fortran wrappers of MPI_Wait*, MPI_Test* and MPI_Request_get_status. As in C: no test is added to what the
// application does, and its arrays are only read. A request is told apart from others with the
// same handle by the address of its INTEGER.
#include "collector/fortran/bodies.hpp"
#include "collector/fortran/convert.hpp"

namespace critpath::preload::fortran
{

namespace
{

// Of an array, as MPI_Waitany and its kin count. MPICH 4.0 counts as in C, but only with `use mpi_f08`, the one binding
// that is wrapped with MPICH (its issue 6270).
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40100000
constexpr int first_index = 0;
#else
constexpr int first_index = 1;
#endif

SavedHandles save(Call& call, int count, const MPI_Fint* requests)
{
    return SavedHandles::of(call, count, [&](int i) { return from_fortran<MPI_Request>(requests[i]); });
}

// After a call that failed MPI does not say in Fortran how each request has ended, nor changes the application's
// variables. What no longer exists is forgotten; its completion will be missing in the trace.
void record_failure(Call& call, const SavedHandles& saved, const MPI_Fint* requests)
{
    Completions completions(call.thread(), saved.size());
    for (int i = 0; i < saved.size(); ++i) {
        if (saved[i] != from_fortran<MPI_Request>(requests[i])) {
            completions.finished(saved[i], &requests[i], MPI_Status(), MPI_ERR_OTHER);
        }
    }
    completions.write(call);
}

// Of MPI_Waitall, MPI_Testall.
void record_all(Call& call, const SavedHandles& saved, const MPI_Fint* requests, const FortranStatuses& statuses)
{
    Completions completions(call.thread(), saved.size());
    for (int i = 0; i < saved.size() && statuses.known(); ++i) {
        completions.finished(saved[i], &requests[i], statuses.at(i), MPI_SUCCESS);
    }
    completions.write(call);
}

// `place`: of the finished request, counted from 0; negative: none.
void record_one(Call& call, const SavedHandles& saved, const MPI_Fint* requests, int place, const MPI_Status& status)
{
    Completions completions(call.thread(), 1);
    if (saved.has(place)) {
        completions.finished(saved[place], &requests[place], status, MPI_SUCCESS);
    }
    completions.write(call);
}

// `indices`: of `count` requests, counted from first_index.
void record_some(Call& call, const SavedHandles& saved, const MPI_Fint* requests, int count, const MPI_Fint* indices,
                 const FortranStatuses& statuses)
{
    Completions completions(call.thread(), saved.size());
    for (int i = 0; i < count && statuses.known(); ++i) {
        const int place = indices[i] - first_index;
        if (saved.has(place)) {
            completions.finished(saved[place], &requests[place], statuses.at(i), MPI_SUCCESS);
        }
    }
    completions.write(call);
}

// The same question again: the same place, and the same first request there.
std::uint64_t poll_of(const MPI_Fint* requests, int count)
{
    const auto place = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(requests));
    const auto first = count > 0 ? static_cast<std::uint64_t>(static_cast<std::uint32_t>(requests[0])) : 0;
    return place ^ (first << 16) ^ (static_cast<std::uint64_t>(count) << 48);
}

// Where a poll says whether it found anything, and where the application calls it.
struct Poll {
    const MPI_Fint* hits = nullptr;  // nullptr: the call waits
    const void* site = nullptr;
    const MPI_Fint* which = nullptr;  // of those that say MPI_UNDEFINED here where no request is active
};

// Records a poll that found nothing, or that had no active request to test. Otherwise the caller records what was
// found: then the flag, or the number of completed requests, is not 0.
bool found(Call& call, const Poll& poll, const SavedHandles& saved, const MPI_Fint* requests, int count)
{
    if (*poll.hits == 0 || (poll.which == nullptr ? saved.are_null() : *poll.which == MPI_UNDEFINED)) {
        call.write_poll(poll_of(requests, count), poll.site);
        return false;
    }
    call.flag(spool::flag_success);
    return true;
}

// Calls MPI by `invoke`, whose argument is the error variable, and records what has ended of the `count` requests: by
// `record` where all went well, whose argument are the requests as they were.
template <class Invoke, class Record>
void complete(Call& call, MPI_Fint* requests, int count, MPI_Fint* f_ierror, const Poll& poll, Invoke&& invoke,
              Record&& record)
{
    Ierror ierror(f_ierror);
    const SavedHandles saved = save(call, count, requests);
    const int result = call.run(
        [&] {
            invoke(ierror.get());
            return ierror.value();
        },
        poll.hits);
    if (!call.recorded()) {
        return;
    }
    if (result != MPI_SUCCESS) {
        record_failure(call, saved, requests);
    } else if (poll.hits == nullptr || found(call, poll, saved, requests, count)) {
        record(saved);
    }
}

}  // namespace

void Wait(const Caller& caller, WaitFunction* function, MPI_Fint* request, MPI_Fint* status, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Wait, caller);
    FortranStatus own(status, call.recorded());
    complete(
        call, request, 1, f_ierror, {}, [&](MPI_Fint* ierror) { function(request, own.fortran(), ierror); },
        [&](const SavedHandles& saved) { record_one(call, saved, request, 0, *own.get()); });
}

void Waitall(const Caller& caller, WaitallFunction* function, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* statuses,
             MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Waitall, caller);
    FortranStatuses own(call, *count, statuses);
    complete(
        call, requests, *count, f_ierror, {},
        [&](MPI_Fint* ierror) { function(count, requests, own.fortran(), ierror); },
        [&](const SavedHandles& saved) { record_all(call, saved, requests, own); });
}

void Waitany(const Caller& caller, WaitanyFunction* function, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index,
             MPI_Fint* status, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Waitany, caller);
    FortranStatus own(status, call.recorded());
    complete(
        call, requests, *count, f_ierror, {},
        [&](MPI_Fint* ierror) { function(count, requests, index, own.fortran(), ierror); },
        [&](const SavedHandles& saved) { record_one(call, saved, requests, *index - first_index, *own.get()); });
}

void Waitsome(const Caller& caller, WaitsomeFunction* function, MPI_Fint* incount, MPI_Fint* requests,
              MPI_Fint* outcount, MPI_Fint* indices, MPI_Fint* statuses, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Waitsome, caller);
    FortranStatuses own(call, *incount, statuses);
    complete(
        call, requests, *incount, f_ierror, {},
        [&](MPI_Fint* ierror) { function(incount, requests, outcount, indices, own.fortran(), ierror); },
        [&](const SavedHandles& saved) { record_some(call, saved, requests, *outcount, indices, own); });
}

void Test(const Caller& caller, TestFunction* function, MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status,
          MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Test, caller);
    FortranStatus own(status, call.recorded());
    complete(
        call, request, 1, f_ierror, {flag, caller.site},
        [&](MPI_Fint* ierror) { function(request, flag, own.fortran(), ierror); },
        [&](const SavedHandles& saved) { record_one(call, saved, request, 0, *own.get()); });
}

void Testall(const Caller& caller, TestallFunction* function, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* flag,
             MPI_Fint* statuses, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Testall, caller);
    FortranStatuses own(call, *count, statuses);
    complete(
        call, requests, *count, f_ierror, {flag, caller.site},
        [&](MPI_Fint* ierror) { function(count, requests, flag, own.fortran(), ierror); },
        [&](const SavedHandles& saved) { record_all(call, saved, requests, own); });
}

void Testany(const Caller& caller, TestanyFunction* function, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index,
             MPI_Fint* flag, MPI_Fint* status, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Testany, caller);
    FortranStatus own(status, call.recorded());
    complete(
        call, requests, *count, f_ierror, {flag, caller.site, index},
        [&](MPI_Fint* ierror) { function(count, requests, index, flag, own.fortran(), ierror); },
        [&](const SavedHandles& saved) { record_one(call, saved, requests, *index - first_index, *own.get()); });
}

void Testsome(const Caller& caller, TestsomeFunction* function, MPI_Fint* incount, MPI_Fint* requests,
              MPI_Fint* outcount, MPI_Fint* indices, MPI_Fint* statuses, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Testsome, caller);
    FortranStatuses own(call, *incount, statuses);
    complete(
        call, requests, *incount, f_ierror, {outcount, caller.site, outcount},
        [&](MPI_Fint* ierror) { function(incount, requests, outcount, indices, own.fortran(), ierror); },
        [&](const SavedHandles& saved) { record_some(call, saved, requests, *outcount, indices, own); });
}

// Leaves the request as it is, so nothing is completed here.
void Request_get_status(const Caller& caller, Request_get_statusFunction* function, MPI_Fint* request, MPI_Fint* flag,
                        MPI_Fint* status, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Request_get_status, caller);
    Ierror ierror(f_ierror);
    const int result = call.run(
        [&] {
            function(request, flag, status, ierror.get());
            return ierror.value();
        },
        flag);
    if (!call.recorded()) {
        return;
    }
    if (result == MPI_SUCCESS) {
        if (!found(call, {flag, caller.site}, save(call, 1, request), request, 1)) {
            return;
        }
        found_finished(from_fortran<MPI_Request>(*request), request);
    }
    call.write();
}

}  // namespace critpath::preload::fortran
