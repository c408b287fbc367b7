// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/sampled_code.hpp"

#include "formats/binary/module.hpp"
#include "formats/otf2/function_map.hpp"
#include "replayer/parents_first.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace critpath::replayer
{

namespace
{

using model::ContextId;
using model::LocationTrace;

/// GNU, LLVM, Intel, NVIDIA.
constexpr std::array<std::string_view, 4> runtimes = {"libgomp.so", "libomp.so", "libiomp5.so", "libnvomp.so"};
/// What their functions are called, if they are linked into the program.
constexpr std::array<std::string_view, 3> runtime_functions = {"gomp_", "GOMP_", "__kmp"};
/// The library that is loaded into the application; what it calls for an MPI function is none of it.
constexpr std::array<std::string_view, 1> collector_modules = {binary::collector_library};
/// They sleep, yield and read clocks with these.
constexpr std::array<std::string_view, 6> c_libraries = {"libc.so",       "libc-2.", "libpthread.so",
                                                         "libpthread-2.", "[vdso]",  "[kernel]"};
/// Walks stacks, for the collector as for exceptions of the application; it asks the other ones what is loaded where.
constexpr std::array<std::string_view, 1> unwinders = {"libgcc_s.so"};
constexpr std::array<std::string_view, 2> loaders = {"ld-linux", "ld-2."};

template <class Names>
bool begins_with_one_of(std::string_view module, const Names& names)
{
    const std::string_view name = module.substr(module.rfind('/') + 1);
    return std::ranges::any_of(names, [&](std::string_view known) { return name.starts_with(known); });
}

/// Functions of the C library stand in the collector's by the same name, perhaps with more underscores.
bool is_same_function(std::string_view inner, std::string_view outer)
{
    inner.remove_prefix(std::min(inner.find_first_not_of('_'), inner.size()));
    return inner == outer;
}

}  // namespace

SampledCode::SampledCode(const model::Definitions& definitions, std::span<const model::ProcessTrace> processes)
    : definitions_(definitions)
{
    const std::size_t regions = definitions.regions.size();
    std::vector<bool> of_runtime(regions), of_c_library(regions), of_collector(regions), is_unknown(regions),
        of_unwinder(regions), of_loader(regions);
    for (std::size_t i = 0; i < regions; ++i)
        if (definitions.regions[i].role == model::RegionRole::Sampled) {
            of_runtime[i] = begins_with_one_of(definitions.regions[i].module, runtimes) ||
                            std::ranges::any_of(runtime_functions, [&](std::string_view known) {
                                return std::string_view(definitions.regions[i].name).starts_with(known);
                            });
            of_c_library[i] = begins_with_one_of(definitions.regions[i].module, c_libraries);
            of_collector[i] = begins_with_one_of(definitions.regions[i].module, collector_modules);
            of_unwinder[i] = begins_with_one_of(definitions.regions[i].module, unwinders);
            of_loader[i] = begins_with_one_of(definitions.regions[i].module, loaders);
            is_unknown[i] = definitions.regions[i].name == otf2::unknown_callers_region;
        }
    for (const model::CallingContext& context : definitions.contexts) {
        is_runtime_.push_back(of_runtime[context.region.value]);
        is_c_library_.push_back(of_c_library[context.region.value]);
    }
    const auto outside_unwinder = [&](ContextId inner) {
        bool unwinds = false;
        ContextId c = inner;
        for (; c.valid(); c = definitions.contexts[c.value].parent) {
            const std::uint32_t region = definitions.contexts[c.value].region.value;
            if (!of_unwinder[region] && !of_loader[region] && !of_c_library[region])
                break;
            unwinds = unwinds || of_unwinder[region];
        }
        return unwinds ? c : inner;
    };
    for (std::uint32_t i = 0; i < definitions.contexts.size(); ++i) {
        ContextId c = outside_c_library({i});
        waits_.push_back(c.valid() && is_runtime_[c.value]);
        c = outside_unwinder(c);
        measures_.push_back(c.valid() && of_collector[definitions.contexts[c.value].region.value] &&
                            !is_for_application({i}));
    }
    may_be_of_team_.resize(definitions.contexts.size());
    visit_parents_first(definitions.contexts, [&](ContextId c) {
        const auto [region, parent, site] = definitions.contexts[c.value];
        may_be_of_team_[c.value] =
            is_runtime_[c.value] || is_unknown[region.value] || (parent.valid() && may_be_of_team_[parent.value]);
    });
    for (const model::ProcessTrace& process : processes)
        if (process.locations.size() > 1)
            for (const LocationTrace& location : process.locations)
                if (is_of_no_team(location))
                    apart_.insert(location.location);
}

bool SampledCode::is_of_no_team(const LocationTrace& thread) const
{
    bool has_callers = false;
    for (const model::Sample& sample : thread.samples)
        if (sample.context.valid()) {
            if (may_be_of_team_[sample.context.value])
                return false;
            has_callers = has_callers || definitions_.contexts[sample.context.value].parent.valid();
        }
    return has_callers;
}

ContextId SampledCode::outside_c_library(ContextId context) const
{
    while (context.valid() && is_c_library_[context.value])
        context = definitions_.contexts[context.value].parent;
    return context;
}

model::RegionId SampledCode::function(ContextId context) const
{
    const ContextId c = outside_c_library(context);
    return c.valid() ? definitions_.contexts[c.value].region : model::RegionId::none();
}

bool SampledCode::is_for_application(ContextId context) const
{
    const auto name = [&](ContextId c) {
        return std::string_view(definitions_.regions[definitions_.contexts[c.value].region.value].name);
    };
    for (ContextId c = context; c.valid() && is_c_library_[c.value]; c = definitions_.contexts[c.value].parent)
        if (const ContextId caller = definitions_.contexts[c.value].parent;
            caller.valid() && !is_c_library_[caller.value] && is_same_function(name(c), name(caller)))
            return true;
    return false;
}

ContextId SampledCode::waiter(ContextId context) const
{
    while (context.valid() && (is_runtime_[context.value] || is_c_library_[context.value]))
        context = definitions_.contexts[context.value].parent;
    return context;
}

Place SampledCode::place_of(const model::Sample& sample) const
{
    if (waits_for_team(sample.context))
        return {waiter(sample.context), Pseudo::TeamWait};
    ContextId caller = sample.context;
    ContextId outermost = ContextId::none();  // of the collector's
    while (caller.valid() && measures_[caller.value]) {
        outermost = caller;
        caller = definitions_.contexts[caller.value].parent;
    }
    if (!outermost.valid())
        return {caller, Pseudo::None};
    // Below nothing is what the collector has recorded of its own time, which is exact.
    return {caller.valid() ? caller : outermost, Pseudo::Measurement};
}

}  // namespace critpath::replayer
