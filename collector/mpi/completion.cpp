// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/completion.hpp"

#include "collector/mpi/table_lock.hpp"

#include <optional>

namespace critpath::preload
{

namespace
{

// What is reported of a request that has finished. `special`: null if it is not.
Completion describe(const Request& request, const Special* special, const MPI_Status& status)
{
    Completion item = as_posted(request);
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
        item.bytes = special != nullptr && special->partitions > 0 ? request.bytes : bytes_in(status);
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
    std::optional<Special> special;
    {
        const TableLock lock;
        const Requests::Index index = process.requests.find(key_of(handle), location);
        if (index == Requests::none || !process.requests.at(index).active) {
            return;
        }
        request = process.requests.at(index);
        if (request.is_special) [[unlikely]] {
            special = *process.requests.special(index);
        }
        if (request.persistent) {
            process.requests.at(index).active = false;
            process.requests.at(index).cancelled = false;
        } else {
            process.requests.erase(index);
        }
    }
    if (special && special->sent_id != 0 && received(result) && !request.untold) [[unlikely]] {
        has_told_ = true;
        add(sent_beside(request, *special));
    }
    const bool counts = received(result) && (request.flags & spool::flag_null_peer) == 0;
    if (request.untold) {
        has_untold_ = true;
        if (counts && request.operation == spool::Operation::Message) {
            skip(request, status);
        }
    } else if (counts) {
        has_told_ = true;
        add(describe(request, special ? &*special : nullptr, status));
    }
}

// Where a receive has its place is known only now, and so is that a send was cancelled.
void Completions::skip(const Request& request, const MPI_Status& status)
{
    const Completion item = describe(request, nullptr, status);
    const bool is_receive = (item.flags & spool::flag_receive) != 0;
    const bool is_cancelled = (item.flags & spool::flag_cancelled) != 0;
    if (is_receive == is_cancelled) {
        return;  // a send was counted when it was posted, a cancelled receive never was
    }
    const TableLock lock;
    skip_posted(thread_, request.since, is_receive ? Skipped::What::Receive : Skipped::What::Send, item.comm, item.peer,
                item.tag, is_receive ? 1 : -1);
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
    append_slots(call, size_, [&](std::uint32_t i) -> const Completion& { return items_[i]; });
    call.write_pause();
}

Completion sent_beside(const Request& request, const Special& special)
{
    return {special.sent_id,
            special.sent_bytes,
            special.sent_to,
            special.sent_tag,
            request.comm,
            spool::flag_none,
            static_cast<std::uint8_t>(functions::SendMode::Standard),
            spool::Operation::Message};
}

}  // namespace critpath::preload
