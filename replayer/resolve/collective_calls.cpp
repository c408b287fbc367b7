// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/queries.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/resolve/calls.hpp"
#include "replayer/resolve/fences.hpp"

#include <span>

namespace critpath::replayer
{

namespace
{

/// A question that is on its way, and where its answer belongs.
struct Pending {
    std::size_t process;
    CallRef call;
    std::uint64_t bytes;
    rules::Predecessor otherwise;
    std::size_t answers;  // so many: one of each group that is asked
};

/// What came of asking several groups: who came last of those that may have released the call.
rules::Predecessor combine(std::span<const rules::Predecessor> answers)
{
    rules::Predecessor result = answers.front();
    for (const rules::Predecessor& other : answers.subspan(1)) {
        const bool within_clocks = result.within_clocks || other.within_clocks;
        if (other.is_jump() && (!result.is_jump() || other.from.order() > result.from.order()))
            result = other;
        result.doubt_clocks(within_clocks);
    }
    return result;
}

/// Whether every process was in this operation, and left it after the one that came last, and no thread went on
/// meanwhile.
bool is_meeting(const Replay& replay, functions::FunctionId function, const rules::CollectiveCase& instance,
                const rules::Predecessor& predecessor)
{
    const rules::Operation& operation = instance.operation;
    const bool all_to_all = operation.shape == functions::CollectiveShape::AllToAll && !instance.inter &&
                            (!operation.has_amounts || rules::needs_all(function, instance.instance->bytes));
    const bool released =
        predecessor.route == rules::Route::Collective || predecessor.route == rules::Route::Completion;
    return all_to_all && released && !predecessor.low_confidence && replay.is_single_threaded &&
           instance.size == replay.definitions.processes.size();
}

bool is_waited_for(const rules::Member& member, const rules::CollectiveCase& instance)
{
    return member.is_blocking && instance.operation.dependence == rules::Dependence::Members && !instance.is_alone();
}

rules::Waiting waiting_of(const Replay& replay, const rules::Calibration& calibration, const Part& part,
                          const rules::Member& member)
{
    return waiting(replay, replay.processes[part.process], calibration.calls, member.enter.call);
}

/// Whether a fence may have waited for what its members transferred before. The other rule sets know of none.
bool waits_for_transfers(const Replay& replay, const rules::Calibration& calibration, const Part& part,
                         const rules::Member& member, const rules::CollectiveCase& instance)
{
    return replay.rules == Rules::Arrival && Fences::may_wait(member, *instance.instance) &&
           waiting_of(replay, calibration, part, member).waited();
}

rules::CollectiveDecision decide(const Replay& replay, const rules::Calibration& calibration, const Part& part,
                                 const rules::Member& member, const rules::CollectiveCase& instance)
{
    const rules::Waiting waits = waiting_of(replay, calibration, part, member);
    rules::CollectiveDecision decision =
        rules::collective_predecessor(replay.rules, waits, member, instance, calibration);
    decision.predecessor.meeting = is_meeting(replay, member.function, instance, decision.predecessor);
    return decision;
}

}  // namespace

Conclude conclude_at_once(const Replay& replay, const rules::Calibration& calibration,
                          std::vector<ProcessAnswers>& answers)
{
    return [&](const Part& part, const rules::Member& member, const rules::CollectiveCase& instance) {
        if (!is_waited_for(member, instance))
            return instance.operation.dependence != rules::Dependence::MembersLater;
        if (member.function >= functions::FunctionId::count)
            return false;  // other rules look at it as well; this one has the last word
        if (waits_for_transfers(replay, calibration, part, member, instance))
            return false;
        const rules::Predecessor found = decide(replay, calibration, part, member, instance).predecessor;
        if (found.route == rules::Route::Ask)
            return false;
        answers[part.process].set(member.enter.call, found);
        return true;
    };
}

void resolve_collectives(const Replay& replay, const Collectives& collectives,
                         const std::vector<ProcessWindows>& windows, const rules::Calibration& calibration,
                         std::vector<ProcessAnswers>& answers)
{
    Fences fences(replay, windows, calibration);
    std::vector<InstanceQuery> queries;
    std::vector<Pending> pending;
    collectives.for_each_open(
        [&](const Part& part, const rules::Member& member, const rules::CollectiveCase& instance) {
            if (!is_waited_for(member, instance))
                return;
            const auto decision = decide(replay, calibration, part, member, instance);
            const bool is_decided = decision.predecessor.route != rules::Route::Ask;
            if (is_decided && waits_for_transfers(replay, calibration, part, member, instance)) {
                fences.add(part, member, *instance.instance, decision.predecessor);
                return;
            }
            if (is_decided) {
                answers[part.process].set(member.enter.call, decision.predecessor);
                return;
            }
            const auto ask_side = [&](Side side) {
                queries.push_back(
                    {side, part.number, decision.query, sources_of(collectives.members, part, decision.query)});
            };
            ask_side(part.side);
            if (instance.inter)
                ask_side(part.side.partner(true));
            pending.push_back({part.process, member.enter.call, instance.instance->bytes, decision.otherwise,
                               instance.inter ? std::size_t{2} : std::size_t{1}});
        });
    fences.answer([&](std::size_t process, CallRef call, const rules::Predecessor& predecessor) {
        answers[process].set(call, predecessor);
    });
    const auto found = ask(replay, collectives.members, queries);
    std::span<const rules::Predecessor> rest = found;
    for (const Pending& p : pending) {
        const rules::Predecessor combined = combine(rest.first(p.answers));
        rest = rest.subspan(p.answers);
        rules::Predecessor answer = combined.route == rules::Route::Ask ? p.otherwise : combined;
        answer.doubt_clocks(combined.within_clocks || p.otherwise.within_clocks);
        if (combined.is_jump())
            answer.bytes = p.bytes;
        answers[p.process].set(p.call, answer);
    }
}

}  // namespace critpath::replayer
