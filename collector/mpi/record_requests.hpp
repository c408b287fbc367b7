// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is written down about requests between post and completion, and about matched probes and their receives
// (the table in formats/spool/record.hpp). The same for every language: a request is a RequestVariable.
#pragma once

#include "collector/mpi/completion.hpp"
#include "collector/mpi/starts.hpp"
#include "collector/mpi/table_lock.hpp"

namespace critpath::preload
{

inline void record_start(Call& call, int result, const RequestVariable& variable)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    Requests::Index special = Requests::none;
    {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(*variable.handle), variable.location);
        if (index == Requests::none) {
            call.flag(spool::flag_null_peer);  // a persistent request of a kind that we do not know
        } else if (!process.requests.at(index).is_special) {
            Request& started = process.requests.at(index);
            begin(started, call);
            spool::Record& record = call.record();
            record.flags |= started.flags;
            record.comm = started.comm;
            record.peer = started.peer;
            record.tag = started.tag;
            record.bytes = started.bytes;
            record.request = started.id;
            record.extra = static_cast<std::uint64_t>(started.mode);
        } else {
            special = index;
        }
    }
    if (special == Requests::none) {
        call.write();
        return;
    }
    Starts start(call.thread(), 1);
    {
        const TableLock lock;
        start.start(call, special);
    }
    start.write(call);
}

/// Partitioned messages meet no others: their tags are none that MPI allows.
inline int partitioned_tag(int tag)
{
    return static_cast<int>(0U - 2U - static_cast<unsigned>(tag));
}

inline void post_partitioned(Call& call, const RequestVariable& variable, Request request, int partitions,
                             MPI_Count count, MPI_Datatype type)
{
    request.bytes = static_cast<std::uint64_t>(partitions) * static_cast<std::uint64_t>(count) * bytes_of(1, type);
    Special special;
    special.partitions = partitions;
    post_persistent(call, variable, request, &special);
}

inline void record_psend_init(Call& call, int result, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                              int tag, MPI_Comm comm, const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    spool::Record description = call.record();
    describe_send(description, 0, type, dest, partitioned_tag(tag), comm);
    Request send = remember(description);
    send.mode = functions::SendMode::Synchronous;
    post_partitioned(call, request, send, partitions, count, type);
}

inline void record_precv_init(Call& call, int result, int partitions, MPI_Count count, MPI_Datatype type, int source,
                              int tag, MPI_Comm comm, const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    spool::Record description = call.record();
    describe_receive(description, 0, type, source, partitioned_tag(tag), comm);
    post_partitioned(call, request, remember(description), partitions, count, type);
}

/// What is sent is posted with the last of its partitions.
inline void record_pready(Call& call, int result, const ReadyPartitions& ready)
{
    Starts post(call.thread(), 1);
    if (result != MPI_SUCCESS) {
        ready.take_back();
    } else if (ready.message() != nullptr) {
        Request message = *ready.message();
        message.since = call.since();
        const TableLock lock;
        post.message(message);
    }
    post.write(call);
}

/// `site`: where the application calls from.
inline void record_parrived(Call& call, int result, int has_come, int partition, MPI_Request handle, const void* site)
{
    if (result == MPI_SUCCESS && has_come == 0) {
        call.write_poll(key_of(handle) << 20 ^ static_cast<std::uint64_t>(partition), site);
        return;
    }
    if (result == MPI_SUCCESS) {
        call.flag(spool::flag_success);
    }
    call.write();
}

/// One request for both messages: it is remembered as its receive.
inline void record_isendrecv(Call& call, int result, MPI_Count send_count, MPI_Datatype send_type, int dest,
                             int send_tag, MPI_Count receive_count, MPI_Datatype receive_type, int source,
                             int receive_tag, MPI_Comm comm, const RequestVariable& variable)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    spool::Record description = call.record();
    describe_receive(description, receive_count, receive_type, source, receive_tag, comm);
    Request request = remember(description);
    request.untold = call.dropped();
    request.since = call.since();
    call.record().comm = request.comm;
    Starts posts(call.thread(), 2);
    {
        const TableLock lock;
        Special special;
        if (dest != MPI_PROC_NULL && request.comm >= 0) {
            special.sent_id = process.requests.next_id();
            special.sent_bytes = bytes_of(send_count, send_type);
            special.sent_to = dest;
            special.sent_tag = send_tag;
        }
        request.id = process.requests.next_id();
        process.requests.post(key_of(*variable.handle), variable.location, request, special);
        posts.sendrecv(call, request, special);
    }
    posts.write(call);
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

/// Of a request that is freed: it is a receive that takes a message all the same, and it is known of which channel.
inline bool takes_unseen(const Request& freed)
{
    constexpr int no_channel = spool::flag_null_peer | spool::flag_any_source | spool::flag_any_tag;
    return freed.active && !freed.cancelled && freed.operation == spool::Operation::Message &&
           (freed.flags & spool::flag_receive) != 0 && (freed.flags & no_channel) == 0;
}

/// How a request that is to be freed has ended, if MPI_Request_get_status has said that it has. Asked again, that says
/// the same, and changes nothing. To be made before the call, which takes the handle.
class KnownEnd
{
public:
    KnownEnd(const SavedHandles& saved, const void* location)
    {
        int flag = 0;
        is_known_ = saved.has(0) && was_found(saved[0], location) &&
                    pmpi.Request_get_status(saved[0], &flag, &status_) == MPI_SUCCESS && flag != 0;
    }

    /// Null if it is not known.
    [[nodiscard]] const MPI_Status* status() const { return is_known_ ? &status_ : nullptr; }

private:
    static bool was_found(MPI_Request handle, const void* location)
    {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(handle), location);
        return index != Requests::none && process.requests.at(index).active && process.requests.at(index).finished;
    }

    bool is_known_ = false;
    MPI_Status status_ = MPI_Status();
};

/// The call is all that completes `handle`.
inline void record_end_by_free(Call& call, MPI_Request handle, const void* location, const MPI_Status& status)
{
    {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(handle), location);
        if (index != Requests::none) {
            process.requests.at(index).persistent = false;  // no more: it is to be forgotten
        }
    }
    Completions completions(call.thread(), 1);
    completions.finished(handle, location, status, MPI_SUCCESS);
    completions.write(call);
}

/// `saved`: as it was before the call. An active request goes on without its handle: its post stays in the trace, its
/// completion will not come, unless its end is known.
inline void record_request_free(Call& call, int result, const SavedHandles& saved, const void* location,
                                const KnownEnd& end)
{
    if (result == MPI_SUCCESS && end.status() != nullptr) {
        record_end_by_free(call, saved[0], location, *end.status());
        return;
    }
    if (result == MPI_SUCCESS && saved.has(0)) {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(saved[0]), location);
        if (index != Requests::none) {
            const Request& freed = process.requests.at(index);
            if (freed.active) {
                call.record().request = id_in_trace(freed);
            }
            if (takes_unseen(freed)) {
                skip_posted(call.thread(), freed.since, Skipped::What::Receive, freed.comm, freed.peer, freed.tag, 1);
            }
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

/// The message that a matched receive is about to take, and what is known of its probe. To be made before the call:
/// after it, another thread may have the same handle again.
class TakenMessage
{
public:
    TakenMessage(const Call& call, MPI_Message message) : key_(key_of(message))
    {
        if (!call.recorded()) {
            return;
        }
        const TableLock lock;
        const std::uint32_t index = process.messages.find(key_);
        if (index != HandleTable<spool::Record>::none) {
            is_known_ = true;
            probe_ = process.messages.at(index);
            process.messages.erase(index);
        }
    }

    /// The record of the probe. Nothing if it is not known or not in the trace: then the receive was counted there
    /// (spool::SkippedRecord), and is nothing here.
    [[nodiscard]] const spool::Record* probe() const { return is_known_ && probe_.extra == 0 ? &probe_ : nullptr; }

    /// The call has failed: the message is still there.
    void put_back() const
    {
        if (is_known_) {
            const TableLock lock;
            process.messages.insert(key_, probe_);
        }
    }

private:
    std::uint64_t key_;
    bool is_known_ = false;
    spool::Record probe_;  // `extra` is 1 if it is not in the trace
};

inline void record_mrecv(Call& call, int result, const TakenMessage& message, const MPI_Status* status)
{
    if (received(result)) {
        spool::Record& record = call.record();
        record.flags = spool::flag_receive;
        if (const spool::Record* probe = message.probe()) {
            record.comm = probe->comm;
            record.request = probe->request;
            set_envelope(record, *status);
            call.tell();
        } else {
            call.flag(spool::flag_null_peer);
        }
    } else {
        message.put_back();
    }
    call.write();
}

inline void record_imrecv(Call& call, int result, const TakenMessage& message, MPI_Count count, MPI_Datatype type,
                          const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        message.put_back();
        call.write();
        return;
    }
    spool::Record& record = call.record();
    record.flags |= spool::flag_receive;
    record.bytes = bytes_of(count, type);
    std::uint64_t since = call.since();
    if (const spool::Record* probe = message.probe()) {
        record.comm = probe->comm;
        record.peer = probe->peer;
        record.tag = probe->tag;
        record.extra = probe->request;
        call.tell();
        since = probe->enter;
    } else {
        record.flags |= spool::flag_null_peer;
    }
    post(call, request, since);
}

}  // namespace critpath::preload
