// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/led.hpp"

namespace critpath::report
{

using model::Confidence;
using model::Segment;

bool LedSegments::has(std::size_t segment)
{
    if (model::is_doubtful(static_cast<Confidence>(path_[segment].low_confidence)))
        return true;
    if (model::decides(path_[segment]))
        return false;
    if (segment < begin_ || segment >= end_)
        look_around(segment);
    return are_led_;
}

/// A decision, or a change of location by one that takes no time.
bool LedSegments::ends_before(std::size_t segment) const
{
    return model::decides(path_[segment]) || path_[segment].location != path_[segment - 1].location;
}

void LedSegments::look_around(std::size_t segment)
{
    begin_ = segment;
    while (begin_ > 0 && !model::decides(path_[begin_ - 1]) && !ends_before(begin_))
        --begin_;
    end_ = segment + 1;
    while (end_ < path_.size() && !ends_before(end_))
        ++end_;
    are_led_ = false;
    if (end_ == path_.size())
        return;
    const Segment& next = path_[end_];
    if (next.location != path_[end_ - 1].location && !model::is_jump(next))
        return;
    const auto confidence = static_cast<Confidence>(next.low_confidence);
    const std::int64_t error = confidence == Confidence::WithinClocks ? clock_error_ns_ : 0;
    are_led_ = model::is_doubtful(confidence) && model::may_lead(next.end - next.begin + error, is_poll_({next.call}),
                                                                 path_[end_ - 1].end - path_[begin_].begin);
}

}  // namespace critpath::report
