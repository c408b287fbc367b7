// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what an MPI program is to the oracle: for each rank the steps that it takes, whatever happens. Times are ticks;
// what a tick lasts is the machine's (simulate.hpp).
#pragma once

#include "formats/functions/functions.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace critpath::oracle
{

using functions::FunctionId;
using functions::SendMode;

inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

/// In ticks, of one call.
inline constexpr int longest_in_file_system = 3000;

enum class Kind : std::uint8_t {
    Compute,
    Send,
    Recv,
    Sendrecv,
    Isend,  // also the start of a persistent one
    Irecv,
    Startall,  // `starts`, in that order
    Waitall,
    Waitany,   // of `requests` those that are still open; the one that comes is chosen by the simulation
    Waitsome,  // the same; all that have come
    PollLoop,  // of `requests` those that are open: tests until all (MPI_Test, MPI_Testall) or any of them are done;
               // MPI_Request_get_status, of one, leaves it to be completed
    Probe,
    Mprobe,      // makes a message
    ProbeLoop,   // probes until a message is there: MPI_Iprobe, or MPI_Improbe, which makes a message
    Mrecv,       // of `message`
    Imrecv,      // the same, which makes a request
    Detach,      // of the buffer that buffered sends are in
    Cancel,      // of the receive `request`; what has met a message stays
    Collective,  // also each half of a split one on a file
    Icollective,
    Local,  // a call that needs nobody
    Fork,   // begins the thread `thread`, whose first step must be a call; stands right behind a call
    Tool,   // the collector is at work, and says so
};

/// A member's part in a collective operation in which not everybody has something for everybody.
struct Part {
    bool gives = true;
    bool gets = true;
    std::vector<int> sources = {};  // members that it gets something from
};

/// What a rank does next. Numbers of requests are the rank's own, from 0, each used once.
struct Step {
    Kind kind = Kind::Compute;
    std::int64_t ticks = 0;  // of Compute and Tool; of PollLoop and ProbeLoop: between two polls; of Local and
                             // Collective: of its own work, behind what it waits for
    FunctionId function = FunctionId::none;
    SendMode mode = SendMode::Standard;
    int peer = 0;    // member of the communicator; of Sendrecv, the destination
    int source = 0;  // of Sendrecv
    int tag = 0;
    std::size_t comm = 0;
    std::uint64_t bytes = 8;
    int root = -1;                   // of a collective: member of the communicator
    std::optional<Part> part = {};   // of a collective; nothing: as the function has it
    int request = -1;                // that the step makes, or that it refers to; of a split collective, both halves
    int message = -1;                // of Mrecv, Imrecv: the request of the probe that has found it
    bool persistent = false;         // Isend, Irecv: by MPI_Start
    std::vector<Step> starts = {};   // of Startall: each of them Isend or Irecv
    std::vector<int> requests = {};  // that it waits for
    std::size_t makes = 0;           // of Icollective: the communicator that it makes, if any
    int thread = 0;                  // of Fork
};

inline Step compute(std::int64_t ticks)
{
    return {.kind = Kind::Compute, .ticks = ticks};
}

/// A Cartesian topology; ranks are in row-major order.
struct Dimension {
    int size;
    bool is_periodic;
};
using Grid = std::vector<Dimension>;

/// Threads count through all ranks: first the main threads, by rank, then all others.
struct Program {
    int ranks = 0;
    std::vector<std::vector<int>> comms;   // world ranks by member of the communicator; 0: all
    std::vector<std::vector<Step>> steps;  // by thread
    std::map<std::size_t, Grid> grids = {};
    // Of a communicator with a graph topology: by member, whom it gets something from.
    std::map<std::size_t, std::vector<std::vector<int>>> graphs = {};
    // Of an inter-communicator, whose members are those of both groups: how many of them are in the first.
    std::map<std::size_t, std::size_t> first_groups = {};
    std::vector<int> forked = {};  // of the threads behind the main ones: the rank

    [[nodiscard]] int threads() const { return static_cast<int>(steps.size()); }
    [[nodiscard]] int rank_of(int thread) const
    {
        return thread < ranks ? thread : forked[static_cast<std::size_t>(thread - ranks)];
    }
};

}  // namespace critpath::oracle
