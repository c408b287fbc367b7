// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/queries.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/resolve/calls.hpp"
#include "replayer/resolve/fences.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
    std::size_t query, answers;  // the first of so many questions, one to each group that is asked
    std::optional<Ns> held_up_since;
    Ns last_leave;  // of the instance
    bool is_root;
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

/// When somebody outside of MPI can have held up a call, and up to an eighth of that more before and behind: then the
/// longest time outside is the same one, and calls that wait at about the same time ask their members together.
/// Nothing: calls that wait for a small part of the time that the instance takes may be as many as there are members,
/// each at a time of its own, and that is not asked. But a root is only one.
std::optional<Period> asked_period(const Pending& call, const rules::MemberQuery& question)
{
    constexpr std::int64_t part = 8;
    const Ns end = std::max(call.last_leave, question.leave);
    const Ns wait = question.leave - question.since;
    if (!call.is_root && part * wait < end - question.since)
        return std::nullopt;
    const Ns step{std::max(std::bit_floor(static_cast<std::uint64_t>(wait.count())) / part, std::uint64_t{1})};
    return Period{end - ((end - question.since + step - Ns{1}) / step) * step,
                  end - ((end - question.leave) / step) * step};
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

/// By call.
std::vector<rules::Predecessor> answers_of(const Replay& replay, const Members& members,
                                           const std::vector<InstanceQuery>& queries,
                                           const std::vector<Pending>& pending)
{
    const auto found = ask(replay, members, queries);
    std::vector<rules::Predecessor> result;
    for (const Pending& p : pending)
        result.push_back(combine(std::span(found).subspan(p.query, p.answers)));
    return result;
}

/// Calls that nobody explains who came to the operation meanwhile: the members are asked again, who of them came back
/// to MPI elsewhere.
void let_go(const Replay& replay, const Members& members, const std::vector<InstanceQuery>& queries,
            const std::vector<Pending>& pending, std::vector<rules::Predecessor>& found)
{
    std::vector<InstanceQuery> returns;
    std::vector<Pending> asked;
    std::vector<std::size_t> calls;  // that ask, indices into `pending`
    for (std::size_t i = 0; i < pending.size(); ++i) {
        const Pending& p = pending[i];
        if (!p.held_up_since)
            continue;
        const auto question = rules::return_query(queries[p.query].question, *p.held_up_since, found[i]);
        const auto period = question ? asked_period(p, *question) : std::nullopt;
        if (!period)
            continue;
        calls.push_back(i);
        asked.push_back(p);
        asked.back().query = returns.size();
        for (const InstanceQuery& query : std::span(queries).subspan(p.query, p.answers))
            returns.push_back({query.side, query.number, *question, {}, *period});
    }
    const std::vector<rules::Predecessor> answers = answers_of(replay, members, returns, asked);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        rules::Predecessor& known = found[calls[i]];
        const bool within_clocks = known.within_clocks || answers[i].within_clocks;
        if (answers[i].is_jump())
            known = answers[i];
        known.doubt_clocks(within_clocks);
    }
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
            pending.push_back(
                {part.process, member.enter.call, instance.instance->bytes, decision.otherwise, queries.size(),
                 instance.inter ? std::size_t{2} : std::size_t{1},
                 rules::held_up_since(waiting_of(replay, calibration, part, member), decision.query, instance),
                 Ns{instance.instance->last_leave}, member.is_root});
            const auto ask_side = [&](Side side) {
                queries.push_back(
                    {side, part.number, decision.query, sources_of(collectives.members, part, decision.query)});
            };
            ask_side(part.side);
            if (instance.inter)
                ask_side(part.side.partner(true));
        });
    fences.answer([&](std::size_t process, CallRef call, const rules::Predecessor& predecessor) {
        answers[process].set(call, predecessor);
    });
    std::vector<rules::Predecessor> found = answers_of(replay, collectives.members, queries, pending);
    let_go(replay, collectives.members, queries, pending, found);
    for (std::size_t i = 0; i < pending.size(); ++i) {
        const Pending& p = pending[i];
        rules::Predecessor answer = found[i].route == rules::Route::Ask ? p.otherwise : found[i];
        answer.doubt_clocks(found[i].within_clocks || p.otherwise.within_clocks);
        if (found[i].is_jump())
            answer.bytes = p.bytes;
        answers[p.process].set(p.call, answer);
    }
}

}  // namespace critpath::replayer
