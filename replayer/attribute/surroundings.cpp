// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/surroundings.hpp"

#include <algorithm>
#include <cstddef>

namespace critpath::replayer
{

namespace
{

using model::ContextId;
using model::LocationTrace;
using model::Ns;
using model::Sample;

/// Of a sample before the interval and one behind it, or a null pointer for one of them.
const Sample* nearer(const Sample* before, const Sample* behind, Ns begin, Ns end)
{
    if (before == nullptr || behind == nullptr)
        return before == nullptr ? behind : before;
    return begin - before->time <= behind->time - end ? before : behind;
}

/// Of samples in their order; a null pointer if there are none.
const Sample* nearest(const std::vector<const Sample*>& samples, Ns begin, Ns end)
{
    const auto behind = std::ranges::upper_bound(samples, begin, {}, &Sample::time);
    return nearer(behind == samples.begin() ? nullptr : *(behind - 1), behind == samples.end() ? nullptr : *behind,
                  begin, end);
}

}  // namespace

ContextId Surroundings::of(const LocationTrace& location, const model::OffProcessor& off, Ns begin, Ns end)
{
    const bool at_any_time = off.preempted && !off.is_woken;
    const model::Calls& calls = location.calls;
    const std::size_t before = model::last_entered(calls, begin);
    const bool is_first = before == calls.size();  // no call is before it,
    if (!is_first && calls.leave(before) > begin)
        return calls.context(before);
    if (off.found_in.valid())
        return off.found_in;
    const std::size_t after = calls.next_call(is_first ? 0 : before + 1);
    const bool is_last = after == calls.size();  // or behind it
    const std::vector<Sample>& samples = location.samples;
    const auto behind_begin = std::ranges::upper_bound(samples, begin, {}, &Sample::time);
    const auto behind_end = std::ranges::lower_bound(behind_begin, samples.end(), end, {}, &Sample::time);
    const bool has_before =
        behind_begin != samples.begin() && (is_first || (behind_begin - 1)->time >= calls.leave(before));
    const bool has_behind = behind_end != samples.end() && (is_last || behind_end->time < calls.enter(after));
    const Sample* sample_before = has_before ? &*(behind_begin - 1) : nullptr;
    const Sample* sample_behind = has_behind ? &*behind_end : nullptr;
    const ContextId first = is_first ? ContextId::none() : tree_.parent(calls.context(before));
    const ContextId last = is_last ? ContextId::none() : tree_.parent(calls.context(after));
    const ContextId of_calls = tree_.common(first, last);
    if (!has_before && !has_behind) {
        if (is_first || is_last)
            return ContextId::none();
        const Usual& usual = usual_between(location, {calls.context(before), calls.context(after)});
        if (const Sample* sample = nearest(usual.samples, begin, end); at_any_time && sample != nullptr)
            return sample->context;
        // Both calls may be made by one function that has returned in between, and is then called again.
        const ContextId wider = tree_.common(of_calls, usual.common);
        return wider.valid() ? wider : of_calls;
    }
    if (const Sample* sample = nearer(sample_before, sample_behind, begin, end); at_any_time && sample->context.valid())
        return sample->context;
    const ContextId sampled =
        tree_.common(has_before ? sample_before->context : first, has_behind ? sample_behind->context : last);
    // The chain of a sample may have been cut off.
    return sampled.valid() ? sampled : of_calls;
}

/// What the thread did at other times between two such calls.
const Surroundings::Usual& Surroundings::usual_between(const LocationTrace& location, const Gap& gap)
{
    static const Usual nothing;
    const auto [known, is_new] = usual_.try_emplace(location.location);
    if (is_new)
        known->second = learn(location);
    const auto found = known->second.find(gap);
    return found == known->second.end() ? nothing : found->second;
}

std::map<Surroundings::Gap, Surroundings::Usual> Surroundings::learn(const LocationTrace& location) const
{
    std::map<Gap, Usual> result;
    const model::Calls& calls = location.calls;
    std::size_t before = calls.size();
    std::size_t after = calls.next_call(0);
    for (const Sample& sample : location.samples) {
        while (after < calls.size() && calls.enter(after) <= sample.time) {
            before = after;
            after = calls.next_call(after + 1);
        }
        if (!sample.context.valid() || before == calls.size() || after == calls.size() ||
            calls.leave(before) > sample.time)
            continue;
        const Gap gap = {calls.context(before), calls.context(after)};
        const ContextId of_calls = tree_.common(tree_.parent(gap.first), tree_.parent(gap.second));
        if (!tree_.common(of_calls, sample.context).valid())
            continue;  // its chain was cut off
        const auto [entry, is_new] = result.try_emplace(gap);
        Usual& usual = entry->second;
        usual.common = is_new ? sample.context : tree_.common(usual.common, sample.context);
        usual.samples.push_back(&sample);
    }
    return result;
}

}  // namespace critpath::replayer
