// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a piece of the path becomes segments, on the process that holds its location: computation between calls,
// the calls on the path, and the collector's own time carved out of both.
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/analysis.hpp"
#include "replayer/resolve/resolve.hpp"
#include "replayer/restore/restore.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// The segments of one piece, time ascending, without empty ones, a few at a time: a piece may be as long as the run.
/// Times count from `origin`. Segment::call is a ContextId here.
class PieceCutter
{
public:
    PieceCutter(const Piece& piece, const model::LocationTrace& trace, const LocationPredecessors& predecessors,
                model::Ns origin);

    /// Adds what leads to the piece, which comes first. Of a jump, `arrival`: where a message was there at last, and
    /// the rest is the call's own time; else the same as Piece::stretch. `is_own`: it is from a call of the same
    /// process.
    void add_start_delay(std::vector<model::Segment>& out);
    void add_jump(const KnownJump& jump, model::Ns arrival, bool is_own, std::vector<model::Segment>& out);
    /// Adds the next segments until there are at least `enough` in `out`; false if the piece is at its end.
    bool next(std::vector<model::Segment>& out, std::size_t enough);

private:
    using Intervals = std::vector<model::Interval>;

    void next_call(std::vector<model::Segment>& out);
    void add(model::Ns begin, model::Ns end, const model::Segment& like, std::vector<model::Segment>& out);
    void carve(model::Ns begin, model::Ns end, const model::Segment& like, std::vector<model::Segment>& out);
    void add_recorded(model::Ns begin, model::Ns end, const model::Segment& like, std::vector<model::Segment>& out);
    void push(model::Ns begin, model::Ns end, const model::Segment& like, std::vector<model::Segment>& out) const;
    [[nodiscard]] Through through_call(model::Ns enter, model::Ns leave) const;
    [[nodiscard]] model::ContextId context_before(std::size_t call) const;

    const Piece& piece_;
    const model::LocationTrace& trace_;
    const LocationPredecessors& predecessors_;
    model::Ns origin_;
    model::Ns time_;  // up to here it is cut
    std::size_t call_ = 0;
    std::size_t end_call_ = 0;
    bool at_end_ = false;
    Intervals::const_iterator unrecorded_, tool_;  // the first that may end behind time_
};

/// Cuts the pieces of a path that are of owned locations, in order of time. Talks to nobody.
class PathCutter
{
public:
    struct Part {
        std::size_t piece;  // index into Path::pieces
        std::span<const model::Segment> segments;
    };

    /// All must outlive this.
    PathCutter(const Replay& replay, const Predecessors& predecessors, const Path& path)
        : replay_(replay), predecessors_(predecessors), path_(path)
    {
    }

    /// The next segments of one piece, perhaps none; they live until the next call. Nothing if there are no more.
    std::optional<Part> next();
    /// The jump that leads to a piece of the path.
    [[nodiscard]] KnownJump jump_of(const Piece& piece) const;
    /// When the message was there by the jump that leads to a piece of the path, as far as it was not the lack of a
    /// processor that the piece had to wait for after that.
    [[nodiscard]] model::Ns arrival_by(const KnownJump& jump, const Piece& piece) const;

private:
    struct Place {
        const model::LocationTrace& trace;
        const LocationPredecessors& predecessors;
    };
    void begin_piece(const Piece& piece);
    [[nodiscard]] bool has_own_lead(const Piece& piece, const KnownJump& jump) const;
    [[nodiscard]] model::ProcessId process_of(model::LocationId location) const;
    [[nodiscard]] Place place_of(const Piece& piece) const;

    const Replay& replay_;
    const Predecessors& predecessors_;
    const Path& path_;
    std::size_t piece_ = 0;
    std::optional<PieceCutter> cutter_;  // of piece_
    std::vector<model::Segment> segments_;
};

}  // namespace critpath::replayer
