// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the phases of a replay cost: elapsed time, processor time and memory, of all processes together.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::replayer
{

enum class TimingsFormat : std::uint8_t {
    None,
    Table,
    Json,
};

/// What a phase cost on one process, or on all of them.
struct PhaseCost {
    double elapsed = 0;    // s; of the process that took longest
    double processor = 0;  // s, of all threads, kernel included; the sum of all processes
    double peak_kib = 0;   // resident memory, at most so far; the sum of all processes
};

class Timings
{
public:
    /// Starts the clock.
    Timings();

    /// Everything since the phase before, or since the start, was the phase `name`. The same on all processes.
    void phase_ended(std::string_view name);

    /// Collective. On process 0 the words for stderr, each line with its end; elsewhere nothing.
    [[nodiscard]] std::string text(TimingsFormat format, MPI_Comm comm) const;

    struct Phase {
        std::string name;
        PhaseCost cost;
    };

private:
    PhaseCost last_;  // when the last phase ended, since the start of the process
    std::vector<Phase> phases_;
};

}  // namespace critpath::replayer
