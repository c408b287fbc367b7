// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/instances.hpp"

#include "replayer/exchange.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using rules::Instance;

constexpr std::size_t window = 4096;  // instances a reduction: as many as stay in the cache
constexpr std::size_t windows_in_flight = 8;

void merge_instances(void* in, void* inout, int* count, MPI_Datatype*)
{
    const auto* from = static_cast<const Instance*>(in);
    auto* into = static_cast<Instance*>(inout);
    for (int i = 0; i < *count; ++i)
        into[i].merge(from[i]);
}

/// The reduction operation and its datatype, for as long as they are needed.
class Reduction
{
public:
    Reduction()
    {
        MPI_Type_contiguous(sizeof(Instance), MPI_BYTE, &type_);
        MPI_Type_commit(&type_);
        MPI_Op_create(merge_instances, 1, &op_);
    }
    Reduction(const Reduction&) = delete;
    Reduction& operator=(const Reduction&) = delete;
    ~Reduction()
    {
        MPI_Op_free(&op_);
        MPI_Type_free(&type_);
    }

    /// Merges the vectors of all processes, a window at a time, several of them under way.
    void all(MPI_Comm comm, std::vector<Instance>& instances) const
    {
        std::vector<MPI_Request> requests;
        for (std::size_t begin = 0; begin < instances.size(); begin += window) {
            const auto length = static_cast<int>(std::min(window, instances.size() - begin));
            MPI_Iallreduce(MPI_IN_PLACE, instances.data() + begin, length, type_, op_, comm, &requests.emplace_back());
            if (requests.size() == windows_in_flight)
                finish(requests);
        }
        finish(requests);
    }

private:
    static void finish(std::vector<MPI_Request>& requests)
    {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        requests.clear();
    }

    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
};

/// The longest of the owned members' sequences, merged over them.
std::vector<Instance> own_part(const Members& members, Side side)
{
    std::vector<Instance> result;
    for (const MemberCalls& member : members.of(side)) {
        result.resize(std::max(result.size(), member.calls.size()));
        for (std::size_t n = 0; n < member.calls.size(); ++n)
            if (member.calls[n] != MemberCalls::none)
                result[n].add(members.describe(member.process, member.calls[n]));
    }
    return result;
}

void count(const std::vector<Instance>& instances, std::size_t size, Instances& result)
{
    for (const Instance& instance : instances) {
        if (instance.members == 0)
            continue;  // not recorded by anybody
        ++result.count;
        result.incomplete += instance.members < size ? 1 : 0;
        result.mismatched += instance.mismatched() ? 1 : 0;
    }
}

/// Processes of the replay that hold members of the side, ascending.
std::vector<int> owners(const Replay& replay, const Members& members, Side side)
{
    std::vector<int> result;
    for (const model::ProcessId process : members.group(side))
        result.push_back(replay.owner_of(process));
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

/// Length of the instance sequence of each side, over all processes.
std::vector<std::uint32_t> agree_on_lengths(const Replay& replay, const Members& members)
{
    std::vector<std::uint32_t> lengths(2 * replay.definitions.communicators.size(), 0);
    for (const auto& [side, list] : members.sides())
        for (const MemberCalls& member : list)
            lengths[side] = std::max(lengths[side], static_cast<std::uint32_t>(member.calls.size()));
    MPI_Allreduce(MPI_IN_PLACE, lengths.data(), static_cast<int>(lengths.size()), MPI_UINT32_T, MPI_MAX, replay.comm);
    return lengths;
}

struct Numbered {
    std::uint32_t side, number;
    Instance instance;
};

bool has_members(const Members& members, Side side)
{
    return !members.of(side).empty() || !members.of(side.partner(members.is_inter(side))).empty();
}

/// Sides that are reduced at one process: partial knowledge goes there, the whole comes back to whoever has members.
void reduce_small(const Replay& replay, const Members& members, const std::vector<Side>& sides, Instances& result)
{
    const auto home_of = [&](Side side) {
        return static_cast<std::size_t>(side.value / 2) % static_cast<std::size_t>(replay.size);
    };
    std::vector<std::vector<Numbered>> to_home(static_cast<std::size_t>(replay.size));
    for (const Side side : sides) {
        const auto part = own_part(members, side);
        for (std::uint32_t n = 0; n < part.size(); ++n)
            to_home[home_of(side)].push_back({side.value, n, part[n]});
    }
    std::unordered_map<std::uint32_t, std::vector<Instance>> whole;
    for (const Numbered& item : replayer::exchange(replay.comm, to_home).items) {
        auto& instances = whole[item.side];
        instances.resize(std::max<std::size_t>(instances.size(), item.number + 1));
        instances[item.number].merge(item.instance);
    }
    std::vector<std::vector<Numbered>> back(static_cast<std::size_t>(replay.size));
    for (const auto& [value, instances] : whole) {
        const Side side{value};
        count(instances, members.size(side), result);
        auto to = owners(replay, members, side);
        if (members.is_inter(side))
            for (const int more : owners(replay, members, side.partner(true)))
                if (std::ranges::find(to, more) == to.end())
                    to.push_back(more);
        for (const int process : to)
            for (std::uint32_t n = 0; n < instances.size(); ++n)
                back[static_cast<std::size_t>(process)].push_back({value, n, instances[n]});
    }
    for (const Numbered& item : replayer::exchange(replay.comm, back).items) {
        auto& instances = result.by_side[item.side];
        instances.resize(std::max<std::size_t>(instances.size(), item.number + 1));
        instances[item.number] = item.instance;
    }
}

/// Every process is alone on MPI_COMM_SELF, whatever others do on theirs.
bool is_private(const Replay& replay, Side side)
{
    return replay.definitions.communicators[side.comm().value].is_self;
}

}  // namespace

const rules::Instance& Instances::at(Side side, std::uint32_t number) const
{
    static const Instance nothing;
    const auto found = by_side.find(side.value);
    if (found == by_side.end() || number >= found->second.size())
        return nothing;
    return found->second[number];
}

Instances reduce_instances(const Replay& replay, const Members& members)
{
    Instances result;
    const auto lengths = agree_on_lengths(replay, members);
    const Reduction reduction;
    std::vector<Side> small;
    for (std::uint32_t value = 0; value < lengths.size(); ++value) {
        const Side side{value};
        if (lengths[value] == 0 || is_private(replay, side))
            continue;
        if (4 * owners(replay, members, side).size() <= static_cast<std::size_t>(replay.size)) {
            small.push_back(side);
            continue;
        }
        std::vector<Instance> instances = own_part(members, side);
        instances.resize(lengths[value]);
        reduction.all(replay.comm, instances);
        if (replay.rank == 0)
            count(instances, members.size(side), result);
        if (has_members(members, side))
            result.by_side[value] = std::move(instances);
    }
    reduce_small(replay, members, small, result);
    std::uint64_t counts[3] = {result.count, result.incomplete, result.mismatched};
    MPI_Allreduce(MPI_IN_PLACE, counts, 3, MPI_UINT64_T, MPI_SUM, replay.comm);
    result.count = counts[0];
    result.incomplete = counts[1];
    result.mismatched = counts[2];
    return result;
}

bool usable(const rules::Instance& instance, std::size_t size)
{
    return instance.members >= size && !instance.mismatched();
}

}  // namespace critpath::replayer
