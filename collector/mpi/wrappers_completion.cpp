// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the wrappers of MPI_Wait*, MPI_Test* and MPI_Request_get_status. No test is ever added to what the application
// does, and its arrays are only read.
#include "collector/mpi/completion.hpp"

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)
namespace spool = critpath::spool;

namespace
{

// How request i of an array has ended, after a call that returned `result`. Where the call failed, the request says
// itself, and only if it is gone.
int result_of(int result, MPI_Request now_there, const MPI_Status& status)
{
    if (result == MPI_SUCCESS) {
        return MPI_SUCCESS;
    }
    return now_there == handles.request_null ? status.MPI_ERROR : MPI_ERR_PENDING;
}

// All requests of the array have finished, unless the call failed.
void record_all(Call& call, const SavedHandles& saved, const MPI_Request* requests, const OwnStatuses& statuses,
                int result)
{
    Completions completions(call.thread(), saved.size());
    for (int i = 0; i < saved.size() && statuses.known(); ++i) {
        const int mine = result_of(result, requests[i], statuses[i]);
        if (mine != MPI_ERR_PENDING) {
            completions.finished(saved[i], &requests[i], statuses[i], mine);
        }
    }
    completions.write(call);
}

// Request `index` of the array has finished; -1 or MPI_UNDEFINED: none.
void record_one(Call& call, const SavedHandles& saved, const MPI_Request* requests, int index, const MPI_Status& status,
                int result)
{
    Completions completions(call.thread(), 1);
    if (saved.has(index)) {
        completions.finished(saved[index], &requests[index], status, result);
    }
    completions.write(call);
}

// The requests at `indices` have finished.
void record_some(Call& call, const SavedHandles& saved, const MPI_Request* requests, int count, const int* indices,
                 const OwnStatuses& statuses, int result)
{
    Completions completions(call.thread(), count);
    for (int i = 0; i < count && statuses.known(); ++i) {
        if (saved.has(indices[i])) {
            const MPI_Request* request = &requests[indices[i]];
            completions.finished(saved[indices[i]], request, statuses[i], result_of(result, *request, statuses[i]));
        }
    }
    completions.write(call);
}

// The same question again: the same place, and the same first request there.
std::uint64_t poll_of(const MPI_Request* requests, int count)
{
    const auto place = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(requests));
    return count > 0 ? place ^ (key_of(requests[0]) << 8) ^ (static_cast<std::uint64_t>(count) << 48) : place;
}

// Records a poll that found nothing: a Test whose flag, or whose number of completed requests, came back 0, or that had
// no active request to test. Who looks after messages that may come later asks that as often as any other question.
// False if the wrapper has nothing more to record. `*hits` is read, and `none_active` asked, only after success.
template <class NoneActive>
bool found(Call& call, int result, const int* hits, NoneActive&& none_active, const MPI_Request* requests, int count,
           const void* site)
{
    if (!call.recorded()) {
        return false;
    }
    if (result != MPI_SUCCESS) {
        return true;
    }
    if (*hits == 0 || none_active()) {
        call.write_poll(poll_of(requests, count), site);
        return false;
    }
    call.flag(spool::flag_success);
    return true;
}

// Waitsome and Testsome report on a failure how many requests have ended, so that those can be recorded.
// The count is looked at only then: wrong arguments are the MPI library's to find.
int done_of(int result, const int* outcount)
{
    const bool is_set = result == MPI_SUCCESS || error_class(result) == MPI_ERR_IN_STATUS;
    return is_set && *outcount != MPI_UNDEFINED && *outcount > 0 ? *outcount : 0;
}

}  // namespace

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status)
{
    Call call(FunctionId::MPI_Wait);
    OwnStatus own(status, call.recorded());
    const SavedHandles saved(call, 1, request);
    const int result = call.run([&] { return next_mpi.Wait(request, own.get()); });
    if (call.recorded()) {
        record_one(call, saved, request, 0, *own.get(), result);
    }
    return result;
}

extern "C" int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses)
{
    Call call(FunctionId::MPI_Waitall);
    OwnStatuses own(call, count, array_of_statuses);
    const SavedHandles saved(call, count, array_of_requests);
    const int result = call.run([&] { return next_mpi.Waitall(count, array_of_requests, own.get()); });
    if (call.recorded()) {
        record_all(call, saved, array_of_requests, own, result);
    }
    return result;
}

extern "C" int MPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status)
{
    Call call(FunctionId::MPI_Waitany);
    OwnStatus own(status, call.recorded());
    const SavedHandles saved(call, count, array_of_requests);
    const int result = call.run([&] { return next_mpi.Waitany(count, array_of_requests, index, own.get()); });
    if (call.recorded()) {
        record_one(call, saved, array_of_requests, received(result) ? *index : -1, *own.get(), result);
    }
    return result;
}

extern "C" int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[])
{
    Call call(FunctionId::MPI_Waitsome);
    OwnStatuses own(call, incount, array_of_statuses);
    const SavedHandles saved(call, incount, array_of_requests);
    const int result =
        call.run([&] { return next_mpi.Waitsome(incount, array_of_requests, outcount, array_of_indices, own.get()); });
    if (call.recorded()) {
        const int done = done_of(result, outcount);
        record_some(call, saved, array_of_requests, done, array_of_indices, own, result);
    }
    return result;
}

extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status)
{
    Call call(FunctionId::MPI_Test);
    OwnStatus own(status, call.recorded());
    const SavedHandles saved(call, 1, request);
    const int result = call.run([&] { return next_mpi.Test(request, flag, own.get()); }, flag);
    const auto none_active = [&] { return saved.are_null(); };
    if (!found(call, result, flag, none_active, request, 1, __builtin_return_address(0))) {
        return result;
    }
    record_one(call, saved, request, 0, *own.get(), result);
    return result;
}

extern "C" int MPI_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[])
{
    Call call(FunctionId::MPI_Testall);
    OwnStatuses own(call, count, array_of_statuses);
    const SavedHandles saved(call, count, array_of_requests);
    const int result = call.run([&] { return next_mpi.Testall(count, array_of_requests, flag, own.get()); }, flag);
    const auto none_active = [&] { return saved.are_null(); };
    if (!found(call, result, flag, none_active, array_of_requests, count, __builtin_return_address(0))) {
        return result;
    }
    record_all(call, saved, array_of_requests, own, result);
    return result;
}

extern "C" int MPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status)
{
    Call call(FunctionId::MPI_Testany);
    OwnStatus own(status, call.recorded());
    const SavedHandles saved(call, count, array_of_requests);
    const int result =
        call.run([&] { return next_mpi.Testany(count, array_of_requests, index, flag, own.get()); }, flag);
    const auto none_active = [&] { return *index == MPI_UNDEFINED; };
    if (!found(call, result, flag, none_active, array_of_requests, count, __builtin_return_address(0))) {
        return result;
    }
    record_one(call, saved, array_of_requests, received(result) ? *index : -1, *own.get(), result);
    return result;
}

extern "C" int MPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[])
{
    Call call(FunctionId::MPI_Testsome);
    OwnStatuses own(call, incount, array_of_statuses);
    const SavedHandles saved(call, incount, array_of_requests);
    const int result = call.run(
        [&] { return next_mpi.Testsome(incount, array_of_requests, outcount, array_of_indices, own.get()); }, outcount);
    const auto none_active = [&] { return *outcount == MPI_UNDEFINED; };
    if (!found(call, result, outcount, none_active, array_of_requests, incount, __builtin_return_address(0))) {
        return result;
    }
    const int done = done_of(result, outcount);
    record_some(call, saved, array_of_requests, done, array_of_indices, own, result);
    return result;
}

// Leaves the request as it is, so nothing is completed here, but MPI_Request_free may be all that comes.
extern "C" int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status)
{
    Call call(FunctionId::MPI_Request_get_status);
    const int result = call.run([&] { return next_mpi.Request_get_status(request, flag, status); }, flag);
    if (!call.recorded()) {
        return result;
    }
    if (result == MPI_SUCCESS && (*flag == 0 || request == handles.request_null)) {
        call.write_poll(key_of(request), __builtin_return_address(0));
        return result;
    }
    if (result == MPI_SUCCESS) {
        call.flag(spool::flag_success);
        found_finished(request, nullptr);
    }
    call.write();
    return result;
}
