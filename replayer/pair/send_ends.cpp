// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/send_ends.hpp"

#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

constexpr auto detach = functions::FunctionId::MPI_Buffer_detach;

}  // namespace

SendEnds::SendEnds(const model::Definitions& definitions, const model::ProcessTrace& trace) : trace_(trace)
{
    if (std::ranges::none_of(definitions.regions, [](const model::Region& r) { return r.function == detach; }))
        return;  // nearly always: so that nobody looks at all calls
    for (const model::LocationTrace& location : trace.locations)
        for (std::uint32_t i = 0; i < location.calls.size(); ++i)
            if (definitions.region(location.calls.context(i)).function == detach)
                detaches_.push_back({location.calls.enter(i), trace.numbers.of({location.location, {i}})});
    std::ranges::sort(detaches_, {}, &Detach::enter);
}

std::uint32_t SendEnds::detach_behind(std::size_t send) const
{
    if (detaches_.empty())
        return model::CallNumbers::none;
    const Ns post = enter_of(trace_, trace_.numbers.ref(trace_.sends.post(send))).time;
    const auto found = std::ranges::upper_bound(detaches_, post, {}, &Detach::enter);
    return found == detaches_.end() ? model::CallNumbers::none : found->number;
}

}  // namespace critpath::replayer
