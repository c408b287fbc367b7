// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/collectives.hpp"

#include "tests/oracle/needed.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace critpath::oracle
{

namespace
{

/// The root as a rank of the communicator; in an inter-communicator, of the other group, or one of OTF2's words for
/// those of the same group.
int written_root(const Program& program, std::size_t comm, int member, int root)
{
    const auto first = program.first_groups.find(comm);
    if (root < 0 || first == program.first_groups.end())
        return root;
    const int border = static_cast<int>(first->second);
    constexpr int this_rank = -2, this_group = -3;
    if ((member < border) == (root < border))
        return member == root ? this_rank : this_group;
    return root < border ? root : root - border;
}

bool is_between_groups(const Program& program, const Step& step)
{
    return step.kind == Kind::Collective && !makes_its_own(step.function) && program.first_groups.contains(step.comm);
}

/// What comes from the other group goes through the hands of the own one. Whoever gets it at the root's side is alone.
std::vector<int> with_own_group(const Program& program, const Step& step, int member, std::vector<int> needed)
{
    if (needed.empty() || functions::info(step.function).shape == functions::CollectiveShape::AllToOne)
        return needed;
    const int border = static_cast<int>(program.first_groups.at(step.comm));
    const int size = static_cast<int>(program.comms[step.comm].size());
    for (int own = member < border ? 0 : border; own < (member < border ? border : size); ++own)
        needed.push_back(own);
    return needed;
}

/// A root gives to all, and all others give to a root.
std::vector<int> with_receivers(const Program& program, const Step& step, int member, std::vector<int> needed)
{
    const auto shape = functions::info(step.function).shape;
    if (shape == functions::CollectiveShape::OneToAll && member == step.root) {
        needed.resize(program.comms[step.comm].size());
        std::iota(needed.begin(), needed.end(), 0);
    } else if (shape == functions::CollectiveShape::AllToOne && member != step.root) {
        needed = {step.root};
    }
    return needed;
}

}  // namespace

Collectives::Collectives(World& world) : world_(world), scheduler_(world.scheduler), machine_(world.machine) {}

/// Tells all who wait for this one, and the one itself.
Posted* Collectives::join(const Node& call, const Step& step, int request)
{
    const int rank = world_.rank_of(call.rank);
    const int number = posted_[{rank, step.comm}]++;
    const int member = world_.rank_in(step.comm, rank);
    Posted* posted = world_.requests.add({call.rank, request, call, scheduler_.now(), {}});
    Part part = step.part
                    ? *step.part
                    : Part{true, true, needed_members(world_.program, step.comm, step.function, member, step.root)};
    if (machine_.by_groups && is_between_groups(world_.program, step))
        part.sources = with_own_group(world_.program, step, member, std::move(part.sources));
    std::vector<int> takers;
    if (is_held(step))
        takers = with_receivers(world_.program, step, member, {});
    else if (machine_.synchronous && !is_buffered(step) && !world_.program.first_groups.contains(step.comm))
        part.sources = with_receivers(world_.program, step, member, std::move(part.sources));
    posted->collective = CollectiveOperation{step.function,
                                             step.comm,
                                             written_root(world_.program, step.comm, member, step.root),
                                             part.gives ? step.bytes : 0,
                                             part.gets ? step.bytes : 0,
                                             posted->message.request};
    Gathering& gathering = gatherings_[{step.comm, number}];
    gathering.came[member] = call;
    gathering.parts[member] = posted;
    if (!takers.empty()) {
        part.sources = {member};
        gathering.takers[posted] = std::move(takers);
    }
    gathering.waiting.emplace_back(part.sources, posted);
    const auto has_come = [&](int one) { return gathering.came.contains(one); };
    for (auto& [needed, theirs] : gathering.waiting) {
        if (theirs == nullptr || !std::ranges::all_of(needed, has_come))
            continue;
        const auto standing = std::make_shared<Standing>(Standing{std::exchange(theirs, nullptr), {}, 0, step.bytes});
        for (const int one : needed)
            standing->since.push_back(gathering.came[one]);
        if (const auto held = gathering.takers.find(standing->posted); held != gathering.takers.end()) {
            finish_when_inside(step, standing, held->second);
            continue;
        }
        if (!stands_still(step, needed.size())) {
            finish(*standing);
            continue;
        }
        if (const int own = world_.rank_in(step.comm, world_.rank_of(standing->posted->rank));
            std::ranges::find(needed, own) == needed.end())
            needed.push_back(own);
        // Who is done may never be in a call again.
        std::erase_if(needed, [&](int one) { return gathering.parts[one]->done.has_value(); });
        if (needed.empty()) {
            finish(*standing);
            continue;
        }
        finish_when_inside(step, standing, needed);
    }
    return posted;
}

void Collectives::finish_when_inside(const Step& step, const std::shared_ptr<Standing>& standing,
                                     const std::vector<int>& members)
{
    standing->missing = members.size();
    for (const int one : members)
        world_.when_inside(world_.world_rank(step.comm, one), [this, standing](const std::optional<Node>& enter) {
            if (enter)
                standing->since.push_back(*enter);
            if (--standing->missing == 0)
                finish(*standing);
        });
}

/// What does not fit into the buffers of who gives it is taken by who gets it in any call, as the library puts it where
/// the operation finds it later.
bool Collectives::is_held(const Step& step) const
{
    return machine_.synchronous && machine_.holds_sends() && step.kind == Kind::Collective && !step.part &&
           !is_buffered(step) && !world_.program.first_groups.contains(step.comm);
}

/// On such machines, who gives so little waits for nobody.
bool Collectives::is_buffered(const Step& step) const
{
    return machine_.holds_sends() && step.kind == Kind::Collective && step.bytes <= machine_.local_limit;
}

/// A lazy machine moves on only what all are in calls for.
bool Collectives::stands_still(const Step& step, std::size_t needed) const
{
    if (machine_.progress || step.kind != Kind::Icollective || step.part)
        return false;
    const auto shape = shape_of(step.function);
    const bool is_rooted =
        shape == functions::CollectiveShape::OneToAll || shape == functions::CollectiveShape::AllToOne;
    return is_rooted
               ? machine_.synchronous && !world_.program.first_groups.contains(step.comm)
               : shape == functions::CollectiveShape::AllToAll && needed == world_.program.comms[step.comm].size();
}

/// The operation is over a while after all that it waits for.
void Collectives::finish(const Standing& standing)
{
    const std::int64_t completion = machine_.completion(standing.bytes) + world_.draw(machine_.skew);
    Done done;
    for (const Node& enter : standing.since) {
        done.because.push_back({enter, {}, completion});
        done.time = std::max(done.time, scheduler_.time_of(enter) + completion);
    }
    standing.posted->done = done;
    world_.notify_at(done.time, standing.posted->rank);
}

void Collectives::collective(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    const Posted* posted = join(call, step, -1);
    describe(call, step, *posted->collective);
    scheduler_.wait(rank, [this, call, posted, work = own_work(step)] {
        if (!world_.is_done(posted))
            return false;
        std::vector<Edge> because = posted->done->because;
        for (Edge& edge : because)
            edge.weight += work;
        scheduler_.leave(call, machine_.call + work, because);
        return true;
    });
}

/// Of calls on files that overlap, long ones look as if they had waited for each other: those that did not are as short
/// as the file system lets them be.
std::int64_t Collectives::own_work(const Step& step) const
{
    const bool waits_for_all = !step.part || step.part->sources.size() == world_.program.comms[step.comm].size();
    return waits_for_all ? step.ticks : std::min(step.ticks, machine_.file_system);
}

/// The halves of a split one are the beginning and the end of the same operation.
void Collectives::describe(const Node& call, const Step& step, CollectiveOperation operation)
{
    if (step.request >= 0)
        operation.request = Requests::id(call.rank, step.request);
    const bool is_begin = functions::semantic_class(step.function) == functions::SemanticClass::FileBegin;
    Call& described = scheduler_.call_of(call);
    (is_begin ? described.collectives_posted : described.collectives_completed).push_back(operation);
}

void Collectives::icollective(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    const Posted* posted = join(call, step, step.request);
    scheduler_.call_of(call).collectives_posted.push_back(*posted->collective);
    scheduler_.call_of(call).makes = step.makes;
    scheduler_.leave(call, machine_.call);
}

}  // namespace critpath::oracle
