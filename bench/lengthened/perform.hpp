// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a process takes its steps of a random program by real MPI calls. It sleeps where the program computes, so
// that more ranks than processors do not disturb each other, or keeps a processor busy.
#pragma once

#include "bench/lengthened/communicators.hpp"
#include "tests/oracle/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::lengthened
{

/// By how much one computation takes longer.
struct Lengthening {
    int rank;
    std::size_t step;
    std::int64_t ns;
};

struct Pace {
    std::int64_t tick_ns;
    std::int64_t poll_tick_ns;  // between two polls of a loop
    bool is_busy;               // in place of sleeping
};

/// Of a step; nanoseconds of the collector's clock.
struct StepTime {
    std::int64_t begin, end;
};

/// Of the collector's clock.
std::int64_t now();

/// Whether there is a way to take it.
bool is_performed(const oracle::Step& step);

/// Takes all steps of the calling process. Returns when each of them was.
std::vector<StepTime> perform(const oracle::Program& program, const Communicators& communicators, int rank,
                              const Pace& pace, const std::optional<Lengthening>& lengthening);

}  // namespace critpath::lengthened
