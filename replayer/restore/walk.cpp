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

Walker::Walker(std::span<const LocationSpan> spans, const JumpsByLocation& jumps, Returns returns,
               std::span<const Stop> stops)
    : spans_(spans), jumps_(jumps), stops_(stops)
{
    if (returns == Returns::Perhaps)
        for (const auto& here : jumps)
            taken_.emplace_back(here.size(), false);
}

const Jump* Walker::previous_jump(const Position& position) const
{
    const auto here = jumps_[position.location];
    const auto behind =
        position.end_call == Piece::by_time
            ? std::ranges::partition_point(here, [&](const Jump& j) { return j.leave <= Ns{position.time}; })
            : std::ranges::partition_point(here, [&](const Jump& j) { return j.call.call.value < position.end_call; });
    auto left = static_cast<std::size_t>(behind - here.begin());
    while (left > 0) {
        --left;
        if (taken_.empty() || !taken_[position.location][left])
            return &here[left];
    }
    return nullptr;
}

const Stop* Walker::previous_stop(const Position& position) const
{
    const auto behind = std::ranges::partition_point(stops_, [&](const Stop& s) {
        if (s.call.location.value != position.location)
            return s.call.location.value < position.location;
        return position.end_call == Piece::by_time ? s.enter < Ns{position.time}
                                                   : s.call.call.value < position.end_call;
    });
    if (behind == stops_.begin() || (behind - 1)->call.location.value != position.location)
        return nullptr;
    return &*(behind - 1);
}

bool Walker::is_stop(const Position& position) const
{
    const model::CallRef call{{position.location}, {position.end_call}};
    return std::ranges::binary_search(stops_, call, {}, &Stop::call);
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
    const Stop* stop = previous_stop(position);
    if (stop != nullptr && (jump == nullptr || jump->call.call < stop->call.call)) {
        Piece stretch{};
        stretch.kind = Piece::Kind::Stretch;
        stretch.first_call = stop->call.call.value;
        stretch.end_call = position.end_call;
        add(stretch, stop->enter, position);
        return false;
    }
    const LocationSpan& span = spans_[position.location];
    const Ns begin = std::clamp(jump != nullptr ? jump->leave : span.begin, Ns{position.begin}, Ns{position.time});
    Piece stretch{};
    stretch.kind = Piece::Kind::Stretch;
    stretch.first_call = jump != nullptr ? jump->call.call.value + 1 : 0;
    stretch.end_call = position.end_call;
    add(stretch, begin, position);
    if (jump != nullptr) {
        take(*jump, position);
        return !is_stop(position);
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
    if (!taken_.empty())
        taken_[position.location][static_cast<std::size_t>(&jump - jumps_[position.location].data())] = true;
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

Walk walk(std::span<const LocationSpan> spans, const JumpsByLocation& jumps)
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
