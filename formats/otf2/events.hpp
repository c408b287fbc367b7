// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the events of a location are to those who read them: one struct a kind of record, when it happened and what
// else its record says, and who takes them.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <span>

namespace critpath::otf2
{

namespace definition
{

/// Of the location whose events are read.
struct ClockOffset {
    OTF2_TimeStamp time;  // ticks
    std::int64_t offset;  // ticks, to be added
    double deviation;
};

}  // namespace definition

/// What the record of an event says beyond what its kind does.
struct EventAttribute {
    OTF2_AttributeRef self;
    OTF2_Type type;
    OTF2_AttributeValue value;
};

/// When an event happened, and what else its record says. Lives only during the callback.
class Moment
{
public:
    Moment(OTF2_TimeStamp ticks, std::span<const EventAttribute> attributes) : time(ticks), attributes_(attributes) {}

    const OTF2_TimeStamp time;  // ticks

    /// The value of an attribute of the record, as the type that the caller expects; none if it is not there.
    [[nodiscard]] std::optional<std::uint64_t> uint64(OTF2_AttributeRef attribute) const
    {
        return value(attribute, OTF2_TYPE_UINT64, &OTF2_AttributeValue::uint64);
    }
    [[nodiscard]] std::optional<std::int32_t> int32(OTF2_AttributeRef attribute) const
    {
        return value(attribute, OTF2_TYPE_INT32, &OTF2_AttributeValue::int32);
    }
    [[nodiscard]] std::optional<std::uint32_t> uint32(OTF2_AttributeRef attribute) const
    {
        return value(attribute, OTF2_TYPE_UINT32, &OTF2_AttributeValue::uint32);
    }
    [[nodiscard]] std::optional<std::uint8_t> uint8(OTF2_AttributeRef attribute) const
    {
        return value(attribute, OTF2_TYPE_UINT8, &OTF2_AttributeValue::uint8);
    }
    [[nodiscard]] std::optional<OTF2_CommRef> comm(OTF2_AttributeRef attribute) const
    {
        return value(attribute, OTF2_TYPE_COMM, &OTF2_AttributeValue::commRef);
    }
    [[nodiscard]] std::optional<OTF2_CallingContextRef> calling_context(OTF2_AttributeRef attribute) const
    {
        return value(attribute, OTF2_TYPE_CALLING_CONTEXT, &OTF2_AttributeValue::callingContextRef);
    }
    [[nodiscard]] std::optional<OTF2_StringRef> string(OTF2_AttributeRef attribute) const
    {
        return value(attribute, OTF2_TYPE_STRING, &OTF2_AttributeValue::stringRef);
    }

private:
    template <class T>
    [[nodiscard]] std::optional<T> value(OTF2_AttributeRef self, OTF2_Type type, T OTF2_AttributeValue::*member) const
    {
        for (const EventAttribute& attribute : attributes_) {  // there are few, if any
            if (attribute.self == self) {
                return attribute.type == type ? std::optional<T>(attribute.value.*member) : std::nullopt;
            }
        }
        return {};
    }

    std::span<const EventAttribute> attributes_;
};

/// Members are those of the OTF2 event of the same name, in its order.
namespace event
{

struct Enter {
    OTF2_RegionRef region;
};
struct Leave {
    OTF2_RegionRef region;
};
struct CallingContextEnter {
    OTF2_CallingContextRef context;
    std::uint32_t unwind_distance;
};
struct CallingContextLeave {
    OTF2_CallingContextRef context;
};
struct CallingContextSample {
    OTF2_CallingContextRef context;
    std::uint32_t unwind_distance;
    OTF2_InterruptGeneratorRef generator;
};
struct MpiSend {
    std::uint32_t receiver;
    OTF2_CommRef comm;
    std::uint32_t tag;
    std::uint64_t bytes;
};
struct MpiIsend {
    std::uint32_t receiver;
    OTF2_CommRef comm;
    std::uint32_t tag;
    std::uint64_t bytes;
    std::uint64_t request;
};
struct MpiIsendComplete {
    std::uint64_t request;
};
struct MpiIrecvRequest {
    std::uint64_t request;
};
struct MpiRecv {
    std::uint32_t sender;
    OTF2_CommRef comm;
    std::uint32_t tag;
    std::uint64_t bytes;
};
struct MpiIrecv {
    std::uint32_t sender;
    OTF2_CommRef comm;
    std::uint32_t tag;
    std::uint64_t bytes;
    std::uint64_t request;
};
struct MpiRequestCancelled {
    std::uint64_t request;
};
struct MpiCollectiveEnd {
    OTF2_CollectiveOp operation;
    OTF2_CommRef comm;
    std::uint32_t root;
    std::uint64_t sent;
    std::uint64_t received;
};
struct NonBlockingCollectiveRequest {
    std::uint64_t request;
};
struct NonBlockingCollectiveComplete {
    OTF2_CollectiveOp operation;
    OTF2_CommRef comm;
    std::uint32_t root;
    std::uint64_t sent;
    std::uint64_t received;
    std::uint64_t request;
};
struct RmaCollectiveEnd {
    OTF2_CollectiveOp operation;
    OTF2_RmaSyncLevel level;
    OTF2_RmaWinRef window;
    std::uint32_t root;
    std::uint64_t sent;
    std::uint64_t received;
};
struct RmaGroupSync {
    OTF2_RmaSyncLevel level;
    OTF2_RmaWinRef window;
    OTF2_GroupRef group;
};
struct RmaRequestLock {
    OTF2_RmaWinRef window;
    std::uint32_t remote;
    std::uint64_t lock;
    OTF2_LockType type;
};
struct RmaAcquireLock {
    OTF2_RmaWinRef window;
    std::uint32_t remote;
    std::uint64_t lock;
    OTF2_LockType type;
};
struct RmaReleaseLock {
    OTF2_RmaWinRef window;
    std::uint32_t remote;
    std::uint64_t lock;
};
struct RmaSync {
    OTF2_RmaWinRef window;
    std::uint32_t remote;
    OTF2_RmaSyncType type;
};
struct RmaPut {
    OTF2_RmaWinRef window;
    std::uint32_t remote;
    std::uint64_t bytes;
    std::uint64_t transfer;
};
struct RmaGet {
    OTF2_RmaWinRef window;
    std::uint32_t remote;
    std::uint64_t bytes;
    std::uint64_t transfer;
};
struct RmaAtomic {
    OTF2_RmaWinRef window;
    std::uint32_t remote;
    OTF2_RmaAtomicType type;
    std::uint64_t sent;
    std::uint64_t received;
    std::uint64_t transfer;
};
struct RmaOpCompleteBlocking {
    OTF2_RmaWinRef window;
    std::uint64_t transfer;
};
struct RmaOpCompleteNonBlocking {
    OTF2_RmaWinRef window;
    std::uint64_t transfer;
};
struct RmaOpCompleteRemote {
    OTF2_RmaWinRef window;
    std::uint64_t transfer;
};
struct ThreadFork {
    OTF2_Paradigm model;
    std::uint32_t threads;  // as requested
};
struct ThreadJoin {
    OTF2_Paradigm model;
};
struct ThreadTeamBegin {
    OTF2_CommRef team;
};
struct ThreadTeamEnd {
    OTF2_CommRef team;
};
struct ThreadAcquireLock {
    OTF2_Paradigm model;
    std::uint32_t lock;
    std::uint32_t order;  // of acquisition
};
struct ThreadReleaseLock {
    OTF2_Paradigm model;
    std::uint32_t lock;
    std::uint32_t order;
};
struct ThreadCreate {
    OTF2_CommRef contingent;
    std::uint64_t number;
};
struct ThreadBegin {
    OTF2_CommRef contingent;
    std::uint64_t number;
};
struct ThreadEnd {
    OTF2_CommRef contingent;
    std::uint64_t number;
};
struct ThreadWait {
    OTF2_CommRef contingent;
    std::uint64_t number;
};
struct BufferFlush {
    OTF2_TimeStamp stop;
};
struct Metric {
    OTF2_MetricRef metric;  // class or instance
    std::uint8_t size;
    const OTF2_Type* types;  // these live only during the callback
    const OTF2_MetricValue* values;
};
struct CommCreate {
    OTF2_CommRef comm;
};
struct ParameterUnsignedInt {
    OTF2_ParameterRef parameter;
    std::uint64_t value;
};
struct MeasurementOnOff {
    OTF2_MeasurementMode mode;
};
/// Records that say nothing beyond their time which others do not say too: PROGRAM_BEGIN and _END,
/// MPI_COLLECTIVE_BEGIN, MPI_REQUEST_TEST, COMM_DESTROY, RMA_WIN_CREATE and _DESTROY,
/// RMA_COLLECTIVE_BEGIN.
struct Mark {
};
/// All other records.
struct Other {
    enum class Kind : std::uint8_t { Unknown, OpenMp, Thread, Parameter, Rma, Io };
    Kind kind;
};

}  // namespace event

/// Takes the events that it overrides; a derived class says `using EventHandler::on`. Times are those of the location's
/// clock. What is known about that comes before the first event.
class EventHandler
{
public:
    virtual ~EventHandler() = default;
    virtual void on(const definition::ClockOffset&) {}
    virtual void on(const Moment&, const event::Enter&) {}
    virtual void on(const Moment&, const event::Leave&) {}
    virtual void on(const Moment&, const event::CallingContextEnter&) {}
    virtual void on(const Moment&, const event::CallingContextLeave&) {}
    virtual void on(const Moment&, const event::CallingContextSample&) {}
    virtual void on(const Moment&, const event::MpiSend&) {}
    virtual void on(const Moment&, const event::MpiIsend&) {}
    virtual void on(const Moment&, const event::MpiIsendComplete&) {}
    virtual void on(const Moment&, const event::MpiIrecvRequest&) {}
    virtual void on(const Moment&, const event::MpiRecv&) {}
    virtual void on(const Moment&, const event::MpiIrecv&) {}
    virtual void on(const Moment&, const event::MpiRequestCancelled&) {}
    virtual void on(const Moment&, const event::MpiCollectiveEnd&) {}
    virtual void on(const Moment&, const event::NonBlockingCollectiveRequest&) {}
    virtual void on(const Moment&, const event::NonBlockingCollectiveComplete&) {}
    virtual void on(const Moment&, const event::RmaCollectiveEnd&) {}
    virtual void on(const Moment&, const event::RmaGroupSync&) {}
    virtual void on(const Moment&, const event::RmaRequestLock&) {}
    virtual void on(const Moment&, const event::RmaAcquireLock&) {}
    virtual void on(const Moment&, const event::RmaReleaseLock&) {}
    virtual void on(const Moment&, const event::RmaSync&) {}
    virtual void on(const Moment&, const event::RmaPut&) {}
    virtual void on(const Moment&, const event::RmaGet&) {}
    virtual void on(const Moment&, const event::RmaAtomic&) {}
    virtual void on(const Moment&, const event::RmaOpCompleteBlocking&) {}
    virtual void on(const Moment&, const event::RmaOpCompleteNonBlocking&) {}
    virtual void on(const Moment&, const event::RmaOpCompleteRemote&) {}
    virtual void on(const Moment&, const event::ThreadFork&) {}
    virtual void on(const Moment&, const event::ThreadJoin&) {}
    virtual void on(const Moment&, const event::ThreadTeamBegin&) {}
    virtual void on(const Moment&, const event::ThreadTeamEnd&) {}
    virtual void on(const Moment&, const event::ThreadAcquireLock&) {}
    virtual void on(const Moment&, const event::ThreadReleaseLock&) {}
    virtual void on(const Moment&, const event::ThreadCreate&) {}
    virtual void on(const Moment&, const event::ThreadBegin&) {}
    virtual void on(const Moment&, const event::ThreadEnd&) {}
    virtual void on(const Moment&, const event::ThreadWait&) {}
    virtual void on(const Moment&, const event::BufferFlush&) {}
    virtual void on(const Moment&, const event::CommCreate&) {}
    virtual void on(const Moment&, const event::ParameterUnsignedInt&) {}
    virtual void on(const Moment&, const event::MeasurementOnOff&) {}
    virtual void on(const Moment&, const event::Metric&) {}
    virtual void on(const Moment&, const event::Mark&) {}
    virtual void on(const Moment&, const event::Other&) {}
};

}  // namespace critpath::otf2
