// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how processes that cannot get on find out whether any of them still does, and that all have come to the end. The
// seed's replay knows that it cannot stand still as long as the trace tells the truth; traces that lost records, or
// that others wrote, need not.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>

namespace critpath::replayer::literal
{

class Standstill
{
public:
    enum class Verdict : std::uint8_t {
        Wait,
        GiveWay,  // nobody has got on for a while: do not wait for what you were waiting for
        End,      // all processes are at the end
    };

    /// `comm` may carry messages, but no other collectives meanwhile. `patience` (s): how long a process waits before
    /// it asks the others.
    Standstill(MPI_Comm comm, double patience) : comm_(comm), patience_(patience) {}

    /// To be called again and again, with looking for messages in between, while this process cannot get on, and at its
    /// end until the verdict is End. `progress`: grows whenever this process gets on. A wrong GiveWay, which a stopped
    /// process can cause, costs memory and nothing else.
    Verdict ask(bool at_end, std::uint64_t progress);

private:
    [[nodiscard]] bool is_patient(std::uint64_t progress);

    static constexpr int least_looks = 100;  // a process that had no processor has not looked

    MPI_Comm comm_;
    double patience_;
    MPI_Request round_ = MPI_REQUEST_NULL;
    std::uint64_t sums_[2] = {0, 0};  // of the round: progress; processes that are not at their end
    std::uint64_t last_sum_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t progress_ = std::numeric_limits<std::uint64_t>::max();
    double since_ = 0;
    int looks_ = 0;
};

}  // namespace critpath::replayer::literal
