// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the communicators of a random program as MPI has them.
#pragma once

#include "tests/oracle/program.hpp"

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace critpath::lengthened
{

/// Of one process. Between groups, members are those of both, as in oracle::Program.
class Communicators
{
public:
    /// Collective. `program` must stay.
    explicit Communicators(const oracle::Program& program);

    [[nodiscard]] MPI_Comm handle(std::size_t comm) const { return handles_[comm]; }
    /// The half of those that `comm`, between groups, is of, to which this process belongs.
    [[nodiscard]] MPI_Comm half() const { return half_; }
    /// Nothing (-1) if this process is no member.
    [[nodiscard]] int own_member(std::size_t comm) const { return own_members_[comm]; }
    [[nodiscard]] bool is_between_groups(std::size_t comm) const { return program_->first_groups.contains(comm); }
    /// Those whom arrays of amounts are about: of the other group, if there are two.
    [[nodiscard]] std::vector<int> partners(std::size_t comm) const { return group(comm, true); }
    /// Those of the own group; of all, if there is one.
    [[nodiscard]] std::vector<int> own_group(std::size_t comm) const { return group(comm, false); }
    /// Of a topology: by place of an array, whom something comes from, and to whom it goes; nobody: -1.
    [[nodiscard]] std::pair<std::vector<int>, std::vector<int>> neighbours(std::size_t comm) const;
    /// What MPI calls the partner `member` of a message. Wildcards stay.
    [[nodiscard]] int rank_of(std::size_t comm, int member) const;

    /// What MPI_Comm_idup is to fill in, and MPI_Comm_free to take away.
    MPI_Comm& slot(std::size_t comm) { return handles_[comm]; }

private:
    [[nodiscard]] std::vector<int> group(std::size_t comm, bool other) const;

    const oracle::Program* program_;
    std::vector<MPI_Comm> handles_;
    std::vector<int> own_members_;
    MPI_Comm half_ = MPI_COMM_NULL;
};

}  // namespace critpath::lengthened
