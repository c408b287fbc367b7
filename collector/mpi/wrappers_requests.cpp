// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the wrappers of what happens to requests between post and completion, and of matched probes and their receives.
#include "collector/mpi/completion.hpp"

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)
namespace spool = critpath::spool;

extern "C" int MPI_Start(MPI_Request* request)
{
    Call call(FunctionId::MPI_Start);
    const int result = call.run([&] { return pmpi.Start(request); });
    if (!call.recorded()) {
        return result;
    }
    if (result == MPI_SUCCESS) {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(*request), request);
        if (index != Requests::none) {
            Request& started = process.requests.at(index);
            started.id = process.requests.next_id();
            started.active = true;
            spool::Record& record = call.record();
            record.flags |= started.flags;
            record.comm = started.comm;
            record.peer = started.peer;
            record.tag = started.tag;
            record.bytes = started.bytes;
            record.request = started.id;
            record.extra = static_cast<std::uint64_t>(started.mode);
        } else {
            call.flag(spool::flag_null_peer);  // a persistent request of a kind that we do not know
        }
    }
    call.write();
    return result;
}

extern "C" int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    Call call(FunctionId::MPI_Startall);
    const int result = call.run([&] { return pmpi.Startall(count, array_of_requests); });
    if (call.recorded()) {
        Completions starts(call.thread(), count);
        for (int i = 0; i < count && result == MPI_SUCCESS; ++i) {
            starts.started(array_of_requests[i], &array_of_requests[i]);
        }
        starts.write(call);
    }
    return result;
}

extern "C" int MPI_Cancel(MPI_Request* request)
{
    Call call(FunctionId::MPI_Cancel);
    const int result = call.run([&] { return pmpi.Cancel(request); });
    if (call.recorded()) {
        if (result == MPI_SUCCESS) {
            const TableLock lock;
            const Requests::Index index = process.requests.find(key_of(*request), request);
            if (index != Requests::none && process.requests.at(index).active) {
                process.requests.at(index).cancelled = true;
                call.record().request = process.requests.at(index).id;
            }
        }
        call.write();
    }
    return result;
}

// An active request goes on without its handle: its post stays in the trace, its completion will not come.
extern "C" int MPI_Request_free(MPI_Request* request)
{
    Call call(FunctionId::MPI_Request_free);
    const SavedHandles saved(call, 1, request);
    const int result = call.run([&] { return pmpi.Request_free(request); });
    if (call.recorded()) {
        if (result == MPI_SUCCESS && saved.has(0)) {
            const TableLock lock;
            const Requests::Index index = process.requests.find(key_of(saved[0]), request);
            if (index != Requests::none) {
                const Request& freed = process.requests.at(index);
                call.record().request = freed.active ? freed.id : 0;
                process.requests.erase(index);
            }
        }
        call.write();
    }
    return result;
}

namespace
{

// The probe has taken the message: whoever receives `message` receives what the probe reported.
void record_matched(Call& call, int result, int source, int tag, MPI_Comm comm, const MPI_Message* message,
                    const MPI_Status& status)
{
    if (result == MPI_SUCCESS) {
        spool::Record& record = call.record();
        describe_probe(record, source, tag, comm, status);
        if (*message != handles.message_no_proc && (record.flags & spool::flag_null_peer) == 0) {
            const TableLock lock;
            record.request = process.next_message++;
            process.messages.insert(key_of(*message), record);
        }
    }
    call.write();
}

// The probe behind a message handle, which it takes out of the table. A record without a request id if there is none.
spool::Record take_message(MPI_Message message)
{
    spool::Record probe{};
    probe.comm = -1;
    probe.peer = MPI_PROC_NULL;
    const TableLock lock;
    const std::uint32_t index = process.messages.find(key_of(message));
    if (index != HandleTable<spool::Record>::none) {
        probe = process.messages.at(index);
        process.messages.erase(index);
    }
    return probe;
}

}  // namespace

extern "C" int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)
{
    Call call(FunctionId::MPI_Mprobe);
    OwnStatus own(status, call.recorded());
    const int result = call.run([&] { return pmpi.Mprobe(source, tag, comm, message, own.get()); });
    if (call.recorded()) {
        record_matched(call, result, source, tag, comm, message, *own.get());
    }
    return result;
}

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status)
{
    Call call(FunctionId::MPI_Improbe);
    OwnStatus own(status, call.recorded());
    const int result = call.run([&] { return pmpi.Improbe(source, tag, comm, flag, message, own.get()); });
    if (!call.recorded()) {
        return result;
    }
    if (result == MPI_SUCCESS && *flag == 0) {
        record_iprobe(call, result, 0, source, tag, comm, own.get(), __builtin_return_address(0));
        return result;
    }
    record_matched(call, result, source, tag, comm, message, *own.get());
    return result;
}

extern "C" int MPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status)
{
    Call call(FunctionId::MPI_Mrecv);
    OwnStatus own(status, call.recorded());
    const MPI_Message taken = call.recorded() && message != nullptr ? *message : MPI_Message();
    const int result = call.run([&] { return pmpi.Mrecv(buf, count, datatype, message, own.get()); });
    if (!call.recorded()) {
        return result;
    }
    if (received(result)) {
        const spool::Record probe = take_message(taken);
        spool::Record& record = call.record();
        record.flags = spool::flag_receive;
        record.comm = probe.comm;
        record.request = probe.request;
        if (probe.request != 0) {
            set_envelope(record, *own.get());
        } else {
            call.flag(spool::flag_null_peer);
        }
    }
    call.write();
    return result;
}

extern "C" int MPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request)
{
    Call call(FunctionId::MPI_Imrecv);
    const MPI_Message taken = call.recorded() && message != nullptr ? *message : MPI_Message();
    const int result = call.run([&] { return pmpi.Imrecv(buf, count, datatype, message, request); });
    if (!call.recorded()) {
        return result;
    }
    if (result != MPI_SUCCESS) {
        call.write();
        return result;
    }
    const spool::Record probe = take_message(taken);
    spool::Record& record = call.record();
    record.flags |= spool::flag_receive | (probe.request == 0 ? spool::flag_null_peer : spool::flag_none);
    record.comm = probe.comm;
    record.peer = probe.peer;
    record.tag = probe.tag;
    record.bytes = bytes_of(count, datatype);
    record.extra = probe.request;
    post(call, request);
    return result;
}
