// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/lack.hpp"

#include <algorithm>

namespace critpath::replayer
{

using model::Ns;

Ns lacks_processor_since(const model::LocationTrace& location, Ns begin, Ns end, Ns transfer)
{
    constexpr Ns usual = std::chrono::microseconds{20};  // a look whether it is there, and back, takes that at most
    const Ns arrival = begin + transfer;
    Ns taking = 4 * transfer;  // once it has found the message, it may have run so long before the call ended
    Ns running = usual;        // before that so long: longer, and it would have found it
    Ns since = end;
    auto off = std::ranges::lower_bound(location.off, end, {}, &model::OffProcessor::begin);
    for (Ns back = end; off != location.off.begin(); back = off->begin) {
        --off;
        running -= std::max(Ns{0}, back - off->end - taking);
        taking = Ns{0};
        if (!off->preempted || running < Ns{0} || off->end <= arrival)
            break;
        since = std::max(off->begin, arrival);
        if (off->begin <= arrival)
            break;
    }
    return std::min(since, end);
}

}  // namespace critpath::replayer
