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

ContextId Surroundings::of(const LocationTrace& location, Ns begin, Ns end, bool preempted)
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
        const Usual& usual = usual_between(location, {calls.context(before), calls.context(after)});
        if (preempted && !usual.samples.empty())
            return nearest(usual.samples, begin, end)->context;
        // Both calls may be made by one function that has returned in between, and is then called again.
        const ContextId wider = tree_.common(of_calls, usual.common);
        return wider.valid() ? wider : of_calls;
    }
    if (preempted) {
        const Sample& nearer = !has_after || (has_before && begin - (behind_begin - 1)->time <= behind_end->time - end)
                                   ? *(behind_begin - 1)
                                   : *behind_end;
        if (nearer.context.valid())
            return nearer.context;
    }
    const ContextId sampled = tree_.common(has_before ? (behind_begin - 1)->context : first,  //
                                           has_after ? behind_end->context : last);
    // The chain of a sample may have been cut off.
    return sampled.valid() ? sampled : of_calls;
}

/// Of samples in their order.
const Sample* Surroundings::nearest(const std::vector<const Sample*>& samples, Ns begin, Ns end)
{
    const auto behind = std::ranges::upper_bound(samples, begin, {}, &Sample::time);
    if (behind == samples.begin())
        return *behind;
    if (behind == samples.end())
        return *(behind - 1);
    return begin - (*(behind - 1))->time <= (*behind)->time - end ? *(behind - 1) : *behind;
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
