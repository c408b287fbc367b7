// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns reading an OTF2 archive: which files belong to it, whether they are whole, and the delivery of definitions and
// events, one overload a kind of record. Every failure is a Failure(BadTrace) that names the file; libotf2 itself
// prints nothing.
#pragma once

#include "formats/otf2/check.hpp"

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace critpath::otf2
{

// ---------------------------------------------------------------------------------------------- definitions

/// Members are those of the OTF2 definition of the same name, in its order; strings and arrays live only during the
/// callback. OTF2 does not promise that a definition comes before those that refer to it.
namespace definition
{

struct ClockProperties {
    std::uint64_t resolution;  // ticks a second
    std::uint64_t offset;      // smallest timestamp, in ticks
    std::uint64_t length;      // ticks
    std::uint64_t realtime;    // ns since the epoch at `offset`
};
struct String {
    OTF2_StringRef self;
    const char* text;
};
struct Attribute {
    OTF2_AttributeRef self;
    OTF2_StringRef name;
    OTF2_StringRef description;
    OTF2_Type type;
};
struct SystemTreeNode {
    OTF2_SystemTreeNodeRef self;
    OTF2_StringRef name;
    OTF2_StringRef class_name;
    OTF2_SystemTreeNodeRef parent;
};
struct LocationGroup {
    OTF2_LocationGroupRef self;
    OTF2_StringRef name;
    OTF2_LocationGroupType type;
    OTF2_SystemTreeNodeRef parent;
    OTF2_LocationGroupRef creator;
};
struct Location {
    OTF2_LocationRef self;
    OTF2_StringRef name;
    OTF2_LocationType type;
    std::uint64_t events;
    OTF2_LocationGroupRef group;
};
struct Region {
    OTF2_RegionRef self;
    OTF2_StringRef name;
    OTF2_StringRef canonical_name;
    OTF2_StringRef description;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    OTF2_RegionFlag flags;
    OTF2_StringRef file;
    std::uint32_t begin_line;
    std::uint32_t end_line;
};
struct Group {
    OTF2_GroupRef self;
    OTF2_StringRef name;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    OTF2_GroupFlag flags;
    std::uint32_t size;
    const std::uint64_t* members;
};
struct Comm {
    OTF2_CommRef self;
    OTF2_StringRef name;
    OTF2_GroupRef group;
    OTF2_CommRef parent;
    OTF2_CommFlag flags;
};
struct InterComm {
    OTF2_CommRef self;
    OTF2_StringRef name;
    OTF2_GroupRef group_a;
    OTF2_GroupRef group_b;
    OTF2_CommRef common;
    OTF2_CommFlag flags;
};
struct MetricMember {
    OTF2_MetricMemberRef self;
    OTF2_StringRef name;
    OTF2_StringRef description;
    OTF2_MetricType type;
    OTF2_MetricMode mode;
    OTF2_Type value_type;
    OTF2_Base base;
    std::int64_t exponent;
    OTF2_StringRef unit;
};
struct MetricClass {
    OTF2_MetricRef self;
    std::uint8_t size;
    const OTF2_MetricMemberRef* members;
    OTF2_MetricOccurrence occurrence;
    OTF2_RecorderKind recorder;
};
struct CallingContext {
    OTF2_CallingContextRef self;
    OTF2_RegionRef region;
    OTF2_SourceCodeLocationRef source;
    OTF2_CallingContextRef parent;
};
struct CallingContextProperty {
    OTF2_CallingContextRef context;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};
struct InterruptGenerator {
    OTF2_InterruptGeneratorRef self;
    OTF2_StringRef name;
    OTF2_InterruptGeneratorMode mode;
    OTF2_Base base;
    std::int64_t exponent;
    std::uint64_t period;
};
struct RmaWin {
    OTF2_RmaWinRef self;
    OTF2_StringRef name;
    OTF2_CommRef comm;
    OTF2_RmaWinFlag flags;
};
struct CartDimension {
    OTF2_CartDimensionRef self;
    OTF2_StringRef name;
    std::uint32_t size;
    OTF2_CartPeriodicity periodicity;
};
struct CartTopology {
    OTF2_CartTopologyRef self;
    OTF2_StringRef name;
    OTF2_CommRef comm;
    std::uint8_t size;
    const OTF2_CartDimensionRef* dimensions;
};
struct CartCoordinate {
    OTF2_CartTopologyRef topology;
    std::uint32_t rank;
    std::uint8_t size;
    const std::uint32_t* coordinates;
};
struct LocationGroupProperty {
    OTF2_LocationGroupRef group;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};
struct LocationProperty {
    OTF2_LocationRef location;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};

/// Of the location whose events are read.
struct ClockOffset {
    OTF2_TimeStamp time;  // ticks
    std::int64_t offset;  // ticks, to be added
    double deviation;
};

}  // namespace definition

/// Takes the definitions that it overrides; a derived class says `using DefinitionHandler::on`.
class DefinitionHandler
{
public:
    virtual ~DefinitionHandler() = default;
    virtual void on(const definition::ClockProperties&) {}
    virtual void on(const definition::String&) {}
    virtual void on(const definition::Attribute&) {}
    virtual void on(const definition::SystemTreeNode&) {}
    virtual void on(const definition::LocationGroup&) {}
    virtual void on(const definition::Location&) {}
    virtual void on(const definition::Region&) {}
    virtual void on(const definition::Group&) {}
    virtual void on(const definition::Comm&) {}
    virtual void on(const definition::InterComm&) {}
    virtual void on(const definition::CallingContext&) {}
    virtual void on(const definition::CallingContextProperty&) {}
    virtual void on(const definition::MetricMember&) {}
    virtual void on(const definition::MetricClass&) {}
    virtual void on(const definition::InterruptGenerator&) {}
    virtual void on(const definition::RmaWin&) {}
    virtual void on(const definition::CartDimension&) {}
    virtual void on(const definition::CartTopology&) {}
    virtual void on(const definition::CartCoordinate&) {}
    virtual void on(const definition::LocationGroupProperty&) {}
    virtual void on(const definition::LocationProperty&) {}
};

// --------------------------------------------------------------------------------------------------- events

/// When an event happened, and what else its record says. Lives only during the callback.
class Moment
{
public:
    Moment(OTF2_TimeStamp ticks, OTF2_AttributeList* attributes) : time(ticks), attributes_(attributes) {}

    const OTF2_TimeStamp time;  // ticks

    /// The value of an attribute of the record, as the type that the caller expects; none if it is not there.
    [[nodiscard]] std::optional<std::uint64_t> uint64(OTF2_AttributeRef attribute) const;
    [[nodiscard]] std::optional<std::int32_t> int32(OTF2_AttributeRef attribute) const;
    [[nodiscard]] std::optional<std::uint32_t> uint32(OTF2_AttributeRef attribute) const;
    [[nodiscard]] std::optional<std::uint8_t> uint8(OTF2_AttributeRef attribute) const;
    [[nodiscard]] std::optional<OTF2_CommRef> comm(OTF2_AttributeRef attribute) const;
    [[nodiscard]] std::optional<OTF2_CallingContextRef> calling_context(OTF2_AttributeRef attribute) const;
    [[nodiscard]] std::optional<OTF2_StringRef> string(OTF2_AttributeRef attribute) const;

private:
    OTF2_AttributeList* attributes_;
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
/// RMA_COLLECTIVE_BEGIN, RMA_ACQUIRE_LOCK.
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

// --------------------------------------------------------------------------------------------------- reader

/// The anchor file of `trace`, which names it or the directory that it is in. Throws Failure(BadTrace) if there is
/// none, or more than one and none of them is called traces.otf2.
std::filesystem::path find_anchor(const std::filesystem::path& trace);

/// An archive that is open for reading. One thread. Handlers may throw; the exception passes through.
class Reader
{
public:
    /// Opens the archive of an anchor file. Throws Failure(BadTrace) if the file is no anchor, or one of an archive
    /// that this libotf2 cannot read.
    explicit Reader(const std::filesystem::path& anchor);
    Reader(Reader&&) noexcept;
    Reader& operator=(Reader&&) noexcept;
    ~Reader();

    /// Reads the global definitions. Throws Failure(BadTrace) if the file is missing or cut short.
    void read_definitions(DefinitionHandler& handler);

    /// The value of a property of the archive; empty if it has none of that name.
    [[nodiscard]] std::string property(const std::string& name) const;

    /// A location whose events will be read, with the number of events that its definition promises. All must be
    /// said before the first is read. Throws Failure(BadTrace) if a file of it is missing or has been cut or extended.
    void select(OTF2_LocationRef location, std::uint64_t promised);

    /// Reads all events of a selected location, in the order of the file, with global references and uncorrected times
    /// (see clock_correction.hpp). Throws
    /// Failure(BadTrace) if their number is not the promised one.
    void read_events(OTF2_LocationRef location, std::uint64_t promised, EventHandler& handler);

    /// The name of the event file of a location, for messages.
    [[nodiscard]] std::filesystem::path event_file(OTF2_LocationRef location) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace critpath::otf2
