// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/send_ends.hpp"

#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer
{

std::vector<SendEnds::Detach> SendEnds::find_detaches() const
{
    constexpr auto detach = functions::FunctionId::MPI_Buffer_detach;
    std::vector<Detach> result;
    if (std::ranges::none_of(definitions_.regions, [](const model::Region& r) { return r.function == detach; }))
        return result;  // so that nobody looks at all calls
    for (const model::LocationTrace& location : trace_.locations)
        for (std::uint32_t i = 0; i < location.calls.size(); ++i)
            if (definitions_.region(location.calls.context(i)).function == detach)
                result.push_back({location.calls.enter(i), trace_.numbers.of({location.location, {i}})});
    std::ranges::sort(result, {}, &Detach::enter);
    return result;
}

std::uint32_t SendEnds::detach_behind(std::size_t send) const
{
    if (!detaches_)
        detaches_ = find_detaches();
    const Ns post = enter_of(trace_, trace_.numbers.ref(trace_.sends.post(send))).time;
    const auto found = std::ranges::upper_bound(*detaches_, post, {}, &Detach::enter);
    return found == detaches_->end() ? model::CallNumbers::none : found->number;
}

}  // namespace critpath::replayer
