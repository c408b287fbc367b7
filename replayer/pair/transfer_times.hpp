// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what this process has seen transfers take, and the agreement of all processes on how long they take.
#pragma once

#include "replayer/rules/calibration.hpp"
#include "replayer/rules/predecessor.hpp"

#include <mpi.h>

namespace critpath::replayer
{

using model::Ns;

/// Of one link.
class TransferExamples
{
public:
    /// From its start to its end, of which somebody did nothing else but wait for it for that long. Half of it, or
    /// more, is evidence that it took so long, and did not lie there.
    void add(Ns elapsed, Ns waited, std::uint64_t bytes);
    /// Since `start`, until the call that completed it was left. `is_ender`: that waited for nothing else, if it did.
    void add(Ns start, const rules::Waiting& completion, bool is_ender, std::uint64_t bytes)
    {
        add(completion.leave - start, waited_for(completion, is_ender), bytes);
    }
    static Ns waited_for(const rules::Waiting& completion, bool is_ender)
    {
        return is_ender && completion.waited() ? completion.leave - completion.enter : Ns{0};
    }
    /// Half of its time, or more.
    static bool is_evidence(Ns elapsed, Ns waited) { return elapsed > Ns{0} && 2 * waited >= elapsed; }

    /// One of its sides waited for it until the other one came back to MPI, and so long after that. That may be less
    /// than it takes, if it had moved on by itself, so that it counts where nothing better is known.
    void add_moved(Ns elapsed, std::uint64_t bytes);

    /// What follows from the examples of all processes. Collective.
    [[nodiscard]] rules::TransferTime agree(MPI_Comm comm) const;

private:
    rules::FastestMessages fastest_, waited_for_, moved_;
};

}  // namespace critpath::replayer
