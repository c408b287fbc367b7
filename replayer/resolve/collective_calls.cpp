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

/// Whether every process was in this operation, and left it after the one that came last.
bool is_meeting(const Replay& replay, functions::FunctionId function, const rules::CollectiveCase& instance,
                const rules::Predecessor& predecessor)
{
    const rules::Operation& operation = instance.operation;
    const bool all_to_all = operation.shape == functions::CollectiveShape::AllToAll && !instance.inter &&
                            (!operation.has_amounts || rules::needs_all(function, instance.instance->bytes));
    const bool released =
        predecessor.route == rules::Route::Collective || predecessor.route == rules::Route::Completion;
    return all_to_all && released && !predecessor.low_confidence &&
           instance.size == replay.definitions.processes.size();
}

}  // namespace

void resolve_collectives(const Replay& replay, const Collectives& collectives, const rules::Calibration& calibration,
                         std::vector<ProcessAnswers>& answers)
{
    std::vector<InstanceQuery> queries;
    std::vector<Pending> pending;
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        for (std::size_t i = 0; i < trace.collectives.size(); ++i) {
            const CallRef call = trace.collectives[i].call;
            const rules::CollectiveCase instance = collectives.of(p, i);
            if (!trace.collectives[i].is_blocking() || instance.operation.dependence != rules::Dependence::Members ||
                instance.is_alone() || !usable(*instance.instance, instance.size))
                continue;
            const rules::Waiting waits = waiting(replay, trace, calibration.calls, call);
            const rules::Member member = collectives.members.describe(p, i);
            rules::CollectiveDecision decision =
                rules::collective_predecessor(replay.rules, waits, member, instance, calibration);
            if (decision.predecessor.route != rules::Route::Ask) {
                decision.predecessor.meeting = is_meeting(replay, member.function, instance, decision.predecessor);
                answers[p].set(call, decision.predecessor);
                continue;
            }
            const Part& part = collectives.members.part(p, i);
            queries.push_back({part.side.partner(instance.inter), part.number, decision.query});
            pending.push_back({p, call, instance.instance->bytes, decision.otherwise});
        }
    }
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
