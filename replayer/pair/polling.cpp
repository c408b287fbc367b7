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

bool is_idle(const model::LocationTrace& location, Ns begin, Ns end, Ns busy)
{
    constexpr int part = 4;  // to go to sleep for 50 us and to come back takes 9 us
    Ns idle{0}, blocked{0};
    add_overlaps(location.off, begin, end,
                 [&](const model::OffProcessor& off, Ns time) { (off.preempted ? idle : blocked) += time; });
    add_overlaps(location.tool, begin, end, [&](const model::Interval&, Ns time) { idle += time; });
    return end - begin - idle - blocked < std::max(busy, blocked / part);
}

}  // namespace critpath::replayer
