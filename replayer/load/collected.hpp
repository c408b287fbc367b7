// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the definitions of an archive say, as it stands there; replayer/load/definitions makes sense of it.
#pragma once

#include "formats/otf2/reader.hpp"
#include "replayer/load/grid.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace critpath::replayer::load
{

namespace def = otf2::definition;

struct GroupContent {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    std::vector<std::uint64_t> members;
};

struct Topology {
    OTF2_CommRef comm;
    std::vector<OTF2_CartDimensionRef> dimensions;
};

struct Metric {
    OTF2_MetricRef self;
    std::vector<OTF2_MetricMemberRef> members;
    OTF2_MetricOccurrence occurrence;
};

struct Property {
    std::uint64_t owner;  // location or location group
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};

/// Everything that the archive defines and we use, as it stands there.
class Collected : public otf2::DefinitionHandler
{
public:
    using DefinitionHandler::on;
    void on(const def::ClockProperties& d) override { clock = d; }
    void on(const def::String& d) override { strings[d.self] = d.text; }
    void on(const def::Attribute& d) override { attributes.push_back(d); }
    void on(const def::SystemTreeNode& d) override { nodes[d.self] = d; }
    void on(const def::LocationGroup& d) override { location_groups.push_back(d); }
    void on(const def::Location& d) override { locations.push_back(d); }
    void on(const def::Region& d) override { regions.push_back(d); }
    void on(const def::Comm& d) override { comms.push_back(d); }
    void on(const def::InterComm& d) override { inter_comms.push_back(d); }
    void on(const def::RmaWin& d) override { windows.push_back(d); }
    void on(const def::CallingContext& d) override { contexts.push_back(d); }
    void on(const def::CallingContextProperty& d) override { context_properties.push_back(d); }
    void on(const def::InterruptGenerator& d) override { generators.push_back(d); }
    void on(const def::MetricMember& d) override { metric_members[d.self] = d; }
    void on(const def::MetricClass& d) override
    {
        metrics.push_back({d.self, {d.members, d.members + d.size}, d.occurrence});
    }
    void on(const def::CartDimension& d) override
    {
        dimensions[d.self] = {d.size, d.periodicity == OTF2_CART_PERIODIC_TRUE};
    }
    void on(const def::CartTopology& d) override
    {
        topologies[d.self] = {d.comm, {d.dimensions, d.dimensions + d.size}};
    }
    void on(const def::CartCoordinate& d) override
    {
        places[d.topology].push_back({d.rank, {d.coordinates, d.coordinates + d.size}});
    }
    void on(const def::LocationGroupProperty& d) override
    {
        group_properties.push_back({d.group, d.name, d.type, d.value});
    }
    void on(const def::LocationProperty& d) override
    {
        location_properties.push_back({d.location, d.name, d.type, d.value});
    }
    void on(const def::Group& d) override { groups[d.self] = {d.type, d.paradigm, {d.members, d.members + d.size}}; }

    /// "" for what is undefined.
    [[nodiscard]] const std::string& text(OTF2_StringRef reference) const
    {
        static const std::string none;
        const auto found = strings.find(reference);
        return found == strings.end() ? none : found->second;
    }

    std::optional<def::ClockProperties> clock;
    std::unordered_map<OTF2_StringRef, std::string> strings;
    std::vector<def::Attribute> attributes;
    std::unordered_map<OTF2_SystemTreeNodeRef, def::SystemTreeNode> nodes;
    std::vector<def::LocationGroup> location_groups;
    std::vector<def::Location> locations;
    std::vector<def::Region> regions;
    std::unordered_map<OTF2_GroupRef, GroupContent> groups;
    std::vector<def::Comm> comms;
    std::vector<def::InterComm> inter_comms;
    std::vector<def::RmaWin> windows;
    std::unordered_map<OTF2_CartDimensionRef, Grid::Dimension> dimensions;
    std::unordered_map<OTF2_CartTopologyRef, Topology> topologies;
    std::unordered_map<OTF2_CartTopologyRef, std::vector<Grid::Place>> places;
    std::vector<def::CallingContext> contexts;
    std::vector<def::CallingContextProperty> context_properties;
    std::vector<def::InterruptGenerator> generators;
    std::unordered_map<OTF2_MetricMemberRef, def::MetricMember> metric_members;
    std::vector<Metric> metrics;
    std::vector<Property> group_properties;
    std::vector<Property> location_properties;
};

}  // namespace critpath::replayer::load
