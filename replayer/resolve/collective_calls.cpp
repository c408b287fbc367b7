// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/queries.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/resolve/calls.hpp"

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
};

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

rules::CollectiveDecision decide(const Replay& replay, const rules::Calibration& calibration, const Part& part,
                                 const rules::Member& member, const rules::CollectiveCase& instance)
{
    const rules::Waiting waits = waiting(replay, replay.processes[part.process], calibration.calls, member.enter.call);
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
            return instance.operation.dependence != rules::Dependence::MembersLater || instance.is_alone();
        if (member.function >= functions::FunctionId::count)
            return false;  // other rules look at it as well; this one has the last word
        const rules::Predecessor found = decide(replay, calibration, part, member, instance).predecessor;
        if (found.route == rules::Route::Ask)
            return false;
        answers[part.process].set(member.enter.call, found);
        return true;
    };
}

void resolve_collectives(const Replay& replay, const Collectives& collectives, const rules::Calibration& calibration,
                         std::vector<ProcessAnswers>& answers)
{
    std::vector<InstanceQuery> queries;
    std::vector<Pending> pending;
    collectives.for_each_open(
        [&](const Part& part, const rules::Member& member, const rules::CollectiveCase& instance) {
            if (!is_waited_for(member, instance))
                return;
            const auto decision = decide(replay, calibration, part, member, instance);
            if (decision.predecessor.route != rules::Route::Ask) {
                answers[part.process].set(member.enter.call, decision.predecessor);
                return;
            }
            queries.push_back({part.side.partner(instance.inter), part.number, decision.query,
                               sources_of(collectives.members, part, decision.query)});
            pending.push_back({part.process, member.enter.call, instance.instance->bytes, decision.otherwise});
        });
    const auto found = ask(replay, collectives.members, queries);
    for (std::size_t i = 0; i < found.size(); ++i) {
        rules::Predecessor answer = found[i].route == rules::Route::Ask ? pending[i].otherwise : found[i];
        answer.doubt_clocks(found[i].within_clocks || pending[i].otherwise.within_clocks);
        if (found[i].is_jump())
            answer.bytes = pending[i].bytes;
        answers[pending[i].process].set(pending[i].call, answer);
    }
}

}  // namespace critpath::replayer
