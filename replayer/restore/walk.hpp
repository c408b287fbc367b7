// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the walk along the critical path, backwards from the end of the run, over all jumps in memory. Between jumps
// the path stays on one location; what lies there is cut out later by the process that holds it. (docs/ALGORITHM, "The
// graph", 2.5 tier A)
#pragma once

#include "replayer/resolve/resolve.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// What the walk has to know of a location besides its jumps.
struct LocationSpan {
    model::Ns begin{};
    model::Ns end{};         // last event of the application
    model::LocationId main;  // first location of the same process
    bool empty = true;       // nothing was recorded
};

/// A part of the path on one location, or a jump.
struct Piece {
    enum class Kind : std::uint8_t { Stretch, Jump, StartDelay };

    static constexpr std::uint32_t by_time = UINT32_MAX;  // for end_call: all calls entered before `end`

    std::int64_t begin, end;   // ns on the trace's clock
    std::uint64_t bytes;       // Jump
    std::uint32_t location;    // Jump: where it leaves from, looking backwards (where the path arrives in time)
    std::uint32_t from;        // Jump: where the path comes from
    std::uint32_t region;      // Jump: of the call that waited
    std::uint32_t first_call;  // Stretch: the calls first_call .. end_call - 1 lie on the path
    std::uint32_t end_call;
    Kind kind;
    model::SegmentKind segment_kind;  // Jump
    model::Confidence confidence;     // Jump
    std::uint8_t padding;
};

/// The first moment of the run, and where and when it ends: on the main location with the last application event (ties:
/// the largest location). By these locations, which are all of the trace or those of one process.
struct Ends {
    model::Ns begin = model::Ns::max();
    model::Ns end = model::Ns::min();
    model::LocationId last = model::LocationId::none();  // none: no main location has an event
};
Ends find_ends(std::span<const LocationSpan> spans);

/// Where a walk stands, and what it has counted so far: all that the next step depends on besides the jumps. Plain data
/// that may travel to the process that holds the jumps of `location`.
struct Position {
    std::uint32_t location;
    std::uint32_t end_call = Piece::by_time;
    std::int64_t time;
    std::int64_t begin;                  // first moment of the run
    std::uint64_t hops = 0;              // changes of location
    std::uint64_t clock_violations = 0;  // jumps on the path that had to be clipped
};
/// At the end of the run.
Position start_of_walk(const Ends& ends);

/// The jumps of each location, ascending by call; by LocationId.
using JumpsByLocation = std::vector<std::span<const Jump>>;

/// The enter of a call at which a walk may end, because another one begins there.
struct Stop {
    model::CallRef call;
    model::Ns enter{};
};

/// Walks on the locations whose jumps it knows.
class Walker
{
public:
    /// Whether a walk can come by a jump again. (A clock that contradicts the others can lead it in a circle.)
    enum class Returns : bool { Never, Perhaps };

    /// `spans`: by location. `stops` are sorted by location and call, and no stop's call has a jump. All must outlive
    /// this.
    Walker(std::span<const LocationSpan> spans, const JumpsByLocation& jumps, Returns returns = Returns::Perhaps,
           std::span<const Stop> stops = {});

    /// One stretch on `position.location` and what is before it, added to `pieces`; false at the first moment of the
    /// run, and at a stop.
    bool step(Position& position);

    /// The last jump of the location before the position that was not taken yet; null if there is none.
    [[nodiscard]] const Jump* previous_jump(const Position& position) const;
    /// Whether a walk that has come to this position ends here.
    [[nodiscard]] bool is_stop(const Position& position) const;

    std::vector<Piece> pieces;  // time descending

private:
    [[nodiscard]] const Stop* previous_stop(const Position& position) const;
    void add(Piece piece, model::Ns begin, Position& position);
    void take(const Jump& jump, Position& position);

    std::span<const LocationSpan> spans_;
    const JumpsByLocation& jumps_;
    std::span<const Stop> stops_;
    std::vector<std::vector<bool>> taken_;  // by location and jump; empty if walks never return
};

struct Walk {
    model::Ns begin{};  // first moment of the run
    model::Ns end{};
    std::vector<Piece> pieces;           // time descending
    std::uint64_t hops = 0;              // changes of location
    std::uint64_t clock_violations = 0;  // jumps on the path that had to be clipped
};

/// Walks back from the main location with the last application event (ties: the largest location) to the first moment
/// of the run, which is the first event of any main location. Jumps that lead forward in time are clipped. A walk ends
/// after at most as many jumps as there are: one that comes by again is not taken a second time.
Walk walk(std::span<const LocationSpan> spans, const JumpsByLocation& jumps);

}  // namespace critpath::replayer
