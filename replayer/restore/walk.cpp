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
    for (const JumpList& here : jumps)
        near_.push_back(here.size());
    if (returns == Returns::Perhaps)
        for (const auto& here : jumps)
            taken_.emplace_back(here.size(), false);
}

std::optional<std::size_t> Walker::previous_jump(const Position& position) const
{
    const JumpList& here = jumps_[position.location];
    std::size_t& near = near_[position.location];
    std::size_t left = position.end_call == Piece::by_time ? here.until(Ns{position.time}, near)
                                                           : here.before({position.end_call}, near);
    near = left;
    while (left > 0) {
        --left;
        if (taken_.empty() || !taken_[position.location][left])
            return left;
    }
    return std::nullopt;
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

void Walker::add(Ns begin, std::uint32_t first_call, Position& position)
{
    const std::int64_t end = position.time;
    position.time = begin.count();
    pieces.push_back(
        {begin.count(), begin.count(), end, position.location, first_call, position.end_call, Piece::nothing});
}

/// Of the last piece.
void Walker::lead(std::uint32_t what, Ns begin, Position& position)
{
    pieces.back().lead = what;
    pieces.back().begin = position.time = begin.count();
}

bool Walker::step(Position& position)
{
    const auto jump = previous_jump(position);
    const JumpList& here = jumps_[position.location];
    if (const Stop* stop = previous_stop(position);
        stop != nullptr && (!jump || here.call(*jump) < stop->call.call.value)) {
        add(stop->enter, stop->call.call.value, position);
        return false;
    }
    const LocationSpan& span = spans_[position.location];
    add(std::clamp(jump ? here.leave(*jump) : span.begin, Ns{position.begin}, Ns{position.time}),
        jump ? here.call(*jump) + 1 : 0, position);
    if (jump) {
        take(*jump, position);
        return !is_stop(position);
    }
    if (span.main.value != position.location) {  // who started the thread is not recorded; its process lived before it
        ++position.hops;
        position.location = span.main.value;
        position.end_call = Piece::by_time;
        return true;
    }
    lead(Piece::start_delay, Ns{position.begin}, position);
    return false;
}

void Walker::take(std::size_t number, Position& position)
{
    if (!taken_.empty())
        taken_[position.location][number] = true;
    const Jump jump = jumps_[position.location][number];
    if (jump.to_enter > Ns{position.time})
        ++position.clock_violations;
    lead(static_cast<std::uint32_t>(number), std::clamp(jump.to_enter, Ns{position.begin}, Ns{position.time}),
         position);
    position.hops += jump.to.location.value != position.location ? 1 : 0;
    position.location = jump.to.location.value;
    position.end_call = jump.to.call.value;
}

}  // namespace critpath::replayer
