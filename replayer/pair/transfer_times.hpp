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
    /// It was under way since `start`, and over at the leave of `completion`. Evidently waited for is what was not
    /// there at the enter, or had been on its way for no longer than it was waited for after that.
    void add(Ns start, const rules::Waiting& completion, std::uint64_t bytes);

    /// What follows from the examples of all processes. Collective.
    [[nodiscard]] rules::TransferTime agree(MPI_Comm comm) const;

private:
    rules::FastestMessages fastest_, waited_for_;
};

}  // namespace critpath::replayer
