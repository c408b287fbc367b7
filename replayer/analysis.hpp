// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what all phases of a replay share: the trace, as far as this process holds it, and how the work is divided
// over the processes of the replay.
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/rules/rule_set.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace critpath::replayer
{

/// How the critical predecessor of a waiting call is chosen (docs/ALGORITHM, "Point-to-point").
using Rules = rules::RuleSet;

/// One process's share of a replay. Every process of `comm` holds the definitions and `owner`; the traced processes
/// are divided into contiguous blocks in ascending order, and each process holds the traces of its own block, which
/// is empty where the replay has more processes than the trace.
struct Replay {
    MPI_Comm comm = MPI_COMM_NULL;  // for the phases; point-to-point tags and collectives are theirs
    int rank = 0;                   // of this process in comm
    int size = 1;
    std::string trace;  // directory of the trace
    Rules rules = Rules::Arrival;
    model::Definitions definitions;
    std::vector<model::ProcessTrace> processes;  // owned, ascending by ProcessId
    std::vector<int> owner;                      // by ProcessId: the process of comm that owns it

    /// A recording that ended too early on some processes, and was cut at their common point.
    struct Incomplete {
        std::uint64_t cut_calls = 0;  // of all processes, entered behind that point
    };
    std::optional<Incomplete> incomplete;

    /// In no process more than one thread has calls or points: who meets all processes meets all paths.
    bool is_single_threaded = true;

    /// What is known of a clock, by clock domain; empty where all processes share one.
    struct Clock {
        model::Ns correction{0};  // the largest, by which events have moved its times (docs/ALGORITHM, "Clocks")
        bool is_known = true;     // nothing relates it to the others otherwise
    };
    std::vector<Clock> clocks;

    [[nodiscard]] int owner_of(model::ProcessId process) const { return owner[process.value]; }
    [[nodiscard]] int owner_of(model::LocationId location) const
    {
        return owner_of(definitions.locations[location.value].process);
    }
    [[nodiscard]] bool owns(model::ProcessId process) const { return owner_of(process) == rank; }

    /// The trace of an owned process; nothing checks that it is owned.
    [[nodiscard]] const model::ProcessTrace& trace_of(model::ProcessId process) const
    {
        return processes[index_of(process)];
    }
    /// Where an owned process is in `processes`.
    [[nodiscard]] std::size_t index_of(model::ProcessId process) const
    {
        return process.value - processes.front().process.value;
    }
    /// The trace of a location of an owned process.
    [[nodiscard]] const model::LocationTrace& trace_of(model::LocationId location) const
    {
        const auto& process = trace_of(definitions.locations[location.value].process);
        return process.locations[location.value - process.locations.front().location.value];
    }
};

}  // namespace critpath::replayer
