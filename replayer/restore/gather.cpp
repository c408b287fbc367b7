// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The walk on one process, which gets the jumps of all and gives the path away while it walks.
#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/restore/restore.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace critpath::replayer
{

namespace
{

constexpr int walking = 0;  // the process that walks

struct LocationEvents {
    std::uint32_t location;
    std::uint32_t main;
    std::int64_t begin, end;
    std::uint64_t jumps;  // that come to the process that walks
};

/// By location; of all at the process that walks.
struct Spans {
    std::vector<LocationSpan> spans;
    std::vector<std::uint64_t> jumps;  // as LocationEvents
};

Spans gather_spans(const Replay& replay, const JumpsByLocation& own)
{
    auto out = lists_for<LocationEvents>(replay.size);
    Spans gathered{own_spans(replay), std::vector<std::uint64_t>(replay.rank == walking ? own.size() : 0)};
    std::vector<LocationSpan>& spans = gathered.spans;
    for (std::uint32_t i = 0; i < spans.size(); ++i)
        if (!spans[i].empty)
            out[walking].push_back({i, spans[i].main.value, spans[i].begin.count(), spans[i].end.count(),
                                    replay.rank == walking ? 0 : own[i].size()});
    for (const LocationEvents& e : replayer::exchange(replay.comm, out).items) {
        spans[e.location] = {Ns{e.begin}, Ns{e.end}, {e.main}, false};
        gathered.jumps[e.location] = e.jumps;
    }
    return gathered;
}

/// All jumps of this process, one after the other.
class Outgoing
{
public:
    explicit Outgoing(const JumpsByLocation& jumps) : jumps_(jumps)
    {
        for (const JumpList& here : jumps)
            size_ += here.size();
    }

    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// The next ones, `most` or as many as there are.
    void next(std::size_t most, std::vector<Jump>& into)
    {
        for (; location_ < jumps_.size(); ++location_, i_ = 0)
            for (; i_ < jumps_[location_].size(); ++i_) {
                if (into.size() == most)
                    return;
                into.push_back(jumps_[location_][i_]);
            }
    }

private:
    const JumpsByLocation& jumps_;
    std::uint64_t size_ = 0;
    std::size_t location_ = 0, i_ = 0;
};

/// The jumps of the other processes, by location, at the one that walks. In rounds, so that nobody has them twice.
std::vector<ArrivedJumps> gather_jumps(const Replay& replay, const JumpsByLocation& own,
                                       const std::vector<std::uint64_t>& sizes)
{
    constexpr std::size_t window = 16384;  // jumps of a process in a round: 512 KiB
    Outgoing outgoing(own);
    const std::uint64_t mine = replay.rank == walking ? 0 : outgoing.size();
    std::vector<ArrivedJumps> gathered;
    agree_on_memory(replay.comm, [&] { gathered = std::vector<ArrivedJumps>(sizes.begin(), sizes.end()); });
    auto out = lists_for<Jump>(replay.size);
    for (std::uint64_t rounds = exchange_rounds(replay.comm, mine, window); rounds > 0; --rounds) {
        out[walking].clear();
        if (mine > 0)
            outgoing.next(window, out[walking]);
        for (const Jump& jump : replayer::exchange(replay.comm, out).items)
            gathered[jump.call.location.value].push_back(jump);
    }
    return gathered;
}

/// Of all processes; at the one that walks, they refer to `others`.
JumpsByLocation all_jumps(JumpsByLocation own, const std::vector<ArrivedJumps>& others)
{
    for (std::size_t location = 0; location < others.size(); ++location)
        if (others[location].size() > 0)
            own[location] = JumpList(others[location]);
    return own;
}

/// Each piece comes to who holds its location. `walker`: null on processes that do not walk. Collective.
Pieces walk(const Replay& replay, Walker* walker, Position& position)
{
    constexpr std::size_t window = 16384;  // pieces in a round: 640 KiB
    Pieces mine;
    auto out = lists_for<Piece>(replay.size);
    bool goes_on = walker != nullptr;
    do {
        if (walker != nullptr) {
            for (std::vector<Piece>& to_process : out)
                to_process.clear();
            while (goes_on && walker->pieces.size() < window)
                goes_on = walker->step(position);
            for (const Piece& piece : walker->pieces)
                out[static_cast<std::size_t>(replay.owner_of(LocationId{piece.location}))].push_back(piece);
            walker->pieces.clear();
        }
        const auto arrived = replayer::exchange(replay.comm, out);
        for (const Piece& piece : arrived.items)
            mine.push_back(piece);
    } while (on_any(replay.comm, goes_on));
    return mine;
}

}  // namespace

Pieces gather_and_walk(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    JumpsByLocation own = own_jumps(replay, predecessors);
    const auto [spans, arriving] = gather_spans(replay, own);
    const Ends ends = agree_on_ends(replay, find_ends(spans));
    if (!ends.last.valid())
        return {};
    Pieces pieces;
    Position position = start_of_walk(ends);  // stays there where nobody walks
    {
        const auto others = gather_jumps(replay, own, arriving);
        const JumpsByLocation jumps = all_jumps(std::move(own), others);
        std::optional<Walker> walker;
        if (replay.rank == walking)
            walker.emplace(spans, jumps);
        pieces = walk(replay, walker ? &*walker : nullptr, position);
    }
    add_up(replay, ends, position.hops, position.clock_violations, path);
    return pieces;
}

}  // namespace critpath::replayer
