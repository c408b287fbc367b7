// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/lack.hpp"

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

std::optional<Preempted> last_preempted(const model::LocationTrace& location, Ns since, Ns until, Ns moment)
{
    const model::Calls& calls = location.calls;
    const auto call_around = [&](const model::OffProcessor& off) -> std::optional<std::size_t> {
        const auto entered = std::ranges::upper_bound(calls.enters(), off.begin) - calls.enters().begin();
        const std::size_t behind = calls.behind_last_call(static_cast<std::size_t>(entered));
        const bool is_inside = behind > 0 && calls.leave(behind - 1) >= off.end;
        return off.preempted && is_inside ? std::optional(behind - 1) : std::nullopt;
    };
    auto off = std::ranges::upper_bound(location.off, until, {}, &model::OffProcessor::end);
    while (off != location.off.begin() && (--off)->end > since) {
        const auto call = call_around(*off);
        if (!call || off->begin == off->end)  // of a damaged trace: who asks for what was before it would get it again
            continue;
        const Ns inside = std::max(since, calls.enter(*call));
        Preempted result{static_cast<std::uint32_t>(*call), inside, off->begin, off->end};
        while (off != location.off.begin()) {
            --off;
            if (!off->preempted || off->end <= inside || result.begin - off->end > moment)
                break;
            result.begin = off->begin;
        }
        result.begin = std::max(result.begin, inside);
        return result;
    }
    return std::nullopt;
}

}  // namespace critpath::replayer
