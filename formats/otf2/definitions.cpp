// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/definitions.hpp"

#include "formats/otf2/check.hpp"
#include "formats/otf2/function_map.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace critpath::otf2
{

namespace
{

using functions::FunctionId;

// A record has to fit into a chunk, and that may be as small as 256 KiB.
constexpr std::size_t longest_text = std::size_t{128} << 10;

/// The beginning of what is longer, up to a whole character of UTF-8.
std::string fitting(const std::string& text)
{
    if (text.size() <= longest_text) {
        return text;
    }
    constexpr std::string_view more = "...";
    std::size_t length = longest_text - more.size();
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
        --length;
    }
    return text.substr(0, length).append(more);
}

class Writer
{
public:
    Writer(Archive& archive, const TraceDefinitions& definitions)
        : file_(archive.files().definitions()), out_(archive.definition_writer()), trace_(definitions)
    {
    }

    void write()
    {
        check(OTF2_GlobalDefWriter_WriteClockProperties(out_, 1'000'000'000, trace_.begin, trace_.end - trace_.begin,
                                                        trace_.realtime),
              "{}", file_);
        for (const std::string& text : trace_.strings) {
            define_string(text);
        }
        paradigms();
        attribute_definitions();
        system_tree();
        locations();
        regions();
        contexts();
        generators();
        communicators();
        topologies();
        windows();
        metrics();
    }

private:
    void checked(OTF2_ErrorCode rc) { check(rc, "{}", file_); }

    OTF2_StringRef define_string(const std::string& text)
    {
        const OTF2_StringRef id = next_string_++;
        checked(OTF2_GlobalDefWriter_WriteString(out_, id, fitting(text).c_str()));
        strings_.emplace(text, id);
        return id;
    }

    OTF2_StringRef string(const std::string& text)
    {
        const auto found = strings_.find(text);
        return found != strings_.end() ? found->second : define_string(text);
    }

    OTF2_StringRef optional_string(const std::string& text)
    {
        return text.empty() ? OTF2_UNDEFINED_STRING : string(text);
    }

    void paradigms()
    {
        checked(
            OTF2_GlobalDefWriter_WriteParadigm(out_, OTF2_PARADIGM_MPI, string("MPI"), OTF2_PARADIGM_CLASS_PROCESS));
        // Sampling is no parallel paradigm; OTF2 wants a class all the same, and this is the one without duties.
        checked(OTF2_GlobalDefWriter_WriteParadigm(out_, OTF2_PARADIGM_SAMPLING, string("SAMPLING"),
                                                   OTF2_PARADIGM_CLASS_PROCESS));
    }

    void attribute_definitions()
    {
        OTF2_AttributeRef id = 0;
        for (const AttributeInfo& attribute : attribute_table) {
            const OTF2_StringRef name = string(attribute.name);
            const OTF2_StringRef description = string(attribute.description);
            checked(OTF2_GlobalDefWriter_WriteAttribute(out_, id++, name, description, attribute.type));
        }
        checked(OTF2_GlobalDefWriter_WriteParameter(out_, in_neighbour_reference, string(in_neighbour_parameter),
                                                    OTF2_PARAMETER_TYPE_UINT64));
    }

    void system_tree()
    {
        std::map<std::string, OTF2_SystemTreeNodeRef> nodes;
        const OTF2_StringRef machine = string("machine");
        checked(OTF2_GlobalDefWriter_WriteSystemTreeNode(out_, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        checked(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(out_, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
        for (OTF2_LocationGroupRef rank = 0; rank < trace_.processes.size(); ++rank) {
            const ProcessDefinition& process = trace_.processes[rank];
            const auto [node, is_new] =
                nodes.try_emplace(process.host, static_cast<OTF2_SystemTreeNodeRef>(nodes.size() + 1));
            if (is_new) {
                checked(OTF2_GlobalDefWriter_WriteSystemTreeNode(out_, node->second, string(process.host),
                                                                 string("node"), 0));
                checked(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(out_, node->second,
                                                                       OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
            }
            checked(OTF2_GlobalDefWriter_WriteLocationGroup(out_, rank, string(fmt::format("MPI Rank {}", rank)),
                                                            OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second,
                                                            OTF2_UNDEFINED_LOCATION_GROUP));
            for (const auto& [name, text] : process.properties) {
                OTF2_AttributeValue value{};
                value.stringRef = string(text);
                checked(OTF2_GlobalDefWriter_WriteLocationGroupProperty(out_, rank, string("critpath." + name),
                                                                        OTF2_TYPE_STRING, value));
            }
        }
    }

    void locations()
    {
        for (const LocationDefinition& location : trace_.locations) {
            const OTF2_LocationRef id = location_reference(location.rank, location.thread);
            const std::string name = location.thread == 0 ? "Master thread" : fmt::format("Thread {}", location.thread);
            checked(OTF2_GlobalDefWriter_WriteLocation(out_, id, string(name), OTF2_LOCATION_TYPE_CPU_THREAD,
                                                       location.events, location.rank));
            for (const auto& [key, text] : location.texts) {
                OTF2_AttributeValue value{};
                value.stringRef = string(text);
                location_property(id, key, OTF2_TYPE_STRING, value);
            }
            for (const auto& [key, count] : location.counts) {
                OTF2_AttributeValue value{};
                value.uint64 = count;
                location_property(id, key, OTF2_TYPE_UINT64, value);
            }
            for (const auto& [key, number] : location.numbers) {
                OTF2_AttributeValue value{};
                value.float64 = number;
                location_property(id, key, OTF2_TYPE_DOUBLE, value);
            }
        }
    }

    void location_property(OTF2_LocationRef id, const std::string& name, OTF2_Type type, OTF2_AttributeValue value)
    {
        checked(OTF2_GlobalDefWriter_WriteLocationProperty(out_, id, string("critpath." + name), type, value));
    }

    void regions()
    {
        OTF2_RegionRef id = 0;
        for (const RegionDefinition& region : trace_.regions) {
            if (region.function != FunctionId::none) {
                const OTF2_StringRef name = string(functions::info(region.function).name);
                checked(OTF2_GlobalDefWriter_WriteRegion(out_, id++, name, name, OTF2_UNDEFINED_STRING,
                                                         region_role(region.function), OTF2_PARADIGM_MPI,
                                                         OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
            } else {
                const OTF2_StringRef name = string(region.name);
                const OTF2_StringRef canonical = region.canonical_name.empty() ? name : string(region.canonical_name);
                checked(OTF2_GlobalDefWriter_WriteRegion(out_, id++, name, canonical, optional_string(region.module),
                                                         region.role, region.paradigm, OTF2_REGION_FLAG_NONE,
                                                         optional_string(region.file), region.line, region.line));
            }
        }
    }

    void contexts()
    {
        OTF2_CallingContextRef id = 0;
        for (const ContextDefinition& context : trace_.contexts) {
            checked(OTF2_GlobalDefWriter_WriteCallingContext(out_, id++, context.region,
                                                             OTF2_UNDEFINED_SOURCE_CODE_LOCATION, context.parent));
        }
        id = 0;
        for (const ContextDefinition& context : trace_.contexts) {
            OTF2_AttributeValue site{};
            site.uint64 = context.site;
            if (context.site != 0) {
                checked(OTF2_GlobalDefWriter_WriteCallingContextProperty(out_, id, string(call_site_property),
                                                                         OTF2_TYPE_UINT64, site));
            }
            ++id;
        }
    }

    void generators()
    {
        OTF2_InterruptGeneratorRef id = 0;
        for (const GeneratorDefinition& generator : trace_.generators) {
            const bool is_time = is_time_event(generator.event);
            checked(OTF2_GlobalDefWriter_WriteInterruptGenerator(
                out_, id++, string(generator.event),
                is_time ? OTF2_INTERRUPT_GENERATOR_MODE_TIME : OTF2_INTERRUPT_GENERATOR_MODE_COUNT, OTF2_BASE_DECIMAL,
                is_time ? -9 : 0, generator.period));
        }
    }

    // Groups list indices into COMM_LOCATIONS, which are world ranks; equal lists share one group.
    void communicators()
    {
        std::vector<std::uint64_t> masters;
        for (OTF2_LocationGroupRef rank = 0; rank < trace_.processes.size(); ++rank) {
            masters.push_back(location_reference(rank, 0));
        }
        group(OTF2_GROUP_TYPE_COMM_LOCATIONS, masters);
        const OTF2_GroupRef self = group(OTF2_GROUP_TYPE_COMM_SELF, {});
        std::map<RankList, OTF2_GroupRef> groups;
        for (const RankList& ranks : trace_.groups) {
            group_of(groups, ranks);  // as group_reference() promises
        }
        OTF2_CommRef id = 0;
        for (const CommunicatorDefinition& comm : trace_.communicators) {
            const OTF2_CommFlag flags = comm.has_events ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE;
            if (comm.is_inter) {
                const OTF2_GroupRef first = group_of(groups, comm.members);
                const OTF2_GroupRef second = group_of(groups, comm.remote);
                checked(OTF2_GlobalDefWriter_WriteInterComm(out_, id++, string(comm.name), first, second, comm.parent,
                                                            flags));
            } else {
                const OTF2_GroupRef members = comm.is_self ? self : group_of(groups, comm.members);
                checked(OTF2_GlobalDefWriter_WriteComm(out_, id++, string(comm.name), members, comm.parent, flags));
            }
        }
    }

    void topologies()
    {
        std::map<GridDimension, OTF2_CartDimensionRef> references;
        OTF2_CartTopologyRef id = 0;
        for (OTF2_CommRef comm = 0; comm < trace_.communicators.size(); ++comm) {
            const std::vector<GridDimension>& grid = trace_.communicators[comm].grid;
            if (grid.empty()) {
                continue;
            }
            std::vector<OTF2_CartDimensionRef> dimensions;
            for (const GridDimension& dimension : grid) {
                const auto [reference, is_new] =
                    references.try_emplace(dimension, static_cast<OTF2_CartDimensionRef>(references.size()));
                if (is_new) {
                    checked(OTF2_GlobalDefWriter_WriteCartDimension(out_, reference->second, string(""), dimension.size,
                                                                    dimension.is_periodic ? OTF2_CART_PERIODIC_TRUE
                                                                                          : OTF2_CART_PERIODIC_FALSE));
                }
                dimensions.push_back(reference->second);
            }
            checked(OTF2_GlobalDefWriter_WriteCartTopology(out_, id, string(""), comm,
                                                           static_cast<std::uint8_t>(grid.size()), dimensions.data()));
            coordinates(id++, grid);
        }
    }

    void coordinates(OTF2_CartTopologyRef topology, const std::vector<GridDimension>& grid)
    {
        std::uint32_t ranks = 1;
        for (const GridDimension& dimension : grid) {
            ranks *= dimension.size;
        }
        std::vector<std::uint32_t> place(grid.size());
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            std::uint32_t rest = rank;
            for (std::size_t d = grid.size(); d-- > 0; rest /= grid[d].size) {
                place[d] = rest % grid[d].size;
            }
            checked(OTF2_GlobalDefWriter_WriteCartCoordinate(out_, topology, rank,
                                                             static_cast<std::uint8_t>(grid.size()), place.data()));
        }
    }

    OTF2_GroupRef group_of(std::map<RankList, OTF2_GroupRef>& groups, const RankList& runs)
    {
        const auto found = groups.find(runs);
        if (found != groups.end()) {
            return found->second;
        }
        const std::vector<std::int32_t> members = expand(runs);
        return groups[runs] = group(OTF2_GROUP_TYPE_COMM_GROUP, {members.begin(), members.end()});
    }

    void windows()
    {
        OTF2_RmaWinRef id = 0;
        for (const WindowDefinition& window : trace_.windows) {
            checked(OTF2_GlobalDefWriter_WriteRmaWin(out_, id++, string(window.name), window.comm,
                                                     OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
        }
    }

    void metrics()
    {
        std::map<std::pair<bool, std::string>, OTF2_MetricMemberRef> members;
        OTF2_MetricRef id = 0;
        for (const MetricDefinition& metric : trace_.metrics) {
            std::vector<OTF2_MetricMemberRef> list;
            for (const std::string& name : metric.names) {
                const auto [member, is_new] =
                    members.try_emplace({metric.is_sampled, name}, static_cast<OTF2_MetricMemberRef>(members.size()));
                if (is_new) {
                    checked(OTF2_GlobalDefWriter_WriteMetricMember(
                        out_, member->second, string(name), string(""),
                        metric.is_sampled ? OTF2_METRIC_TYPE_OTHER : OTF2_METRIC_TYPE_PAPI,
                        OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, 0, string("#")));
                }
                list.push_back(member->second);
            }
            checked(OTF2_GlobalDefWriter_WriteMetricClass(
                out_, id++, static_cast<std::uint8_t>(list.size()), list.data(),
                metric.is_sampled ? OTF2_METRIC_ASYNCHRONOUS : OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
        }
    }

    OTF2_GroupRef group(OTF2_GroupType type, const std::vector<std::uint64_t>& members)
    {
        const OTF2_GroupRef id = next_group_++;
        checked(OTF2_GlobalDefWriter_WriteGroup(out_, id, string(""), type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                                static_cast<std::uint32_t>(members.size()), members.data()));
        return id;
    }

    std::string file_;
    OTF2_GlobalDefWriter* out_;
    const TraceDefinitions& trace_;
    std::unordered_map<std::string, OTF2_StringRef> strings_;
    OTF2_StringRef next_string_ = 0;
    OTF2_GroupRef next_group_ = 0;
};

}  // namespace

void write_definitions(Archive& archive, const TraceDefinitions& definitions)
{
    Writer(archive, definitions).write();
    archive.finish_definitions();
    archive.set_property(version_property, std::to_string(format_version));
    if (!definitions.call_graph.empty()) {
        archive.set_property(call_graph_property, definitions.call_graph);
    }
    if (!definitions.precise_ip.empty()) {
        archive.set_property(precise_ip_property, definitions.precise_ip);
    }
    if (!definitions.left_out.empty()) {
        archive.set_property(left_out_property, definitions.left_out);
    }
    if (!definitions.incomplete.empty()) {
        archive.set_property(incomplete_property, definitions.incomplete);
    }
    if (!definitions.inconsistent.empty()) {
        archive.set_property(inconsistent_property, definitions.inconsistent);
    }
    for (std::size_t i = 0; i < definitions.modules.size(); ++i) {
        const ModuleDefinition& module = definitions.modules[i];
        archive.set_property(module_property + std::to_string(i),
                             fmt::format("{} {}", module.build_id.empty() ? "-" : module.build_id, module.path));
    }
}

RankList compress(const std::vector<std::int32_t>& ranks)
{
    RankList runs;
    for (std::size_t i = 0; i < ranks.size();) {
        RankRun run{ranks[i], 1, 1};
        if (i + 1 < ranks.size()) {
            run.stride = ranks[i + 1] - ranks[i];
            while (i + run.count < ranks.size() && ranks[i + run.count] == run.first + run.count * run.stride) {
                ++run.count;
            }
        }
        // A pair at the end of a run that a longer one could use is better left to it.
        if (run.count == 2 && i + 2 < ranks.size()) {
            run = {ranks[i], 1, 1};
        }
        i += static_cast<std::size_t>(run.count);
        runs.push_back(run);
    }
    return runs;
}

std::vector<std::int32_t> expand(const RankList& runs)
{
    std::vector<std::int32_t> ranks;
    for (const RankRun& run : runs) {
        for (std::int32_t i = 0; i < run.count; ++i) {
            ranks.push_back(run.first + i * run.stride);
        }
    }
    return ranks;
}

}  // namespace critpath::otf2
