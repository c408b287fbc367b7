// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/lack.hpp"

#include <algorithm>

namespace critpath::replayer
{

using model::Ns;

Ns lacks_processor_since(const model::LocationTrace& location, Ns begin, Ns end, Ns transfer)
{
    constexpr Ns usual = std::chrono::microseconds{20};  // from when it is back until the call returns, at most
    const Ns arrival = begin + transfer;
    Ns running = 4 * transfer + usual;  // so long it may have run: longer, and it would have found the message
    Ns since = end;
    auto off = std::ranges::lower_bound(location.off, end, {}, &model::OffProcessor::begin);
    for (Ns back = end; off != location.off.begin(); back = off->begin) {
        --off;
        running -= std::max(Ns{0}, back - off->end);
        if (!off->preempted || running < Ns{0} || off->end <= arrival)
            break;
        since = std::max(off->begin, arrival);
        if (off->begin <= arrival)
            break;
    }
    return std::min(since, end);
}

}  // namespace critpath::replayer
