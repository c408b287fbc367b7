// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/came_back.hpp"

#include "replayer/pair/progress.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace critpath::replayer
{

using model::Ns;

rules::Enter came_back(const Replay& replay, model::ProcessId process, Ns enter, Ns leave, Ns after)
{
    const model::ProcessTrace& trace = replay.trace_of(process);
    if (trace.locations.empty())
        return {};
    const model::LocationTrace& main = trace.locations.front();
    const model::Calls& calls = main.calls;
    const Ns unexplained = std::max(leave - after, enter) - enter;
    const Ns middle = enter + unexplained / 2;  // it was outside then, or not mostly
    const auto found = std::ranges::upper_bound(calls.enters(), middle) - calls.enters().begin();
    const ProgressCalls looks(replay.definitions, trace, main.location);
    const std::size_t behind = looks.behind_last(static_cast<std::size_t>(found));
    const std::size_t next = looks.next(static_cast<std::size_t>(found));
    if (next == calls.size() || calls.enter(next) >= leave)
        return {};
    const Ns outside_since = behind > 0 ? std::max(enter, calls.leave(behind - 1)) : enter;
    if (2 * (calls.enter(next) - outside_since) <= unexplained)
        return {};
    return {{main.location, {static_cast<std::uint32_t>(next)}}, calls.enter(next)};
}

std::array<Ns, 4> telling_errors(const Replay& replay, model::ProcessId process, Ns due, Ns error)
{
    std::array<Ns, 4> result = {-error, error, -error, error};
    const model::ProcessTrace& trace = replay.trace_of(process);
    if (trace.locations.empty())
        return result;
    const model::Calls& calls = trace.locations.front().calls;
    const auto found = static_cast<std::size_t>(std::ranges::upper_bound(calls.enters(), due) - calls.enters().begin());
    if (const std::size_t behind = calls.behind_last_call(found); behind > 0)
        result[2] = std::max(-error, calls.enter(behind - 1) - due);
    if (const std::size_t next = calls.next_call(found); next != calls.size())
        result[3] = std::min(error, calls.enter(next) - due);
    return result;
}

}  // namespace critpath::replayer
