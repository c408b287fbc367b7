// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is said of the critical path beside its computation: calls of MPI, messages, and the lack of processors
// while these wait.
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>
#include <map>
#include <string>
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
    std::int64_t path_ns = 0;                               // the whole path

    /// Empty if nothing makes a hundredth of the path.
    [[nodiscard]] std::string sentence() const;
};

Beside beside_computation(const model::Profile& profile);

}  // namespace critpath::report
