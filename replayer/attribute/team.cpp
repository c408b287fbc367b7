// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/team.hpp"

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

}  // namespace

TeamWaits::TeamWaits(const model::Definitions& definitions) : definitions_(definitions)
{
    const std::size_t regions = definitions.regions.size();
    std::vector<bool> of_runtime(regions), of_c_library(regions);
    for (std::size_t i = 0; i < regions; ++i)
        if (definitions.regions[i].role == model::RegionRole::Sampled) {
            of_runtime[i] = begins_with_one_of(definitions.regions[i].module, runtimes);
            of_c_library[i] = begins_with_one_of(definitions.regions[i].module, c_libraries);
        }
    for (const model::CallingContext& context : definitions.contexts) {
        is_runtime_.push_back(of_runtime[context.region.value]);
        is_c_library_.push_back(of_c_library[context.region.value]);
    }
    for (std::uint32_t i = 0; i < definitions.contexts.size(); ++i) {
        ContextId c{i};
        while (c.valid() && is_c_library_[c.value])
            c = definitions.contexts[c.value].parent;
        waits_.push_back(c.valid() && is_runtime_[c.value]);
    }
}

ContextId TeamWaits::waiter(ContextId context) const
{
    while (context.valid() && (is_runtime_[context.value] || is_c_library_[context.value]))
        context = definitions_.contexts[context.value].parent;
    return context;
}

Place TeamWaits::place_of(const model::Sample& sample) const
{
    return has(sample.context) ? Place{waiter(sample.context), Pseudo::TeamWait} : Place{sample.context};
}

std::vector<Work> work_of_others(const model::ProcessTrace& trace, model::LocationId waiting, Ns begin, Ns end,
                                 const TeamWaits& waits)
{
    std::vector<Work> result;
    for (const LocationTrace& location : trace.locations) {
        if (location.location == waiting)
            continue;
        auto sample = std::ranges::upper_bound(location.samples, begin, {}, &model::Sample::time);
        for (; sample != location.samples.end() && sample->time <= end; ++sample)
            if (sample->context.valid() && sample->weight > 0 && !waits.has(sample->context) &&
                !in_call(location, sample->time))
                result.push_back({&location, static_cast<std::size_t>(sample - location.samples.begin())});
    }
    return result;
}

std::vector<Work> work_around(const model::ProcessTrace& trace, model::LocationId waiting, const model::Sample& sample,
                              const TeamWaits& waits)
{
    const Ns around{sample.weight};
    return work_of_others(trace, waiting, sample.time - around, sample.time + around, waits);
}

std::int64_t preemption_of_others(const model::ProcessTrace& trace, model::LocationId waiting, Ns begin, Ns end,
                                  const TeamWaits& waits)
{
    std::int64_t sum = 0;
    for (const LocationTrace& location : trace.locations) {
        if (location.location == waiting)
            continue;
        auto off = std::ranges::upper_bound(location.off, begin, {}, &model::OffProcessor::end);
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
