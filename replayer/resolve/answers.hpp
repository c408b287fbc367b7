// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the critical predecessor of each leave of a call, as data, and how it is put together.
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/analysis.hpp"
#include "replayer/resolve/jumps.hpp"
#include "replayer/rules/calibration.hpp"
#include "replayer/rules/predecessor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// How the path goes through a call without a jump.
struct Through {
    model::SegmentKind kind : 6 = model::SegmentKind::Mpi;  // Mpi, Delay or Collective
    model::Confidence confidence : 2 = model::Confidence::Full;
};
static_assert(sizeof(Through) == 1, "there is one a call");

/// Predecessors of one location.
struct LocationPredecessors {
    JumpTable jumps;
    std::vector<Through> through;  // by call; means nothing for calls with a jump
};

struct Predecessors {
    std::vector<std::vector<LocationPredecessors>> processes;  // as Replay::processes, by location
    std::vector<bool> alone;                                   // calls_alone()
    // Of the whole trace: jumps of collectives that lead forward in time, and collectives that somebody left before all
    // had come, by more than the clocks are off.
    std::uint64_t clock_violations = 0;
    // What messages, and transfers between windows, take at the least, whichever takes longer: by Link.
    std::array<std::array<rules::TransferTime, 2>, rules::links> transfer;

    [[nodiscard]] model::Ns transfer_time(rules::Link link, std::uint64_t bytes) const
    {
        const auto& [message, one_sided] = transfer[static_cast<std::size_t>(link)];
        return std::max(message.of(bytes), one_sided.of(bytes));
    }
};

/// The predecessors of one process, as far as they are known.
class ProcessAnswers
{
public:
    ProcessAnswers(const Replay& replay, std::size_t process);

    /// Enters the answer for the leave of `call`. Route::Ask is no answer.
    void set(model::CallRef call, const rules::Predecessor& predecessor);
    /// What ended the call. The last of many polls is work unless they waited for somebody; with a doubt, where the
    /// clocks are too far off to tell.
    void set_end(model::CallRef call, const rules::Predecessor& predecessor, bool polls);

    /// Sorts the jumps; nothing can be set afterwards.
    std::vector<LocationPredecessors> finish();

private:
    const model::ProcessTrace& trace_;
    std::vector<LocationPredecessors> locations_;
};

}  // namespace critpath::replayer
