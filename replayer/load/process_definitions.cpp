// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/process_definitions.hpp"

#include "formats/otf2/function_map.hpp"
#include "replayer/load/definition_step.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

namespace critpath::replayer::load
{

using namespace model;

namespace
{

double number(const Property& property)
{
    switch (property.type) {
    case OTF2_TYPE_DOUBLE:
        return property.value.float64;
    case OTF2_TYPE_FLOAT:
        return property.value.float32;
    case OTF2_TYPE_UINT32:
        return property.value.uint32;
    default:
        return static_cast<double>(property.value.uint64);
    }
}

/// The anomaly that a property of a location counts, null if it does not.
const AnomalyCount* counted_anomaly(std::string_view property)
{
    constexpr std::string_view prefix = "critpath.";
    if (!property.starts_with(prefix)) {
        return nullptr;
    }
    property.remove_prefix(prefix.size());
    const auto* const found = std::ranges::find(anomaly_counts, property, &AnomalyCount::name);
    return found == anomaly_counts.end() ? nullptr : found;
}

class ProcessStep : DefinitionStep
{
public:
    using DefinitionStep::DefinitionStep;

    DefinedProcesses define()
    {
        order_processes();
        add_processes();
        add_process_properties();
        add_location_properties();
        return {std::move(rank_location_), std::move(location_by_reference_)};
    }

private:
    /// Rank order is that of the locations that MPI communicates with. A process that has none is no rank: nothing
    /// leads from it to one. Without MPI, the order is that of the references.
    void order_processes()
    {
        std::unordered_map<OTF2_LocationRef, OTF2_LocationGroupRef> group_of;
        for (const auto& location : in_.locations) {
            group_of[location.self] = location.group;
        }
        for (const std::uint64_t member : ranks()) {
            const auto found = group_of.find(member);
            if (found == group_of.end()) {
                contradict("an MPI rank is on location {}, which is not defined", member);
            }
            if (!add_to_order(found->second)) {
                contradict("two MPI ranks are in location group {}", found->second);
            }
            rank_location_.push_back(member);
        }
        std::vector<OTF2_LocationGroupRef> others;
        for (const auto& group : in_.location_groups) {
            if (group.type != OTF2_LOCATION_GROUP_TYPE_PROCESS || process_of_group_.count(group.self) != 0) {
                continue;
            }
            if (rank_location_.empty()) {
                others.push_back(group.self);
            } else {
                out_.no_ranks.push_back(in_.text(group.name));
            }
        }
        std::sort(others.begin(), others.end());
        std::for_each(others.begin(), others.end(), [this](auto group) { add_to_order(group); });
    }

    /// The locations that communicate with MPI, in rank order.
    [[nodiscard]] std::vector<std::uint64_t> ranks() const
    {
        const GroupContent* chosen = nullptr;
        OTF2_GroupRef chosen_reference = OTF2_UNDEFINED_GROUP;
        for (const auto& [reference, group] : in_.groups) {
            if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS && group.paradigm == OTF2_PARADIGM_MPI &&
                reference < chosen_reference) {
                chosen = &group;
                chosen_reference = reference;
            }
        }
        return chosen == nullptr ? std::vector<std::uint64_t>{} : chosen->members;
    }

    bool add_to_order(OTF2_LocationGroupRef group)
    {
        const bool added = process_of_group_.emplace(group, ProcessId{size(process_groups_)}).second;
        if (added) {
            process_groups_.push_back(group);
        }
        return added;
    }

    void add_processes()
    {
        std::unordered_map<OTF2_LocationGroupRef, const def::LocationGroup*> group_by_reference;
        for (const auto& group : in_.location_groups) {
            group_by_reference[group.self] = &group;
        }
        std::vector<std::vector<const def::Location*>> threads(process_groups_.size());
        for (const auto& location : in_.locations) {
            const auto process = process_of_group_.find(location.group);
            if (location.type == OTF2_LOCATION_TYPE_CPU_THREAD && process != process_of_group_.end()) {
                threads[process->second.value].push_back(&location);
            }
        }
        for (std::uint32_t p = 0; p < process_groups_.size(); ++p) {
            const auto group = group_by_reference.find(process_groups_[p]);
            if (group == group_by_reference.end()) {
                contradict("location group {} is not defined", process_groups_[p]);
            }
            const bool is_rank = p < rank_location_.size();
            auto& process = definitions_.processes.emplace_back();
            process.name = is_rank ? fmt::format("rank {}", p) : in_.text(group->second->name);
            process.node = node_name(group->second->parent);
            std::sort(threads[p].begin(), threads[p].end(), [&](const auto* a, const auto* b) {
                const bool a_first = is_rank && a->self == rank_location_[p];
                const bool b_first = is_rank && b->self == rank_location_[p];
                return a_first != b_first ? a_first : a->self < b->self;
            });
            if (is_rank && (threads[p].empty() || threads[p].front()->self != rank_location_[p])) {
                contradict("MPI rank {} is on location {}, which is not a thread", p, rank_location_[p]);
            }
            for (const auto* thread : threads[p]) {
                add_location(ProcessId{p}, *thread);
            }
        }
    }

    void add_location(ProcessId id, const def::Location& location)
    {
        auto& process = definitions_.processes[id.value];
        const auto thread = process.locations.size();
        process.locations.push_back(LocationId{size(definitions_.locations)});
        location_by_reference_[location.self] = process.locations.back();
        definitions_.locations.push_back(
            {thread == 0 ? process.name : fmt::format("{} thread {}", process.name, thread), id, location.self,
             location.events});
    }

    [[nodiscard]] std::string node_name(OTF2_SystemTreeNodeRef start) const
    {
        std::string nearest;
        auto node = in_.nodes.find(start);
        constexpr int most_levels =
            64;  // more have circles alone, in which all nodes may be, and that for each process
        for (int level = 0; node != in_.nodes.end() && level < most_levels; ++level) {
            const std::string& name = in_.text(node->second.name);
            if (in_.text(node->second.class_name) == "node") {
                return name;
            }
            nearest = nearest.empty() ? name : nearest;
            node = in_.nodes.find(node->second.parent);
        }
        return nearest;
    }

    void add_process_properties()
    {
        std::vector<std::string> domain(definitions_.processes.size());
        for (const auto& property : in_.group_properties) {
            const auto process = process_of_group_.find(static_cast<OTF2_LocationGroupRef>(property.owner));
            if (process == process_of_group_.end() || property.type != OTF2_TYPE_STRING) {
                continue;
            }
            const std::string& name = in_.text(property.name);
            const std::string& value = in_.text(property.value.stringRef);
            if (name == "critpath.host") {
                definitions_.processes[process->second.value].node = value;
            } else if (name == "critpath.boot_id") {
                domain[process->second.value] = value;
            } else if (name == "critpath.refused_events") {
                add_refused_events(value);
            } else if (name == "critpath.command" && definitions_.command.empty()) {
                definitions_.command = value;
            }
        }
        const std::string any = domain.empty() ? "" : *std::ranges::max_element(domain);
        for (std::size_t p = 0; p < domain.size(); ++p) {
            if (domain[p].empty() && has_no_events(definitions_.processes[p])) {  // no time of it is ever compared
                domain[p] = any;
            }
        }
        out_.clock_domains_known = std::none_of(domain.begin(), domain.end(), [](const auto& d) { return d.empty(); });
        std::unordered_map<std::string, NodeId> domains;
        for (std::size_t p = 0; p < domain.size(); ++p) {
            auto& process = definitions_.processes[p];
            const auto next = NodeId{static_cast<std::uint32_t>(domains.size())};
            process.clock_domain = domains.emplace(domain[p].empty() ? process.node : domain[p], next).first->second;
        }
    }

    /// `list`: <name>=<reason>, with commas between them. A name may have a `=` of its own.
    void add_refused_events(const std::string& list)
    {
        std::istringstream words(list);
        for (std::string word; std::getline(words, word, ',');) {
            const std::size_t equals = word.rfind('=');
            if (equals != std::string::npos) {
                ++definitions_.refused_events[{word.substr(0, equals), word.substr(equals + 1)}];
            }
        }
    }

    [[nodiscard]] bool has_no_events(const Process& process) const
    {
        return std::ranges::all_of(process.locations,
                                   [this](LocationId id) { return definitions_.locations[id.value].events == 0; });
    }

    void add_location_properties()
    {
        vocabulary_.locations.resize(definitions_.locations.size());
        for (const auto& property : in_.location_properties) {
            const auto location = location_by_reference_.find(property.owner);
            if (location == location_by_reference_.end()) {
                continue;
            }
            auto& facts = vocabulary_.locations[location->second.value];
            const std::string& name = in_.text(property.name);
            if (name == "critpath.ns_per_count") {
                facts.ns_per_count = number(property);
            } else if (const auto* anomaly = counted_anomaly(name); anomaly != nullptr) {
                facts.anomalies.*anomaly->count = static_cast<std::uint64_t>(number(property));
            } else if (name == "critpath.no_events" && property.type == OTF2_TYPE_STRING) {
                const std::string missing = fmt::format(",{},", in_.text(property.value.stringRef));
                facts.counts_page_faults = missing.find(fmt::format(",{},", page_faults_event)) == missing.npos;
            } else if (name == "critpath.thread_name" && property.type == OTF2_TYPE_STRING) {
                definitions_.locations[location->second.value].name +=
                    fmt::format(" ({})", in_.text(property.value.stringRef));
            } else if (name == "critpath.incomplete" && property.type == OTF2_TYPE_STRING) {
                add_recording_end(in_.text(property.value.stringRef), location->second);
            }
        }
    }

    void add_recording_end(const std::string& how, LocationId location)
    {
        RecordingEnd& end = vocabulary_.locations[location.value].recording_end;
        if (how == "missing") {
            definitions_.processes[definitions_.locations[location.value].process.value].is_missing = true;
        } else {
            end = how == "full" ? RecordingEnd::Full : RecordingEnd::Died;
        }
    }

    std::vector<OTF2_LocationRef> rank_location_;        // by rank: where it communicates
    std::vector<OTF2_LocationGroupRef> process_groups_;  // by ProcessId
    std::unordered_map<OTF2_LocationGroupRef, ProcessId> process_of_group_;
    std::unordered_map<OTF2_LocationRef, LocationId> location_by_reference_;
};

}  // namespace

DefinedProcesses define_processes(const Collected& in, const std::string& file, LoadedDefinitions& out)
{
    return ProcessStep(in, file, out).define();
}

}  // namespace critpath::replayer::load
