// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the step from the global definitions of an OTF2 archive to the model: which processes, threads, regions and
// communicators there are, by our dense ids, and what an event file's references mean. Accepts what Score-P writes
// as well as our own traces (formats/FORMAT.md).
#pragma once

#include "analysis/model/trace.hpp"
#include "formats/otf2/reader.hpp"
#include "replayer/load/clock.hpp"
#include "replayer/load/counts.hpp"
#include "replayer/load/event_reader.hpp"
#include "replayer/load/ref_map.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace critpath::replayer::load
{

/// An interrupt generator as the weight of its samples needs it.
struct Generator {
    OTF2_InterruptGeneratorRef reference = OTF2_UNDEFINED_INTERRUPT_GENERATOR;
    bool counts_time = false;  // otherwise events, whose duration `ns_per_count` of the location says
    double ns_per_unit = 0;    // of the period, if it counts time
    std::uint64_t period = 0;  // units
};

/// The attributes that critpath gives to records; OTF2_UNDEFINED_ATTRIBUTE where a trace does not define them.
struct Attributes {
    OTF2_AttributeRef mode = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef message = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef source = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef tag = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef comm = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef offset = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef period = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef reason = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef skipped = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef dest = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef assertions = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef page_faults = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef counted = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef in_degree = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef blocked_in = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef waits_for = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef processor = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef operation = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_AttributeRef between_polls = OTF2_UNDEFINED_ATTRIBUTE;
};

/// What the definitions say about one location besides model::Location.
struct LocationFacts {
    double ns_per_count = 0;         // 0: not said
    model::Anomalies anomalies;      // those that the collector counted
    bool counts_page_faults = true;  // with its samples
    model::RecordingEnd recording_end = model::RecordingEnd::Complete;
};

/// Whether threads wait for others of their process in a region, and do nothing else there.
enum class ThreadRegion : std::uint8_t { No, Wait, Barrier };

/// From the first event of all locations to the last one, as the definitions have it.
struct RunTime {
    model::Ns begin, end;
    bool exact;  // written by the recorder or its recovery, of the events themselves
};

/// What the events of this trace mean.
struct Vocabulary {
    TickClock clock;
    std::optional<RunTime> run;  // nothing: the trace does not say
    RefMap<model::RegionId> regions;
    std::vector<ThreadRegion> thread_regions;  // by RegionId
    RefMap<model::CommId> communicators;
    RefMap<model::ContextId> contexts;
    std::vector<model::ContextId> roots;  // by RegionId: its context without a parent
    RefMap<model::WindowId> windows;
    RefMap<model::ProcessGroupId> groups;
    Generator generator;  // the first that is defined; samples of others are not used
    std::unordered_map<OTF2_MetricRef, CounterPlaces> counters;  // of the metric classes that have some that we know
    std::unordered_map<OTF2_MetricRef, EventPlaces> sampled;     // of the metric classes that stand before samples
    Attributes attributes;
    std::optional<OTF2_StringRef> user_reason;  // value of `reason` where the user switched the recording off
    std::vector<LocationFacts> locations;       // by LocationId
};

struct LoadedDefinitions {
    model::Definitions definitions;
    Vocabulary vocabulary;
    bool clock_domains_known = false;   // the trace says which processes share a clock; otherwise the node decides
    std::vector<std::string> no_ranks;  // processes beside those of MPI, which are left out
};

/// Reads and checks the global definitions. `file` names the trace in messages. Throws Failure(BadTrace) if they
/// contradict themselves.
LoadedDefinitions read_definitions(otf2::Reader& reader, const std::string& file);

}  // namespace critpath::replayer::load
