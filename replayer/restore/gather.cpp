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
};

std::vector<LocationSpan> gather_spans(const Replay& replay)
{
    auto out = lists_for<LocationEvents>(replay.size);
    std::vector<LocationSpan> spans = own_spans(replay);
    for (std::uint32_t i = 0; i < spans.size(); ++i)
        if (!spans[i].empty)
            out[walking].push_back({i, spans[i].main.value, spans[i].begin.count(), spans[i].end.count()});
    for (const LocationEvents& e : replayer::exchange(replay.comm, out).items)
        spans[e.location] = {Ns{e.begin}, Ns{e.end}, {e.main}, false};
    return spans;
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

/// The jumps of the other processes, by process, at the one that walks. In rounds, so that nobody has them twice.
std::vector<std::vector<Jump>> gather_jumps(const Replay& replay, const JumpsByLocation& own)
{
    constexpr std::size_t window = 16384;  // jumps of a process in a round: 512 KiB
    Outgoing outgoing(own);
    const std::uint64_t mine = replay.rank == walking ? 0 : outgoing.size();
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(replay.rank == walking ? replay.size : 0));
    MPI_Gather(&mine, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, walking, replay.comm);
    std::vector<std::vector<Jump>> gathered(sizes.size());
    agree_on_memory(replay.comm, [&] {
        for (std::size_t p = 0; p < sizes.size(); ++p)
            gathered[p].reserve(sizes[p]);
    });
    auto out = lists_for<Jump>(replay.size);
    for (std::uint64_t rounds = exchange_rounds(replay.comm, mine, window); rounds > 0; --rounds) {
        out[walking].clear();
        if (mine > 0)
            outgoing.next(window, out[walking]);
        const auto arrived = replayer::exchange(replay.comm, out);
        for (std::size_t p = 0; p < gathered.size(); ++p) {
            const std::span<const Jump> more = arrived.from(static_cast<int>(p));
            gathered[p].insert(gathered[p].end(), more.begin(), more.end());
        }
    }
    return gathered;
}

/// Of all processes; at the one that walks, they refer to `others`.
JumpsByLocation all_jumps(JumpsByLocation own, const std::vector<std::vector<Jump>>& others)
{
    for (const std::vector<Jump>& of_process : others)  // by location and call
        for (std::span<const Jump> left = of_process; !left.empty();) {
            const LocationId location = left.front().call.location;
            const auto end = std::ranges::find_if(left, [&](const Jump& j) { return j.call.location != location; });
            const auto count = static_cast<std::size_t>(end - left.begin());
            own[location.value] = JumpList(left.first(count));
            left = left.subspan(count);
        }
    return own;
}

/// Each piece comes to who holds its location. `walker`: null on processes that do not walk. Collective.
std::vector<Piece> walk(const Replay& replay, Walker* walker, Position& position)
{
    constexpr std::size_t window = 16384;  // pieces in a round: 640 KiB
    std::vector<Piece> mine;
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
        mine.insert(mine.end(), arrived.items.begin(), arrived.items.end());
    } while (on_any(replay.comm, goes_on));
    return mine;
}

}  // namespace

std::vector<Piece> gather_and_walk(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    const auto spans = gather_spans(replay);
    const Ends ends = agree_on_ends(replay, find_ends(spans));
    if (!ends.last.valid())
        return {};
    JumpsByLocation own = own_jumps(replay, predecessors);
    const auto others = gather_jumps(replay, own);
    const JumpsByLocation jumps = all_jumps(std::move(own), others);
    std::optional<Walker> walker;
    if (replay.rank == walking)
        walker.emplace(spans, jumps);
    Position position = start_of_walk(ends);  // stays there where nobody walks
    auto pieces = walk(replay, walker ? &*walker : nullptr, position);
    add_up(replay, ends, position.hops, position.clock_violations, path);
    return pieces;
}

}  // namespace critpath::replayer
