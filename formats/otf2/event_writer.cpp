// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/event_writer.hpp"

#include "formats/otf2/check.hpp"

#include <utility>

namespace critpath::otf2
{

namespace
{

OTF2_AttributeValue uint64_value(std::uint64_t value)
{
    OTF2_AttributeValue result{};
    result.uint64 = value;
    return result;
}

OTF2_AttributeValue int32_value(std::int32_t value)
{
    OTF2_AttributeValue result{};
    result.int32 = value;
    return result;
}

}  // namespace

EventWriter::EventWriter(OTF2_EvtWriter* writer, OTF2_LocationRef location, std::string file)
    : writer_(writer), location_(location), file_(std::move(file)), attributes_(OTF2_AttributeList_New())
{
}

OTF2_AttributeList* EventWriter::list(Attribute attribute, OTF2_AttributeValue value)
{
    checked(OTF2_AttributeList_AddAttribute(attributes_.get(), static_cast<OTF2_AttributeRef>(attribute),
                                            info(attribute).type, value));
    return attributes_.get();
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
    checked(OTF2_EvtWriter_ProgramBegin(writer_, nullptr, forward(time), program,
                                        static_cast<std::uint32_t>(arguments.size()), arguments.data()));
}

void EventWriter::program_end(std::uint64_t time)
{
    checked(OTF2_EvtWriter_ProgramEnd(writer_, nullptr, forward(time), OTF2_UNDEFINED_INT64));
}

void EventWriter::enter(std::uint64_t time, OTF2_RegionRef region)
{
    checked(OTF2_EvtWriter_Enter(writer_, nullptr, forward(time), region));
}

void EventWriter::leave(std::uint64_t time, OTF2_RegionRef region)
{
    checked(OTF2_EvtWriter_Leave(writer_, nullptr, forward(time), region));
}

void EventWriter::leave_probe(std::uint64_t time, OTF2_RegionRef region, const Envelope& found,
                              std::optional<std::uint64_t> message)
{
    OTF2_AttributeValue comm{};
    comm.commRef = found.comm;
    list(Attribute::Source, int32_value(found.peer));
    list(Attribute::Tag, int32_value(found.tag));
    list(Attribute::Comm, comm);
    if (message) {
        list(Attribute::Message, uint64_value(*message));
    }
    checked(OTF2_EvtWriter_Leave(writer_, attributes_.get(), forward(time), region));
}

void EventWriter::send(std::uint64_t time, const Envelope& m)
{
    checked(OTF2_EvtWriter_MpiSend(writer_, nullptr, forward(time), static_cast<std::uint32_t>(m.peer), m.comm,
                                   static_cast<std::uint32_t>(m.tag), m.bytes));
}

void EventWriter::isend(std::uint64_t time, const Envelope& m, std::uint64_t request, functions::SendMode mode)
{
    OTF2_AttributeList* attributes = nullptr;
    if (mode != functions::SendMode::None) {
        OTF2_AttributeValue value{};
        value.uint8 = static_cast<std::uint8_t>(mode);
        attributes = list(Attribute::Mode, value);
    }
    checked(OTF2_EvtWriter_MpiIsend(writer_, attributes, forward(time), static_cast<std::uint32_t>(m.peer), m.comm,
                                    static_cast<std::uint32_t>(m.tag), m.bytes, request));
}

void EventWriter::isend_complete(std::uint64_t time, std::uint64_t request)
{
    checked(OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, forward(time), request));
}

void EventWriter::irecv_request(std::uint64_t time, std::uint64_t request, std::optional<std::uint64_t> message)
{
    OTF2_AttributeList* attributes = message ? list(Attribute::Message, uint64_value(*message)) : nullptr;
    checked(OTF2_EvtWriter_MpiIrecvRequest(writer_, attributes, forward(time), request));
}

void EventWriter::irecv(std::uint64_t time, const Envelope& m, std::uint64_t request)
{
    checked(OTF2_EvtWriter_MpiIrecv(writer_, nullptr, forward(time), static_cast<std::uint32_t>(m.peer), m.comm,
                                    static_cast<std::uint32_t>(m.tag), m.bytes, request));
}

void EventWriter::recv(std::uint64_t time, const Envelope& m, std::optional<std::uint64_t> matched)
{
    OTF2_AttributeList* attributes = matched ? list(Attribute::Message, uint64_value(*matched)) : nullptr;
    checked(OTF2_EvtWriter_MpiRecv(writer_, attributes, forward(time), static_cast<std::uint32_t>(m.peer), m.comm,
                                   static_cast<std::uint32_t>(m.tag), m.bytes));
}

void EventWriter::request_cancelled(std::uint64_t time, std::uint64_t request)
{
    checked(OTF2_EvtWriter_MpiRequestCancelled(writer_, nullptr, forward(time), request));
}

void EventWriter::collective_begin(std::uint64_t time)
{
    checked(OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, forward(time)));
}

void EventWriter::collective_end(std::uint64_t time, const CollectiveEnd& end)
{
    checked(OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, forward(time), end.operation, end.comm, end.root,
                                            end.sent, end.received));
}

void EventWriter::comm_create(std::uint64_t time, OTF2_CommRef comm)
{
    checked(OTF2_EvtWriter_CommCreate(writer_, nullptr, forward(time), comm));
}

void EventWriter::comm_destroy(std::uint64_t time, OTF2_CommRef comm)
{
    checked(OTF2_EvtWriter_CommDestroy(writer_, nullptr, forward(time), comm));
}

void EventWriter::measurement(std::uint64_t time, bool on)
{
    checked(OTF2_EvtWriter_MeasurementOnOff(writer_, nullptr, forward(time),
                                            on ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF));
}

void EventWriter::sample(std::uint64_t time, OTF2_CallingContextRef context, OTF2_InterruptGeneratorRef generator,
                         std::uint64_t offset, std::optional<std::uint64_t> period)
{
    list(Attribute::Offset, uint64_value(offset));
    if (period) {
        list(Attribute::Period, uint64_value(*period));
    }
    checked(OTF2_EvtWriter_CallingContextSample(writer_, attributes_.get(), forward(time), context,
                                                OTF2_UNDEFINED_UINT32, generator));
}

}  // namespace critpath::otf2
