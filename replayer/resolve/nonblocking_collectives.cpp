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

/// The last of those that the member needs; invalid: nobody, or it is to be asked.
Enter last_needed(const rules::Member& member, const rules::CollectiveCase& c)
{
    const rules::Instance& instance = *c.instance;
    switch (c.operation.shape) {
    case CollectiveShape::AllToAll:
        return c.inter ? later(instance.last, member.enter) : instance.last;
    case CollectiveShape::OneToAll:
        return member.is_root ? Enter{} : instance.root;
    case CollectiveShape::AllToOne:
        return member.is_root ? later(instance.last_other, member.enter) : Enter{};
    default:
        return {};
    }
}

InstanceQuery ask_prefix(const Part& part, const rules::Member& member)
{
    rules::MemberQuery query{};
    query.call = member.enter.call;
    query.exclusive_prefix = member.function == FunctionId::MPI_Iexscan;
    // The member itself is not among those that Iexscan needs.
    query.enter = query.exclusive_prefix ? model::Ns::min() : member.enter.time;
    query.leave = member.leave;
    query.rank = member.rank;
    query.shape = CollectiveShape::Prefix;
    query.may_depend = true;
    return {part.side, part.number, query};
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
        for (std::size_t p = 0; p < replay_.processes.size(); ++p)
            for (std::size_t i = 0; i < replay_.processes[p].collectives.size(); ++i)
                add(p, i);
        const auto answers = ask(replay_, collectives_.members, queries_);
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const auto& [process, collective] = asked_[i];
            const rules::Member member = collectives_.members.describe(process, collective);
            if (answers[i].is_jump())
                add(process, collective, member, answers[i].from, answers[i].within_clocks);
            else if (member.function != FunctionId::MPI_Iexscan)
                add(process, collective, member, member.enter, answers[i].within_clocks);
        }
        for (auto& of_process : result_)
            std::ranges::stable_sort(of_process, {}, &CompletedCollective::call);
        return std::move(result_);
    }

private:
    void add(std::size_t p, std::size_t i)
    {
        const model::CollectiveCall& call = replay_.processes[p].collectives[i];
        if (call.is_blocking() || !call.call.valid())
            return;
        const rules::CollectiveCase c = collectives_.of(p, i);
        if (c.operation.dependence != rules::Dependence::MembersLater || c.size < 2 || !usable(*c.instance, c.size))
            return;
        const rules::Member member = collectives_.members.describe(p, i);
        if (c.operation.shape == CollectiveShape::Prefix && !c.inter) {
            queries_.push_back(ask_prefix(collectives_.members.part(p, i), member));
            asked_.emplace_back(p, i);
        } else if (const Enter last = last_needed(member, c); last.valid()) {
            const bool needs_all = c.operation.shape != CollectiveShape::OneToAll;
            add(p, i, member, last, needs_all && rules::may_be_another(*c.instance, calibration_.clocks));
        }
    }

    void add(std::size_t p, std::size_t i, const rules::Member& member, const Enter& last, bool within_clocks)
    {
        const rules::CollectiveCase c = collectives_.of(p, i);
        const model::Ns least = calibration_.collective(member.function, c.instance->bytes, c.size);
        result_[p].push_back({replay_.processes[p].collectives[i].call,
                              {last, last.call == member.enter.call, least, c.instance->bytes, within_clocks}});
    }

    const Replay& replay_;
    const Collectives& collectives_;
    const rules::Calibration& calibration_;
    std::vector<std::vector<CompletedCollective>> result_;
    std::vector<InstanceQuery> queries_;
    std::vector<std::pair<std::size_t, std::size_t>> asked_;  // process and collective of each query
};

}  // namespace

std::vector<std::vector<CompletedCollective>>
completed_collectives(const Replay& replay, const Collectives& collectives, const rules::Calibration& calibration)
{
    return Collector(replay, collectives, calibration).run();
}

}  // namespace critpath::replayer
