// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/starts.hpp"

namespace critpath::preload
{

void Starts::start(Call& call, MPI_Request handle, const void* location)
{
    start(call, process.requests.find(key_of(handle), location));
}

void Starts::start(Call& call, Requests::Index index)
{
    if (index == Requests::none) {
        return;
    }
    Request& request = process.requests.at(index);
    begin(request, call);
    Special* special = process.requests.special(index);
    if (request.operation == spool::Operation::Collective && special != nullptr) {
        collective(call, request, *special);
    } else if (process.requests.is_partitioned_send(index)) {
        special->ready = 0;
    } else {
        message(request);
    }
}

void Starts::message(const Request& request)
{
    if ((request.flags & spool::flag_null_peer) != 0) {
        return;
    }
    if (!request.untold) {
        if (items_ != nullptr) {
            items_[messages_++].slot = as_posted(request);
        }
    } else if ((request.flags & spool::flag_receive) == 0) {
        skip_posted(thread_, request.since, Skipped::What::Send, request.comm, request.peer, request.tag, 1);
    }
}

// MPI_Start is a function of messages, but whether the user has asked for this is a question of collectives. Whether
// recording is on, the call has asked already, if it may be recorded at all.
void Starts::collective(Call& call, Request& request, const Special& special)
{
    const std::uint32_t bit = group_bit(special.function);
    const bool call_knows = control.asks_for(group_bit(FunctionId::MPI_Start));
    request.untold = !control.asks_for(bit) || (call_knows ? call.dropped() : !control.includes(bit));
    if ((request.flags & spool::flag_null_peer) != 0) {
        return;
    }
    if (request.untold) {
        if (call.dropped()) {
            skip_posted(thread_, control.off_since(thread_, bit), Skipped::What::Collective, request.comm, -1, -1, 1);
        }
    } else if (items_ != nullptr) {
        items_[capacity_ - ++collectives_] = {as_posted(request), special.function, special.received};
    }
}

void Starts::sendrecv(Call& call, const Request& request, const Special& special)
{
    if (special.sent_id != 0 && request.untold) {
        skip_posted(thread_, call.since(), Skipped::What::Send, request.comm, special.sent_to, special.sent_tag, 1);
    } else if (special.sent_id != 0 && items_ != nullptr) {
        items_[messages_++].slot = sent_beside(request, special);
    }
    message(request);
}

void Starts::write(Call& call) const
{
    if (collectives_ > 0) {
        call.tell();
    }
    call.write(messages_ + collectives_);
    append_slots(call, messages_, [&](std::uint32_t i) -> const Completion& { return items_[i].slot; });
    append_collectives(call);
    call.write_pause();
}

void Starts::append_collectives(Call& call) const
{
    for (std::uint32_t i = 1; i <= collectives_; ++i) {
        const Item& item = items_[capacity_ - i];
        spool::Record record{};
        record.kind = spool::RecordKind::Started;
        record.function = static_cast<std::uint16_t>(item.function);
        record.comm = item.slot.comm;
        record.peer = item.slot.peer;
        record.tag = item.slot.tag;
        record.bytes = item.slot.bytes;
        record.extra = item.received;
        record.request = item.slot.request;
        call.append(record);
    }
}

ReadyPartitions::ReadyPartitions(Call& call, int partitions, MPI_Request handle) : key_(key_of(handle))
{
    if (!call.recorded() || partitions <= 0) {
        return;
    }
    const TableLock lock;
    const Requests::Index index = process.requests.find_partitioned_send(key_);
    if (index == Requests::none) {
        return;
    }
    partitions_ = partitions;
    Special& special = *process.requests.special(index);
    special.ready += partitions;
    if (special.ready == special.partitions) {
        is_last_ = true;
        process.requests.at(index).untold = call.dropped();
        message_ = process.requests.at(index);
    }
}

void ReadyPartitions::take_back() const
{
    const TableLock lock;
    if (const Requests::Index index = process.requests.find_partitioned_send(key_); index != Requests::none) {
        process.requests.special(index)->ready -= partitions_;
    }
}

}  // namespace critpath::preload
