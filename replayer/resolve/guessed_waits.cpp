// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/guessed_waits.hpp"

#include "replayer/pair/lookup.hpp"
#include "replayer/rules/operation.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

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
/// And so long if nobody saw the wait, which may be a sleep that ends by chance some time later; more than a slice of
/// the processor time is rare.
constexpr Ns latency_if_unseen = std::chrono::milliseconds{4};
/// Who has woken another thread may do something more before it stops: for so long at least, and at most.
constexpr Ns looks_around = std::chrono::microseconds{100}, looks_around_at_most = std::chrono::milliseconds{5};

/// What is known of a wait, and whom it leads to.
struct Guess {
    const LocationTrace* other = nullptr;                  // that was waited for; null: nobody who leads elsewhere
    Ns time{};                                             // at which that one stopped to work for the waiter
    model::LocationId source = model::LocationId::none();  // it, or who let it go on itself: a thread that calls MPI
    bool is_doubtful = false;                              // it is not clear whether there is one
};

/// Somebody who may have been waited for.
struct Candidate {
    const LocationTrace* location;
    Ns time;       // the last one, not after the end of the wait, at which it was in its own code and had a processor
    bool stops;    // then or soon
    Guess let_go;  // if it waited itself meanwhile, for whom at last
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
        : definitions_(definitions), trace_(trace), handed_over_(handed_over(trace)), known_(trace.locations.size())
    {
    }

    /// `point`: where the waiter went on. Of all waits in the order of their ends.
    Guess ask(const LocationTrace& waiter, const OffProcessor& wait, std::uint32_t point)
    {
        Guess guess = wait.is_found ? waited_for(waiter, wait, latency) : guessed(waiter, wait);
        if (guess.other == nullptr)
            guess = waited_for_message(waiter, wait, point).value_or(guess);
        known_[index_of(waiter)].emplace_back(wait.end, guess);
        return guess;
    }

    static bool calls_mpi(const LocationTrace& location) { return location.calls.next_call(0) < location.calls.size(); }

private:
    [[nodiscard]] std::size_t index_of(const LocationTrace& location) const
    {
        return static_cast<std::size_t>(&location - trace_.locations.data());
    }

    /// Nobody saw it wait for a thread, and it may have slept.
    [[nodiscard]] Guess guessed(const LocationTrace& waiter, const OffProcessor& wait) const
    {
        Guess guess = waited_for(waiter, wait, latency_if_unseen);
        if (guess.other == nullptr)
            guess = {.is_doubtful = guess.is_doubtful || waited_for(waiter, wait, latency).other != nullptr};
        return guess;
    }

    /// The thread whose matched probe found, during `wait`, the message that the waiter receives as soon as it calls
    /// MPI again: that cannot be had before, whatever the other one does then. `point`: where the waiter went on.
    [[nodiscard]] std::optional<Guess> waited_for_message(const LocationTrace& waiter, const OffProcessor& wait,
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
        return time < wait.end - latency ? std::nullopt : std::optional(Guess{&other, time, other.location});
    }

    /// The last one that worked during `wait`, if it leads elsewhere.
    [[nodiscard]] Guess waited_for(const LocationTrace& waiter, const OffProcessor& wait, Ns most) const
    {
        std::vector<Candidate> candidates = find_candidates(waiter, wait, most);
        const bool surely = wait.is_found && wait.waits_for == otf2::WaitsFor::Thread;
        while (!candidates.empty()) {
            const Candidate& last = candidates.front();
            const bool is_unclear = candidates.size() > 1 && candidates[1].time > last.time - at_once;
            if (!is_unclear && last.stops) {
                const bool is_jump = calls_mpi(*last.location) || leads_on(last, waiter);
                return is_jump ? Guess{last.location, last.time, source_of(last)}
                               : Guess{.is_doubtful = last.let_go.is_doubtful};
            }
            if (leave_out_sibling(candidates, is_unclear))
                continue;
            const auto end = candidates.begin() + (is_unclear ? 2 : 1);
            return {.is_doubtful = std::any_of(candidates.begin(), end, [&](const Candidate& c) {
                        return (surely || c.stops) &&
                               (calls_mpi(*c.location) || leads_on(c, waiter) || c.let_go.is_doubtful);
                    })};
        }
        return {.is_doubtful = surely};
    }

    /// The last first.
    [[nodiscard]] std::vector<Candidate> find_candidates(const LocationTrace& waiter, const OffProcessor& wait,
                                                         Ns most) const
    {
        std::vector<Candidate> candidates;
        for (const LocationTrace& other : trace_.locations) {
            if (other.location == waiter.location)
                continue;
            const Ns time = worked_until(other, wait);
            if (time <= wait.begin || time < wait.end - most)
                continue;
            const Then then = what_then(other, time, wait, back_on_processor(waiter, wait));
            if (then != Then::Polls)
                candidates.push_back({&other, time, then == Then::Stops, last_guess(other, wait.begin, time)});
        }
        std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::time);
        return candidates;
    }

    /// Of its last wait, if that ended in between.
    [[nodiscard]] Guess last_guess(const LocationTrace& location, Ns begin, Ns end) const
    {
        const auto& known = known_[index_of(location)];
        const auto behind = std::ranges::lower_bound(known, end, {}, &std::pair<Ns, Guess>::first);
        return behind == known.begin() || (behind - 1)->first <= begin ? Guess{} : (behind - 1)->second;
    }

    static model::LocationId source_of(const Candidate& candidate)
    {
        return calls_mpi(*candidate.location) ? candidate.location->location : candidate.let_go.source;
    }
    /// Not back to the waiter, which began to wait when it had let that one go on.
    static bool leads_on(const Candidate& candidate, const LocationTrace& waiter)
    {
        return candidate.let_go.other != nullptr && candidate.let_go.source != waiter.location;
    }

    /// Who was let go on meanwhile, as the waiter was, is no other choice than who did it, and none at all if it goes
    /// on with something else. False if nobody can be left out.
    static bool leave_out_sibling(std::vector<Candidate>& candidates, bool is_unclear)
    {
        const auto explains = [](const Candidate& a, const Candidate& b) {
            return b.let_go.other != nullptr && (b.let_go.other == a.location || b.let_go.other == a.let_go.other);
        };
        auto sibling = candidates.end();
        if (is_unclear && explains(candidates[0], candidates[1]))
            sibling = candidates.begin() + 1;
        else if (is_unclear ? explains(candidates[1], candidates[0])
                            : std::any_of(candidates.begin() + 1, candidates.end(),
                                          [&](const Candidate& c) { return candidates[0].let_go.other == c.location; }))
            sibling = candidates.begin();
        if (sibling == candidates.end())
            return false;
        candidates.erase(sibling);
        return true;
    }

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
            if (behind != other.off.begin() && ((behind - 1)->end >= time || was_woken(other, behind - 1, time))) {
                time = (behind - 1)->begin;
                is_found = false;
            }
        }
        return time;
    }

    /// A moment ago, by another thread: by the one that woke the waiter, most likely.
    static bool was_woken(const LocationTrace& other, std::vector<OffProcessor>::const_iterator off, Ns time)
    {
        const OffProcessor& wait = off->is_woken && off != other.off.begin() ? *(off - 1) : *off;
        return !wait.preempted && wait.is_found && otf2::is_for_thread(wait.waits_for) && time - off->end < at_once;
    }

    enum class Then {
        Stops,
        GoesOn,  // it does not turn to something else
        Polls,   // it looks all the time whether a message has come
    };
    /// What a thread does that worked until `since`, at the end of `wait`; the waiter was `back` then, or later.
    [[nodiscard]] Then what_then(const LocationTrace& other, Ns since, const OffProcessor& wait, Ns back) const
    {
        const Ns more = std::clamp(wait.end - wait.begin, looks_around, looks_around_at_most);
        auto off = std::ranges::upper_bound(other.off, since, {}, &OffProcessor::end);
        Ns until = back + more;
        for (; off != other.off.end() && off->preempted && off->begin <= until; ++off)
            until += std::max(off->end - std::max(off->begin, back), Ns{});
        const auto& calls = other.calls;
        const auto at = std::ranges::lower_bound(calls.enters(), since) - calls.enters().begin();
        const std::size_t next = calls.next_call(static_cast<std::size_t>(at));
        const bool calls_soon = next < calls.size() && calls.enter(next) <= until;
        const std::size_t behind = calls.behind_last_call(static_cast<std::size_t>(at));
        if (calls_soon && behind > 0 && is_poll(other, next) && is_poll(other, behind - 1))
            return Then::Polls;
        const bool is_blocked = off != other.off.end() && off->begin <= until;
        return other.end > until && !is_blocked && !calls_soon ? Then::GoesOn : Then::Stops;
    }

    [[nodiscard]] bool is_poll(const LocationTrace& location, std::size_t call) const
    {
        const model::CallRef ref{location.location, {static_cast<std::uint32_t>(call)}};
        return rules::operation(function_of(definitions_, trace_, ref)).polls;
    }

    const model::Definitions& definitions_;
    const model::ProcessTrace& trace_;
    std::map<CallRef, CallRef> handed_over_;
    std::vector<std::vector<std::pair<Ns, Guess>>> known_;  // by thread: when its waits ended, ascending, and of each
};

std::optional<std::uint32_t> point_at(const LocationTrace& location, Ns time)
{
    const auto& enters = location.calls.enters();
    for (auto at = std::ranges::lower_bound(enters, time); at != enters.end() && *at == time; ++at)
        if (const auto i = static_cast<std::uint32_t>(at - enters.begin()); location.calls.is_point(i))
            return i;
    return std::nullopt;
}

struct OpenWait {
    const LocationTrace* location;
    const OffProcessor* off;
    std::uint32_t point;
};

/// Outside of MPI, but those that were seen to be for something else, or are like others that were; in the order of
/// their ends.
std::vector<OpenWait> waits_of(const model::ProcessTrace& trace)
{
    std::vector<OpenWait> waits;
    for (const LocationTrace& location : trace.locations)
        for (const OffProcessor& off : location.off) {
            if (off.preempted || !otf2::may_be_for_thread(off.waits_for))
                continue;
            if (const auto point = point_at(location, off.end))
                waits.push_back({&location, &off, *point});
        }
    std::ranges::stable_sort(waits, {}, [](const OpenWait& wait) { return wait.off->end; });
    return waits;
}

}  // namespace

std::vector<GuessedWait> guessed_waits(const model::Definitions& definitions, const model::ProcessTrace& trace)
{
    std::vector<GuessedWait> result;
    if (!trace.thread_waits.empty() || std::ranges::count_if(trace.locations, Guesser::calls_mpi) < 2)
        return result;
    Guesser guesser(definitions, trace);
    for (const auto& [location, off, point] : waits_of(trace)) {
        const Guess guess = guesser.ask(*location, *off, point);
        const model::CallRef waiter{location->location, {point}};
        if (guess.other != nullptr) {
            const Ns time = std::min(off->end - Ns{1}, guess.time);
            const auto& enters = guess.other->calls.enters();
            const auto next = static_cast<std::uint32_t>(std::ranges::lower_bound(enters, time) - enters.begin());
            result.push_back({waiter, {{guess.other->location, {next}}, time}});
        } else if (guess.is_doubtful) {
            result.push_back({waiter, {}});
        }
    }
    return result;
}

}  // namespace critpath::replayer
