// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/shift.hpp"

namespace critpath::replayer::clocks
{

namespace
{

template <class Stretches>
void shift_stretches(Stretches& stretches, const Curve& curve)
{
    for (auto& stretch : stretches) {
        stretch.begin = curve(stretch.begin);
        stretch.end = curve(stretch.end);
    }
}

template <class Moments>
void shift_moments(Moments& moments, const Curve& curve)
{
    for (auto& moment : moments)
        moment.time = curve(moment.time);
}

model::Calls shifted(const model::Calls& calls, const Curve& curve)
{
    model::Calls result;
    result.reserve(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (calls.is_point(i)) {
            result.add_point(curve(calls.enter(i)));
            continue;
        }
        result.add(curve(calls.enter(i)), curve(calls.leave(i)), calls.context(i));
        result.set_size_bucket(i, calls.size_bucket(i));
    }
    return result;
}

}  // namespace

void shift(model::ProcessTrace& trace, const Curve& curve)
{
    if (curve.is_identity())
        return;
    for (model::LocationTrace& location : trace.locations) {
        location.begin = curve(location.begin);
        location.end = curve(location.end);
        location.calls = shifted(location.calls, curve);
        shift_stretches(location.tool, curve);
        shift_stretches(location.unrecorded, curve);
        shift_stretches(location.off, curve);
        shift_moments(location.samples, curve);
        shift_moments(location.user_regions, curve);
    }
    shift_moments(trace.skipped, curve);
}

}  // namespace critpath::replayer::clocks
