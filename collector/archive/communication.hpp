// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns all communication of the archive step. Only PMPI functions are called, so that nothing here is recorded or
// seen by another tool.
#pragma once

#include <mpi.h>
#include <otf2/otf2.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace critpath::archive
{

/// The ranks that write the archive. Does not own the communicator.
class Communication
{
public:
    /// Throws Failure.
    explicit Communication(MPI_Comm comm);

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }

    void send(int to, const std::vector<std::byte>& bytes) const;
    [[nodiscard]] std::vector<std::byte> receive(int from) const;
    void barrier() const;

    /// Collective: runs `step` on every rank; afterwards all know whether it failed anywhere. Returns "" or what the
    /// lowest failed rank said, the same on all. `step` must not communicate unless it cannot fail on one rank only.
    std::string agree(const std::function<void()>& step) const;

    void sum(std::vector<std::uint64_t>& numbers) const;

    /// Parent and children of this rank in a binomial tree with root 0, nearest child first. The subtree of a child
    /// holds the ranks between it and the next child.
    [[nodiscard]] int parent() const;
    [[nodiscard]] std::vector<int> children() const;

private:
    friend struct CollectiveCallbacks;

    MPI_Comm comm_;
    int rank_ = 0;
    int size_ = 0;
};

/// The callbacks through which libotf2 communicates; user data: the Communication, which must outlive the archive.
/// (What OTF2_MPI_Collectives.h offers duplicates the communicator, and its gatherv is only right for the last rank.)
const OTF2_CollectiveCallbacks& otf2_collectives();

/// The context that goes with them.
OTF2_CollectiveContext* otf2_context(const Communication& communication);

}  // namespace critpath::archive
