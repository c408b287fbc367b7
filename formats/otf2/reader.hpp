// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns reading an OTF2 archive: which files belong to it, whether they are whole, and the delivery of definitions, one
// overload a kind of record. Every failure is a Failure(BadTrace) that names the file; libotf2, which reads the global
// definitions, prints nothing.
#pragma once

#include "formats/otf2/check.hpp"
#include "formats/otf2/events.hpp"

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <memory>
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

    /// Looks whether the event file of a location is there and has room for the number of events that its definition
    /// promises. Throws Failure(BadTrace) if not.
    void check_location(OTF2_LocationRef location, std::uint64_t promised) const;

    /// Reads all events of a location, in the order of the file, with global references and uncorrected times (see
    /// clock_correction.hpp). Throws Failure(BadTrace) if a file of it is not whole, or has not the promised number.
    void read_events(OTF2_LocationRef location, std::uint64_t promised, EventHandler& handler);

    /// The name of the event file of a location, for messages.
    [[nodiscard]] std::filesystem::path event_file(OTF2_LocationRef location) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace critpath::otf2
