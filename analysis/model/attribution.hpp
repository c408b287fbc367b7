// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what of the critical path's segments is time of a place of its own: what samples find in computation, and when a
// thread had no processor; and what threads did inside of MPI. With these and the segments, the path can be divided
// anew in any part of the run.
#pragma once

#include "analysis/model/ids.hpp"

#include <cstdint>
#include <tuple>

namespace critpath::model
{

enum class AttributionKind : std::uint32_t {
    Sample,       // a point of a compute segment
    Computation,  // an interval of a compute segment
    Call,         // an interval of a segment in an MPI call, taken from the call path that the place is below
    Inside,       // a point of a segment in an MPI call, or of a transfer: what a sample saw a thread do in MPI. It is
                  // no time of that place: it tells what the time of the segment was needed for
    Spinning,     // likewise, of a segment in a call: it looked whether something had come
};
inline constexpr std::uint32_t attribution_kinds = 5;

/// One record of attribution.bin (formats/FORMAT.md): 40 bytes, little endian, those of a process together, sorted by
/// all members in the order of order(). Intervals of a process do not overlap, and each lies in one segment of the
/// path.
struct Attribution {
    std::int64_t begin;         // ns since the first moment of the run
    std::int64_t ns;            // the length of an interval; what a sample stands for, wherever in that the path was
    std::uint64_t address;      // of a sample, in its binary; 0: not known
    std::uint32_t call_path;    // CallPathId; none(): a sample of an unknown place, which stands for nothing
    std::uint32_t location;     // LocationId: of the thread whose time it is; that of the path may wait for it
    std::uint32_t independent;  // samples that this one counts as: of those of several threads at one time, one does.
                                // Of an interval 1 if the thread was found blocked there
    AttributionKind kind;

    [[nodiscard]] bool is_sample() const { return kind == AttributionKind::Sample; }
    [[nodiscard]] bool is_found() const { return kind == AttributionKind::Computation && independent != 0; }
    [[nodiscard]] bool is_inside_mpi() const
    {
        return kind == AttributionKind::Inside || kind == AttributionKind::Spinning;
    }
    [[nodiscard]] bool is_point() const { return is_sample() || is_inside_mpi(); }
    [[nodiscard]] auto order() const { return std::tuple(begin, kind, call_path, address, ns, independent, location); }
};
static_assert(sizeof(Attribution) == 40);

}  // namespace critpath::model
