// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/nonblocking_collectives.hpp"

#include "replayer/collect/queries.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using functions::CollectiveShape;
using functions::FunctionId;
using rules::Enter;

const Enter& later(const Enter& a, const Enter& b)
{
    return !a.valid() || (b.valid() && b.order() > a.order()) ? b : a;
}

/// Of an operation between groups, what the other group gives may be on its way before the own post. That counts if it
/// comes last, but not if less than half of what the operation takes is left of the call then: it may take half as long
/// as is known, but hardly less.
Enter later_between_groups(const Enter& giver, const rules::Member& member, model::Ns least)
{
    return giver.valid() && 2 * (member.leave - member.enter.time) < least ? giver : later(giver, member.enter);
}

/// The last of those that the member needs; invalid: nobody, or it is to be asked. `least`: what the operation takes.
Enter last_needed(const rules::Member& member, const rules::CollectiveCase& c, model::Ns least)
{
    const rules::Instance& instance = *c.instance;
    if (rules::gets_nothing(instance, member) && c.operation.shape != CollectiveShape::AllToOne)
        return {};
    const Enter giver = rules::last_giver(instance, c.operation);
    switch (c.operation.shape) {
    case CollectiveShape::AllToAll:
        return c.inter ? later_between_groups(giver, member, least) : giver;
    case CollectiveShape::OneToAll:
        return member.is_root ? Enter{} : instance.root;
    case CollectiveShape::AllToOne:
        if (!member.is_root || !giver.valid())
            return {};
        return c.inter ? later_between_groups(giver, member, least) : later(giver, member.enter);
    default:
        return {};
    }
}

/// Whether the members have to be looked at one by one.
bool is_asked(const rules::Member& member, const rules::CollectiveCase& c)
{
    if (c.inter || rules::gets_nothing(*c.instance, member))
        return false;
    return c.operation.shape == CollectiveShape::Prefix ||
           (c.operation.shape == CollectiveShape::AllToAll && c.operation.some_give) ||
           (c.operation.shape == CollectiveShape::Neighbour && c.neighbours_known);
}

/// Since the one came that all members wait for, or, of an all-to-all operation, since the last of all came, until the
/// first has it behind itself. The same for all members, so that one answer serves them all.
Period held_up(const rules::CollectiveCase& c)
{
    const rules::Instance& instance = *c.instance;
    if (c.inter)
        return {};
    switch (c.operation.shape) {
    case CollectiveShape::AllToAll:
        return {instance.last.time, std::max(instance.last.time, model::Ns{instance.first_leave})};
    case CollectiveShape::OneToAll:
        return instance.root.valid() ? Period{instance.root.time, model::Ns::max()} : Period{};
    default:
        return {};
    }
}

/// Whether its own post is among those that the member needs.
bool needs_itself(FunctionId function)
{
    return function == FunctionId::MPI_Iscan;
}

InstanceQuery question(const Members& members, const Part& part, const rules::Member& member,
                       const rules::CollectiveCase& c, model::Ns least)
{
    rules::MemberQuery query{};
    query.call = member.enter.call;
    query.exclusive_prefix = member.function == FunctionId::MPI_Iexscan;
    query.enter = needs_itself(member.function) ? member.enter.time : model::Ns::min();
    query.since = query.enter;
    query.leave = member.leave;
    query.rank = member.rank;
    query.shape = c.operation.shape;
    query.some_give = c.operation.some_give;
    query.completion = query.some_give ? least : model::Ns{0};
    query.may_depend = true;
    return {part.side, part.number, query, sources_of(members, part, query)};
}

class Collector
{
public:
    Collector(const Replay& replay, const Collectives& collectives, const rules::Calibration& calibration)
        : replay_(replay), collectives_(collectives), calibration_(calibration), result_(replay.processes.size())
    {
    }

    std::vector<std::vector<CompletedCollective>> run()
    {
        collectives_.for_each_open([&](const Part& part, const rules::Member& member, const rules::CollectiveCase& c) {
            add(part, member, c);
        });
        const auto answers = ask(replay_, collectives_.members, queries_);
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const Asked& asked = asked_[i];
            if (answers[i].is_jump())
                add(asked, answers[i].from, answers[i].within_clocks);
            else if (needs_itself(asked.function) || answers[i].route == rules::Route::Completion)
                add(asked, asked.enter, answers[i].within_clocks);
            else if (answers[i].within_clocks)
                add(asked, {}, true);
            else
                add_free(asked);
        }
        for (auto& of_process : result_)
            std::ranges::stable_sort(of_process, {}, &CompletedCollective::call);
        return std::move(result_);
    }

private:
    /// A part, and what is needed of it for its answer.
    struct Asked {
        std::size_t process;
        model::CallRef call;
        FunctionId function;
        Enter enter;
        std::uint64_t bytes;
        model::Ns least, limit;
        Side side, other;
        std::uint32_t number;
        model::Ns last_post;
        Period held_up;
    };

    void add(const Part& part, const rules::Member& member, const rules::CollectiveCase& c)
    {
        const model::CollectiveCall call = replay_.processes[part.process].collectives[part.collective];
        if (call.is_blocking() || !call.call.valid() || c.operation.dependence != rules::Dependence::MembersLater)
            return;
        const Asked asked{part.process,
                          call.call,
                          member.function,
                          member.enter,
                          c.instance->bytes,
                          least(member, c),
                          calibration_.collective_limit(member.function, c.instance->bytes, c.size),
                          part.side,
                          part.side.partner(c.inter),
                          part.number,
                          c.inter ? model::Ns::min() : c.instance->last.time,
                          held_up(c)};
        if (c.is_alone()) {
            add(asked, member.enter, false);
        } else if (is_asked(member, c)) {
            queries_.push_back(question(collectives_.members, part, member, c, asked.least));
            asked_.push_back(asked);
        } else if (const Enter last = last_needed(member, c, asked.least); last.valid()) {
            const bool needs_all = c.operation.shape != CollectiveShape::OneToAll;
            add(asked, last, needs_all && rules::may_be_another_giver(*c.instance, c.operation, calibration_.clocks));
        } else {
            add_free(asked);
        }
    }

    void add_free(const Asked& asked)
    {
        add(asked, asked.enter, false);
        result_[asked.process].back().gathered.needs_nobody = true;
    }

    void add(const Asked& asked, const Enter& last, bool within_clocks)
    {
        result_[asked.process].push_back(
            {asked.call,
             {last, last.call == asked.enter.call, asked.least, asked.bytes, within_clocks},
             asked.side,
             asked.other,
             asked.number,
             asked.limit,
             asked.last_post,
             asked.held_up});
    }

    [[nodiscard]] model::Ns least(const rules::Member& member, const rules::CollectiveCase& c) const
    {
        return calibration_.collective(member.function, c.instance->bytes, c.size);
    }

    const Replay& replay_;
    const Collectives& collectives_;
    const rules::Calibration& calibration_;
    std::vector<std::vector<CompletedCollective>> result_;
    std::vector<InstanceQuery> queries_;
    std::vector<Asked> asked_;  // by query
};

}  // namespace

std::vector<std::vector<CompletedCollective>>
completed_collectives(const Replay& replay, const Collectives& collectives, const rules::Calibration& calibration)
{
    return Collector(replay, collectives, calibration).run();
}

}  // namespace critpath::replayer
