// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way back: what a sender has to know of the receive that got its message, one small message for each send
// that wants it. (Seed, section 4, step 1, figure 3)
#pragma once

#include "replayer/pair/pair.hpp"
#include "replayer/pair/records.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace critpath::replayer::literal
{

/// Answers on their way: those that this process has for others, and how many it gets from each.
struct Answers {
    std::vector<ReplyRecord> outgoing;
    std::vector<std::uint64_t> wanted;  // by process of the replay
};

/// Fills `pairs` (as Replay::processes) with what the answers say. On `comm`, which carries nothing else meanwhile.
/// Nothing depends on an answer before all have come, so that there is no order to keep: as each process always has
/// receives open for everyone whose answers are missing, every answer arrives. Collective.
void bring_back(const Replay& replay, MPI_Comm comm, std::uint32_t window, const Answers& answers,
                std::vector<ProcessPairs>& pairs);

}  // namespace critpath::replayer::literal
