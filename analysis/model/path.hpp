// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the critical path as data: a chain of segments, contiguous in time, from the first moment of the run to
// its end. The sum of their lengths is the makespan.
#pragma once

#include "analysis/model/ids.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

namespace critpath::model
{

enum class SegmentKind : std::uint8_t {
    StartDelay,  // before the first event of the location on which the path begins
    Compute,     // between two MPI calls
    Mpi,         // inside an MPI call that did not wait: local work (copies, packing, matching)
    Transfer,    // a message on its way: from the post that released it to the completion that it released
    Collective,  // completion of a collective after its last arriver
    Delay,       // a call took longer than its local work, and no partner explains it: progress, noise
    Tool,        // the collector's own time
    Unrecorded,  // the user had switched the recording off: nothing is known
    Thread,      // from the last thread that others waited for until they went on: the start of a team, the exit of a
                 // barrier of threads, a join
};
inline constexpr int segment_kinds = 9;

constexpr std::string_view name(SegmentKind kind)
{
    constexpr std::string_view names[segment_kinds] = {
        "start delay", "compute", "mpi", "transfer", "collective", "delay", "tool", "not recorded", "threads"};
    return names[static_cast<int>(kind)];
}

/// How sure the choice of a predecessor is.
enum class Confidence : std::uint8_t {
    Full,
    Low,           // another choice would have been within the uncertainty of costs, or it is a guess
    WithinClocks,  // another choice would have been within the error of the clocks
    Meeting,       // full, and all processes meet here; not in segments.bin
};

constexpr bool is_doubtful(Confidence confidence)
{
    return confidence == Confidence::Low || confidence == Confidence::WithinClocks;
}

/// One segment as it stands in segments.bin (formats/FORMAT.md): 40 bytes, little endian, in path order (time
/// ascending). Segments of zero length are left out.
struct Segment {
    std::int64_t begin;      // ns since the first moment of the run
    std::int64_t end;        // ns
    std::uint64_t bytes;     // of the transfer; otherwise 0
    std::uint32_t location;  // where the segment ends, as LocationId
    std::uint32_t other;     // LocationId: of a Transfer, of the other side of the message; of a Collective or Thread,
                             // where the jump begins; else = location
    std::uint32_t call;      // CallPathId of the MPI call that the segment is in or, for Compute, that ended before
                             // it; none() if there is none
    std::uint8_t kind;       // SegmentKind
    std::uint8_t low_confidence;  // Confidence; not 0: another choice of predecessor would have been possible
    std::uint16_t flags;          // of a Transfer

    static constexpr std::uint16_t sends = 1;  // the message goes from `location` to `other`, which came late
    static constexpr std::uint16_t own = 2;    // it begins with a call of the own process, which came late

    [[nodiscard]] bool is_own() const { return (flags & own) != 0; }
    /// Where the segment begins.
    [[nodiscard]] std::uint32_t origin() const { return is_own() ? location + posted_behind() : other; }
    /// It begins with a call of `origin`, a thread of the own process: how far behind `location` that stands is in the
    /// upper bits of the flags.
    void begin_with_own(std::uint32_t origin)
    {
        constexpr std::int64_t most = (std::numeric_limits<std::int16_t>::max() >> origin_shift);
        const std::int64_t behind = static_cast<std::int64_t>(origin) - location;
        flags |= own;
        if (-most <= behind && behind <= most)  // else taken to be the thread that waits
            flags |= static_cast<std::uint16_t>(static_cast<std::uint16_t>(behind) << origin_shift);
    }
    /// Of a message.
    [[nodiscard]] std::uint32_t source() const { return (flags & sends) != 0 ? location : other; }
    [[nodiscard]] std::uint32_t destination() const { return (flags & sends) != 0 ? other : location; }

private:
    static constexpr int origin_shift = 2;
    [[nodiscard]] std::uint32_t posted_behind() const
    {
        return static_cast<std::uint32_t>(static_cast<std::int16_t>(flags) >> origin_shift);
    }
};
static_assert(sizeof(Segment) == 40);

/// Whether a segment begins where it is by a jump, maybe from another location.
constexpr bool is_jump(const Segment& segment)
{
    const auto kind = static_cast<SegmentKind>(segment.kind);
    return kind == SegmentKind::Transfer || kind == SegmentKind::Collective || kind == SegmentKind::Thread;
}

/// Whether a segment is there by a decision about what comes before it: a jump, a wait that nobody else explains, or
/// what is in doubt.
constexpr bool decides(const Segment& segment)
{
    return is_jump(segment) || static_cast<SegmentKind>(segment.kind) == SegmentKind::Delay ||
           is_doubtful(static_cast<Confidence>(segment.low_confidence));
}

/// Whether a doubtful decision may have put `before_ns` of the path where they are, far from critical in truth. If it
/// is wrong, they are critical to within its own length: of 50 times as much, that is 2 %. But of a poll: if that
/// waited for nothing, nothing depends on what it found.
constexpr bool may_lead(std::int64_t decision_ns, bool is_poll, std::int64_t before_ns)
{
    return is_poll || before_ns < 50 * decision_ns;
}

}  // namespace critpath::model
