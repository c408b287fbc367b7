// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/code_definitions.hpp"

#include "formats/otf2/function_map.hpp"
#include "replayer/load/definition_step.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace critpath::replayer::load
{

using namespace model;

namespace
{

using FunctionsByName = std::unordered_map<std::string, FunctionId>;

/// "MPI_Recv" may be "MPI_Recv()", "PMPI_Recv", "MPI_RECV", "mpi_recv_" or "mpi_recv__" in traces of other tools, and
/// "MPI_Recv_c" where its count is large (MPI-4.0, 2.5.8), which changes nothing else.
std::string plain(std::string_view name)
{
    constexpr std::string_view call = "()", profiling = "pmpi_";
    if (name.ends_with(call)) {
        name.remove_suffix(call.size());
    }
    while (name.ends_with('_')) {
        name.remove_suffix(1);
    }
    constexpr std::string_view large_count = "_c";
    if (name.ends_with(large_count)) {
        name.remove_suffix(large_count.size());
    }
    std::string result(name);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result.starts_with(profiling) ? result.substr(1) : result;
}

FunctionsByName functions_by_name(std::string (*key)(std::string_view))
{
    FunctionsByName map;
    for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(FunctionId::count); ++i) {
        map.emplace(key(functions::table[i].name), FunctionId{i});
    }
    return map;
}

FunctionId find(const FunctionsByName& functions, const std::string& name)
{
    const auto found = functions.find(name);
    return found == functions.end() ? FunctionId::none : found->second;
}

FunctionId function_of(const std::string& name)
{
    static const FunctionsByName by_name = functions_by_name([](std::string_view exact) { return std::string(exact); });
    return find(by_name, name);
}

/// Of a region that is known to be one of MPI.
FunctionId function_by_another_spelling(const std::string& name)
{
    static const FunctionsByName by_plain_name = functions_by_name(plain);
    return find(by_plain_name, plain(name));
}

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

class CodeStep : DefinitionStep
{
public:
    using DefinitionStep::DefinitionStep;

    void define()
    {
        add_regions();
        add_contexts();
    }

private:
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
            if (made.function == FunctionId::none && region.paradigm == OTF2_PARADIGM_MPI) {
                made.function = function_by_another_spelling(made.name);
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
};

}  // namespace

void define_code(const Collected& in, const std::string& file, LoadedDefinitions& out)
{
    CodeStep(in, file, out).define();
}

}  // namespace critpath::replayer::load
