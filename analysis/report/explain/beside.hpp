// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is said of the critical path beside the computation that is explained: other computation, calls of MPI,
// messages, and the lack of processors while these wait.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::report
{

/// Path time that is no computation.
struct Beside {
    struct Function {
        std::string name;
        std::int64_t ns;
    };

    std::vector<Function> functions;                        // of MPI, with the most first
    std::int64_t mpi_ns = 0;                                // of all of these
    std::int64_t transfer_ns = 0;                           // messages on their way
    std::int64_t preempted_ns = 0;                          // in calls of MPI
    std::map<model::ProcessId, std::int64_t> preempted_of;  // that, of each rank that lacked a processor
    std::int64_t blocked_ns = 0;                            // likewise
    std::int64_t measurement_ns = 0;                        // what the collector says that it took
    std::int64_t path_ns = 0;                               // the whole path

    /// Empty if nothing makes a hundredth of the path. `lacks_said`: that processors lack, and what to do about it.
    [[nodiscard]] std::string sentence(bool lacks_said = false) const;
};

/// Path time without a processor, in calls of MPI and in computation.
struct Lack {
    std::int64_t in_mpi_ns = 0, in_computation_ns = 0;
    std::map<model::ProcessId, std::int64_t> of_rank;
    std::int64_t largest_other_ns = 0;  // of the path: of a stretch of computation, of calls of MPI, or of messages
    std::int64_t path_ns = 0;

    [[nodiscard]] std::int64_t all_ns() const { return in_mpi_ns + in_computation_ns; }
    /// What matters more than any other part of the path comes first.
    [[nodiscard]] bool is_main_finding() const;
    [[nodiscard]] std::string sentence() const;
};

Beside beside_computation(const model::Profile& profile);
Lack lack_of_processors(const model::Profile& profile, const Beside& beside);

/// Computation on the path, and how much of it no stretch has: at places with too little of it, by other threads than
/// the first of a process, or behind its last call.
struct Computation {
    std::int64_t all_ns = 0;
    std::int64_t not_compared_ns = 0;
    std::int64_t path_ns = 0;
    std::size_t stretches = 0;

    /// Ends with a command that shows it. Empty if it makes less than a hundredth of the path.
    [[nodiscard]] std::string sentence(std::string_view trace) const;
};

Computation computation_of(const model::Profile& profile);

}  // namespace critpath::report
