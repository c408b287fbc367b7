// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/team.hpp"

#include "formats/otf2/function_map.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/parents_first.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::ContextId;
using model::LocationTrace;
using model::Ns;

__extension__ using Wide = __int128;

bool in_call(const LocationTrace& location, Ns time)
{
    const std::size_t call = model::last_entered(location.calls, time);
    return call < location.calls.size() && location.calls.leave(call) > time;
}

std::int64_t on_processor(const LocationTrace& location, Ns begin, Ns end)
{
    if (begin >= end)
        return 0;
    std::int64_t ns = (end - begin).count();
    auto off = std::ranges::upper_bound(location.off, begin, {}, &model::OffProcessor::end);
    for (; off != location.off.end() && off->begin < end; ++off)
        ns -= (std::min(end, off->end) - std::max(begin, off->begin)).count();
    return ns;
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
bool goes_on(const Waiter& waiter, const LocationTrace& location, const SampledCode& code)
{
    const Ns most = std::clamp(waiter.back - waiter.begin, looks_around, looks_around_at_most);
    if (stops(waiter.trace, location, waiter.back, most))
        return false;
    const auto& samples = location.samples;
    const auto next = std::ranges::upper_bound(samples, waiter.back, {}, &model::Sample::time);
    if (next == samples.end() || !next->context.valid())
        return false;
    const model::RegionId function = code.function(next->context);
    const auto first = std::ranges::upper_bound(samples, waiter.begin, {}, &model::Sample::time);
    return function.valid() && std::any_of(first, next, [&](const model::Sample& sample) {
               return code.function(sample.context) == function;
           });
}

/// Of the threads that are `meant`, in (begin, end].
template <class Meant>
std::vector<Work> work_between(const model::ProcessTrace& trace, Ns begin, Ns end, const SampledCode& code, Meant meant)
{
    std::vector<Work> result;
    for (const LocationTrace& location : trace.locations) {
        auto sample = std::ranges::upper_bound(location.samples, begin, {}, &model::Sample::time);
        if (sample == location.samples.end() || sample->time > end || !meant(location))
            continue;
        for (; sample != location.samples.end() && sample->time <= end; ++sample)
            if (sample->context.valid() && sample->weight > 0 && !code.waits_for_team(sample->context) &&
                !in_call(location, sample->time))
                result.push_back({&location, static_cast<std::size_t>(sample - location.samples.begin())});
    }
    return result;
}

/// From one time to another.
struct Span {
    Ns begin, end;
};

/// When the thread had a processor in the time that a sample of it stands for, the last first; not before `begin`.
std::vector<Span> time_of_sample(const LocationTrace& location, const model::Sample& sample, Ns begin)
{
    if (const std::ptrdiff_t index = &sample - location.samples.data(); index > 0)
        begin = std::max(begin, location.samples[static_cast<std::size_t>(index) - 1].time);
    std::vector<Span> spans;
    std::int64_t left = sample.weight;
    Ns end = sample.time;
    auto off = std::ranges::upper_bound(location.off, end, {}, &model::OffProcessor::end);
    if (off != location.off.end())
        end = std::min(end, off->begin);  // the records of a damaged trace may have samples meanwhile
    while (left > 0 && end > begin) {
        const bool is_first = off == location.off.begin();
        const Ns since = std::max({begin, is_first ? begin : std::prev(off)->end, end - Ns{left}});
        if (since < end)
            spans.push_back({since, end});
        left -= (end - since).count();
        if (is_first)
            break;
        end = (--off)->begin;
    }
    return spans;
}

/// How long it had a processor while `waiter` waited, ns.
std::int64_t processor_time(const Waiter& waiter, const LocationTrace& thread)
{
    return on_processor(thread, std::max(waiter.begin, thread.begin), std::min(waiter.end, thread.end));
}

bool may_wait_for(const Waiter& waiter, const LocationTrace& location, const SampledCode& code)
{
    if (waiter.is_preempted && code.is_apart(location.location))
        return false;
    return location.location != waiter.location && otf2::may_be_for_thread(waiter.waits_for) &&
           (waiter.all_go_on || !code.is_apart(location.location) || !goes_on(waiter, location, code));
}

}  // namespace

Between calls_around(const LocationTrace& location, Ns time)
{
    const model::Calls& calls = location.calls;
    const std::size_t before = model::last_entered(calls, time);
    const bool is_first = before == calls.size();
    const std::size_t after = calls.next_call(is_first ? 0 : before + 1);
    return {is_first ? ContextId::none() : calls.context(before),
            after == calls.size() ? ContextId::none() : calls.context(after)};
}

Waiter waiter_of(const model::ProcessTrace& trace, model::LocationId location, const model::OffProcessor& off, Ns begin,
                 Ns end, const SampledCode& code)
{
    const LocationTrace& waiting = trace.locations[local_index(trace, location)];
    Waiter waiter{trace, location, begin, end, back_on_processor(waiting, off), off.waits_for};
    waiter.all_go_on = otf2::is_for_thread(off.waits_for) && work_of_others(waiter, code).empty();
    waiter.is_preempted = off.preempted;
    return waiter;
}

bool spins_behind(const LocationTrace& location, const model::OffProcessor& off, const SampledCode& code)
{
    const auto sample = std::ranges::upper_bound(location.samples, off.end, {}, &model::Sample::time);
    if (!off.preempted || sample == location.samples.end() || !sample->context.valid() ||
        !code.waits_for_team(sample->context))
        return false;
    // It stands for all time on the processor since then. Where that is short, nobody has to add it up.
    const std::int64_t since = (sample->time - off.end).count();
    return model::last_entered(location.calls, sample->time) == model::last_entered(location.calls, off.end) &&
           (since <= sample->weight || on_processor(location, off.end, sample->time) <= sample->weight);
}

std::int64_t weight_of(const std::vector<Work>& work)
{
    return std::accumulate(work.begin(), work.end(), std::int64_t{0},
                           [](std::int64_t sum, const Work& w) { return sum + w.sample().weight; });
}

std::vector<Work> work_of_others(const Waiter& waiter, const SampledCode& code)
{
    return work_between(waiter.trace, waiter.begin, waiter.end, code,
                        [&](const LocationTrace& location) { return may_wait_for(waiter, location, code); });
}

std::vector<Work> work_around(const model::ProcessTrace& trace, model::LocationId waiting, const model::Sample& sample,
                              const SampledCode& code)
{
    const Ns around{sample.weight};
    std::vector<Work> all =
        work_between(trace, sample.time - around, sample.time + around, code, [&](const LocationTrace& location) {
            return location.location != waiting && !code.is_apart(location.location);
        });
    const auto spins = std::ranges::find(trace.locations, waiting, &LocationTrace::location);
    if (spins == trace.locations.end() || all.empty())
        return all;
    const Between place = calls_around(*spins, sample.time);
    std::erase_if(all, [&](const Work& work) { return calls_around(*spins, work.sample().time) != place; });
    return all;
}

std::vector<ThreadWork> by_thread(const Waiter& waiter, const std::vector<Work>& work)
{
    std::vector<ThreadWork> threads;
    for (auto from = work.begin(); from != work.end();) {
        const auto to = std::find_if(from, work.end(), [&](const Work& w) { return w.location != from->location; });
        ThreadWork thread{{from, to}, 0};
        thread.most = std::min(weight_of(thread.work), processor_time(waiter, *from->location));
        if (thread.most > 0)
            threads.push_back(std::move(thread));
        from = to;
    }
    return threads;
}

bool is_begin_known(const LocationTrace& location)
{
    return (location.samples.empty() || location.begin < location.samples.front().time) &&
           (location.off.empty() || location.begin < location.off.front().begin) &&
           (location.calls.size() == 0 || location.begin < location.calls.enter(0)) && location.begin < location.end;
}

std::vector<ShortLife> short_lives_in(const Waiter& waiter, const SampledCode& code)
{
    std::vector<ShortLife> result;
    for (const LocationTrace& location : waiter.trace.locations) {
        if (location.end > waiter.back || location.end <= waiter.begin || location.location == waiter.location ||
            location.calls.size() > 0)
            continue;
        const bool has_waited = std::ranges::any_of(location.samples, [&](const model::Sample& sample) {
            return sample.context.valid() && code.waits_for_team(sample.context);
        });
        if (const std::int64_t ns = processor_time(waiter, location); ns > 0 && !has_waited)
            result.push_back({&location, ns});
    }
    return result;
}

std::int64_t running(const Waiter& waiter, const LocationTrace& location, const SampledCode& code)
{
    const Ns begin = std::max(waiter.begin, location.begin), end = std::min(waiter.end, location.end);
    const auto next = std::ranges::upper_bound(location.samples, begin, {}, &model::Sample::time);
    if (begin >= end || next == location.samples.end() || !next->context.valid() || code.waits_for_team(next->context))
        return 0;
    const std::int64_t ns = on_processor(location, begin, end);
    return ns > 0 && !in_call(location, begin) && may_wait_for(waiter, location, code) ? ns : 0;
}

const model::Sample* work_before(const LocationTrace& location, Ns time, const SampledCode& code)
{
    const auto behind = std::ranges::upper_bound(location.samples, time, {}, &model::Sample::time);
    if (behind == location.samples.begin())
        return nullptr;
    const model::Sample& before = *(behind - 1);
    const std::size_t call = model::last_entered(location.calls, time);
    const bool is_same = call == location.calls.size() || before.time >= location.calls.leave(call);
    return is_same && before.context.valid() && !code.waits_for_team(before.context) ? &before : nullptr;
}

std::int64_t time_of(const std::vector<Lack>& lacks)
{
    return std::accumulate(lacks.begin(), lacks.end(), std::int64_t{0},
                           [](std::int64_t sum, const Lack& lack) { return sum + lack.ns; });
}

std::vector<Lack> preemption_of_others(const Waiter& waiter, const SampledCode& code)
{
    const Ns begin = waiter.begin, end = waiter.end;
    std::vector<Lack> result;
    for (const LocationTrace& location : waiter.trace.locations) {
        auto off = std::ranges::upper_bound(location.off, begin, {}, &model::OffProcessor::end);
        if (off == location.off.end() || off->begin >= end || !may_wait_for(waiter, location, code))
            continue;
        for (; off != location.off.end() && off->begin < end; ++off) {
            if (!off->preempted || in_call(location, off->begin))
                continue;
            const Ns length = std::min(end, off->end) - std::max(begin, off->begin);
            if (length > Ns{0} && work_before(location, off->begin, code) != nullptr)
                result.push_back({&location, &*off, length.count()});
        }
    }
    return result;
}

std::int64_t idle_for(const Waiter& waiter, const SampledCode& code)
{
    const std::vector<Work> work = work_of_others(waiter, code);
    std::int64_t worked = 0;
    for (const ThreadWork& thread : by_thread(waiter, work))
        worked += thread.most;
    if (work.empty())
        for (const model::LocationTrace& location : waiter.trace.locations)
            worked += location.location == waiter.location ? 0 : running(waiter, location, code);
    return std::max<std::int64_t>((waiter.end - waiter.begin).count() - worked, 0);
}

std::vector<LackWhileSpinning> lacks_while_spinning(const model::ProcessTrace& trace, const LocationTrace& waiting,
                                                    const model::Sample& sample, Ns begin,
                                                    const std::vector<Work>& work, const SampledCode& code)
{
    std::vector<LackWhileSpinning> result;
    std::set<const LocationTrace*> worked;
    for (const Work& each : work)
        worked.insert(each.location);
    for (const Span& span : time_of_sample(waiting, sample, begin)) {
        Waiter waiter{trace, waiting.location, span.begin, span.end, span.end};
        waiter.is_preempted = true;  // for its team alone
        std::vector<Lack> lacks = preemption_of_others(waiter, code);
        const std::int64_t lacked = time_of(lacks);
        if (lacked == 0)
            continue;
        std::set<const LocationTrace*> threads = worked;
        for (const Lack& lack : lacks)
            threads.insert(lack.location);
        std::int64_t all = lacked;
        for (const LocationTrace* thread : threads)
            all += processor_time(waiter, *thread);
        const std::int64_t ns = (span.end - span.begin).count();
        result.push_back({std::move(lacks), span.begin, static_cast<std::int64_t>(Wide{ns} * lacked / all)});
    }
    return result;
}

}  // namespace critpath::replayer
