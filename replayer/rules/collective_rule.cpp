// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/collective_rule.hpp"

#include <algorithm>

namespace critpath::replayer::rules
{

namespace
{

/// Below this excess, a call that its dependencies do not explain is not worth a guess.
constexpr Ns release_excess = std::chrono::microseconds{20};

Predecessor to(const Enter& enter, const Instance& instance)
{
    return {Route::Collective, enter, instance.bytes, false, false};
}

Predecessor doubted(Predecessor predecessor, bool within_clocks)
{
    predecessor.doubt_clocks(within_clocks);
    return predecessor;
}

/// Also if it takes a question to find the predecessor.
CollectiveDecision doubted(CollectiveDecision decision, bool within_clocks)
{
    (decision.predecessor.route == Route::Ask ? decision.otherwise : decision.predecessor).doubt_clocks(within_clocks);
    return decision;
}

bool is_long(const Waiting& call)
{
    return call.excess > std::max(call.threshold, release_excess);
}

/// Members have different parts in a collective (roots, inner and outer nodes of a tree), so that the least cost is
/// that of the least part, and only much more than that is a delay.
Predecessor unexplained(const Waiting& call, const Operation& operation)
{
    if (operation.blocking && is_long(call))
        return {Route::Delay, {}, 0, true};
    return {};
}

/// The call is longer than its dependencies explain: ask who came while it was inside. Implementations make members
/// wait for each other beyond the semantics (trees, rendezvous), and neighbourhoods whose topology is not recorded
/// leave nothing but this.
CollectiveDecision ask_for_release(const Waiting& call, const Member& member, const CollectiveCase& instance,
                                   const Calibration& calibration, const Predecessor& otherwise)
{
    if (!is_long(call) || instance.size < 2)
        return {otherwise, {}, {}};
    MemberQuery query{};
    query.call = call.call;
    query.enter = call.enter;
    query.leave = call.leave;
    query.rank = member.rank;
    query.shape = instance.operation.shape;
    query.may_release = true;
    query.least = std::min(calibration.transfer[0].of(0), calibration.transfer[1].of(0));
    query.limit =
        calibration.collective_limit(member.function, instance.instance->bytes, instance.size) + call.threshold;
    return {{Route::Ask, {}, 0, true}, query, otherwise};
}

bool synchronised(const Instance& instance, Ns uncertainty)
{
    return instance.first_leave >= (instance.last.time - uncertainty).count();
}

/// Whether the clocks are too far off to tell which of two moments came first. What was learned from such differences
/// is off as well.
bool may_be_same(const Enter& other, Ns learned, const Waiting& call, Ns time, const ClockUncertainty& clocks)
{
    const Ns error = clocks.between(other.call.location, call.call.location);
    const Ns of_learned = error > Ns{0} && learned > Ns{0} ? clocks.largest() : Ns{0};
    return std::chrono::abs(other.time + learned - time) < error + of_learned;
}

/// Whether the clocks are too far off to tell if `other` came after the call was entered.
bool may_be_earlier(const Enter& other, const Waiting& call, const Calibration& calibration)
{
    return may_be_same(other, Ns{0}, call, call.enter, calibration.clocks);
}

CollectiveDecision all_to_all(const Waiting& call, const Member& member, const CollectiveCase& c,
                              const Calibration& calibration)
{
    const Instance& instance = *c.instance;
    const Ns uncertainty = calibration.clocks.largest();
    if (c.inter) {  // only the remote group counts, and its last arriver may have been there before me
        if (call.leave < instance.last.time - uncertainty)
            return ask_for_release(call, member, c, calibration, unexplained(call, c.operation));
        const bool unsure =
            may_be_another(instance, calibration.clocks) || may_be_earlier(instance.last, call, calibration);
        if (instance.last.time > call.enter)
            return {doubted(to(instance.last, instance), unsure), {}, {}};
        return {{Route::Completion, {}, 0, false}, {}, {}};
    }
    if (c.size < 2 || (c.operation.may_pass && !call.waited()))
        return {};
    if (!synchronised(instance, uncertainty))
        return ask_for_release(call, member, c, calibration, unexplained(call, c.operation));
    // Always the canonical last arriver, also for ties: so that all paths meet there.
    const Arriver last = last_arriver(instance, calibration.clocks);
    const bool is_own = last.enter.call == call.call;
    const Predecessor found = is_own ? Predecessor{Route::Completion, {}, 0, false, false} : to(last.enter, instance);
    return {doubted(found, last.within_clocks), {}, {}};
}

CollectiveDecision one_to_all(const Waiting& call, const Member& member, const CollectiveCase& c,
                              const Calibration& calibration)
{
    const Instance& instance = *c.instance;
    const Predecessor local = unexplained(call, c.operation);
    if (member.is_root || !instance.root.valid() || !call.waited())
        return ask_for_release(call, member, c, calibration, local);
    const Ns least = calibration.collective(member.function, instance.bytes, c.size);
    const Ns cost = call.leave - call.enter - call.excess;
    const bool late_root = instance.root.time + least > call.enter + cost && instance.root.time <= call.leave;
    const bool unsure = may_be_earlier(instance.root, call, calibration) ||
                        may_be_same(instance.root, least, call, call.enter + cost, calibration.clocks);
    if (!late_root)
        return doubted(ask_for_release(call, member, c, calibration, local), unsure);
    // A root that explains only the beginning of a long call is not what released it: look for a better answer first.
    const Ns limit = calibration.collective_limit(member.function, instance.bytes, c.size) + call.threshold;
    if (call.leave - instance.root.time <= limit)
        return {doubted(to(instance.root, instance), may_be_earlier(instance.root, call, calibration)), {}, {}};
    const bool waited_for_root = instance.root.time > call.enter;
    Predecessor root = to(instance.root, instance);
    root.low_confidence = true;
    return doubted(ask_for_release(call, member, c, calibration, waited_for_root ? root : local), unsure);
}

CollectiveDecision all_to_one(const Waiting& call, const Member& member, const CollectiveCase& c,
                              const Calibration& calibration)
{
    const Instance& instance = *c.instance;
    const Enter& last = instance.last_other;
    const bool explained = member.is_root && last.valid() && last.time > call.enter && last.time <= call.leave;
    const bool unsure = member.is_root && call.waited() && last.valid() &&
                        (may_be_earlier(last, call, calibration) || may_be_another(instance, calibration.clocks));
    if (explained && call.waited())
        return {doubted(to(last, instance), unsure), {}, {}};
    return doubted(ask_for_release(call, member, c, calibration, unexplained(call, c.operation)), unsure);
}

CollectiveDecision prefix(const Waiting& call, const Member& member, const CollectiveCase& c,
                          const Calibration& calibration)
{
    const Predecessor local = unexplained(call, c.operation);
    CollectiveDecision decision = ask_for_release(call, member, c, calibration, local);
    if (!call.waited() || c.size < 2)
        return decision;
    if (decision.predecessor.route != Route::Ask) {  // too short for the release rule, not for its dependencies
        decision.predecessor = {Route::Ask, {}, 0, false};
        decision.query = {call.call, call.enter, call.leave, member.rank, CollectiveShape::Prefix,
                          false,     true,       false,      Ns{0},       Ns{0}};
        decision.otherwise = local;
    }
    decision.query.may_depend = true;
    decision.query.exclusive_prefix = member.function == FunctionId::MPI_Exscan;
    return decision;
}

CollectiveDecision by_arrival(const Waiting& call, const Member& member, const CollectiveCase& c,
                              const Calibration& calibration)
{
    const Predecessor local = unexplained(call, c.operation);
    switch (c.operation.shape) {
    case CollectiveShape::AllToAll:
        return all_to_all(call, member, c, calibration);
    case CollectiveShape::OneToAll:
        return one_to_all(call, member, c, calibration);
    case CollectiveShape::AllToOne:
        return all_to_one(call, member, c, calibration);
    case CollectiveShape::Prefix:
        return prefix(call, member, c, calibration);
    case CollectiveShape::Neighbour:  // OTF2 does not say which process has which neighbours
    case CollectiveShape::DataDriven:
        return ask_for_release(call, member, c, calibration, local);
    case CollectiveShape::None:
        break;
    }
    return {local, {}, {}};
}

/// Everybody waits for the last arriver, whatever the operation.
CollectiveDecision by_enter(const Waiting& call, const CollectiveCase& c)
{
    const Enter& last = c.instance->last;
    if (last.call == call.call)
        return {{Route::Completion, {}, 0, false}, {}, {}};
    if (!last.valid() || last.time <= call.enter || last.time >= call.leave)
        return {};
    return {to(last, *c.instance), {}, {}};
}

/// Whoever took longer than the shortest call waited for that one. The hop may lead into the future, where no path
/// can go; then the call counts as work.
CollectiveDecision by_duration(const Waiting& call, const CollectiveCase& c)
{
    const Instance& instance = *c.instance;
    const Ns excess = call.leave - call.enter - Ns{instance.least_duration};
    if (instance.shortest.call == call.call)
        return {{Route::Completion, {}, 0, false}, {}, {}};
    if (excess <= call.threshold || instance.shortest.time >= call.leave)
        return {};
    return {to(instance.shortest, instance), {}, {}};
}

bool in_prefix(const MemberQuery& query, const MemberInfo& member)
{
    return query.exclusive_prefix ? member.rank < query.rank : member.rank <= query.rank;
}

/// Strictly before the end of the call, so that the path goes back in time, and not so shortly before that no message
/// can have come from there.
bool came_after(Ns since, const MemberQuery& query, const MemberInfo& member)
{
    return member.enter.call != query.call && member.enter.time > since && member.enter.time < query.leave &&
           query.leave - member.enter.time >= query.least;
}

/// Whoever came while the call was inside and shortly enough before its end.
Enter blocker_within_limit(const MemberQuery& query, std::span<const MemberInfo> members)
{
    Enter blocker;
    for (const MemberInfo& member : members) {
        if (!came_after(query.enter, query, member) || query.leave - member.enter.time > query.limit)
            continue;
        if (member.is_root && query.shape == CollectiveShape::OneToAll)
            return member.enter;
        take_later(blocker, member.enter);
    }
    return blocker;
}

/// The completion took longer than it should (no core free, slow progress), but the last one to come came so shortly
/// before the end, compared with the time that is to be explained, that it is hardly there by chance: if the n members
/// that came in this time had come at random, one of them would be so close to its end in 1 of 8 cases at most. Thus
/// in a dense stream of arrivals nobody is the blocker only for being the latest.
Enter outstanding_blocker(const MemberQuery& query, std::span<const MemberInfo> members)
{
    constexpr std::int64_t chance = 8;
    Ns since = query.enter;  // a root explains the time until it came
    for (const MemberInfo& member : members)
        if (member.is_root && query.shape == CollectiveShape::OneToAll && came_after(since, query, member))
            since = member.enter.time;
    Enter last;
    std::int64_t came = 0;
    for (const MemberInfo& member : members)
        if (came_after(since, query, member)) {
            take_later(last, member.enter);
            ++came;
        }
    const bool stands_out = came > 0 && query.leave - last.time <= (query.leave - since) / (chance * came);
    return stands_out ? last : Enter{};
}

/// Whether the clocks are too far off to tell if it was this member, and not `found` (or nobody).
bool may_be_it(const MemberQuery& query, const MemberInfo& member, const Enter& found, const ClockUncertainty& clocks)
{
    if (member.enter.call == query.call || (!query.may_release && !in_prefix(query, member)))
        return false;
    const Ns error = clocks.between(member.enter.call.location, query.call.location);
    const auto is_near = [&](Ns time) {  // what is asked by a prefix without the member itself has no begin
        return time != Ns::min() && std::chrono::abs(member.enter.time - time) < error;
    };
    const bool at_border = is_near(query.enter) || is_near(query.leave);
    return at_border || (found.valid() && found.call != member.enter.call &&
                         std::chrono::abs(member.enter.time - found.time) <
                             clocks.between(member.enter.call.location, found.call.location));
}

}  // namespace

CollectiveDecision collective_predecessor(RuleSet rules, const Waiting& call, const Member& member,
                                          const CollectiveCase& instance, const Calibration& calibration)
{
    switch (rules) {
    case RuleSet::Enter:
        return by_enter(call, instance);
    case RuleSet::Paper:
        return by_duration(call, instance);
    case RuleSet::Arrival:
        break;
    }
    return by_arrival(call, member, instance, calibration);
}

Predecessor answer(const MemberQuery& query, std::span<const MemberInfo> members, const ClockUncertainty& clocks)
{
    const auto within_clocks = [&](const Enter& found) {
        return std::ranges::any_of(members, [&](const MemberInfo& m) { return may_be_it(query, m, found, clocks); });
    };
    if (query.may_depend) {
        Enter last{query.call, query.enter};
        for (const MemberInfo& member : members)
            if (in_prefix(query, member) && member.enter.time <= query.leave)
                take_later(last, member.enter);
        if (last.call != query.call)
            return doubted(Predecessor{Route::Collective, last, 0, false}, within_clocks(last));
    }
    if (query.may_release)
        for (const Enter& blocker : {blocker_within_limit(query, members), outstanding_blocker(query, members)})
            if (blocker.valid())
                return doubted(Predecessor{Route::Collective, blocker, 0, true}, within_clocks(blocker));
    return doubted(Predecessor{Route::Ask, {}, 0, true}, within_clocks({}));
}

Ns completion_example(const Waiting& call, const Member& member, const CollectiveCase& c)
{
    const Instance& instance = *c.instance;
    const Enter* needed = nullptr;
    if (c.operation.shape == CollectiveShape::AllToAll && !c.operation.sync_tested)
        needed = &instance.last;
    else if (c.operation.shape == CollectiveShape::OneToAll && !member.is_root)
        needed = &instance.root;
    else if (c.operation.shape == CollectiveShape::AllToOne && member.is_root)
        needed = &instance.last_other;
    if (needed == nullptr || !needed->valid() || needed->time <= call.enter || needed->time > call.leave)
        return Ns{-1};
    // What took long may have waited for somebody who came later, against the semantics: no example of anything.
    const Ns time = call.leave - needed->time;
    const bool nobody_later = needed->call == instance.last.call;
    return nobody_later || time <= usual_completion(instance.bytes, c.size) ? time : Ns{-1};
}

}  // namespace critpath::replayer::rules
