// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/message_rule.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <tuple>
#include <vector>

namespace critpath::replayer::rules
{

namespace
{

/// A message, or a collective, that may have released the call: it began at `from` and was done at `arrival`.
struct Candidate {
    Ns arrival;
    Enter from;
    bool own;  // `from` is a post of this location, or of another thread of the process
    Ns transfer;
    std::uint64_t bytes;
    Route route;
    bool within_clocks;                                  // it may have begun otherwise, within the error of the clocks
    bool guessed = false;                                // it may have had nothing to do with the end of the call
    model::LocationId peer = model::LocationId::none();  // of a message, as Predecessor
    bool sends = false;
    Ns late{};  // as Message

    /// The candidate that comes out on top goes last (or, if the `first` is wanted, first). Equal arrivals are told
    /// apart by the start; between equal starts the own post wins, because a path that stays at home needs no
    /// explanation.
    [[nodiscard]] auto order(bool first) const { return std::tuple(arrival, from.time, own != first, from.call); }
};

std::optional<Candidate> candidate(const Message& message, const Waiting& call, const Calibration& calibration)
{
    if (!message.receiving && message.protocol == Protocol::Eager)
        return std::nullopt;  // no receiver can delay a send that is buffered
    // If the receiver came when most of the call was over, that will be what ended it.
    if (message.held && 2 * (message.remote.time - call.enter) < call.leave - call.enter)
        return std::nullopt;
    const bool own = message.protocol == Protocol::Rendezvous && message.own.time >= message.remote.time;
    const auto& times = message.one_sided ? calibration.one_sided : calibration.transfer;
    const Ns transfer = times[static_cast<std::size_t>(message.link)].of(message.bytes);
    const Enter& start = own ? message.own : message.remote;
    const bool unsure = message.within_clocks ||
                        (message.protocol == Protocol::Rendezvous &&
                         std::chrono::abs(message.own.time - message.remote.time) <
                             calibration.clocks.between(message.own.call.location, message.remote.call.location));
    return Candidate{std::min(start.time + transfer, call.leave),
                     start,
                     own,
                     transfer,
                     message.bytes,
                     Route::Message,
                     unsure,
                     message.held,
                     message.peer(),
                     message.sends(),
                     message.late};
}

using Candidates = std::pmr::vector<Candidate>;

/// For the candidates of a call: most have few, and there are millions of calls.
class Space
{
public:
    std::pmr::memory_resource* memory() { return &memory_; }

private:
    alignas(Candidate) std::array<std::byte, 8 * sizeof(Candidate)> bytes_;
    std::pmr::monotonic_buffer_resource memory_{bytes_.data(), bytes_.size()};
};

/// Calls that release somebody may be late with it, but hardly where what was on time explains the end as well.
void add_lateness(const Waiting& call, Candidates& all)
{
    const Ns explained = call.threshold + call.unseen;
    if (std::ranges::any_of(all, [&](const Candidate& c) { return call.leave - c.arrival <= explained; }))
        return;
    for (Candidate& c : all)
        c.arrival = std::min(c.arrival + c.late, call.leave);
}

Candidates candidates(const Waiting& call, const Completed& completed, const Calibration& calibration, Space& space)
{
    Candidates result(space.memory());
    result.reserve(completed.messages.size() + completed.collectives.size());
    for (const Message& message : completed.messages)
        if (const auto c = candidate(message, call, calibration))
            result.push_back(*c);
    if (std::ranges::any_of(result, [](const Candidate& c) { return c.late > Ns{0}; }))
        add_lateness(call, result);
    for (const Gathered& g : completed.collectives)
        if (!g.is_unknown() && !g.needs_nobody)
            result.push_back({std::min(g.last.time + g.least, call.leave), g.last, g.own, g.least, g.bytes,
                              Route::Collective, g.within_clocks});
    return result;
}

Predecessor jump_to(const Candidate& c, const Waiting& call, bool low_confidence, bool within_clocks)
{
    if (c.from.call == call.call)  // its own enter: nothing was posted earlier, the call itself is the path
        return {Route::Work, {}, 0, low_confidence, within_clocks};
    return {c.route, c.from, c.bytes, low_confidence, within_clocks, false, c.peer, c.sends};
}

const Candidate& releasing(Candidates& all, Dependence dependence)
{
    const bool first = dependence == Dependence::AnyMessage;
    std::ranges::sort(all, [&](const Candidate& a, const Candidate& b) { return a.order(first) < b.order(first); });
    return first ? all.front() : all.back();
}

/// How far off the time is that passed from an arrival to a moment of another location. What a transfer takes was
/// learned from such times, which are off as well.
Ns error_of_arrival(const Enter& from, const CallRef& other, const Calibration& calibration)
{
    const Ns error = calibration.clocks.between(from.call.location, other.location);
    return error > Ns{0} ? error + calibration.clocks.largest() : Ns{0};
}

/// Whether the candidate that came out on top is ahead of each other one by more than both clocks are off: one that is
/// far behind may be by a clock of which little is known. On one clock, what transfers of different lengths take may be
/// wrong, if that was learned from one clock to another.
bool leads(const Candidate& best, const Candidates& all, const Waiting& call, const Calibration& calibration)
{
    const bool is_far = calibration.clocks.between(best.from.call.location, call.call.location) > Ns{0};
    return std::ranges::all_of(all, [&](const Candidate& other) {
        Ns error = error_of_arrival(best.from, other.from.call, calibration);
        if (is_far && best.transfer != other.transfer)
            error = std::max(error, calibration.clocks.largest());
        return error == Ns{0} || std::chrono::abs(best.arrival - other.arrival) >= error;
    });
}

/// Whether it explains less than half of the time from its start to the end of the call, and much is left: something
/// else took that, such as a partner without a processor.
bool is_much_too_long(const Candidate& c, const Waiting& call)
{
    const Ns unexplained = call.ended_after(std::max(c.arrival, call.enter)) - call.unseen;
    return unexplained > 4 * c.transfer + call.threshold && 2 * unexplained > call.ended_after(c.from.time);
}

/// `all`: of what the call completes.
Predecessor by_arrival(const Waiting& call, Dependence dependence, const Completed& completed, Candidates& all,
                       const Calibration& calibration)
{
    if (!call.waited())
        return {};
    const bool protocol_unsure = std::ranges::any_of(completed.messages, &Message::within_clocks) ||
                                 std::ranges::any_of(completed.collectives, &Gathered::is_unknown);
    if (all.empty())
        return {Route::Delay, {}, 0, !call.only_lacked(), protocol_unsure};
    const Candidate& best = releasing(all, dependence);
    const Ns uncertainty = calibration.clocks.between(best.from.call.location, call.call.location);
    const bool there_at_enter = best.arrival <= call.enter - uncertainty;
    const bool near_enter =
        std::chrono::abs(best.arrival - call.enter) < error_of_arrival(best.from, call.call, calibration);
    const bool unsure = near_enter || best.within_clocks || protocol_unsure || !leads(best, all, call, calibration);
    if (there_at_enter && call.leave - best.from.time > 4 * best.transfer)
        return {Route::Delay, {}, 0, !call.only_lacked(), unsure};
    const bool is_known = call.leave - best.from.time <= longest(best.transfer) + call.threshold;
    if (best.own && best.from.time < call.enter && !is_known)
        return {Route::Delay, {}, 0, true, unsure};  // its own work up to the call is what is known to take time
    const Ns margin = std::min(call.excess, std::chrono::abs(best.from.time - call.enter));
    const bool within_clocks = unsure || margin < uncertainty;
    const bool may_be_there = best.arrival <= call.enter + uncertainty;
    const bool is_doubtful = may_be_there || within_clocks || best.guessed || is_much_too_long(best, call);
    return jump_to(best, call, is_doubtful, within_clocks);
}

std::optional<Arrival> arrival_of(const Waiting& call, Dependence dependence, const Candidates& all,
                                  const Calibration& calibration)
{
    if (all.empty())
        return std::nullopt;
    const auto earlier = [](const Candidate& a, const Candidate& b) { return a.arrival < b.arrival; };
    const auto first_last = std::ranges::minmax_element(all, earlier);
    const auto& released = dependence == Dependence::AnyMessage ? first_last.min : first_last.max;
    return Arrival{released->arrival, error_of_arrival(released->from, call.call, calibration)};
}

/// As Conclusion::explained.
Ns explained_end(const Waiting& call, Dependence dependence, const Candidates& all, const Calibration& calibration)
{
    const auto arrival = arrival_of(call, dependence, all, calibration);
    return arrival ? std::max(arrival->time + arrival->error, call.enter) : call.enter;
}

/// The message whose partner posted it last (or, for Waitany, first); buffered sends wait for nobody.
const Message* by_post(Dependence dependence, std::span<const Message> messages)
{
    const Message* best = nullptr;
    for (const Message& message : messages) {
        if (!message.receiving && (message.protocol == Protocol::Eager || message.held))
            continue;
        const bool later = best == nullptr || message.remote.order() > best->remote.order();
        if (best == nullptr || later != (dependence == Dependence::AnyMessage))
            best = &message;
    }
    return best;
}

/// The partner's post decides, and only if it came after the enter of the call.
Predecessor by_enter(const Waiting& call, Dependence dependence, std::span<const Message> messages)
{
    const Message* best = by_post(dependence, messages);
    if (best == nullptr || best->remote.time <= call.enter)
        return {};
    return {Route::Message, best->remote, best->bytes, false, false, false, best->peer(), best->sends()};
}

/// A call that took longer than the least cost waited for the latest sender.
Predecessor by_duration(const Waiting& call, Dependence dependence, std::span<const Message> messages)
{
    if (!call.waited())
        return {};
    const Message* best = by_post(dependence, messages);
    if (best == nullptr)
        return {};
    return {Route::Message, best->remote, best->bytes, false, false, false, best->peer(), best->sends()};
}

}  // namespace

Protocol protocol(SendMode mode, std::uint64_t bytes, bool over_before, std::int64_t eager_limit)
{
    if (mode == SendMode::Synchronous)
        return Protocol::Rendezvous;
    // A ready send may wait as a standard one does (MPI-3.1, 3.4).
    if (mode != SendMode::Standard && mode != SendMode::Ready)
        return Protocol::Eager;
    const bool buffered = static_cast<std::int64_t>(bytes) <= eager_limit || over_before;
    return buffered ? Protocol::Eager : Protocol::Rendezvous;
}

bool stood_still(const Waiting& call, Ns target, const Completed& completed, const Calibration& calibration)
{
    const Ns message = std::max(calibration.one_sided[0].of(0), calibration.one_sided[1].of(0));
    const auto answers_in = [&](Ns answer) {
        return std::chrono::abs(call.leave - target - answer) <= std::max(call.threshold, answer / 8);
    };
    const bool is_tight = answers_in(calibration.one_sided[0].of(0)) || answers_in(calibration.one_sided[1].of(0));
    Ns due = call.enter, due_at_last = call.enter;
    Space space;
    for (const Candidate& c : candidates(call, completed, calibration, space)) {
        due = std::max(due, c.arrival);
        due_at_last = std::max(due_at_last, c.arrival - c.transfer + longest(c.transfer));
    }
    return call.leave - due_at_last > 4 * message + call.threshold || (is_tight && call.leave - due > call.threshold);
}

std::optional<Arrival> arrival(const Waiting& call, Dependence dependence, const Completed& completed,
                               const Calibration& calibration)
{
    Space space;
    return arrival_of(call, dependence, candidates(call, completed, calibration, space), calibration);
}

Conclusion message_predecessor(RuleSet rules, const Waiting& call, Dependence dependence, const Completed& completed,
                               const Calibration& calibration)
{
    switch (rules) {
    case RuleSet::Enter:
        return {by_enter(call, dependence, completed.messages)};
    case RuleSet::Paper:
        return {by_duration(call, dependence, completed.messages)};
    case RuleSet::Arrival:
        break;
    }
    Space space;
    auto all = candidates(call, completed, calibration, space);
    const Ns explained = explained_end(call, dependence, all, calibration);
    return {by_arrival(call, dependence, completed, all, calibration), explained};
}

}  // namespace critpath::replayer::rules
