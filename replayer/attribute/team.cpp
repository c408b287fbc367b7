// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/team.hpp"

#include "formats/otf2/function_map.hpp"
#include "replayer/parents_first.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace critpath::replayer
{

namespace
{

using model::ContextId;
using model::LocationTrace;
using model::Ns;

/// GNU, LLVM, Intel, NVIDIA.
constexpr std::array<std::string_view, 4> runtimes = {"libgomp.so", "libomp.so", "libiomp5.so", "libnvomp.so"};
/// What their functions are called, if they are linked into the program.
constexpr std::array<std::string_view, 3> runtime_functions = {"gomp_", "GOMP_", "__kmp"};
/// The library that is loaded into the application; what it calls for an MPI function is none of it.
constexpr std::array<std::string_view, 1> collector = {"libcritpath-preload.so"};
/// They sleep, yield and read clocks with these.
constexpr std::array<std::string_view, 6> c_libraries = {"libc.so",       "libc-2.", "libpthread.so",
                                                         "libpthread-2.", "[vdso]",  "[kernel]"};

template <class Names>
bool begins_with_one_of(std::string_view module, const Names& names)
{
    const std::string_view name = module.substr(module.rfind('/') + 1);
    return std::ranges::any_of(names, [&](std::string_view known) { return name.starts_with(known); });
}

bool in_call(const LocationTrace& location, Ns time)
{
    const std::size_t call = model::last_entered(location.calls, time);
    return call < location.calls.size() && location.calls.leave(call) > time;
}

/// Who has done what others wait for may look for more to do before it stops: for so long at least, and at most.
constexpr Ns looks_around{100'000}, looks_around_at_most{5'000'000};

/// Whether it is blocked, or ends before the process does, when it has had no more than that of a processor from `time`
/// on.
bool stops(const model::ProcessTrace& trace, const LocationTrace& location, Ns time, Ns most)
{
    auto off = std::ranges::upper_bound(location.off, time, {}, &model::OffProcessor::end);
    for (; off != location.off.end(); ++off) {
        most -= std::max(off->begin - time, Ns{});
        if (most < Ns{} || !off->preempted)
            return most >= Ns{};
        time = off->end;
    }
    return location.end < trace.locations.front().end && location.end - time <= most;
}

/// With what it did before: it is seen in the same function when the waiter is back, and works as long again.
bool goes_on(const Waiter& waiter, const LocationTrace& location, const TeamWaits& waits)
{
    const Ns most = std::clamp(waiter.back - waiter.begin, looks_around, looks_around_at_most);
    if (stops(waiter.trace, location, waiter.back, most))
        return false;
    const auto& samples = location.samples;
    const auto next = std::ranges::upper_bound(samples, waiter.back, {}, &model::Sample::time);
    if (next == samples.end() || !next->context.valid())
        return false;
    const model::RegionId function = waits.function(next->context);
    const auto first = std::ranges::upper_bound(samples, waiter.begin, {}, &model::Sample::time);
    return function.valid() && std::any_of(first, next, [&](const model::Sample& sample) {
               return waits.function(sample.context) == function;
           });
}

/// Functions of the C library stand in the collector's by the same name, perhaps with more underscores.
bool is_same_function(std::string_view inner, std::string_view outer)
{
    inner.remove_prefix(std::min(inner.find_first_not_of('_'), inner.size()));
    return inner == outer;
}

/// Of the threads that are `meant`, in (begin, end].
template <class Meant>
std::vector<Work> work_between(const model::ProcessTrace& trace, Ns begin, Ns end, const TeamWaits& waits, Meant meant)
{
    std::vector<Work> result;
    for (const LocationTrace& location : trace.locations) {
        auto sample = std::ranges::upper_bound(location.samples, begin, {}, &model::Sample::time);
        if (sample == location.samples.end() || sample->time > end || !meant(location))
            continue;
        for (; sample != location.samples.end() && sample->time <= end; ++sample)
            if (sample->context.valid() && sample->weight > 0 && !waits.has(sample->context) &&
                !in_call(location, sample->time))
                result.push_back({&location, static_cast<std::size_t>(sample - location.samples.begin())});
    }
    return result;
}

bool may_wait_for(const Waiter& waiter, const LocationTrace& location, const TeamWaits& waits)
{
    return location.location != waiter.location &&
           (!waits.is_apart(location.location) || !goes_on(waiter, location, waits));
}

}  // namespace

TeamWaits::TeamWaits(const model::Definitions& definitions, std::span<const model::ProcessTrace> processes)
    : definitions_(definitions)
{
    const std::size_t regions = definitions.regions.size();
    std::vector<bool> of_runtime(regions), of_c_library(regions), of_collector(regions), is_unknown(regions);
    for (std::size_t i = 0; i < regions; ++i)
        if (definitions.regions[i].role == model::RegionRole::Sampled) {
            of_runtime[i] = begins_with_one_of(definitions.regions[i].module, runtimes) ||
                            std::ranges::any_of(runtime_functions, [&](std::string_view known) {
                                return std::string_view(definitions.regions[i].name).starts_with(known);
                            });
            of_c_library[i] = begins_with_one_of(definitions.regions[i].module, c_libraries);
            of_collector[i] = begins_with_one_of(definitions.regions[i].module, collector);
            is_unknown[i] = definitions.regions[i].name == otf2::unknown_callers_region;
        }
    for (const model::CallingContext& context : definitions.contexts) {
        is_runtime_.push_back(of_runtime[context.region.value]);
        is_c_library_.push_back(of_c_library[context.region.value]);
    }
    for (std::uint32_t i = 0; i < definitions.contexts.size(); ++i) {
        const ContextId c = outside_c_library({i});
        waits_.push_back(c.valid() && is_runtime_[c.value]);
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

bool TeamWaits::is_of_no_team(const LocationTrace& thread) const
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

ContextId TeamWaits::outside_c_library(ContextId context) const
{
    while (context.valid() && is_c_library_[context.value])
        context = definitions_.contexts[context.value].parent;
    return context;
}

model::RegionId TeamWaits::function(ContextId context) const
{
    const ContextId c = outside_c_library(context);
    return c.valid() ? definitions_.contexts[c.value].region : model::RegionId::none();
}

bool TeamWaits::is_for_application(ContextId context) const
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

ContextId TeamWaits::waiter(ContextId context) const
{
    while (context.valid() && (is_runtime_[context.value] || is_c_library_[context.value]))
        context = definitions_.contexts[context.value].parent;
    return context;
}

Place TeamWaits::place_of(const model::Sample& sample) const
{
    if (has(sample.context))
        return {waiter(sample.context), Pseudo::TeamWait};
    ContextId caller = sample.context;
    while (caller.valid() && measures_[caller.value])
        caller = definitions_.contexts[caller.value].parent;
    return {caller, caller == sample.context ? Pseudo::None : Pseudo::Measurement};
}

std::vector<Work> work_of_others(const Waiter& waiter, const TeamWaits& waits)
{
    return work_between(waiter.trace, waiter.begin, waiter.end, waits,
                        [&](const LocationTrace& location) { return may_wait_for(waiter, location, waits); });
}

std::vector<Work> work_around(const model::ProcessTrace& trace, model::LocationId waiting, const model::Sample& sample,
                              const TeamWaits& waits)
{
    const Ns around{sample.weight};
    return work_between(trace, sample.time - around, sample.time + around, waits, [&](const LocationTrace& location) {
        return location.location != waiting && !waits.is_apart(location.location);
    });
}

std::int64_t running(const Waiter& waiter, const LocationTrace& location, const TeamWaits& waits)
{
    const Ns begin = std::max(waiter.begin, location.begin), end = std::min(waiter.end, location.end);
    const auto next = std::ranges::upper_bound(location.samples, begin, {}, &model::Sample::time);
    if (begin >= end || next == location.samples.end() || !next->context.valid() || waits.has(next->context))
        return 0;
    std::int64_t ns = (end - begin).count();
    auto off = std::ranges::upper_bound(location.off, begin, {}, &model::OffProcessor::end);
    for (; off != location.off.end() && off->begin < end; ++off)
        ns -= (std::min(end, off->end) - std::max(begin, off->begin)).count();
    return ns > 0 && !in_call(location, begin) && may_wait_for(waiter, location, waits) ? ns : 0;
}

std::int64_t preemption_of_others(const Waiter& waiter, const TeamWaits& waits)
{
    const auto& [trace, waiting, begin, end, back] = waiter;
    std::int64_t sum = 0;
    for (const LocationTrace& location : trace.locations) {
        auto off = std::ranges::upper_bound(location.off, begin, {}, &model::OffProcessor::end);
        if (off == location.off.end() || off->begin >= end || !may_wait_for(waiter, location, waits))
            continue;
        for (; off != location.off.end() && off->begin < end; ++off) {
            if (!off->preempted || in_call(location, off->begin))
                continue;
            const auto behind = std::ranges::upper_bound(location.samples, off->begin, {}, &model::Sample::time);
            const bool worked = behind != location.samples.begin() && (behind - 1)->context.valid() &&
                                !waits.has((behind - 1)->context);
            sum += worked ? (std::min(end, off->end) - std::max(begin, off->begin)).count() : 0;
        }
    }
    return sum;
}

}  // namespace critpath::replayer
