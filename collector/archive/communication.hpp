// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the processes that write an archive say to each other. In MPI_Finalize they are the ranks of the
// application (mpi_communication.hpp); afterwards, one process does it alone.
#pragma once

#include "formats/otf2/archive.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace critpath::archive
{

/// All functions but rank() and size() are collective, or come in pairs. They throw Failure where communication fails.
class Communication
{
public:
    Communication() = default;
    virtual ~Communication() = default;
    Communication(const Communication&) = delete;
    Communication& operator=(const Communication&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }

    virtual void send(int to, const std::vector<std::byte>& bytes) const = 0;
    [[nodiscard]] virtual std::vector<std::byte> receive(int from) const = 0;
    virtual void barrier() const = 0;
    virtual void sum(std::vector<std::uint64_t>& numbers) const = 0;

    /// Runs `step` on every process; afterwards all know whether it failed anywhere. Returns "" or what the lowest
    /// failed one said, the same on all. `step` must not communicate unless it cannot fail on one of them only.
    std::string agree(const std::function<void()>& step) const;

    /// How libotf2 reaches the other processes; nothing if there are none. Refers to this object.
    [[nodiscard]] virtual std::optional<otf2::Collectives> otf2_collectives() const = 0;

    /// Parent and children of this process in a binomial tree with root 0, nearest child first. The subtree of a child
    /// holds the processes between it and the next child.
    [[nodiscard]] int parent() const;
    [[nodiscard]] std::vector<int> children() const;

protected:
    /// What the lowest process with an error said.
    [[nodiscard]] virtual std::string first_error(std::string error) const = 0;

    int rank_ = 0;
    int size_ = 1;
};

/// One process.
class NoCommunication : public Communication
{
public:
    void send(int to, const std::vector<std::byte>& bytes) const override;
    [[nodiscard]] std::vector<std::byte> receive(int from) const override;
    void barrier() const override {}
    void sum(std::vector<std::uint64_t>&) const override {}
    [[nodiscard]] std::optional<otf2::Collectives> otf2_collectives() const override { return std::nullopt; }

protected:
    [[nodiscard]] std::string first_error(std::string error) const override { return error; }
};

}  // namespace critpath::archive
