// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the walk along the critical path, backwards from the end of the run, over all jumps in memory. Between jumps
// the path stays on one location; what lies there is cut out later by the process that holds it. (docs/ALGORITHM, "The
// graph", 2.5 tier A)
#pragma once

#include "replayer/resolve/resolve.hpp"

#include <cstdint>
#include <optional>
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

/// A part of the path on one location: what leads to it, and a stretch on it. Plain data that travels.
struct Piece {
    static constexpr std::uint32_t by_time = UINT32_MAX;  // for end_call: all calls entered before `end`
    // For lead:
    static constexpr std::uint32_t nothing = UINT32_MAX;
    static constexpr std::uint32_t start_delay = UINT32_MAX - 1;  // the first moment of the run is another location's
    // Nothing, and the stretch is of a call in which the location had no processor while others waited for it: for
    // sure, or as it seems.
    static constexpr std::uint32_t preempted = UINT32_MAX - 2;
    static constexpr std::uint32_t perhaps_preempted = UINT32_MAX - 3;

    std::int64_t begin, stretch, end;  // ns on the trace's clock; the stretch begins where the lead ends
    std::uint32_t location;
    std::uint32_t first_call;  // first_call .. end_call - 1 lie on the stretch
    std::uint32_t end_call;
    std::uint32_t lead;  // what leads here: the jump of the location with this number, or one of the above

    [[nodiscard]] bool jumps() const { return lead < perhaps_preempted; }
    [[nodiscard]] bool is_preempted() const { return lead == preempted || lead == perhaps_preempted; }
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

/// By LocationId.
using JumpsByLocation = std::vector<JumpList>;

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

    /// One stretch on `position.location` and what leads to it, added to `pieces`; false at the first moment of the
    /// run, and at a stop.
    bool step(Position& position);

    /// The number of the last jump of the location before the position that was not taken yet; none if there is none.
    [[nodiscard]] std::optional<std::size_t> previous_jump(const Position& position) const;
    /// Whether a walk that has come to this position ends here.
    [[nodiscard]] bool is_stop(const Position& position) const;

    std::vector<Piece> pieces;  // time descending

private:
    [[nodiscard]] const Stop* previous_stop(const Position& position) const;
    void add(model::Ns begin, std::uint32_t first_call, Position& position);
    void lead(std::uint32_t what, model::Ns begin, Position& position);
    void take(std::size_t jump, Position& position);

    std::span<const LocationSpan> spans_;
    const JumpsByLocation& jumps_;
    std::span<const Stop> stops_;
    mutable std::vector<std::size_t> near_;  // by location: how many jumps were before the last position there
    std::vector<std::vector<bool>> taken_;   // by location and jump; empty if walks never return
};

}  // namespace critpath::replayer
