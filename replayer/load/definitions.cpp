// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/definitions.hpp"

#include "formats/otf2/function_map.hpp"
#include "formats/support/error.hpp"
#include "replayer/load/collected.hpp"
#include "replayer/load/cut_chains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

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

FunctionId function_of(const std::string& name)
{
    static const auto by_name = [] {
        std::unordered_map<std::string_view, FunctionId> map;
        for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(FunctionId::count); ++i) {
            map.emplace(functions::table[i].name, FunctionId{i});
        }
        return map;
    }();
    const auto found = by_name.find(name);
    return found == by_name.end() ? FunctionId::none : found->second;
}

// PAPI's names, which Score-P uses, too.
constexpr std::string_view instructions_counter = "PAPI_TOT_INS";
constexpr std::string_view cycles_counter = "PAPI_TOT_CYC";

ThreadRegion thread_region(const def::Region& region)
{
    if (region.paradigm != OTF2_PARADIGM_OPENMP && region.paradigm != OTF2_PARADIGM_PTHREAD) {
        return ThreadRegion::No;
    }
    switch (region.role) {
    case OTF2_REGION_ROLE_BARRIER:
    case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
        return ThreadRegion::Barrier;
    case OTF2_REGION_ROLE_FUNCTION:
    case OTF2_REGION_ROLE_WRAPPER:
    case OTF2_REGION_ROLE_CRITICAL:
    case OTF2_REGION_ROLE_ATOMIC:
    case OTF2_REGION_ROLE_THREAD_WAIT:
        return ThreadRegion::Wait;
    default:
        return ThreadRegion::No;
    }
}

class Builder
{
public:
    Builder(const Collected& collected, const std::string& file) : in_(collected), file_(file) {}

    LoadedDefinitions build()
    {
        add_clock();
        add_attributes();
        add_reasons();
        add_counters();
        add_regions();
        add_contexts();
        add_generator();
        order_processes();
        add_processes();
        add_process_properties();
        add_location_properties();
        add_communicators();
        add_topologies();
        add_windows();
        return std::move(out_);
    }

private:
    template <class... Args>
    [[noreturn]] void contradict(fmt::format_string<Args...> what, Args&&... args) const
    {
        fail(ExitCode::BadTrace, "{}: the definitions contradict themselves: {}; record the application again", file_,
             fmt::format(what, std::forward<Args>(args)...));
    }

    void add_clock()
    {
        if (!in_.clock || in_.clock->resolution == 0) {
            contradict("no clock resolution");
        }
        if (in_.clock->resolution >= static_cast<std::uint64_t>(farthest_time)) {
            contradict("a clock of {} ticks a second", in_.clock->resolution);
        }
        __extension__ using Wide = __int128;
        constexpr Wide largest = std::numeric_limits<std::int64_t>::max();
        constexpr Wide ns_per_second = 1'000'000'000;
        if (in_.clock->offset > largest || in_.clock->offset * ns_per_second / in_.clock->resolution > largest) {
            fail(ExitCode::BadTrace,
                 "{}: the clock stands at {} ticks of 1/{} s, which is more than the 292 years that its times can be "
                 "told in; record the application with another clock (Score-P: SCOREP_TIMER)",
                 file_, in_.clock->offset, in_.clock->resolution);
        }
        vocabulary_.clock = TickClock(in_.clock->resolution);
        definitions_.begin = vocabulary_.clock.to_ns(in_.clock->offset);
        const Wide end = Wide{in_.clock->offset} + in_.clock->length;
        if (in_.clock->length > 0 && end < largest) {
            vocabulary_.run =
                RunTime{definitions_.begin, vocabulary_.clock.to_ns(static_cast<std::uint64_t>(end)), false};
        }
    }

    void add_attributes()
    {
        auto& a = vocabulary_.attributes;
        const std::pair<std::string_view, OTF2_AttributeRef*> known[] = {
            {"critpath.mode", &a.mode},
            {"critpath.message", &a.message},
            {"critpath.source", &a.source},
            {"critpath.tag", &a.tag},
            {"critpath.comm", &a.comm},
            {"critpath.offset", &a.offset},
            {"critpath.period", &a.period},
            {"critpath.reason", &a.reason},
            {"critpath.skipped", &a.skipped},
            {"critpath.dest", &a.dest},
            {"critpath.assertions", &a.assertions},
            {"critpath.page_faults", &a.page_faults},
            {"critpath.counted", &a.counted},
            {"critpath.in_degree", &a.in_degree},
            {"critpath.blocked_in", &a.blocked_in},
            {"critpath.waits_for_thread", &a.waits_for_thread},
        };
        for (const auto& attribute : in_.attributes) {
            for (const auto& [name, reference] : known) {
                if (in_.text(attribute.name) == name) {
                    *reference = attribute.self;
                }
            }
        }
    }

    void add_reasons()
    {
        for (const auto& [reference, text] : in_.strings) {
            if (text == otf2::user_reason) {
                vocabulary_.user_reason = reference;
            }
        }
    }

    void add_counters()
    {
        if (vocabulary_.attributes.page_faults != OTF2_UNDEFINED_ATTRIBUTE) {
            definitions_.counted.emplace_back(page_faults_event);
        }
        for (const Metric& metric : in_.metrics) {
            if (metric.occurrence == OTF2_METRIC_ASYNCHRONOUS) {
                add_events(metric);
                continue;
            }
            CounterPlaces places;
            for (std::size_t i = 0; i < metric.members.size(); ++i) {
                const auto member = in_.metric_members.find(metric.members[i]);
                if (member == in_.metric_members.end() || member->second.mode != OTF2_METRIC_ACCUMULATED_START) {
                    continue;
                }
                const std::string& name = in_.text(member->second.name);
                if (name == instructions_counter) {
                    places.instructions = static_cast<std::uint8_t>(i);
                } else if (name == cycles_counter) {
                    places.cycles = static_cast<std::uint8_t>(i);
                }
            }
            if (places.any()) {
                vocabulary_.counters[metric.self] = places;
            }
        }
    }

    /// Events that stand before samples, not before calls.
    void add_events(const Metric& metric)
    {
        constexpr std::size_t most = 64;
        auto& names = definitions_.counted;
        if (names.size() + metric.members.size() > most) {
            return;
        }
        EventPlaces places;
        for (const OTF2_MetricMemberRef reference : metric.members) {
            const auto member = in_.metric_members.find(reference);
            if (member == in_.metric_members.end() || member->second.mode != OTF2_METRIC_ACCUMULATED_START) {
                return;
            }
            const std::string& name = in_.text(member->second.name);
            const auto known = std::ranges::find(names, name);
            places.push_back(static_cast<std::size_t>(known - names.begin()));
            if (known == names.end()) {
                names.push_back(name);
            }
        }
        vocabulary_.sampled[metric.self] = std::move(places);
    }

    void add_regions()
    {
        for (const auto& region : in_.regions) {
            vocabulary_.regions.add(region.self, RegionId{size(definitions_.regions)});
            vocabulary_.thread_regions.push_back(thread_region(region));
            auto& made = definitions_.regions.emplace_back();
            made.name = in_.text(region.name);
            made.file = in_.text(region.file);
            made.line = region.begin_line;
            if (region.paradigm == OTF2_PARADIGM_SAMPLING) {
                made.role = RegionRole::Sampled;
                made.module = in_.text(region.description);
                continue;
            }
            made.function = function_of(in_.text(region.canonical_name));
            if (made.function == FunctionId::none) {
                made.function = function_of(made.name);
            }
            // Some tools wrap MPI without saying so in the paradigm.
            const bool is_mpi = region.paradigm == OTF2_PARADIGM_MPI || made.function != FunctionId::none;
            made.role = is_mpi                                ? RegionRole::Mpi
                        : made.name == otf2::preempted_region ? RegionRole::Preempted
                        : made.name == otf2::blocked_region   ? RegionRole::Blocked
                                                              : RegionRole::User;
        }
    }

    void add_contexts()
    {
        for (const auto& context : in_.contexts) {
            vocabulary_.contexts.add(context.self, ContextId{size(definitions_.contexts)});
            definitions_.contexts.emplace_back();
        }
        for (std::size_t i = 0; i < in_.contexts.size(); ++i) {
            const auto& context = in_.contexts[i];
            const auto region = vocabulary_.regions.find(context.region);
            if (!region.valid()) {
                contradict("calling context {} refers to region {}, which is not defined", context.self,
                           context.region);
            }
            definitions_.contexts[i] = {region,
                                        context.parent == OTF2_UNDEFINED_CALLING_CONTEXT
                                            ? ContextId::none()
                                            : vocabulary_.contexts.find(context.parent),
                                        0};
        }
        for (const auto& property : in_.context_properties) {
            const ContextId context = vocabulary_.contexts.find(property.context);
            if (context.valid() && property.type == OTF2_TYPE_UINT64 &&
                in_.text(property.name) == otf2::call_site_property) {
                definitions_.contexts[context.value].site = property.value.uint64;
            }
        }
        refuse_circles();
        add_roots();
    }

    /// Who climbs from a context to its parent, and so on, comes to an end.
    void refuse_circles() const
    {
        constexpr std::uint32_t unknown = 0;
        const auto& contexts = definitions_.contexts;
        std::vector<std::uint32_t> seen_from(contexts.size(), unknown);  // the context that first came by here, from 1
        for (std::uint32_t i = 0; i < contexts.size(); ++i) {
            ContextId at{i};
            for (; at.valid() && seen_from[at.value] == unknown; at = contexts[at.value].parent) {
                seen_from[at.value] = i + 1;
            }
            if (at.valid() && seen_from[at.value] == i + 1) {
                contradict("calling context {} is an ancestor of itself", in_.contexts[at.value].self);
            }
        }
    }

    void add_roots()
    {
        auto& contexts = definitions_.contexts;
        vocabulary_.roots.assign(definitions_.regions.size(), ContextId::none());
        for (std::uint32_t i = 0; i < contexts.size(); ++i) {
            ContextId& root = vocabulary_.roots[contexts[i].region.value];
            if (!contexts[i].parent.valid() && !root.valid()) {
                root = {i};
            }
        }
        for (std::uint32_t region = 0; region < definitions_.regions.size(); ++region) {
            if (!vocabulary_.roots[region].valid()) {
                vocabulary_.roots[region] = {size(contexts)};
                contexts.push_back({{region}, ContextId::none(), 0});
            }
        }
    }

    void add_generator()
    {
        if (in_.generators.empty()) {
            return;
        }
        const auto& first = in_.generators.front();
        auto& generator = vocabulary_.generator;
        generator.reference = first.self;
        generator.period = first.period;
        generator.counts_time = first.mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME;
        const double base = first.base == OTF2_BASE_BINARY ? 2 : 10;
        const auto exponent = static_cast<double>(first.exponent);
        constexpr double ns_per_second = 1e9;
        generator.ns_per_unit =
            first.base == OTF2_BASE_DECIMAL ? std::pow(base, exponent + 9) : std::pow(base, exponent) * ns_per_second;
        definitions_.has_samples = true;
        definitions_.event = in_.text(first.name);
        definitions_.period_unit = generator.counts_time ? "ns" : "count";
        definitions_.period =
            generator.counts_time
                ? static_cast<std::uint64_t>(std::llround(static_cast<double>(first.period) * generator.ns_per_unit))
                : first.period;
    }

    /// Rank order is that of the locations that MPI communicates with; processes without MPI follow by reference.
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
            if (group.type == OTF2_LOCATION_GROUP_TYPE_PROCESS) {
                others.push_back(group.self);
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
        // A tree has at most as many levels as nodes; a cycle would have more.
        for (std::size_t level = 0; node != in_.nodes.end() && level <= in_.nodes.size(); ++level) {
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
                const std::string missing = "," + in_.text(property.value.stringRef) + ",";
                facts.counts_page_faults = missing.find("," + std::string(page_faults_event) + ",") == missing.npos;
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

    void add_communicators()
    {
        for (const auto& comm : in_.comms) {
            const auto group = in_.groups.find(comm.group);
            if (group == in_.groups.end()) {
                contradict("communicator {} refers to group {}, which is not defined", comm.self, comm.group);
            }
            if (group->second.paradigm != OTF2_PARADIGM_MPI) {
                continue;  // of another tool's own making; no MPI record refers to it
            }
            vocabulary_.communicators.add(comm.self, CommId{size(definitions_.communicators)});
            auto& made = definitions_.communicators.emplace_back();
            made.name = in_.text(comm.name);
            made.is_self = group->second.type == OTF2_GROUP_TYPE_COMM_SELF;
            made.members = members(group->second);
        }
        for (const auto& comm : in_.inter_comms) {
            const auto a = in_.groups.find(comm.group_a);
            const auto b = in_.groups.find(comm.group_b);
            if (a == in_.groups.end() || b == in_.groups.end()) {
                contradict("inter-communicator {} refers to a group that is not defined", comm.self);
            }
            vocabulary_.communicators.add(comm.self, CommId{size(definitions_.communicators)});
            auto& made = definitions_.communicators.emplace_back();
            made.name = in_.text(comm.name);
            made.is_inter = true;
            made.members = members(a->second);
            made.remote = members(b->second);
        }
    }

    /// What has more than one topology is described for other reasons than MPI's.
    void add_topologies()
    {
        std::unordered_map<OTF2_CommRef, int> described;
        for (const auto& [reference, topology] : in_.topologies) {
            ++described[topology.comm];
        }
        for (const auto& [reference, topology] : in_.topologies) {
            const CommId comm = vocabulary_.communicators.find(topology.comm);
            if (!comm.valid() || described[topology.comm] != 1) {
                continue;
            }
            Communicator& made = definitions_.communicators[comm.value];
            const auto found = neighbours(grid(reference, topology), made.members.size());
            if (found && !made.is_inter && !made.is_self) {
                made.neighbours = *found;
            }
        }
    }

    [[nodiscard]] Grid grid(OTF2_CartTopologyRef reference, const Topology& topology) const
    {
        Grid result;
        for (const OTF2_CartDimensionRef dimension : topology.dimensions) {
            const auto found = in_.dimensions.find(dimension);
            if (found == in_.dimensions.end()) {
                return {};
            }
            result.dimensions.push_back(found->second);
        }
        if (const auto places = in_.places.find(reference); places != in_.places.end()) {
            result.places = places->second;
        }
        return result;
    }

    /// Collectives on a window have an order of their own, beside those on the communicator that it was made from. So
    /// each window has a communicator of its own here, as it has in MPI.
    void add_windows()
    {
        for (const auto& window : in_.windows) {
            const CommId comm = vocabulary_.communicators.find(window.comm);
            if (!comm.valid()) {
                continue;  // of another model than MPI's
            }
            vocabulary_.windows.add(window.self, WindowId{size(definitions_.windows)});
            definitions_.windows.push_back({in_.text(window.name), CommId{size(definitions_.communicators)}});
            const Communicator of_members = definitions_.communicators[comm.value];
            definitions_.communicators.push_back(of_members);
            definitions_.communicators.back().name = definitions_.windows.back().name;
        }
        if (in_.windows.empty()) {
            return;
        }
        for (const auto& [reference, group] : in_.groups) {
            const bool is_of_processes =
                group.type == OTF2_GROUP_TYPE_COMM_GROUP || group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS;
            if (is_of_processes && group.paradigm == OTF2_PARADIGM_MPI) {
                vocabulary_.groups.add(reference, ProcessGroupId{size(definitions_.groups)});
                definitions_.groups.push_back(members(group));
            }
        }
    }

    /// Members of a communicator's group are ranks in MPI_COMM_WORLD: positions in the group of communicating
    /// locations, or, where the group is that group itself, these locations.
    [[nodiscard]] std::vector<ProcessId> members(const GroupContent& group) const
    {
        std::vector<ProcessId> result;
        for (const std::uint64_t member : group.members) {
            if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
                const auto location = location_by_reference_.find(member);
                if (location == location_by_reference_.end()) {
                    contradict("a communicator has location {}, which is not defined", member);
                }
                result.push_back(definitions_.locations[location->second.value].process);
            } else if (member < rank_location_.size()) {
                result.push_back(ProcessId{static_cast<std::uint32_t>(member)});
            } else {
                contradict("a communicator has rank {} of {}", member, rank_location_.size());
            }
        }
        return result;
    }

    template <class T>
    static std::uint32_t size(const std::vector<T>& vector)
    {
        return static_cast<std::uint32_t>(vector.size());
    }

    const Collected& in_;
    const std::string& file_;
    LoadedDefinitions out_;
    Definitions& definitions_ = out_.definitions;
    Vocabulary& vocabulary_ = out_.vocabulary;
    std::vector<OTF2_LocationRef> rank_location_;        // by rank: where it communicates
    std::vector<OTF2_LocationGroupRef> process_groups_;  // by ProcessId
    std::unordered_map<OTF2_LocationGroupRef, ProcessId> process_of_group_;
    std::unordered_map<OTF2_LocationRef, LocationId> location_by_reference_;
};

}  // namespace

namespace
{

/// What each property `module_property` + number says: "<build-id or -> <path>".
std::map<std::string, std::string> read_build_ids(const otf2::Reader& reader)
{
    std::map<std::string, std::string> result;
    for (std::size_t i = 0;; ++i) {
        const std::string module = reader.property(otf2::module_property + std::to_string(i));
        const std::size_t space = module.find(' ');
        if (space == std::string::npos) {
            return result;
        }
        result.emplace(module.substr(space + 1), module.substr(0, space));
    }
}

}  // namespace

LoadedDefinitions read_definitions(otf2::Reader& reader, const std::string& file)
{
    Collected collected;
    reader.read_definitions(collected);
    LoadedDefinitions loaded = Builder(collected, file).build();
    if (loaded.vocabulary.run) {
        loaded.vocabulary.run->exact = !reader.property(otf2::version_property).empty();
    }
    loaded.definitions.incomplete = reader.property(otf2::incomplete_property);
    loaded.definitions.inconsistent = reader.property(otf2::inconsistent_property);
    loaded.definitions.build_ids = read_build_ids(reader);
    loaded.definitions.precise_ip = reader.property(otf2::precise_ip_property);
    loaded.definitions.call_graph = reader.property(otf2::call_graph_property);
    if (loaded.definitions.call_graph.find("fp") != std::string::npos) {
        const auto same = continue_cut_chains(loaded.definitions);
        loaded.vocabulary.contexts.replace([&](ContextId context) { return same[context.value]; });
    }
    return loaded;
}

}  // namespace critpath::replayer::load
