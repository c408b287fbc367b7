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

}  // namespace

ContextId Surroundings::of(const LocationTrace& location, Ns begin, Ns end)
{
    const model::Calls& calls = location.calls;
    const std::size_t before = model::last_entered(calls, begin);
    if (before == calls.size())
        return ContextId::none();
    if (calls.leave(before) > begin)
        return calls.context(before);
    const std::size_t after = calls.next_call(before + 1);
    if (after == calls.size())
        return ContextId::none();
    const std::vector<Sample>& samples = location.samples;
    const auto behind_begin = std::ranges::upper_bound(samples, begin, {}, &Sample::time);
    const auto behind_end = std::ranges::lower_bound(behind_begin, samples.end(), end, {}, &Sample::time);
    const bool has_before = behind_begin != samples.begin() && (behind_begin - 1)->time >= calls.leave(before);
    const bool has_after = behind_end != samples.end() && behind_end->time < calls.enter(after);
    const ContextId first = tree_.parent(calls.context(before));
    const ContextId last = tree_.parent(calls.context(after));
    const ContextId of_calls = tree_.common(first, last);
    if (!has_before && !has_after) {
        // Both calls may be made by one function that has returned in between, and is then called again.
        const ContextId wider = tree_.common(of_calls, usual(location, {calls.context(before), calls.context(after)}));
        return wider.valid() ? wider : of_calls;
    }
    const ContextId sampled = tree_.common(has_before ? (behind_begin - 1)->context : first,  //
                                           has_after ? behind_end->context : last);
    // The chain of a sample may have been cut off.
    return sampled.valid() ? sampled : of_calls;
}

/// What the samples have in common that the thread had at other times between two such calls; none() if it had none.
ContextId Surroundings::usual(const LocationTrace& location, Gap gap)
{
    const auto [known, is_new] = usual_.try_emplace(location.location);
    if (is_new)
        known->second = learn(location);
    const auto found = known->second.find(gap);
    return found == known->second.end() ? ContextId::none() : found->second;
}

std::map<Surroundings::Gap, ContextId> Surroundings::learn(const LocationTrace& location) const
{
    std::map<Gap, ContextId> result;
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
        const auto [entry, is_new] = result.try_emplace(gap, sample.context);
        if (!is_new)
            entry->second = tree_.common(entry->second, sample.context);
    }
    return result;
}

}  // namespace critpath::replayer
