// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the Fortran wrappers of what happens to requests and matched messages where the handle is needed as it was
// before the call, or where there are many.
#include "collector/fortran/bodies.hpp"
#include "collector/fortran/convert.hpp"
#include "collector/mpi/record_requests.hpp"

namespace critpath::preload::fortran
{

void Startall(const Caller& caller, StartallFunction* function, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Startall, caller);
    Ierror ierror(f_ierror);
    const int result = call.run([&] {
        function(count, requests, ierror.get());
        return ierror.value();
    });
    if (call.recorded()) {
        Starts starts(call.thread(), *count);
        for (int i = 0; i < *count && result == MPI_SUCCESS; ++i) {
            const TableLock lock;
            starts.start(call, from_fortran<MPI_Request>(requests[i]), &requests[i]);
        }
        starts.write(call);
    }
}

void Request_free(const Caller& caller, Request_freeFunction* function, MPI_Fint* request, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Request_free, caller);
    Ierror ierror(f_ierror);
    const SavedHandles saved = SavedHandles::of(call, 1, [&](int) { return from_fortran<MPI_Request>(*request); });
    const KnownEnd end(saved, request);
    const int result = call.run([&] {
        function(request, ierror.get());
        return ierror.value();
    });
    if (call.recorded()) {
        record_request_free(call, result, saved, request, end);
    }
}

void Improbe(const Caller& caller, ImprobeFunction* function, MPI_Fint* f_source, MPI_Fint* f_tag, MPI_Fint* f_comm,
             MPI_Fint* flag, MPI_Fint* f_message, MPI_Fint* status, MPI_Fint* f_ierror)
{
    const int source = *f_source;
    const int tag = *f_tag;
    Call call(FunctionId::MPI_Improbe, caller);
    Ierror ierror(f_ierror);
    FortranStatus own(status, call.recorded());
    const int result = call.run(
        [&] {
            function(f_source, f_tag, f_comm, flag, f_message, own.fortran(), ierror.get());
            return ierror.value();
        },
        flag);
    if (!call.recorded()) {
        return;
    }
    const MPI_Comm comm = after<MPI_Comm>(result, f_comm);
    if (result == MPI_SUCCESS && *flag == 0) {
        record_iprobe(call, result, 0, source, tag, comm, own.get(), caller.site);
        return;
    }
    const MPI_Message message = after<MPI_Message>(result, f_message);
    record_matched(call, result, source, tag, comm, &message, own.get());
}

void Mrecv(const Caller& caller, MrecvFunction* function, void* buf, MPI_Fint* count, MPI_Fint* datatype,
           MPI_Fint* message, MPI_Fint* status, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Mrecv, caller);
    Ierror ierror(f_ierror);
    FortranStatus own(status, call.recorded());
    const TakenMessage taken(call, call.recorded() ? from_fortran<MPI_Message>(*message) : MPI_Message());
    const int result = call.run([&] {
        function(buf, count, datatype, message, own.fortran(), ierror.get());
        return ierror.value();
    });
    if (call.recorded()) {
        record_mrecv(call, result, taken, own.get());
    }
}

void Imrecv(const Caller& caller, ImrecvFunction* function, void* buf, MPI_Fint* count, MPI_Fint* datatype,
            MPI_Fint* message, MPI_Fint* f_request, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Imrecv, caller);
    Ierror ierror(f_ierror);
    const TakenMessage taken(call, call.recorded() ? from_fortran<MPI_Message>(*message) : MPI_Message());
    const int result = call.run([&] {
        function(buf, count, datatype, message, f_request, ierror.get());
        return ierror.value();
    });
    if (call.recorded()) {
        const MPI_Request request = after<MPI_Request>(result, f_request);
        record_imrecv(call, result, taken, *count, after<MPI_Datatype>(result, datatype), {&request, f_request});
    }
}

}  // namespace critpath::preload::fortran
