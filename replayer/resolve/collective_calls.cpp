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

}  // namespace

void resolve_collectives(const Replay& replay, const Collectives& collectives, const std::vector<CallBytes>& bytes,
                         const rules::Calibration& calibration, std::vector<ProcessAnswers>& answers)
{
    std::vector<InstanceQuery> queries;
    std::vector<Pending> pending;
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        for (std::size_t i = 0; i < trace.collectives.size(); ++i) {
            const CallRef call = trace.collectives[i].call;
            const rules::CollectiveCase instance = collectives.of(p, i);
            if (!trace.collectives[i].is_blocking() || instance.operation.dependence != rules::Dependence::Members ||
                instance.size < 2 || !usable(*instance.instance, instance.size))
                continue;
            const rules::Waiting waits = waiting(replay, trace, calibration.calls, call,
                                                 bytes[p][local_index(trace, call.location)][call.call.value]);
            const rules::CollectiveDecision decision = rules::collective_predecessor(
                replay.rules, waits, collectives.members.describe(p, i), instance, calibration);
            if (decision.predecessor.route != rules::Route::Ask) {
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
        rules::Predecessor answer = found[i].is_jump() ? found[i] : pending[i].otherwise;
        if (found[i].is_jump())
            answer.bytes = pending[i].bytes;
        answers[pending[i].process].set(pending[i].call, answer);
    }
}

}  // namespace critpath::replayer
