// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/guessed_waits.hpp"

#include "replayer/pair/lookup.hpp"
#include "replayer/rules/operation.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::LocationTrace;
using model::Ns;
using model::OffProcessor;

/// Two that worked until times closer than that are not told apart.
constexpr Ns at_once = std::chrono::microseconds{50};
/// Who has been woken may have to wait so long for a processor.
constexpr Ns latency = std::chrono::milliseconds{10};
/// Who has woken another thread may do something more before it stops: for so long at least, and at most.
constexpr Ns looks_around = std::chrono::microseconds{100}, looks_around_at_most = std::chrono::milliseconds{5};

struct Candidate {
    const LocationTrace* location = nullptr;
    Ns time{};  // the last one, not after the end of the wait, at which it was in its own code and had a processor
};

/// Where messages are received that a matched probe of another thread has found, and that probe.
std::map<CallRef, CallRef> handed_over(const model::ProcessTrace& trace)
{
    std::map<CallRef, CallRef> probes;
    for (std::size_t i = 0; trace.receives.any_matched() && i < trace.receives.size(); ++i) {
        const CallRef probe = trace.receives.matched(i);
        if (!probe.valid())
            continue;
        const CallRef post = trace.numbers.ref(trace.receives.post(i));
        if (post.location != probe.location)
            probes.emplace(post, probe);
    }
    return probes;
}

class Guesser
{
public:
    Guesser(const model::Definitions& definitions, const model::ProcessTrace& trace)
        : definitions_(definitions), trace_(trace), handed_over_(handed_over(trace))
    {
    }

    /// The thread whose matched probe found, during `wait`, the message that the waiter receives as soon as it calls
    /// MPI again: that cannot be had before, whatever the other one does then. `point`: where the waiter went on.
    [[nodiscard]] std::optional<Candidate> waited_for_message(const LocationTrace& waiter, const OffProcessor& wait,
                                                              std::uint32_t point) const
    {
        const auto next = static_cast<std::uint32_t>(waiter.calls.next_call(point));
        const auto found = handed_over_.find({waiter.location, {next}});
        if (found == handed_over_.end())
            return std::nullopt;
        const LocationTrace& other = trace_.locations[local_index(trace_, found->second.location)];
        const Ns found_at = other.calls.leave(found->second.call.value);
        if (found_at <= wait.begin || found_at > wait.end)
            return std::nullopt;
        const Ns time = std::max(worked_until(other, wait), found_at);
        return time < wait.end - latency ? std::nullopt : std::optional(Candidate{&other, time});
    }

    /// Of the threads that call MPI, if it was the last one that worked during `wait`.
    [[nodiscard]] std::optional<Candidate> waited_for(const LocationTrace& waiter, const OffProcessor& wait) const
    {
        Candidate last, before{nullptr, wait.begin};
        for (const LocationTrace& other : trace_.locations) {
            if (other.location == waiter.location)
                continue;
            const Candidate candidate{&other, worked_until(other, wait)};
            if (candidate.time <= wait.begin)
                continue;
            if (last.location == nullptr || candidate.time > last.time)
                before = std::exchange(last, candidate);
            else if (candidate.time > before.time)
                before = candidate;
        }
        if (last.location == nullptr || !calls_mpi(*last.location) || last.time < wait.end - latency ||
            (before.location != nullptr && before.time > last.time - at_once) || goes_on(last, wait))
            return std::nullopt;
        return last;
    }

    static bool calls_mpi(const LocationTrace& location) { return location.calls.next_call(0) < location.calls.size(); }

private:
    static Ns worked_until(const LocationTrace& other, const OffProcessor& wait)
    {
        Ns time = std::min(wait.end, other.end);
        if (other.begin >= time)
            return wait.begin;
        for (bool is_found = false; !is_found && time > wait.begin;) {
            is_found = true;
            const std::size_t call = model::last_entered(other.calls, time - Ns{1});
            if (call < other.calls.size() && other.calls.leave(call) >= time) {
                time = other.calls.enter(call);
                is_found = false;
            }
            const auto behind = std::ranges::lower_bound(other.off, time, {}, &OffProcessor::begin);
            if (behind != other.off.begin() && ((behind - 1)->end >= time || was_woken(*(behind - 1), time))) {
                time = (behind - 1)->begin;
                is_found = false;
            }
        }
        return time;
    }

    /// A moment ago, by another thread: by the one that woke the waiter, most likely.
    static bool was_woken(const OffProcessor& off, Ns time)
    {
        return !off.preempted && otf2::is_for_thread(off.waits_for) && time - off.end < at_once;
    }

    /// It does not turn to something else, or it looks all the time whether a message has come.
    [[nodiscard]] bool goes_on(const Candidate& candidate, const OffProcessor& wait) const
    {
        const auto& [other, since] = candidate;
        const Ns more = std::clamp(wait.end - wait.begin, looks_around, looks_around_at_most);
        auto off = std::ranges::upper_bound(other->off, since, {}, &OffProcessor::end);
        Ns until = wait.end + more;
        for (; off != other->off.end() && off->preempted && off->begin <= until; ++off)
            until += std::max(off->end - std::max(off->begin, wait.end), Ns{});
        const auto& calls = other->calls;
        const auto at = std::ranges::lower_bound(calls.enters(), since) - calls.enters().begin();
        const std::size_t next = calls.next_call(static_cast<std::size_t>(at));
        const bool calls_soon = next < calls.size() && calls.enter(next) <= until;
        const std::size_t behind = calls.behind_last_call(static_cast<std::size_t>(at));
        if (calls_soon && behind > 0 && is_poll(*other, next) && is_poll(*other, behind - 1))
            return true;
        const bool is_blocked = off != other->off.end() && off->begin <= until;
        return other->end > until && !is_blocked && !calls_soon;
    }

    [[nodiscard]] bool is_poll(const LocationTrace& location, std::size_t call) const
    {
        const model::CallRef ref{location.location, {static_cast<std::uint32_t>(call)}};
        return rules::operation(function_of(definitions_, trace_, ref)).polls;
    }

    const model::Definitions& definitions_;
    const model::ProcessTrace& trace_;
    std::map<CallRef, CallRef> handed_over_;
};

std::optional<std::uint32_t> point_at(const LocationTrace& location, Ns time)
{
    const auto& enters = location.calls.enters();
    for (auto at = std::ranges::lower_bound(enters, time); at != enters.end() && *at == time; ++at)
        if (const auto i = static_cast<std::uint32_t>(at - enters.begin()); location.calls.is_point(i))
            return i;
    return std::nullopt;
}

}  // namespace

std::vector<GuessedWait> guessed_waits(const model::Definitions& definitions, const model::ProcessTrace& trace)
{
    std::vector<GuessedWait> result;
    if (!trace.thread_waits.empty() || std::ranges::count_if(trace.locations, Guesser::calls_mpi) < 2)
        return result;
    const Guesser guesser(definitions, trace);
    for (const LocationTrace& location : trace.locations)
        for (const OffProcessor& wait : location.off) {
            const bool may_be_for_thread = !wait.preempted && otf2::may_be_for_thread(wait.waits_for);
            const auto point = may_be_for_thread ? point_at(location, wait.end) : std::nullopt;
            auto other = point ? guesser.waited_for(location, wait) : std::nullopt;
            if (point && !other)
                other = guesser.waited_for_message(location, wait, *point);
            if (!other)
                continue;
            const Ns time = std::min(wait.end - Ns{1}, other->time);
            const auto& enters = other->location->calls.enters();
            const auto next = static_cast<std::uint32_t>(std::ranges::lower_bound(enters, time) - enters.begin());
            result.push_back({{location.location, {*point}}, {{other->location->location, {next}}, time}});
        }
    return result;
}

}  // namespace critpath::replayer
