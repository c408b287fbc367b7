// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/tiers.hpp"

#include "replayer/exchange.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace critpath::replayer
{

using model::Ns;

namespace
{

bool leads_back(const model::Calls& calls, const Jump& jump)
{
    const std::size_t call = jump.call.call.value;
    return jump.to_enter < jump.leave && calls.enter(call) <= jump.leave &&
           (call + 1 == calls.size() || jump.leave <= calls.enter(call + 1));
}

/// What a walk in parts begins with.
struct Whole {
    Whole(const Replay& of, const Predecessors& predecessors)
        : replay(of), jumps(own_jumps(of, predecessors)), ends(agree_on_ends(of, find_ends(own_spans(of))))
    {
    }

    [[nodiscard]] bool can_be_cut() const { return all_lead_back(replay, jumps) && ends.last.valid(); }

    Pieces in_segments(const Anchors& anchors, Path& path) const
    {
        return walk_between(replay, jumps, anchors, ends, path);
    }
    Pieces by_lifting(Path& path) const { return walk_by_lifting(replay, jumps, ends, path); }

    const Replay& replay;
    JumpsByLocation jumps;
    Ends ends;
};

Size measure(const Replay& replay, const JumpsByLocation& jumps)
{
    Size size;
    for (const auto& here : jumps)
        size.jumps += here.size();
    MPI_Allreduce(MPI_IN_PLACE, &size.jumps, 1, MPI_UINT64_T, MPI_SUM, replay.comm);
    size.locations = jumps.size();
    return size;
}

}  // namespace

bool all_lead_back(const Replay& replay, const JumpsByLocation& jumps)
{
    bool here = true;
    for (const model::ProcessTrace& process : replay.processes)
        for (const model::LocationTrace& location : process.locations)
            for (std::size_t i = 0; here && i < jumps[location.location.value].size(); ++i)
                here = leads_back(location.calls, jumps[location.location.value][i]);
    return on_all(replay.comm, here);
}

Pieces in_order_of_walk(std::vector<Piece> pieces)
{
    std::ranges::sort(
        pieces, [](const Piece& a, const Piece& b) { return std::tuple(a.begin, a.end) > std::tuple(b.begin, b.end); });
    return Pieces(pieces);
}

Tier choose(const Size& size)
{
    constexpr std::uint64_t most_gathered = std::uint64_t{1} << 30;  // bytes
    if (size.jumps * sizeof(Jump) <= most_gathered)
        return Tier::Gather;
    return size.can_be_cut ? Tier::Segments : Tier::Token;
}

Tier choose(const Size& size, const Anchors& anchors)
{
    // A path is on one location at a time, and so has about as many jumps as a location.
    constexpr std::uint64_t most_hops = 10000;
    return anchors.count > 0 && anchors.most_jumps / std::max<std::uint64_t>(size.locations, 1) <= most_hops
               ? Tier::Segments
               : Tier::Lifting;
}

Pieces walk_segments(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    const Whole whole(replay, predecessors);
    return whole.can_be_cut() ? whole.in_segments(find_anchors(replay, predecessors, whole.jumps), path)
                              : gather_and_walk(replay, predecessors, path);
}

Pieces lift(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    const Whole whole(replay, predecessors);
    return whole.can_be_cut() ? whole.by_lifting(path) : gather_and_walk(replay, predecessors, path);
}

Pieces walk_as_fits(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    const Whole whole(replay, predecessors);
    Size size = measure(replay, whole.jumps);
    if (replay.size == 1 || choose(size) == Tier::Gather)
        return gather_and_walk(replay, predecessors, path);
    size.can_be_cut = whole.can_be_cut();
    if (choose(size) == Tier::Token)
        return pass_token(replay, predecessors, path);
    const Anchors anchors = find_anchors(replay, predecessors, whole.jumps);
    return choose(size, anchors) == Tier::Segments ? whole.in_segments(anchors, path) : whole.by_lifting(path);
}

}  // namespace critpath::replayer
