// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The walk in parts: one from each anchor to the one before, all at a time. What leaves a process goes on at the one
// that holds the location, in rounds of one exchange each.
#include "replayer/exchange.hpp"
#include "replayer/restore/anchors.hpp"
#include "replayer/restore/tiers.hpp"

#include <utility>

namespace critpath::replayer
{

namespace
{

class Parts
{
public:
    Parts(const Replay& replay, const JumpsByLocation& jumps, const Anchors& anchors, const Ends& ends)
        : replay_(replay), spans_(own_spans(replay)), walker_(spans_, jumps, Walker::Returns::Never, anchors.own),
          leaving_(static_cast<std::size_t>(replay.size))
    {
        const Position last = start_of_walk(ends);
        if (replay.owner_of(ends.last) == replay.rank)
            walk(last);
        for (const Stop& stop : anchors.own)
            if (stop.enter < ends.end)  // what comes behind is not on the path
                walk({stop.call.location.value, stop.call.call.value, stop.enter.count(), last.begin});
    }

    /// Collective.
    void run()
    {
        for (;;) {
            std::uint64_t left = 0;
            for (const auto& positions : leaving_)
                left += positions.size();
            MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_UINT64_T, MPI_SUM, replay_.comm);
            if (left == 0)
                return;
            const auto arrived = replayer::exchange(replay_.comm, leaving_);
            for (auto& positions : leaving_)
                positions.clear();
            for (const Position& position : arrived.items)
                if (walker_.is_stop(position))
                    count(position);
                else
                    walk(position);
        }
    }

    [[nodiscard]] std::uint64_t hops() const { return hops_; }
    std::vector<Piece> take_pieces() { return std::move(walker_.pieces); }

private:
    void walk(Position position)
    {
        const auto owner = [&] { return replay_.owner_of(model::LocationId{position.location}); };
        bool goes_on = true;
        while (goes_on && owner() == replay_.rank)
            goes_on = walker_.step(position);
        if (goes_on)
            leaving_[static_cast<std::size_t>(owner())].push_back(position);
        else
            count(position);
    }

    void count(const Position& end) { hops_ += end.hops; }

    const Replay& replay_;
    std::vector<LocationSpan> spans_;
    Walker walker_;
    std::vector<std::vector<Position>> leaving_;  // by the process that they go to
    std::uint64_t hops_ = 0;
};

}  // namespace

Pieces walk_between(const Replay& replay, const JumpsByLocation& jumps, const Anchors& anchors, const Ends& ends,
                    Path& path)
{
    Parts parts(replay, jumps, anchors, ends);
    parts.run();
    add_up(replay, ends, parts.hops(), 0, path);
    return in_order_of_walk(parts.take_pieces());
}

}  // namespace critpath::replayer
