// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/walk.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

using model::LocationId;
using model::Ns;

Ends find_ends(std::span<const LocationSpan> spans)
{
    Ends ends;
    for (std::uint32_t i = 0; i < spans.size(); ++i) {
        if (spans[i].empty || spans[i].main.value != i)
            continue;
        ends.begin = std::min(ends.begin, spans[i].begin);
        if (!ends.last.valid() || spans[i].end >= ends.end) {
            ends.end = spans[i].end;
            ends.last = LocationId{i};
        }
    }
    return ends;
}

Position start_of_walk(const Ends& ends)
{
    return {ends.last.value, Piece::by_time, ends.end.count(), ends.begin.count()};
}

Walker::Walker(std::span<const LocationSpan> spans, std::span<const Jump> jumps)
    : spans_(spans), jumps_(jumps), taken_(jumps.size(), false), begin_(spans.size() + 1, jumps.size())
{
    std::size_t next = 0;  // location whose jumps have not begun
    for (std::size_t i = 0; i < jumps.size(); ++i)
        while (next <= jumps[i].call.location.value)
            begin_[next++] = i;
}

/// The last jump of the location before the position that was not taken yet.
const Jump* Walker::previous_jump(const Position& position) const
{
    const auto begin = jumps_.begin() + static_cast<std::ptrdiff_t>(begin_[position.location]);
    const auto end = jumps_.begin() + static_cast<std::ptrdiff_t>(begin_[position.location + 1]);
    const Ns time{position.time};
    auto after =
        position.end_call == Piece::by_time
            ? std::partition_point(begin, end, [&](const Jump& j) { return j.leave <= time; })
            : std::partition_point(begin, end, [&](const Jump& j) { return j.call.call.value < position.end_call; });
    while (after != begin) {
        --after;
        if (!taken_[static_cast<std::size_t>(after - jumps_.begin())])
            return &*after;
    }
    return nullptr;
}

void Walker::add(Piece piece, Ns begin, Position& position)
{
    piece.begin = begin.count();
    piece.end = position.time;
    piece.location = position.location;
    pieces.push_back(piece);
    position.time = begin.count();
}

bool Walker::step(Position& position)
{
    const Jump* jump = previous_jump(position);
    const LocationSpan& span = spans_[position.location];
    const Ns begin = std::clamp(jump != nullptr ? jump->leave : span.begin, Ns{position.begin}, Ns{position.time});
    Piece stretch{};
    stretch.kind = Piece::Kind::Stretch;
    stretch.first_call = jump != nullptr ? jump->call.call.value + 1 : 0;
    stretch.end_call = position.end_call;
    add(stretch, begin, position);
    if (jump != nullptr) {
        take(*jump, position);
        return true;
    }
    if (span.main.value != position.location) {  // who started the thread is not recorded; its process lived before it
        ++position.hops;
        position.location = span.main.value;
        position.end_call = Piece::by_time;
        return true;
    }
    Piece delay{};
    delay.kind = Piece::Kind::StartDelay;
    add(delay, Ns{position.begin}, position);
    return false;
}

void Walker::take(const Jump& jump, Position& position)
{
    taken_[static_cast<std::size_t>(&jump - jumps_.data())] = true;
    if (jump.to_enter > Ns{position.time})
        ++position.clock_violations;
    Piece piece{};
    piece.kind = Piece::Kind::Jump;
    piece.from = jump.to.location.value;
    piece.bytes = jump.bytes;
    piece.region = jump.region.value;
    piece.segment_kind = jump.kind;
    piece.confidence = jump.confidence;
    add(piece, std::clamp(jump.to_enter, Ns{position.begin}, Ns{position.time}), position);
    position.hops += jump.to.location.value != position.location ? 1 : 0;
    position.location = jump.to.location.value;
    position.end_call = jump.to.call.value;
}

Walk walk(std::span<const LocationSpan> spans, std::span<const Jump> jumps)
{
    const Ends ends = find_ends(spans);
    if (!ends.last.valid())
        return {};
    Walker walker(spans, jumps);
    Position position = start_of_walk(ends);
    while (walker.step(position)) {
    }
    return {ends.begin, ends.end, std::move(walker.pieces), position.hops, position.clock_violations};
}

}  // namespace critpath::replayer
