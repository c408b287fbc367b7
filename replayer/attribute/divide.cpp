// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/divide.hpp"

#include "replayer/order.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

using model::AttributionKind;
using model::ContextId;
using model::LocationTrace;
using model::Ns;
using model::OffProcessor;
using model::Sample;
using model::Segment;

__extension__ using Wide = __int128;

/// Of the thread on the path, while its time goes to others.
PathThread waiting(const Waiter& waiter)
{
    return waiter.is_preempted ? PathThread::Preempted : PathThread::Blocked;
}

Pseudo kind_of(const OffProcessor& off)
{
    return off.preempted ? Pseudo::Preempted : Pseudo::Blocked;
}

}  // namespace

ContextId PathDivider::context_of(const LocationTrace& location, const OffProcessor& off, Ns begin, Ns end)
{
    const ContextId context = surroundings_.of(location, off, begin, end);
    if (!off.preempted || off.is_woken || !context.valid() || !code_.waits_for_team(context))
        return context;
    const Sample* work = work_before(location, begin, code_);
    return work != nullptr ? work->context : context;  // it came to wait after that
}

Place PathDivider::place_of(const OffProcessor& off, const LocationTrace& location)
{
    return place_of(off, location, off.begin, off.end);
}

Place PathDivider::place_of(const OffProcessor& off, const LocationTrace& location, Ns begin, Ns end)
{
    return {context_of(location, off, begin, end), kind_of(off)};
}

Place PathDivider::place_in_call(const OffProcessor& off, ContextId call)
{
    return {call, kind_of(off)};
}

bool PathDivider::is_of_call(const OffProcessor& off, ContextId call) const
{
    return !off.preempted && functions::group_of(functions::semantic_class(definitions_.region(call).function)) ==
                                 functions::Group::Collective;
}

void PathDivider::look_up(model::LocationId location, OfLocation& found) const
{
    found.process = definitions_.locations[location.value].process.value;
    found.trace = &replay_.trace_of(model::ProcessId{found.process});
    found.location = &replay_.trace_of(location);
}

void PathDivider::add_computation(const Segment& segment)
{
    const Stretch stretch = stretch_of(segment);
    const LocationTrace& location = stretch.location;
    if (!definitions_.has_samples) {
        Ns time = stretch.begin;  // regions come one behind the other
        for_each_user_region(location, stretch.begin, stretch.end, [&](Place place, std::int64_t ns) {
            if (place.pseudo == Pseudo::None)
                add_interval(stretch, {AttributionKind::Computation, place, location.location, time, ns});
            else
                tally_.add_path(place, stretch.process, ns);
            time += Ns{ns};
        });
        return;
    }
    const std::int64_t off = for_each_off(stretch, [&](const OffProcessor& o, Ns begin, Ns end) {
        const ContextId context = context_of(location, o, begin, end);
        const std::int64_t ns = (end - begin).count();
        const Waiter waiter = waiter_of(stretch.trace, location.location, o, begin, end, code_);
        const bool waits = !o.preempted || spins_behind(location, o, code_);
        const Given given = waits ? give_to_team(stretch, waiter) : Given{};
        const std::int64_t worked = sum_of(given);
        const std::int64_t more = waits ? give_rests(stretch, waiter, given) : 0;
        // Or it waits until they have a processor again, of whom there may be several.
        const std::int64_t left = ns - worked - more;
        const std::vector<Lack> lacks = waits ? preemption_of_others(waiter, code_) : std::vector<Lack>{};
        const std::int64_t for_others = std::min(left, time_of(lacks));
        // Of a mixed interval, nobody knows what came first.
        share_out(stretch, lacks, begin + Ns{more}, for_others, waiting(waiter));
        add_interval(stretch, {AttributionKind::Computation,
                               {context, kind_of(o)},
                               location.location,
                               begin + Ns{more + for_others},
                               left - for_others,
                               PathThread::Works,
                               0,
                               o.is_found});
        return left;
    });
    tally_.coverage[stretch.process].time += (stretch.end - stretch.begin).count() - off;
    const auto& samples = location.samples;
    std::size_t& near = stretch.near.sample;
    near = count_first(
        samples.size(), [&](std::size_t s) { return samples[s].time < stretch.begin; }, near);
    for (std::size_t s = near; s < samples.size() && samples[s].time < stretch.end; ++s)
        add_sample(stretch, samples[s]);
}

/// What of the stretch lies before that is no time of the call at whose end, or in which, the path is at its end: what
/// that waited for was under way already. The end if there is no such call.
Ns PathDivider::enter_of_call(const Stretch& stretch)
{
    const model::Calls& calls = stretch.location.calls;
    std::size_t& near = stretch.near.call;
    near = count_first(
        calls.size(), [&](std::size_t i) { return calls.enter(i) < stretch.end; }, near);
    std::size_t call = near;
    while (call > 0 && calls.is_point(call - 1))
        --call;
    if (call == 0 || calls.leave(call - 1) < stretch.end)
        return stretch.end;
    return std::max(stretch.begin, calls.enter(call - 1));
}

void PathDivider::add_call(const Segment& segment)
{
    const Stretch stretch = stretch_of(segment);
    const ContextId context{segment.call};
    // In a collective, to be blocked until the data of the others are there is what the call is about.
    const bool may_block = static_cast<model::SegmentKind>(segment.kind) == model::SegmentKind::Collective;
    // All ranks have that below the call, too, of which the path is a part.
    const Ns enter = enter_of_call(stretch);
    tally_.totals.add({context}, stretch.begin, enter, true);
    const std::int64_t off = for_each_off(stretch, [&](const OffProcessor& o, Ns begin, Ns end) {
        const bool is_of_function = may_block && !o.preempted;
        const std::int64_t ns = is_of_function ? 0 : (end - begin).count();
        const Place off_place = place_in_call(o, context);
        add_interval(stretch, {AttributionKind::Call, off_place, stretch.location.location, begin, ns});
        const Ns in_call = std::clamp(enter, begin, end);
        if (!is_of_function)
            tally_.totals.move({context}, off_place, begin, in_call, true);
        // What is said of all calls of the function is not to contradict what is known here.
        if (is_of_function != is_of_call(o, context))
            tally_.totals.move(is_of_function ? off_place : Place{context}, is_of_function ? Place{context} : off_place,
                               in_call, end, true);
        return ns;
    });
    tally_.add_path({context}, stretch.process, (stretch.end - stretch.begin).count() - off);
}

void PathDivider::add_transfer(const Segment& segment)
{
    const Stretch stretch = stretch_of(segment);
    const Place place{ContextId{segment.call}, Pseudo::Transfer};
    tally_.add_path(place, stretch.process, (stretch.end - stretch.begin).count());
    if (place.context.valid())
        tally_.totals.add(place, stretch.begin, enter_of_call(stretch), true);
}

/// Calls `add(interval, begin, end)` for the parts of the stretch in which its thread had no processor; returns the sum
/// of what that returns.
template <class Add>
std::int64_t PathDivider::for_each_off(const Stretch& stretch, Add add)
{
    std::int64_t sum = 0;
    const std::vector<OffProcessor>& all = stretch.location.off;
    std::size_t& near = stretch.near.off;
    near = count_first(
        all.size(), [&](std::size_t i) { return all[i].end <= stretch.begin; }, near);
    for (std::size_t i = near; i < all.size() && all[i].begin < stretch.end; ++i)
        sum += add(all[i], std::max(stretch.begin, all[i].begin), std::min(stretch.end, all[i].end));
    return sum;
}

void PathDivider::add_interval(const Stretch& stretch, const Part& part)
{
    tally_.add_path(part.place, stretch.process, {part.ns, 0, part.is_found ? part.ns : 0});
    if (part.ns > 0)
        tally_.attributions.push_back({part.place,
                                       {(part.begin - origin_).count(), part.ns, part.address, 0, part.owner.value,
                                        std::uint32_t{part.is_found}, part.kind},
                                       stretch.location.location,
                                       part.thread});
}

void PathDivider::add_sample(const Stretch& stretch, const Sample& sample)
{
    if (!sample.context.valid()) {
        ++tally_.path_samples;
        ++tally_.independent_samples;
        tally_.attributions.push_back(
            {{},
             {(sample.time - origin_).count(), 0, 0, 0, stretch.location.location.value, 1, AttributionKind::Sample},
             stretch.location.location});
        return;
    }
    if (code_.waits_for_team(sample.context))
        add_spinning(stretch, sample);
    else
        add_sampled(
            stretch, sample,
            {stretch.location.location, sample.time, weights_.of(stretch.location, sample), 1, PathThread::Works});
}

/// Who spins waits for what the others of its team do, and until they have a processor to do it.
void PathDivider::add_spinning(const Stretch& stretch, const Sample& sample)
{
    const std::vector<Work> work = work_around(stretch.trace, stretch.location.location, sample, code_);
    std::int64_t left = sample.weight;
    for (const LackWhileSpinning& lack :
         lacks_while_spinning(stretch.trace, stretch.location, sample, stretch.begin, work, code_)) {
        const std::int64_t ns = std::min(left, lack.ns);
        share_out(stretch, lack.lacks, lack.begin, ns, PathThread::Spins);
        left -= ns;
    }
    tally_.coverage[stretch.process].time -= sample.weight - left;
    if (left == 0 && sample.weight > 0)
        return;  // all of it is known exactly
    left = static_cast<std::int64_t>(Wide{left} * weights_.of(stretch.location, sample) /
                                     std::max<std::int64_t>(sample.weight, 1));
    if (!work.empty())
        share_out(stretch, {work, left, sample.time, sample.time, 1, PathThread::Spins});
    else
        add_sampled(stretch, sample, {stretch.location.location, sample.time, left, 1, PathThread::Spins});
}

void PathDivider::add_sampled(const Stretch& stretch, const Sample& sample, const Sampled& sampled)
{
    const auto [owner, time, ns, independent, thread] = sampled;
    const std::uint32_t process = stretch.process;
    const Place place = code_.place_of(sample);
    const std::uint64_t address = address_in(place, sample);
    ++tally_.path_samples;
    tally_.independent_samples += independent;
    tally_.coverage[process].sampled += ns;
    tally_.add_path(place, process, ns, 1);
    if (address != 0)
        tally_.addresses[{sample.context.value, address}].add(ns, 1);
    tally_.attributions.push_back({place,
                                   {(time - origin_).count(), ns, address, 0, owner.value,
                                    static_cast<std::uint32_t>(independent), AttributionKind::Sample},
                                   stretch.location.location,
                                   thread});
}

std::int64_t PathDivider::sum_of(const Given& given)
{
    std::int64_t sum = 0;
    for (const auto& [thread, ns] : given)
        sum += ns;
    return sum;
}

/// Time of the path that belongs to these samples, by their weight.
void PathDivider::share_out(const Stretch& stretch, const Shared& shared)
{
    std::int64_t weight = weight_of(shared.work);
    std::int64_t ns = shared.ns;
    std::uint64_t independent = shared.independent;
    for (const Work& work : shared.work) {
        const Sample& sample = work.sample();
        const auto part = static_cast<std::int64_t>(Wide{ns} * sample.weight / weight);
        const Ns time = std::clamp(sample.time, shared.begin, shared.end);
        add_sampled(stretch, sample,
                    {work.location->location, time, part, std::exchange(independent, 0), shared.thread});
        counter_.add_work(stretch.location.location, time, part, work);
        if (shared.rests != nullptr && part < sample.weight && code_.place_of(sample).pseudo == Pseudo::None)
            shared.rests->push_back({work, calls_around(stretch.location, shared.begin), sample.weight - part});
        ns -= part;
        weight -= sample.weight;
    }
}

/// Time of the path in which others lacked a processor, by how long each did.
void PathDivider::share_out(const Stretch& stretch, const std::vector<Lack>& lacks, Ns begin, std::int64_t ns,
                            PathThread thread)
{
    std::int64_t all = time_of(lacks);
    for (const Lack& lack : lacks) {
        const auto part = static_cast<std::int64_t>(Wide{ns} * lack.ns / all);
        add_interval(stretch, {AttributionKind::Computation, place_of(*lack.off, *lack.location),
                               lack.location->location, begin, part, thread});
        begin += Ns{part};
        ns -= part;
        all -= lack.ns;
    }
}

/// Who is blocked while other threads of the process compute waits for these: returns what is theirs.
PathDivider::Given PathDivider::give_to_team(const Stretch& stretch, const Waiter& waiter)
{
    const Ns begin = waiter.begin, end = waiter.end;
    const std::vector<Work> work = work_of_others(waiter, code_);
    const std::vector<ThreadWork> threads = by_thread(waiter, work);
    std::int64_t most = 0;
    for (const ThreadWork& thread : threads)
        most += thread.most;
    const std::int64_t worked = std::min((end - begin).count(), most);
    if (worked == 0)
        return {};
    std::uint64_t independent = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(Wide{worked} * static_cast<std::int64_t>(work.size()) / weight_of(work)));
    std::deque<Rest>& rests = rests_[waiter.location];
    Given given;
    std::int64_t left = worked;
    for (const ThreadWork& thread : threads) {
        const auto ns = static_cast<std::int64_t>(Wide{left} * thread.most / most);
        share_out(stretch,
                  {thread.work, ns, begin, end - Ns{1}, std::exchange(independent, 0), waiting(waiter), &rests});
        given[thread.work.front().location] += ns;
        left -= ns;
        most -= thread.most;
    }
    constexpr std::size_t kept = 64;  // older ones may be of what is over by now
    while (rests.size() > kept)
        rests.pop_front();
    return given;
}

/// Time at the beginning of a wait, or behind what was given of it before, that is `owner`'s.
void PathDivider::add_rest(const Stretch& stretch, const Waiter& waiter, const Work& work, model::LocationId owner,
                           Ns begin, std::int64_t ns)
{
    if (ns == 0)
        return;
    const Sample& sample = work.sample();
    if (sample.offset != 0)
        tally_.addresses[{sample.context.value, sample.offset}].add(ns, 0);
    add_interval(stretch,
                 {AttributionKind::Computation, {sample.context}, owner, begin, ns, waiting(waiter), sample.offset});
    counter_.add_work(waiter.location, begin, ns, work);
}

/// Waits are often shorter than the time between two samples: those without one have what samples of the same threads
/// leave in others between two such calls of MPI, as far as these threads had processors beyond what they have
/// `already`. Returns what is theirs, which stands at the beginning of the wait.
std::int64_t PathDivider::give_rests(const Stretch& stretch, const Waiter& waiter, const Given& already)
{
    const auto found = rests_.find(waiter.location);
    const std::int64_t most = (waiter.end - waiter.begin).count() - sum_of(already);
    if (found == rests_.end() || most == 0 || !otf2::may_be_for_thread(waiter.waits_for))
        return 0;
    std::deque<Rest>& rests = found->second;
    std::map<const LocationTrace*, std::int64_t> running_ns;
    const auto is_left_of = [&](const LocationTrace* thread, std::int64_t ns) {
        return ns - (already.contains(thread) ? already.at(thread) : 0);
    };
    std::optional<std::vector<ShortLife>> short_lives;
    std::int64_t lived = 0, given = 0;
    const Between place = calls_around(stretch.location, waiter.begin);
    for (auto rest = rests.rbegin(); rest != rests.rend() && given < most; ++rest) {
        if (rest->place != place)
            continue;
        // A thread that is over by now stands for others like it, too, which were over before they were sampled.
        const LocationTrace& sampled = *rest->work.location;
        const LocationTrace* thread = sampled.end > waiter.begin ? &sampled : nullptr;
        const auto [ran, is_new] = running_ns.try_emplace(thread, most);
        if (is_new && thread != nullptr)
            ran->second = is_left_of(thread, running(waiter, *thread, code_));
        if (thread == nullptr && !short_lives) {
            short_lives = short_lives_in(waiter, code_);
            for (ShortLife& life : *short_lives)
                lived += life.ns = std::max<std::int64_t>(is_left_of(life.location, life.ns), 0);
        }
        const bool is_known = thread == nullptr && is_begin_known(sampled);  // so of the others, too
        const std::int64_t ns = std::min({most - given, rest->ns, is_known ? lived : ran->second});
        if (ns <= 0)
            continue;
        std::int64_t left = ns;
        const auto give = [&](model::LocationId owner, std::int64_t part) {
            add_rest(stretch, waiter, rest->work, owner, waiter.begin + Ns{given}, part);
            given += part;
            left -= part;
        };
        for (std::size_t i = 0; thread == nullptr && i < short_lives->size(); ++i) {
            ShortLife& life = (*short_lives)[i];
            const std::int64_t part = std::min(left, life.ns);
            give(life.location->location, part);
            life.ns -= part;
            lived -= part;
        }
        give(sampled.location, left);
        rest->ns -= ns;
        ran->second -= ns;
    }
    std::erase_if(rests, [](const Rest& rest) { return rest.ns == 0; });
    tally_.coverage[stretch.process].sampled += given;
    return given;
}

}  // namespace critpath::replayer
