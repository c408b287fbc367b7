// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/queries.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace critpath::replayer
{

namespace
{

// Questions of one process in one round, and members of the instances that they are about.
constexpr std::size_t most_questions = 65536;
constexpr std::size_t most_members = std::size_t{1} << 20;

/// What has to be known of the members.
enum class Wanted : std::uint32_t {
    Parts,         // when they came, and left
    Returns,       // when they came back to MPI, of a non-blocking operation
    OtherReturns,  // likewise, of a blocking one, in other calls
};

struct InstanceName {
    std::uint32_t side, number;
    Wanted wanted;
    Period held_up;
    auto operator<=>(const InstanceName&) const = default;
};

Wanted wanted_for(const rules::MemberQuery& question)
{
    if (!question.returns)
        return Wanted::Parts;
    return question.may_release ? Wanted::OtherReturns : Wanted::Returns;
}

InstanceName name_of(const InstanceQuery& query)
{
    return {query.side.value, query.number, wanted_for(query.question), query.held_up};
}

struct Question {
    InstanceName instance;
    std::uint32_t index;    // of the query at the asking process
    std::uint32_t sources;  // so many, which travel by themselves
    rules::MemberQuery question;
};

struct KnownMember {
    InstanceName instance;
    rules::MemberInfo member;
};

struct Answer {
    std::uint32_t index;
    rules::Predecessor predecessor;
};

/// Spreads the instances of one communicator over the processes.
std::size_t home_of(const Replay& replay, InstanceName name)
{
    return (Side{name.side}.comm().value + name.number) % static_cast<std::size_t>(replay.size);
}

/// Asks the holders of the members of the wanted instances for what they know.
Received<InstanceName> request_members(const Replay& replay, const Members& members,
                                       const std::vector<Question>& questions)
{
    std::vector<InstanceName> wanted;
    wanted.reserve(questions.size());
    for (const Question& q : questions)
        wanted.push_back(q.instance);
    std::ranges::sort(wanted);
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    auto requests = lists_for<InstanceName>(replay.size);
    for (const InstanceName name : wanted) {
        int previous = -1;  // members are in rank order and processes in blocks: mostly the same again
        for (const model::ProcessId process : members.group({name.side})) {
            const int owner = replay.owner_of(process);
            auto& list = requests[static_cast<std::size_t>(owner)];
            if (owner != previous && (list.empty() || list.back() != name))
                list.push_back(name);
            previous = owner;
        }
    }
    return replayer::exchange(replay.comm, requests);
}

/// Those that differ only where posts count.
void add_returns(const InstanceName& name, const std::vector<rules::MemberInfo>& with_posts,
                 const std::vector<rules::MemberInfo>& without, std::vector<KnownMember>& known)
{
    const std::size_t first = known.size();
    for (const rules::MemberInfo& member : with_posts)
        known.push_back({name, member});
    const auto end = known.size();
    for (const rules::MemberInfo& member : without) {
        const auto is_same = [&](const KnownMember& other) {
            return member.enter.call == other.member.enter.call && member.leave == other.member.leave;
        };
        const auto same = std::find_if(known.begin() + first, known.begin() + end, is_same);
        if (same == known.begin() + end)
            known.push_back({name, member});
        else
            same->member.longer = std::max(same->member.longer, member.longer);
    }
}

void add_known(const Replay& replay, const Members& members, const Part& part, const InstanceName& name,
               std::vector<KnownMember>& known)
{
    switch (name.wanted) {
    case Wanted::Parts: {
        const auto m = members.describe(part);
        known.push_back({name, {m.enter, m.leave, m.rank, m.is_root, m.gives}});
        break;
    }
    case Wanted::Returns:
        add_returns(name, member_came_back(replay, part, name.held_up, ProgressCalls::Posts::Look),
                    member_came_back(replay, part, name.held_up, ProgressCalls::Posts::DoNotLook), known);
        break;
    case Wanted::OtherReturns:
        add_returns(name, member_came_back_elsewhere(replay, part, name.held_up, ProgressCalls::Posts::Look),
                    member_came_back_elsewhere(replay, part, name.held_up, ProgressCalls::Posts::DoNotLook), known);
        break;
    }
}

/// What this process knows of the instances that others asked for.
std::vector<std::vector<KnownMember>> own_parts(const Replay& replay, const Members& members,
                                                const Received<InstanceName>& requests)
{
    auto parts = lists_for<KnownMember>(replay.size);
    for (std::size_t home = 0; home < parts.size(); ++home)
        for (const InstanceName name : requests.from(static_cast<int>(home)))
            members.for_each_part(
                {name.side}, 1, [&](std::size_t) { return name.number; },
                [&](const Part& part, std::size_t) { add_known(replay, members, part, name, parts[home]); });
    return parts;
}

/// Indices of queries, those about one instance one after the other.
std::vector<std::uint32_t> by_instance(const std::vector<InstanceQuery>& queries)
{
    std::vector<std::uint32_t> order(queries.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return name_of(queries[i]); });
    return order;
}

/// Where the rounds of this process end, as indices into `order`.
std::vector<std::size_t> ends_of_rounds(const Members& members, const std::vector<InstanceQuery>& queries,
                                        const std::vector<std::uint32_t>& order)
{
    std::vector<std::size_t> ends;
    std::size_t begin = 0;
    std::size_t wanted = 0;  // members, in the round
    for (std::size_t i = 0; i < order.size(); ++i) {
        const InstanceQuery& q = queries[order[i]];
        const std::size_t size = members.group(q.side).size();
        bool is_known = i > begin && name_of(q) == name_of(queries[order[i - 1]]);
        if (i - begin == most_questions || (i > begin && !is_known && wanted + size > most_members)) {
            ends.push_back(i);
            begin = i;
            wanted = 0;
            is_known = false;
        }
        wanted += is_known ? 0 : size;
    }
    if (begin < queries.size())
        ends.push_back(queries.size());
    return ends;
}

std::vector<std::vector<Answer>> answers(const Replay& replay, const Received<Question>& questions,
                                         const Received<std::uint32_t>& sources, const std::vector<KnownMember>& parts)
{
    const rules::ClockUncertainty clocks(replay.definitions);
    std::map<InstanceName, std::vector<rules::MemberInfo>> known;
    for (const KnownMember& part : parts)
        known[part.instance].push_back(part.member);
    std::map<InstanceName, rules::InstanceMembers> instances;
    for (auto& [name, members] : known)
        instances.emplace(name, std::exchange(members, {}));
    auto result = lists_for<Answer>(replay.size);
    for (std::size_t asker = 0; asker < result.size(); ++asker) {
        auto rest = sources.from(static_cast<int>(asker));
        for (const Question& q : questions.from(static_cast<int>(asker))) {
            const auto own = rest.first(q.sources);
            rest = rest.subspan(q.sources);
            result[asker].push_back({q.index, rules::answer(q.question, instances[q.instance], clocks, own)});
        }
    }
    return result;
}

}  // namespace

std::span<const std::uint32_t> sources_of(const Members& members, const Part& part, const rules::MemberQuery& query)
{
    const auto sources =
        query.shape == functions::CollectiveShape::Neighbour ? members.in_neighbours(part) : std::nullopt;
    return sources.value_or(std::span<const std::uint32_t>{});
}

std::vector<rules::Predecessor> ask(const Replay& replay, const Members& members,
                                    const std::vector<InstanceQuery>& queries)
{
    std::vector<rules::Predecessor> result(queries.size());
    const std::vector<std::uint32_t> order = by_instance(queries);
    std::vector<std::size_t> ends = ends_of_rounds(members, queries, order);
    ends.resize(exchange_rounds(replay.comm, ends.size(), 1), queries.size());
    std::size_t i = 0;
    for (const std::size_t end : ends) {
        auto out = lists_for<Question>(replay.size);
        auto out_sources = lists_for<std::uint32_t>(replay.size);
        for (; i < end; ++i) {
            const InstanceQuery& q = queries[order[i]];
            const InstanceName name = name_of(q);
            const std::size_t home = home_of(replay, name);
            out[home].push_back({name, order[i], static_cast<std::uint32_t>(q.sources.size()), q.question});
            out_sources[home].insert(out_sources[home].end(), q.sources.begin(), q.sources.end());
        }
        const auto questions = replayer::exchange(replay.comm, out);
        const auto sources = replayer::exchange(replay.comm, out_sources);
        const auto requests = request_members(replay, members, questions.items);
        const auto parts = replayer::exchange(replay.comm, own_parts(replay, members, requests));
        for (const Answer& answer :
             replayer::exchange(replay.comm, answers(replay, questions, sources, parts.items)).items)
            result[answer.index] = answer.predecessor;
    }
    return result;
}

}  // namespace critpath::replayer
