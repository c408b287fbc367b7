// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/collect.hpp"

#include "replayer/common_bits.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

using model::Ns;
using rules::CollectiveKey;

constexpr std::size_t member_buckets = 33;
constexpr std::size_t keys =
    static_cast<std::size_t>(functions::FunctionId::count) * rules::size_buckets * member_buckets;

std::size_t index_of(const CollectiveKey& key)
{
    return (static_cast<std::size_t>(key.function) * rules::size_buckets + static_cast<std::size_t>(key.bytes_bucket)) *
               member_buckets +
           static_cast<std::size_t>(key.members_bucket);
}

CollectiveKey key_at(std::size_t index)
{
    return {static_cast<functions::FunctionId>(index / member_buckets / rules::size_buckets),
            static_cast<int>(index / member_buckets % rules::size_buckets), static_cast<int>(index % member_buckets)};
}

/// Looks at all instances as they come by.
class Observer
{
public:
    Observer(const Replay& replay, const rules::Calibration& calibration, const Conclude& conclude, Collectives& result)
        : replay_(replay), clocks_(calibration.clocks), conclude_(conclude), result_(result)
    {
        for (const model::Process& process : replay.definitions.processes)
            result.last_arrivals.resize(
                std::max<std::size_t>(result.last_arrivals.size(), process.clock_domain.value + 1));
    }

    void see(Side side, std::uint32_t first, std::span<const rules::Instance> instances)
    {
        const Side dependent = side.partner(result_.members.is_inter(side));
        const std::size_t size = result_.members.size(side);
        std::vector<bool> is_open(instances.size());
        result_.members.for_each_part(
            dependent, instances.size(), [&](std::size_t i) { return first + static_cast<std::uint32_t>(i); },
            [&](const Part& part, std::size_t i) {
                if (usable(instances[i], size) && !see(part, instances[i]))
                    is_open[i] = true;
            });
        std::vector<Collectives::Open>& open = result_.open[side.value];
        for (std::size_t i = 0; i < instances.size(); ++i)
            if (is_open[i])
                open.push_back({first + static_cast<std::uint32_t>(i), instances[i]});
    }

    /// Puts the fastest completion of each kind of collective into `calibration`. Collective.
    void learn(rules::Calibration& calibration) const;

private:
    /// Whether it is concluded.
    bool see(const Part& part, const rules::Instance& instance)
    {
        const rules::Member member = result_.members.describe(part);
        const rules::CollectiveCase c = result_.case_of(part, member, instance);
        if (member.function < functions::FunctionId::count && last_is_needed(part, c))
            learn_from(part, member, c);
        if (!c.inter)
            count_last(part, member, c);
        return conclude_(part, member, c);
    }

    /// Whether the last one to come is one that the member needs, as far as that is no question of shapes alone.
    [[nodiscard]] bool last_is_needed(const Part& part, const rules::CollectiveCase& c) const
    {
        if (c.operation.shape != functions::CollectiveShape::Neighbour)
            return true;
        const auto ranks = result_.members.in_neighbours(part);
        const model::CallRef last = c.instance->last.call;
        if (!ranks || !last.valid())
            return false;
        const model::ProcessId process = replay_.definitions.locations[last.location.value].process;
        const std::vector<model::ProcessId>& group = result_.members.group(part.side);
        return std::ranges::any_of(*ranks, [&](std::uint32_t rank) { return group[rank] == process; });
    }

    /// Of an operation that does not block, the wait for it, or for all of several things: it took no longer.
    [[nodiscard]] std::optional<rules::Waiting> wait_of(const Part& part, const rules::Member& member) const
    {
        const model::ProcessTrace& trace = replay_.processes[part.process];
        const model::CallRef in = trace.collectives[part.collective].call;
        if (member.is_blocking)
            return rules::Waiting{member.enter.call, member.enter.time, member.leave, Ns{0}, Ns{0}};
        if (!in.valid())
            return std::nullopt;
        const auto function = function_of(replay_.definitions, trace, in);
        if (function != functions::FunctionId::MPI_Wait && function != functions::FunctionId::MPI_Waitall)
            return std::nullopt;
        return rules::Waiting{in, enter_of(trace, in).time, member.leave, Ns{0}, Ns{0}};
    }

    void learn_from(const Part& part, const rules::Member& member, const rules::CollectiveCase& c)
    {
        const std::optional<rules::Waiting> call = wait_of(part, member);
        const Ns example = call ? rules::completion_example(*call, member, c) : Ns{-1};
        // Who is outside of MPI may have held up what does not block.
        const bool may_be_held_up =
            !member.is_blocking && example > rules::usual_completion(member.function, c.instance->bytes, c.size);
        if (example < Ns{0} || may_be_held_up)
            return;
        const CollectiveKey key{rules::timed_as(member.function), rules::size_bucket(c.instance->bytes),
                                rules::size_bucket(c.size)};
        if (latest_ == nullptr || latest_->first != key)
            latest_ = &*fastest_.try_emplace(key, example).first;
        latest_->second = std::min(latest_->second, example);
    }

    void count_last(const Part& part, const rules::Member& member, const rules::CollectiveCase& c)
    {
        const rules::Instance& instance = *c.instance;
        const bool came_last = instance.last.call == member.enter.call;
        if (came_last && rules::needs_all(member.function, member.bytes) &&
            instance.first_leave < (instance.last.time - clocks_.largest()).count())
            ++result_.left_too_early;
        if (member.is_blocking && !c.operation.sync_tested &&
            c.operation.shape == functions::CollectiveShape::AllToAll && instance.rival().valid() &&
            rules::last_arriver(instance, clocks_).enter.call == member.enter.call)
            ++result_.last_arrivals[clock_of(part).value];
    }

    [[nodiscard]] model::NodeId clock_of(const Part& part) const
    {
        return replay_.definitions.processes[replay_.processes[part.process].process.value].clock_domain;
    }

    const Replay& replay_;
    const rules::ClockUncertainty& clocks_;
    const Conclude& conclude_;
    Collectives& result_;
    std::map<CollectiveKey, Ns> fastest_;
    std::pair<const CollectiveKey, Ns>* latest_ = nullptr;  // of fastest_: calls are often of the same kind as before
};

void Observer::learn(rules::Calibration& calibration) const
{
    CommonBits present(keys);
    for (const auto& [key, ns] : fastest_)
        present.set(index_of(key));
    present.agree(replay_.comm);
    std::vector<CollectiveKey> agreed;
    std::vector<std::int64_t> least;
    for (const std::size_t index : present.numbers()) {
        agreed.push_back(key_at(index));
        const auto found = fastest_.find(agreed.back());
        least.push_back(found == fastest_.end() ? INT64_MAX : found->second.count());
    }
    MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T, MPI_MIN, replay_.comm);
    for (std::size_t i = 0; i < agreed.size(); ++i)
        calibration.collectives.set(agreed[i], Ns{least[i]});
    calibration.collectives_unseen = false;
}

}  // namespace

rules::CollectiveCase Collectives::case_of(const Part& part, const rules::Member& member,
                                           const rules::Instance& instance) const
{
    const bool inter = members.is_inter(part.side);
    const rules::Operation operation = Members::operation(member.function, member.root);
    const bool neighbours_known =
        operation.shape == functions::CollectiveShape::Neighbour && members.in_neighbours(part).has_value();
    return {operation, inter, neighbours_known, members.size(part.side.partner(inter)), &instance};
}

Collectives collect(const Replay& replay, rules::Calibration& calibration, ReduceInstances reduce,
                    const Conclude& conclude)
{
    Collectives result(replay);
    calibration.collectives_unseen = true;
    Observer observer(replay, calibration, conclude, result);
    result.counts = reduce(replay, result.members, [&](Side side, std::uint32_t first, auto instances) {
        observer.see(side, first, instances);
    });
    observer.learn(calibration);
    return result;
}

}  // namespace critpath::replayer
