// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/polling.hpp"

#include <algorithm>

namespace critpath::replayer
{

using model::Ns;

namespace
{

/// Of [begin, end), what lies in these, by `add`.
template <class Interval, class Add>
void add_overlaps(const std::vector<Interval>& intervals, Ns begin, Ns end, Add add)
{
    auto i = std::ranges::upper_bound(intervals, begin, {}, &Interval::end);
    for (; i != intervals.end() && i->begin < end; ++i)
        add(*i, std::min(end, i->end) - std::max(begin, i->begin));
}

}  // namespace

Activity activity(const model::LocationTrace& location, Ns begin, Ns end)
{
    Ns idle{0};
    Activity result;
    add_overlaps(location.off, begin, end, [&](const model::OffProcessor& off, Ns time) {
        (off.preempted ? idle : otf2::is_until_done(off.waits_for) ? result.helped : result.slept) += time;
    });
    add_overlaps(location.tool, begin, end, [&](const model::Interval&, Ns time) { idle += time; });
    result.busy = std::max(end - begin - idle - result.slept - result.helped, Ns{0});  // both may overlap
    return result;
}

bool is_idle(const model::LocationTrace& location, Ns begin, Ns end, Ns busy)
{
    return activity(location, begin, end).is_idle(busy);
}

bool is_off(const model::LocationTrace& location, Ns begin, Ns end, Ns busy)
{
    return activity(location, begin, end).by_itself().is_idle(busy);
}

Ns short_sleeps(const model::LocationTrace& location, Ns begin, Ns end, Ns longest)
{
    Ns result{0};
    add_overlaps(location.off, begin, end, [&](const model::OffProcessor& off, Ns time) {
        if (!off.preempted && otf2::is_for_a_while(off.waits_for) && off.end - off.begin <= longest)
            result += time;
    });
    return result;
}

}  // namespace critpath::replayer
