// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/event_writer.hpp"

#include "formats/otf2/check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace critpath::otf2
{

EventWriter::EventWriter(OTF2_EvtWriter* writer, OTF2_LocationRef location, std::string file)
    : writer_(writer), location_(location), file_(std::move(file)), attributes_(OTF2_AttributeList_New())
{
}

void EventWriter::attach_value(Attribute attribute, OTF2_AttributeValue value)
{
    checked(OTF2_AttributeList_AddAttribute(attributes_.get(), static_cast<OTF2_AttributeRef>(attribute),
                                            info(attribute).type, value));
    has_attached_ = true;
}

void EventWriter::attach(Attribute attribute, std::uint64_t value)
{
    OTF2_AttributeValue any{};
    any.uint64 = value;
    attach_value(attribute, any);
}

void EventWriter::attach(Attribute attribute, std::int32_t value)
{
    OTF2_AttributeValue any{};
    any.int32 = value;
    attach_value(attribute, any);
}

void EventWriter::attach(Attribute attribute, std::uint32_t value)
{
    OTF2_AttributeValue any{};
    any.uint32 = value;  // of references, too
    attach_value(attribute, any);
}

void EventWriter::attach(Attribute attribute, std::uint8_t value)
{
    OTF2_AttributeValue any{};
    any.uint8 = value;
    attach_value(attribute, any);
}

// libotf2 empties the list when it has written it.
OTF2_AttributeList* EventWriter::attached()
{
    return std::exchange(has_attached_, false) ? attributes_.get() : nullptr;
}

std::uint64_t EventWriter::forward(std::uint64_t time)
{
    if (time < last_) {
        ++clipped_;
        return last_;
    }
    if (!has_events_) {
        has_events_ = true;
        first_ = time;
    }
    return last_ = time;
}

void EventWriter::checked(OTF2_ErrorCode rc) const
{
    check(rc, "{}", file_);
}

void EventWriter::program_begin(std::uint64_t time, OTF2_StringRef program, std::span<const OTF2_StringRef> arguments)
{
    checked(OTF2_EvtWriter_ProgramBegin(writer_, attached(), forward(time), program,
                                        static_cast<std::uint32_t>(arguments.size()), arguments.data()));
}

void EventWriter::program_end(std::uint64_t time)
{
    checked(OTF2_EvtWriter_ProgramEnd(writer_, attached(), forward(time), OTF2_UNDEFINED_INT64));
}

void EventWriter::thread_begin(std::uint64_t time)
{
    checked(OTF2_EvtWriter_ThreadBegin(writer_, attached(), forward(time), OTF2_UNDEFINED_COMM, 0));
}

void EventWriter::thread_end(std::uint64_t time)
{
    checked(OTF2_EvtWriter_ThreadEnd(writer_, attached(), forward(time), OTF2_UNDEFINED_COMM, 0));
}

void EventWriter::enter(std::uint64_t time, OTF2_RegionRef region)
{
    checked(OTF2_EvtWriter_Enter(writer_, attached(), forward(time), region));
}

void EventWriter::leave(std::uint64_t time, OTF2_RegionRef region)
{
    checked(OTF2_EvtWriter_Leave(writer_, attached(), forward(time), region));
}

void EventWriter::enter_context(std::uint64_t time, OTF2_CallingContextRef context)
{
    checked(OTF2_EvtWriter_CallingContextEnter(writer_, attached(), forward(time), context, OTF2_UNDEFINED_UINT32));
}

void EventWriter::leave_context(std::uint64_t time, OTF2_CallingContextRef context)
{
    checked(OTF2_EvtWriter_CallingContextLeave(writer_, attached(), forward(time), context));
}

void EventWriter::send(std::uint64_t time, const Envelope& m)
{
    checked(OTF2_EvtWriter_MpiSend(writer_, attached(), forward(time), static_cast<std::uint32_t>(m.peer), m.comm,
                                   static_cast<std::uint32_t>(m.tag), m.bytes));
}

void EventWriter::isend(std::uint64_t time, const Envelope& m, std::uint64_t request, functions::SendMode mode)
{
    if (mode != functions::SendMode::None) {
        attach(Attribute::Mode, static_cast<std::uint8_t>(mode));
    }
    checked(OTF2_EvtWriter_MpiIsend(writer_, attached(), forward(time), static_cast<std::uint32_t>(m.peer), m.comm,
                                    static_cast<std::uint32_t>(m.tag), m.bytes, request));
}

void EventWriter::isend_complete(std::uint64_t time, std::uint64_t request)
{
    checked(OTF2_EvtWriter_MpiIsendComplete(writer_, attached(), forward(time), request));
}

void EventWriter::irecv_request(std::uint64_t time, std::uint64_t request, std::optional<std::uint64_t> message)
{
    if (message) {
        attach(Attribute::Message, *message);
    }
    checked(OTF2_EvtWriter_MpiIrecvRequest(writer_, attached(), forward(time), request));
}

void EventWriter::irecv(std::uint64_t time, const Envelope& m, std::uint64_t request)
{
    checked(OTF2_EvtWriter_MpiIrecv(writer_, attached(), forward(time), static_cast<std::uint32_t>(m.peer), m.comm,
                                    static_cast<std::uint32_t>(m.tag), m.bytes, request));
}

void EventWriter::recv(std::uint64_t time, const Envelope& m, std::optional<std::uint64_t> matched)
{
    if (matched) {
        attach(Attribute::Message, *matched);
    }
    checked(OTF2_EvtWriter_MpiRecv(writer_, attached(), forward(time), static_cast<std::uint32_t>(m.peer), m.comm,
                                   static_cast<std::uint32_t>(m.tag), m.bytes));
}

void EventWriter::request_cancelled(std::uint64_t time, std::uint64_t request)
{
    checked(OTF2_EvtWriter_MpiRequestCancelled(writer_, attached(), forward(time), request));
}

void EventWriter::collective_begin(std::uint64_t time)
{
    checked(OTF2_EvtWriter_MpiCollectiveBegin(writer_, attached(), forward(time)));
}

void EventWriter::collective_end(std::uint64_t time, const CollectiveEnd& end)
{
    checked(OTF2_EvtWriter_MpiCollectiveEnd(writer_, attached(), forward(time), end.operation, end.comm, end.root,
                                            end.sent, end.received));
}

void EventWriter::collective_request(std::uint64_t time, OTF2_CommRef comm, std::uint64_t request,
                                     std::optional<functions::FunctionId> started)
{
    attach(Attribute::Comm, comm);
    if (started) {
        attach(Attribute::Operation, operation_number(*started));
    }
    checked(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer_, attached(), forward(time), request));
}

void EventWriter::collective_complete(std::uint64_t time, const CollectiveEnd& end, std::uint64_t request)
{
    checked(OTF2_EvtWriter_NonBlockingCollectiveComplete(writer_, attached(), forward(time), end.operation, end.comm,
                                                         end.root, end.sent, end.received, request));
}

void EventWriter::comm_create(std::uint64_t time, OTF2_CommRef comm, const std::set<std::uint32_t>* in_neighbours)
{
    if (in_neighbours == nullptr) {
        checked(OTF2_EvtWriter_CommCreate(writer_, attached(), forward(time), comm));
        return;
    }
    attach(Attribute::InDegree, static_cast<std::uint32_t>(in_neighbours->size()));
    checked(OTF2_EvtWriter_CommCreate(writer_, attached(), forward(time), comm));
    for (const std::uint32_t rank : *in_neighbours) {
        checked(OTF2_EvtWriter_ParameterUnsignedInt(writer_, attached(), forward(time), in_neighbour_reference, rank));
    }
}

void EventWriter::comm_destroy(std::uint64_t time, OTF2_CommRef comm)
{
    checked(OTF2_EvtWriter_CommDestroy(writer_, attached(), forward(time), comm));
}

void EventWriter::measurement(std::uint64_t time, bool on)
{
    checked(OTF2_EvtWriter_MeasurementOnOff(writer_, attached(), forward(time),
                                            on ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF));
}

void EventWriter::sample(std::uint64_t time, OTF2_CallingContextRef context, OTF2_InterruptGeneratorRef generator,
                         std::uint64_t offset, std::optional<std::uint64_t> period,
                         std::optional<std::uint64_t> page_faults)
{
    attach(Attribute::Offset, offset);
    if (period) {
        attach(Attribute::Period, *period);
    }
    if (page_faults) {
        attach(Attribute::PageFaults, *page_faults);
    }
    checked(OTF2_EvtWriter_CallingContextSample(writer_, attached(), forward(time), context, OTF2_UNDEFINED_UINT32,
                                                generator));
}

// ------------------------------------------------------------------------------------------------- windows

void EventWriter::window_create(std::uint64_t time, OTF2_RmaWinRef window)
{
    checked(OTF2_EvtWriter_RmaWinCreate(writer_, attached(), forward(time), window));
}

void EventWriter::window_destroy(std::uint64_t time, OTF2_RmaWinRef window)
{
    checked(OTF2_EvtWriter_RmaWinDestroy(writer_, attached(), forward(time), window));
}

void EventWriter::window_collective_begin(std::uint64_t time)
{
    checked(OTF2_EvtWriter_RmaCollectiveBegin(writer_, attached(), forward(time)));
}

void EventWriter::window_collective_end(std::uint64_t time, OTF2_RmaWinRef window, OTF2_CollectiveOp operation,
                                        OTF2_RmaSyncLevel level)
{
    checked(OTF2_EvtWriter_RmaCollectiveEnd(writer_, attached(), forward(time), operation, level, window,
                                            OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
}

void EventWriter::window_group(std::uint64_t time, OTF2_RmaWinRef window, OTF2_GroupRef group, OTF2_RmaSyncLevel level)
{
    checked(OTF2_EvtWriter_RmaGroupSync(writer_, attached(), forward(time), level, window, group));
}

void EventWriter::lock_request(std::uint64_t time, const Lock& lock)
{
    checked(OTF2_EvtWriter_RmaRequestLock(writer_, attached(), forward(time), lock.window, lock.target, 0, lock.type));
}

void EventWriter::lock_acquire(std::uint64_t time, const Lock& lock)
{
    checked(OTF2_EvtWriter_RmaAcquireLock(writer_, attached(), forward(time), lock.window, lock.target, 0, lock.type));
}

void EventWriter::lock_release(std::uint64_t time, OTF2_RmaWinRef window, std::uint32_t target)
{
    checked(OTF2_EvtWriter_RmaReleaseLock(writer_, attached(), forward(time), window, target, 0));
}

void EventWriter::window_sync(std::uint64_t time, OTF2_RmaWinRef window, std::uint32_t target)
{
    checked(OTF2_EvtWriter_RmaSync(writer_, attached(), forward(time), window, target, OTF2_RMA_SYNC_TYPE_MEMORY));
}

void EventWriter::put(std::uint64_t time, const Transfer& t)
{
    checked(OTF2_EvtWriter_RmaPut(writer_, attached(), forward(time), t.window, t.target, t.sent, t.id));
}

void EventWriter::get(std::uint64_t time, const Transfer& t)
{
    checked(OTF2_EvtWriter_RmaGet(writer_, attached(), forward(time), t.window, t.target, t.received, t.id));
}

void EventWriter::atomic(std::uint64_t time, const Transfer& t, OTF2_RmaAtomicType type)
{
    checked(OTF2_EvtWriter_RmaAtomic(writer_, attached(), forward(time), t.window, t.target, type, t.sent, t.received,
                                     t.id));
}

void EventWriter::done_blocking(std::uint64_t time, OTF2_RmaWinRef window, std::uint64_t id)
{
    checked(OTF2_EvtWriter_RmaOpCompleteBlocking(writer_, attached(), forward(time), window, id));
}

void EventWriter::done_request(std::uint64_t time, OTF2_RmaWinRef window, std::uint64_t id)
{
    checked(OTF2_EvtWriter_RmaOpCompleteNonBlocking(writer_, attached(), forward(time), window, id));
}

void EventWriter::done_remote(std::uint64_t time, OTF2_RmaWinRef window, std::uint64_t id)
{
    checked(OTF2_EvtWriter_RmaOpCompleteRemote(writer_, attached(), forward(time), window, id));
}

// ------------------------------------------------------------------------------------------------- counters

void EventWriter::metric(std::uint64_t time, OTF2_MetricRef metric, std::span<const std::int64_t> values)
{
    std::array<OTF2_Type, UINT8_MAX> types;
    std::array<OTF2_MetricValue, UINT8_MAX> converted;
    const std::size_t count = std::min(values.size(), types.size());
    for (std::size_t i = 0; i < count; ++i) {
        types[i] = OTF2_TYPE_INT64;
        converted[i].signed_int = values[i];
    }
    checked(OTF2_EvtWriter_Metric(writer_, attached(), forward(time), metric, static_cast<std::uint8_t>(count),
                                  types.data(), converted.data()));
}

}  // namespace critpath::otf2
