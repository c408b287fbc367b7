// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/collective_rule.hpp"

#include <algorithm>

namespace critpath::replayer::rules
{

namespace
{

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
        return {Route::Delay, {}, 0, !call.only_lacked()};
    return {};
}

const CollectiveDecision not_yet{{Route::Ask, {}, 0, false}, {}, {}};

/// The longest time after an arrival at which the call may have waited for it.
Ns completion_limit(const Waiting& call, const Member& member, const CollectiveCase& c, const Calibration& calibration)
{
    return calibration.collective_limit(member.function, c.instance->bytes, c.size) + call.threshold;
}

/// Whether nobody was gone when the last one came. Nor at that moment: nothing comes from there in no time.
bool synchronised(const Instance& instance, Ns uncertainty)
{
    return instance.first_leave > (instance.last.time - uncertainty).count();
}

/// Whether the call was over when `other` came, by clocks that tell.
bool left_before(const Enter& other, const Waiting& call, const ClockUncertainty& clocks)
{
    return call.leave < other.time - clocks.between(other.call.location, call.call.location);
}

/// Whether all left after the last one came, as far as clocks tell: other calls on files are as long as the file system
/// makes them.
bool may_have_waited(const Waiting& call, const Instance& instance, const ClockUncertainty& clocks)
{
    return synchronised(instance, clocks.largest()) && !left_before(instance.last, call, clocks);
}

/// The call is longer than its dependencies explain: ask who came while it was inside. Implementations make members
/// wait for each other beyond the semantics (trees, rendezvous), and neighbourhoods whose topology is not recorded
/// leave nothing but this.
CollectiveDecision ask_for_release(const Waiting& call, const Member& member, const CollectiveCase& instance,
                                   const Calibration& calibration, const Predecessor& otherwise)
{
    const bool may_wait = !instance.operation.on_file || may_have_waited(call, *instance.instance, calibration.clocks);
    if (!is_long(call) || instance.is_alone() || !may_wait)
        return {otherwise, {}, {}};
    MemberQuery query{};
    query.call = call.call;
    query.enter = call.enter;
    query.leave = call.leave;
    query.rank = member.rank;
    query.shape = instance.operation.shape;
    query.may_release = true;
    query.least = calibration.least_message();
    query.limit = completion_limit(call, member, instance, calibration);
    return {{Route::Ask, {}, 0, true}, query, otherwise};
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

/// The call depends on one other member, which came at `other`: bound by that if what came from there cannot have been
/// there when the call was entered.
CollectiveDecision wait_for(const Enter& other, const Waiting& call, const Member& member, const CollectiveCase& c,
                            const Calibration& calibration)
{
    const Instance& instance = *c.instance;
    const Predecessor local = unexplained(call, c.operation);
    const Ns least = calibration.collective(member.function, instance.bytes, c.size);
    const Ns cost = call.leave - call.enter - call.excess;
    const bool is_late = other.time + least > call.enter + cost && other.time <= call.leave;
    const bool explains_all = call.leave - other.time <= completion_limit(call, member, c, calibration);
    if (calibration.collectives_unseen && !(is_late && explains_all))
        return not_yet;
    const bool unsure = may_be_earlier(other, call, calibration) ||
                        may_be_same(other, least, call, call.enter + cost, calibration.clocks);
    if (!is_late)
        return doubted(ask_for_release(call, member, c, calibration, local), unsure);
    // Who explains only the beginning of a long call is not what released it: look for a better answer first.
    if (explains_all)
        return {doubted(to(other, instance), may_be_earlier(other, call, calibration)), {}, {}};
    const bool waited = other.time > call.enter;
    Predecessor late = to(other, instance);
    late.low_confidence = call.ended_after(other.time) > completion_limit(call, member, c, calibration);
    return doubted(ask_for_release(call, member, c, calibration, waited ? late : local), unsure);
}

/// The members have to be looked at one by one: the last one that came of those that the call depends on.
/// `waits_for_itself`: its own part counts as well, so that nobody who came earlier can be the reason.
CollectiveDecision ask_for_needed(const Waiting& call, const Member& member, const CollectiveCase& c,
                                  const Calibration& calibration, bool waits_for_itself)
{
    const Predecessor local = unexplained(call, c.operation);
    CollectiveDecision decision = ask_for_release(call, member, c, calibration, local);
    if (!call.waited() || c.is_alone() || gets_nothing(*c.instance, member))
        return decision;
    if (decision.predecessor.route != Route::Ask) {  // too short for the release rule, not for its dependencies
        decision.predecessor = {Route::Ask, {}, 0, false};
        decision.query.call = call.call;
        decision.query.enter = call.enter;
        decision.query.leave = call.leave;
        decision.query.rank = member.rank;
        decision.query.shape = c.operation.shape;
        if (is_long(call))  // on a file, where nobody may have released it
            decision.query.limit = completion_limit(call, member, c, calibration);
        decision.otherwise = local;
    }
    MemberQuery& query = decision.query;
    query.may_depend = true;
    query.some_give = c.operation.some_give;
    query.since = call.enter;
    const Ns least = calibration.collective(member.function, c.instance->bytes, c.size);
    if (!waits_for_itself)
        query.since = call.leave - call.excess - least;
    if (c.operation.some_give)
        query.completion = least > Ns{0} ? least : calibration.least_message();
    return decision;
}

/// Whether the last one to come can have given something to everybody, as far as this member can tell.
bool all_give(const Waiting& call, const Member& member, const CollectiveCase& c, const Calibration& calibration)
{
    const Instance& instance = *c.instance;
    const Ns least = calibration.collective(member.function, instance.bytes, c.size);
    return last_giver(instance, c.operation).call == instance.last.call &&
           (!c.operation.some_give || call.leave - instance.last.time >= least);
}

/// Members of which somebody gives nothing, or of which some may give to others only.
CollectiveDecision partly_all_to_all(const Waiting& call, const Member& member, const CollectiveCase& c,
                                     const Calibration& calibration)
{
    if (!call.waited())
        return {};
    if (c.operation.some_give)
        return ask_for_needed(call, member, c, calibration, false);
    const Enter last = last_giver(*c.instance, c.operation);
    const bool unsure = may_be_another_giver(*c.instance, c.operation, calibration.clocks);
    if (last.call == call.call)
        return {doubted(Predecessor{Route::Completion, {}, 0, false, false}, unsure), {}, {}};
    return doubted(wait_for(last, call, member, c, calibration), unsure);
}

/// Whether what comes from `other`, and nothing of the call's own, cannot have been there when the call was entered.
bool is_on_its_way(const Enter& other, const Waiting& call, const Member& member, const CollectiveCase& c,
                   const Calibration& calibration)
{
    const Ns least = calibration.collective(member.function, c.instance->bytes, c.size);
    return c.inter && call.waited() && other.time + least > call.leave - call.excess;
}

CollectiveDecision all_to_all_of_remote(const Waiting& call, const Member& member, const CollectiveCase& c,
                                        const Calibration& calibration)
{
    if (gets_nothing(*c.instance, member))
        return ask_for_release(call, member, c, calibration, unexplained(call, c.operation));
    // Only the remote group counts, and its last arriver may have been there before me.
    const Enter last = last_giver(*c.instance, c.operation);
    if (call.leave < last.time - calibration.clocks.largest())
        return ask_for_release(call, member, c, calibration, unexplained(call, c.operation));
    const bool unsure =
        may_be_another_giver(*c.instance, c.operation, calibration.clocks) || may_be_earlier(last, call, calibration);
    const bool waited = last.time > call.enter || is_on_its_way(last, call, member, c, calibration);
    Predecessor found = waited ? to(last, *c.instance) : Predecessor{Route::Completion, {}, 0, false};
    const Ns since = std::max(last.time, call.enter);
    if (!is_long(call) || call.leave - since <= completion_limit(call, member, c, calibration))
        return {doubted(found, unsure), {}, {}};
    // Implementations gather each group by itself, so that somebody of the own one may have held up the call.
    found.low_confidence = call.ended_after(since) > completion_limit(call, member, c, calibration);
    CollectiveDecision decision = ask_for_release(call, member, c, calibration, found);
    decision.query.enter = since;
    return doubted(decision, unsure);
}

CollectiveDecision all_to_all(const Waiting& call, const Member& member, const CollectiveCase& c,
                              const Calibration& calibration)
{
    const Instance& instance = *c.instance;
    if (c.inter)
        return all_to_all_of_remote(call, member, c, calibration);
    const bool gets_something = instance.bytes > 0 && member.gets;
    const bool may_pass = c.operation.may_pass || (c.operation.has_amounts && !gets_something);
    if (c.is_alone() || (may_pass && !call.waited()))
        return {};
    const bool is_synchronised = synchronised(instance, calibration.clocks.largest());
    if (c.operation.has_amounts && gets_something && !(is_synchronised && all_give(call, member, c, calibration)))
        return partly_all_to_all(call, member, c, calibration);
    if (!is_synchronised)
        return ask_for_release(call, member, c, calibration, unexplained(call, c.operation));
    // Always the canonical last arriver, also for ties: so that all paths meet there.
    const Arriver last = last_arriver(instance, calibration.clocks);
    if (c.operation.sync_tested &&
        (left_before(instance.last, call, calibration.clocks) || left_before(last.enter, call, calibration.clocks)))
        return ask_for_release(call, member, c, calibration, unexplained(call, c.operation));
    const bool is_own = last.enter.call == call.call;
    const Predecessor found = is_own ? Predecessor{Route::Completion, {}, 0, false, false} : to(last.enter, instance);
    return {doubted(found, last.within_clocks), {}, {}};
}

CollectiveDecision one_to_all(const Waiting& call, const Member& member, const CollectiveCase& c,
                              const Calibration& calibration)
{
    const Instance& instance = *c.instance;
    if (member.is_root || !instance.root.valid() || !call.waited() || gets_nothing(instance, member))
        return ask_for_release(call, member, c, calibration, unexplained(call, c.operation));
    return wait_for(instance.root, call, member, c, calibration);
}

CollectiveDecision all_to_one(const Waiting& call, const Member& member, const CollectiveCase& c,
                              const Calibration& calibration)
{
    const Instance& instance = *c.instance;
    const Enter last = last_giver(instance, c.operation);
    // Who came at the same moment is waited for, too: what it gives takes time.
    const bool came_later = last.time >= call.enter && last.call != call.call;
    const bool explained = member.is_root && last.valid() && last.time <= call.leave &&
                           (came_later || is_on_its_way(last, call, member, c, calibration));
    const bool unsure = member.is_root && call.waited() && last.valid() &&
                        (may_be_earlier(last, call, calibration) || may_be_another(instance, calibration.clocks));
    if (explained && call.waited())
        return {doubted(to(last, instance), unsure), {}, {}};
    return doubted(ask_for_release(call, member, c, calibration, unexplained(call, c.operation)), unsure);
}

CollectiveDecision prefix(const Waiting& call, const Member& member, const CollectiveCase& c,
                          const Calibration& calibration)
{
    const bool is_exclusive = member.function == FunctionId::MPI_Exscan;
    CollectiveDecision decision = ask_for_needed(call, member, c, calibration, !is_exclusive);
    decision.query.exclusive_prefix = is_exclusive;
    return decision;
}

CollectiveDecision by_arrival(const Waiting& call, const Member& member, const CollectiveCase& c,
                              const Calibration& calibration)
{
    // There, how long collectives take tells whether the last one to come gave something, or came too early to matter.
    if (calibration.collectives_unseen && (c.inter || c.operation.some_give))
        return not_yet;
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
    case CollectiveShape::Neighbour:
        if (c.neighbours_known)
            return ask_for_needed(call, member, c, calibration, false);
        return ask_for_release(call, member, c, calibration, local);
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

std::optional<Ns> held_up_since(const Waiting& call, const MemberQuery& release, const CollectiveCase& c)
{
    const bool moves_data = c.operation.shape != CollectiveShape::DataDriven && !c.operation.on_file;
    if (!release.may_release || !moves_data || call.only_lacked())
        return std::nullopt;
    const Enter& root = c.instance->root;
    const bool needs_root = c.operation.shape == CollectiveShape::OneToAll && root.valid() && root.time < release.leave;
    return needs_root ? std::max(release.enter, root.time) : release.enter;
}

std::optional<MemberQuery> return_query(const MemberQuery& release, Ns held_up_since, const Predecessor& found)
{
    MemberQuery query{};
    query.call = release.call;
    query.enter = release.enter;
    query.leave = release.leave;
    query.since = found.is_jump() ? std::max(held_up_since, found.from.time) : held_up_since;
    query.may_release = query.returns = true;
    query.least = release.least;
    query.limit = release.limit;
    const bool is_explained = found.route == Route::Completion || query.leave - query.since <= query.limit;
    return is_explained ? std::nullopt : std::optional(query);
}

Ns completion_example(const Waiting& call, const Member& member, const CollectiveCase& c)
{
    const Instance& instance = *c.instance;
    if (gets_nothing(instance, member))
        return Ns{-1};
    Enter needed;
    if (c.operation.shape == CollectiveShape::AllToAll && !c.operation.sync_tested)
        needed = c.operation.some_give && !synchronised(instance, Ns{0}) ? Enter{} : last_giver(instance, c.operation);
    else if (c.operation.shape == CollectiveShape::OneToAll && !member.is_root)
        needed = instance.root;
    else if (c.operation.shape == CollectiveShape::AllToOne && member.is_root)
        needed = last_giver(instance, c.operation);
    else if (c.operation.shape == CollectiveShape::Prefix && member.rank + 1 == c.size)
        needed = last_giver(instance, c.operation);  // the last rank needs all
    else if (c.operation.shape == CollectiveShape::Neighbour && !c.inter)
        needed = instance.last;
    if (!needed.valid() || needed.time > call.leave)
        return Ns{-1};
    // Who came when it was under way, and waited for at least half of the time, has seen it end.
    const bool saw_end = !member.is_blocking && 2 * (call.leave - call.enter) >= call.leave - needed.time;
    if (needed.time <= call.enter && !saw_end)
        return Ns{-1};
    // What took long may have waited for somebody who came later, against the semantics: no example of anything. Of the
    // own group, beside another one, it is not known who did.
    const Ns time = call.leave - needed.time;
    const bool nobody_later = !c.inter && needed.call == instance.last.call;
    const Ns usual = usual_completion(member.function, instance.bytes, c.size);
    return nobody_later || time <= (c.inter ? 2 * usual : usual) ? time : Ns{-1};
}

}  // namespace critpath::replayer::rules
