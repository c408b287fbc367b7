// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is written down about requests between post and completion, and about matched probes and their receives
// (the table in formats/spool/record.hpp). The same for every language: a request is a RequestVariable.
#pragma once

#include "collector/mpi/completion.hpp"

namespace critpath::preload
{

inline void record_start(Call& call, int result, const RequestVariable& variable)
{
    if (result == MPI_SUCCESS) {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(*variable.handle), variable.location);
        if (index != Requests::none) {
            Request& started = process.requests.at(index);
            started.id = process.requests.next_id();
            started.active = true;
            started.untold = call.dropped();
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
}

inline void record_cancel(Call& call, int result, const RequestVariable& variable)
{
    if (result == MPI_SUCCESS) {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(*variable.handle), variable.location);
        if (index != Requests::none && process.requests.at(index).active) {
            process.requests.at(index).cancelled = true;
            call.record().request = id_in_trace(process.requests.at(index));
        }
    }
    call.write();
}

/// `saved`: as it was before the call. An active request goes on without its handle: its post stays in the trace, its
/// completion will not come.
inline void record_request_free(Call& call, int result, const SavedHandles& saved, const void* location)
{
    if (result == MPI_SUCCESS && saved.has(0)) {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(saved[0]), location);
        if (index != Requests::none) {
            const Request& freed = process.requests.at(index);
            call.record().request = freed.active ? id_in_trace(freed) : 0;
            process.requests.erase(index);
        }
    }
    call.write();
}

/// The probe has taken the message: whoever receives `message` receives what the probe reported.
inline void record_matched(Call& call, int result, int source, int tag, MPI_Comm comm, const MPI_Message* message,
                           const MPI_Status* status)
{
    if (result == MPI_SUCCESS) {
        spool::Record& record = call.record();
        describe_probe(record, source, tag, comm, *status);
        if (*message != handles.message_no_proc && (record.flags & spool::flag_null_peer) == 0) {
            const TableLock lock;
            record.request = process.next_message++;
            spool::Record probe = record;
            probe.extra = call.dropped() ? 1 : 0;
            process.messages.insert(key_of(*message), probe);
        }
    }
    call.write();
}

/// The probe behind a message handle, which it takes out of the table. A record without a request id if there is none;
/// `extra` is 1 if the probe is not in the trace.
inline spool::Record take_message(MPI_Message message)
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

/// `message`: as it was before the call.
inline void record_mrecv(Call& call, int result, MPI_Message message, const MPI_Status* status)
{
    if (received(result)) {
        const spool::Record probe = take_message(message);
        spool::Record& record = call.record();
        record.flags = spool::flag_receive;
        record.comm = probe.comm;
        record.request = probe.extra == 0 ? probe.request : 0;
        if (probe.request != 0) {
            set_envelope(record, *status);
        } else {
            call.flag(spool::flag_null_peer);
        }
    }
    call.write();
}

/// `message`: as it was before the call.
inline void record_imrecv(Call& call, int result, MPI_Message message, int count, MPI_Datatype type,
                          const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    const spool::Record probe = take_message(message);
    spool::Record& record = call.record();
    record.flags |= spool::flag_receive | (probe.request == 0 ? spool::flag_null_peer : spool::flag_none);
    record.comm = probe.comm;
    record.peer = probe.peer;
    record.tag = probe.tag;
    record.bytes = bytes_of(count, type);
    record.extra = probe.extra == 0 ? probe.request : 0;
    post(call, request);
}

}  // namespace critpath::preload
