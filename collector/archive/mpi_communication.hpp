// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the communication of the archive step in MPI_Finalize. Only PMPI functions are called, so that nothing here is
// recorded or seen by another tool.
#pragma once

#include "collector/archive/communication.hpp"

#include <mpi.h>

namespace critpath::archive
{

/// The ranks of a communicator, which it does not own.
class MpiCommunication : public Communication
{
public:
    /// Throws Failure.
    explicit MpiCommunication(MPI_Comm comm);

    void send(int to, const std::vector<std::byte>& bytes) const override;
    [[nodiscard]] std::vector<std::byte> receive(int from) const override;
    void barrier() const override;
    void sum(std::vector<std::uint64_t>& numbers) const override;
    /// (What OTF2_MPI_Collectives.h offers duplicates the communicator, and its gatherv is only right for the last
    /// rank.)
    [[nodiscard]] std::optional<otf2::Collectives> otf2_collectives() const override;

protected:
    [[nodiscard]] std::string first_error(std::string error) const override;

private:
    friend struct CollectiveCallbacks;

    MPI_Comm comm_;
    std::size_t largest_ = 0;  // bytes of a message, the same on all ranks
};

}  // namespace critpath::archive
