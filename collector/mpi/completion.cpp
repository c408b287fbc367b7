// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/completion.hpp"

#include "collector/mpi/table_lock.hpp"

namespace critpath::preload
{

namespace
{

// What is reported of a request that has finished.
Completion describe(const Request& request, const MPI_Status& status)
{
    Completion item = {request.id,
                       request.bytes,
                       request.peer,
                       request.tag,
                       request.comm,
                       request.flags,
                       static_cast<std::uint8_t>(request.mode),
                       request.operation};
    if (request.cancelled) {
        int cancelled = 0;
        if (pmpi.Test_cancelled(&status, &cancelled) == MPI_SUCCESS && cancelled != 0) {
            item.flags |= spool::flag_cancelled;
            item.bytes = 0;
            return item;
        }
    }
    if ((request.flags & spool::flag_receive) != 0) {
        // What was asked for is what has come; of MPI_Isendrecv, the status of MPICH 4.0 says nothing.
        item.peer = (request.flags & spool::flag_any_source) != 0 ? status.MPI_SOURCE : request.peer;
        item.tag = (request.flags & spool::flag_any_tag) != 0 ? status.MPI_TAG : request.tag;
        item.bytes = request.partitions > 0 ? request.bytes : bytes_in(status);
    }
    if (request.operation == spool::Operation::File) {
        item.bytes = bytes_moved(status, request.bytes);
    }
    return item;
}

}  // namespace

void skip_posted(Thread& thread, std::uint64_t since, Skipped::What what, std::int32_t comm, std::int32_t peer,
                 std::int32_t tag, std::int32_t count)
{
    if (since == 0) {
        return;
    }
    process.skipped.add(what, comm, peer, tag, since, count, thread.spool);
    if (control.switches() % 2 == 0) {
        process.skipped.write(thread.spool);
    }
}

void Completions::finished(MPI_Request handle, const void* location, const MPI_Status& status, int result)
{
    if (handle == handles.request_null) {
        return;
    }
    Request request;
    {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(handle), location);
        if (index == Requests::none || !process.requests.at(index).active) {
            return;
        }
        request = process.requests.at(index);
        if (request.persistent) {
            process.requests.at(index).active = false;
            process.requests.at(index).cancelled = false;
        } else {
            process.requests.erase(index);
        }
    }
    if (request.sent_id != 0 && received(result) && !request.untold) {
        has_told_ = true;
        add(send_of(request));
    }
    const bool counts = received(result) && (request.flags & spool::flag_null_peer) == 0;
    if (request.untold) {
        has_untold_ = true;
        if (counts && request.operation == spool::Operation::Message) {
            skip(request, status);
        }
    } else if (counts) {
        has_told_ = true;
        add(describe(request, status));
    }
}

// Where a receive has its place is known only now, and so is that a send was cancelled.
void Completions::skip(const Request& request, const MPI_Status& status)
{
    const Completion item = describe(request, status);
    const bool is_receive = (item.flags & spool::flag_receive) != 0;
    const bool is_cancelled = (item.flags & spool::flag_cancelled) != 0;
    if (is_receive == is_cancelled) {
        return;  // a send was counted when it was posted, a cancelled receive never was
    }
    const TableLock lock;
    skip_posted(thread_, request.since, is_receive ? Skipped::What::Receive : Skipped::What::Send, item.comm, item.peer,
                item.tag, is_receive ? 1 : -1);
}

void Completions::started(Call& call, MPI_Request handle, const void* location)
{
    const TableLock lock;
    const Requests::Index index = process.requests.find(key_of(handle), location);
    if (index == Requests::none) {
        return;
    }
    Request& request = process.requests.at(index);
    request.id = process.requests.next_id();
    request.active = true;
    request.finished = false;
    request.untold = call.dropped();
    request.since = call.since();
    if (request.operation == spool::Operation::Collective) {
        request.untold = !control.includes(group_bit(request.function));
        start_collective(call, request);
    } else if (is_partitioned_send(request)) {
        request.ready = 0;
    } else {
        add_message(request);
    }
}

void Completions::add_message(const Request& request)
{
    if ((request.flags & spool::flag_null_peer) != 0) {
        return;
    }
    if (!request.untold) {
        add({request.id, request.bytes, request.peer, request.tag, request.comm, request.flags,
             static_cast<std::uint8_t>(request.mode), request.operation});
    } else if ((request.flags & spool::flag_receive) == 0) {
        skip_posted(thread_, request.since, Skipped::What::Send, request.comm, request.peer, request.tag, 1);
    }
}

void Completions::all_ready(Call& call, Request& request)
{
    request.untold = call.dropped();
    request.since = call.since();
    add_message(request);
}

// MPI_Start is a function of messages, but whether the user has asked for this is a question of collectives.
void Completions::start_collective(Call& call, const Request& request)
{
    if ((request.flags & spool::flag_null_peer) != 0) {
        return;
    }
    if (request.untold) {
        const std::uint64_t since = control.off_since(call.thread(), group_bit(request.function));
        if (call.dropped() && since != 0) {
            skip_posted(thread_, since, Skipped::What::Collective, request.comm, -1, -1, 1);
        }
        return;
    }
    has_told_ = true;
    add({request.id, request.bytes, request.peer, request.tag, request.comm, request.flags, 0, request.operation,
         request.function, request.extra});
}

Completion Completions::send_of(const Request& request)
{
    return {request.sent_id,
            request.sent_bytes,
            request.sent_to,
            request.sent_tag,
            request.comm,
            spool::flag_none,
            static_cast<std::uint8_t>(functions::SendMode::Standard),
            spool::Operation::Message};
}

void Completions::posted(Call& call, const Request& request)
{
    if (request.untold) {
        if (request.sent_id != 0) {
            const TableLock lock;
            skip_posted(thread_, call.since(), Skipped::What::Send, request.comm, request.sent_to, request.sent_tag, 1);
        }
        return;
    }
    if (request.sent_id != 0) {
        add(send_of(request));
    }
    add_message(request);
}

void Completions::write(Call& call) const
{
    // What ends something in the trace is, too: without it, what was posted would seem to have no end.
    if (has_told_) {
        call.tell();
    }
    // Only requests that the user did not ask for, and no messages wanted: neither is the wait.
    if (size_ == 0 && has_untold_ && !control.includes(group_bit(FunctionId::MPI_Send))) {
        call.drop();
    }
    call.write(size_);
    write_slots(call);
    write_started(call);
    call.write_pause();
}

void Completions::write_slots(Call& call) const
{
    spool::CompletionsRecord record{};
    const auto append = [&] {
        record.kind = spool::RecordKind::Completions;
        call.append(record);
        record = {};
    };
    for (std::uint32_t i = 0; i < size_; ++i) {
        if (items_[i].started != FunctionId::none) {
            continue;
        }
        const int slot = record.slots++;
        record.flags[slot] = items_[i].flags;
        record.mode[slot] = items_[i].mode;
        record.operation[slot] = items_[i].operation;
        record.request[slot] = items_[i].request;
        record.bytes[slot] = items_[i].bytes;
        record.peer[slot] = items_[i].peer;
        record.tag[slot] = items_[i].tag;
        record.comm[slot] = items_[i].comm;
        if (record.slots == 2) {
            append();
        }
    }
    if (record.slots != 0) {
        append();
    }
}

void Completions::write_started(Call& call) const
{
    for (std::uint32_t i = 0; i < size_; ++i) {
        if (items_[i].started == FunctionId::none) {
            continue;
        }
        spool::Record record{};
        record.kind = spool::RecordKind::Started;
        record.function = static_cast<std::uint16_t>(items_[i].started);
        record.comm = items_[i].comm;
        record.peer = items_[i].peer;
        record.tag = items_[i].tag;
        record.bytes = items_[i].bytes;
        record.extra = items_[i].extra;
        record.request = items_[i].request;
        call.append(record);
    }
}

}  // namespace critpath::preload
