// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/members.hpp"

#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <optional>

namespace critpath::replayer
{

namespace
{

/// Where a process stands in a communicator.
struct Place {
    Side side;
    std::uint32_t rank = 0;
};

/// Nothing for a process that the definitions do not list.
std::optional<Place> place_of(const model::Definitions& definitions, model::CommId id, model::ProcessId process)
{
    const model::Communicator& comm = definitions.communicators[id.value];
    if (comm.is_self)
        return Place{Side::of(id), 0};
    for (const std::uint32_t side : {0U, 1U}) {
        const auto& group = side == 0 ? comm.members : comm.remote;
        // In the communicator of all, everybody is at the place of its number.
        const bool is_at_its_number = process.value < group.size() && group[process.value] == process;
        const auto found = is_at_its_number ? group.begin() + process.value : std::ranges::find(group, process);
        if (found != group.end())
            return Place{Side::of(id, side), static_cast<std::uint32_t>(found - group.begin())};
    }
    return std::nullopt;
}

/// Its rank among the members of both sides: those of the second one are behind those of the first.
std::uint32_t rank_of_both(const model::Definitions& definitions, const Place& place)
{
    const model::Communicator& comm = definitions.communicators[place.side.comm().value];
    return (place.side.group() == 0 ? 0 : static_cast<std::uint32_t>(comm.members.size())) + place.rank;
}

/// MPI_Comm_create_group, MPI_Intercomm_create, and MPI_Comm_accept, _connect and _join of processes of the trace, are
/// no operations of a communicator that was there before, but of the one that they make.
bool makes_its_own(const model::Definitions& definitions, functions::FunctionId function, model::CommId comm)
{
    const auto semantic_class = functions::semantic_class(function);
    return semantic_class == functions::SemanticClass::CommCreateGroup ||
           (semantic_class == functions::SemanticClass::CommDynamic && comm.valid() &&
            definitions.communicators[comm.value].is_inter);
}

/// A creation on an inter-communicator is no operation between its sides: all members have to agree on it.
bool is_of_both(const model::Definitions& definitions, functions::FunctionId function, model::CommId comm)
{
    const auto semantic_class = functions::semantic_class(function);
    return (semantic_class == functions::SemanticClass::CommCreate ||
            semantic_class == functions::SemanticClass::CommIdup) &&
           comm.valid() && definitions.communicators[comm.value].is_inter;
}

/// Their beginnings and their ends may each be the blocking operation (MPI-3.1, 13.4.5).
bool is_split(functions::FunctionId function)
{
    return functions::semantic_class(function) == functions::SemanticClass::FileBegin;
}

}  // namespace

Members::Members(const Replay& replay) : replay_(replay)
{
    const auto& communicators = replay.definitions.communicators;
    for (std::uint32_t id = 0; id < communicators.size(); ++id) {
        if (!communicators[id].is_inter)
            continue;
        auto& both = both_groups_[{id}];
        both = communicators[id].members;
        both.insert(both.end(), communicators[id].remote.begin(), communicators[id].remote.end());
    }
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        add(p);
}

void Members::add(std::size_t process)
{
    const model::ProcessTrace& trace = replay_.processes[process];
    struct Joined {
        Place place;
        std::size_t member;  // index into sides_[place.side]
    };
    std::unordered_map<model::CommId, std::optional<Joined>> joined;
    const auto join = [&](model::CommId comm) -> const std::optional<Joined>& {
        auto [entry, is_new] = joined.try_emplace(comm);
        if (const auto place = is_new ? place_of(replay_.definitions, comm, trace.process) : std::nullopt) {
            auto& members = sides_[place->side.value];
            entry->second = Joined{*place, members.size()};
            members.push_back({process, place->rank, {}});
        }
        return entry->second;
    };
    const auto calls_of_member = [&](const Joined& member) -> std::vector<std::uint32_t>& {
        return sides_[member.place.side.value][member.member].calls;
    };
    auto skipped = trace.skipped.begin();
    // What was not recorded has its turn all the same. Never negative: a collective cannot be cancelled.
    const auto pass_skipped = [&](model::Ns before) {
        for (; skipped != trace.skipped.end() && skipped->time < before; ++skipped) {
            if (skipped->what != model::Skipped::What::Collective || skipped->count <= 0)
                continue;
            if (const auto& member = join(skipped->comm)) {
                auto& calls = calls_of_member(*member);
                calls.resize(calls.size() + static_cast<std::size_t>(skipped->count), MemberCalls::none);
            }
        }
    };
    for (std::size_t i = 0; i < trace.collectives.size(); ++i) {
        const model::CollectiveCall& collective = trace.collectives[i];
        const auto index = static_cast<std::uint32_t>(i);
        const auto function = function_of(replay_.definitions, trace, collective);
        if (makes_its_own(replay_.definitions, function, collective.comm)) {
            add_creation(process, index);
            continue;
        }
        pass_skipped(enter_of(trace, collective.begin()).time);
        if (const auto& member = join(collective.comm)) {
            auto& calls = calls_of_member(*member);
            const bool is_for_both = is_of_both(replay_.definitions, function, collective.comm);
            calls.push_back(is_for_both ? MemberCalls::none : index);
            const std::size_t number = calls.size() - 1;
            if (is_for_both)
                add_numbered(Side::both(collective.comm), process, rank_of_both(replay_.definitions, member->place),
                             number, index);
            else if (is_split(function) && !collective.is_blocking() && collective.call.valid())
                add_numbered(Side::ends(collective.comm), process, member->place.rank, number, index);
        }
    }
    for (const auto& [comm, member] : joined)
        if (member)
            calls_of_member(*member).shrink_to_fit();
}

void Members::add_creation(std::size_t process, std::uint32_t collective)
{
    const model::ProcessTrace& trace = replay_.processes[process];
    const auto place = place_of(replay_.definitions, trace.collectives[collective].comm, trace.process);
    if (!place)
        return;
    auto& members = sides_[Side::creators(place->side.comm()).value];
    if (members.empty() || members.back().process != process)
        members.push_back({process, rank_of_both(replay_.definitions, *place), {}});
    members.back().calls.push_back(collective);
}

void Members::add_numbered(Side side, std::size_t process, std::uint32_t rank, std::size_t number,
                           std::uint32_t collective)
{
    auto& members = sides_[side.value];
    if (members.empty() || members.back().process != process)
        members.push_back({process, rank, {}});
    auto& calls = members.back().calls;
    calls.resize(number, MemberCalls::none);
    calls.push_back(collective);
}

bool Members::is_root(const Part& part, const model::CollectiveCall& call) const
{
    if (is_inter(part.side))
        return call.root == model::CollectiveCall::this_rank;
    return call.root >= 0 && (static_cast<std::uint32_t>(call.root) == part.rank || size(part.side) == 1);
}

const std::vector<MemberCalls>& Members::of(Side side) const
{
    static const std::vector<MemberCalls> nobody;
    const auto found = sides_.find(side.value);
    return found == sides_.end() ? nobody : found->second;
}

rules::Member Members::describe(const Part& part) const
{
    const model::ProcessTrace& trace = replay_.processes[part.process];
    const model::CollectiveCall call = trace.collectives[part.collective];
    const model::CallRef in = part.side.is_ends() ? call.call : call.begin();
    const auto begun = function_of(replay_.definitions, trace, call);
    const bool is_blocking = call.is_blocking() || is_split(begun);
    const model::CallRef left = is_blocking ? in : call.call;
    const auto function = part.side.is_ends() ? function_of(replay_.definitions, trace, in) : begun;
    const bool has_amounts = operation(function, call.root).has_amounts;
    return {enter_of(trace, in),
            left.valid() ? leave_of(trace, left) : model::Ns::max() / 2,  // no wait can end after it
            function,
            part.rank,
            call.root,
            is_root(part, call),
            std::max(call.sent, call.received),
            !has_amounts || call.sent > 0,
            !has_amounts || call.received > 0,
            replay_.definitions.processes[trace.process.value].clock_domain,
            replay_.definitions.uncertainty(trace.process),
            is_blocking};
}

rules::Operation Members::operation(functions::FunctionId function, std::int32_t root)
{
    if (function >= functions::FunctionId::count)
        return rules::unlisted_collective();
    rules::Operation result = rules::operation(function);
    result.may_pass = root == model::CollectiveCall::no_precede;
    return result;
}

bool Members::is_inter(Side side) const
{
    return side.group() < 2 && replay_.definitions.communicators[side.comm().value].is_inter;
}

const std::vector<model::ProcessId>& Members::group(Side side) const
{
    const model::Communicator& comm = replay_.definitions.communicators[side.comm().value];
    if ((side.is_creators() || side.is_both()) && comm.is_inter)
        return both_groups_.at(side.comm());
    return side.group() == 1 ? comm.remote : comm.members;
}

std::optional<std::span<const std::uint32_t>> Members::in_neighbours(const Part& part) const
{
    const model::Graphs& graphs = replay_.processes[part.process].graphs;
    const model::Neighbours& of_grid = replay_.definitions.communicators[part.side.comm().value].neighbours;
    if (const auto graph = graphs.find(part.side.comm()); graph != graphs.end())
        return graph->second;
    if (of_grid.known(part.rank))
        return of_grid.of(part.rank);
    return std::nullopt;
}

std::size_t Members::size(Side side) const
{
    return replay_.definitions.communicators[side.comm().value].is_self ? 1 : group(side).size();
}

}  // namespace critpath::replayer
