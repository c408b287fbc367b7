// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/met_calls.hpp"

#include "replayer/exchange.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace critpath::replayer
{

namespace
{

/// A call waited for another one in a collective.
struct Meeting {
    model::CallRef other;
    std::uint32_t context;
};

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

class Finder
{
public:
    Finder(const Replay& replay, const std::vector<model::ContextId>& plain, const std::vector<std::uint32_t>& group_of,
           std::uint32_t no_group)
        : replay_(replay), plain_(plain), group_of_(group_of), no_group_(no_group), to_(lists_for<Meeting>(replay.size))
    {
    }

    /// Some of its jumps, evenly: what meets at all does so often, or matters little.
    void add(const model::LocationTrace& location, const JumpTable& jumps)
    {
        constexpr std::size_t most = 4096;
        const std::size_t step = jumps.size() / most + 1;
        for (std::size_t i = 0; i < jumps.size(); i += step) {
            const std::uint32_t call = jumps.call(i);
            if (location.calls.is_point(call) ||
                group_of_[plain_[location.calls.context(call).value].value] == no_group_)
                continue;
            const KnownJump jump = jumps.known(i, location);
            if (jump.kind == model::SegmentKind::Collective)
                to_[static_cast<std::size_t>(replay_.owner_of(jump.to.location))].push_back(
                    {jump.to, plain_[jump.context.value].value});
        }
    }

    /// Contexts that have met, each pair once.
    Pairs take() const
    {
        Pairs pairs;
        for (const Meeting& meeting : replayer::exchange(replay_.comm, to_).items) {
            const model::Calls& calls = replay_.trace_of(meeting.other.location).calls;
            if (calls.is_point(meeting.other.call.value))
                continue;
            const std::uint32_t other = plain_[calls.context(meeting.other.call.value).value].value;
            if (other != meeting.context && group_of_[other] == group_of_[meeting.context])
                pairs.emplace_back(std::min(other, meeting.context), std::max(other, meeting.context));
        }
        std::ranges::sort(pairs);
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        return pairs;
    }

private:
    const Replay& replay_;
    const std::vector<model::ContextId>& plain_;
    const std::vector<std::uint32_t>& group_of_;
    std::uint32_t no_group_;
    std::vector<std::vector<Meeting>> to_;  // by process of the replay
};

/// Everybody gets the smallest number of all that pairs of any process connect it with.
void spread(const Replay& replay, const Pairs& pairs, std::vector<std::uint32_t>& smallest)
{
    bool has_changed = true;
    while (on_any(replay.comm, std::exchange(has_changed, false))) {
        const std::vector<std::uint32_t> before = smallest;
        for (const auto& [a, b] : pairs)
            smallest[a] = smallest[b] = std::min(smallest[a], smallest[b]);
        MPI_Allreduce(MPI_IN_PLACE, smallest.data(), static_cast<int>(smallest.size()), MPI_UINT32_T, MPI_MIN,
                      replay.comm);
        has_changed = smallest != before;
    }
}

}  // namespace

std::vector<std::uint32_t> find_met_calls(const Replay& replay, const Predecessors& predecessors,
                                          const std::vector<model::ContextId>& plain,
                                          const std::vector<std::uint32_t>& group_of, std::uint32_t no_group)
{
    Finder finder(replay, plain, group_of, no_group);
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        if (!replay.processes[p].locations.empty())
            finder.add(replay.processes[p].locations.front(), predecessors.processes[p].front().jumps);
    std::vector<std::uint32_t> smallest(group_of.size());
    std::iota(smallest.begin(), smallest.end(), 0U);
    spread(replay, finder.take(), smallest);
    return smallest;
}

}  // namespace critpath::replayer
