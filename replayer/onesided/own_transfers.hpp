// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what each transfer between windows, and the call that completed it, tell of the time that such transfers take.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/waited_messages.hpp"
#include "replayer/rules/calibration.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Whether the call may have waited for something else than a transfer between windows.
bool may_end_by_others(functions::FunctionId function);

/// Transfers that took so long that they may have stood still. Where the targets moved on a quarter of them, and more
/// than one, all of them did, though that is not seen of each: a target hardly comes back that often by chance when one
/// is over.
class LongTransfers
{
public:
    static bool is_one(model::Ns in_call, std::uint64_t bytes) { return in_call > 2 * rules::usual_transfer(bytes); }

    void add_moved_on(rules::Link link) { ++numbers_[static_cast<std::size_t>(link)].moved_on; }
    /// As TransferExamples::add().
    void add_other(rules::Link link, model::Ns elapsed, model::Ns waited, std::uint64_t bytes)
    {
        ++numbers_[static_cast<std::size_t>(link)].others;
        others_.push_back({link, elapsed, waited, bytes});
    }

    /// Adds those that took their time to `examples`. Collective.
    void teach(MPI_Comm comm, ExamplesByLink& examples);

private:
    struct Numbers {
        std::int64_t moved_on = 0, others = 0;
    };
    struct Other {
        rules::Link link;
        model::Ns elapsed, waited;
        std::uint64_t bytes;
    };

    static constexpr std::int64_t least_moved_on = 2;

    std::array<Numbers, rules::links> numbers_{};
    std::vector<Other> others_;
};

/// By link, of the owned processes. Of transfers that somebody waited for, those count as moved whose targets were
/// outside of MPI meanwhile: they may have stood still. Collective over `replay.comm`.
ExamplesByLink own_transfers(const Replay& replay, const rules::CallCosts& costs);

}  // namespace critpath::replayer
