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

/// How far it holds, which it does up to some length, `most` at most.
template <class Holds>
Ns longest(Ns most, Holds holds)
{
    Ns yes{0}, no = std::chrono::microseconds{64};
    for (; no < most && holds(no); no *= 2)
        yes = no;
    if (no >= most) {
        if (holds(most))
            return most;
        no = most;
    }
    while (no - yes > Ns{1}) {
        const Ns middle = yes + (no - yes) / 2;
        (holds(middle) ? yes : no) = middle;
    }
    return yes;
}

/// All that is done by itself or for it, and sleeps.
Ns used(const model::LocationTrace& location, Ns begin, Ns end)
{
    const Activity done = activity(location, begin, end);
    return done.worked() + done.slept;
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

Ns work_since(const model::LocationTrace& location, Ns end, Ns work, Ns least)
{
    return end -
           longest(std::max(end - least, Ns{0}), [&](Ns back) { return used(location, end - back, end) <= work; });
}

Ns work_until(const model::LocationTrace& location, Ns begin, Ns work, Ns most)
{
    return begin +
           longest(std::max(most - begin, Ns{0}), [&](Ns on) { return used(location, begin, begin + on) <= work; });
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
