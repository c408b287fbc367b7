// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which segments of a path a doubtful decision behind them has put there. (docs/ALGORITHM, "Uncertainty")
#pragma once

#include "analysis/model/path.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace critpath::report
{

/// Looks around a segment as far as the decisions on both sides, and remembers these: all segments in turn take one
/// pass.
class LedSegments
{
public:
    /// `path` must outlive this. `clock_error_ns`: as fact clock_uncertainty_ns. `is_poll`: of the call of a segment.
    using IsPoll = std::function<bool(model::CallPathId call)>;
    LedSegments(std::span<const model::Segment> path, std::int64_t clock_error_ns, IsPoll is_poll)
        : path_(path), clock_error_ns_(clock_error_ns), is_poll_(std::move(is_poll))
    {
    }

    /// Whether a segment is in doubt itself, or where it is by the next decision, which is.
    bool has(std::size_t segment);

private:
    void look_around(std::size_t segment);
    [[nodiscard]] bool ends_before(std::size_t segment) const;

    std::span<const model::Segment> path_;
    std::int64_t clock_error_ns_;
    IsPoll is_poll_;
    std::size_t begin_ = 0, end_ = 0;  // of segments that are the same in that
    bool are_led_ = false;
};

}  // namespace critpath::report
