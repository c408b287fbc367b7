// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the archive that the processes write together, each the event files of its own ranks.
#pragma once

#include "bench/generate/location.hpp"
#include "bench/generate/options.hpp"
#include "bench/generate/random.hpp"
#include "bench/generate/vocabulary.hpp"
#include "collector/archive/mpi_communication.hpp"
#include "formats/otf2/archive.hpp"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace critpath::bench
{

/// What all processes have written.
struct Written {
    std::uint64_t events = 0;
    std::uint64_t messages = 0;
};

/// The directory cannot be used. All processes know it.
class Refused : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

class Trace
{
public:
    /// Collective; the directory is made if it is not there. Throws Refused, or Failure on some processes.
    Trace(const Options& options, const Dice& dice, Vocabulary& vocabulary, MPI_Comm comm);

    /// The events of a rank; null if another process writes them.
    Location* location(int rank)
    {
        return rank >= first_ && rank < last_ ? &locations_[static_cast<std::size_t>(rank - first_)] : nullptr;
    }

    /// Collective. Completes the archive of a run from `begin` to `end`.
    Written close(Time begin, Time end);

private:
    [[nodiscard]] std::vector<otf2::ClockPoint> clocks(int rank, Time begin, Time end) const;
    Written finish_events(std::vector<std::uint64_t>& events);

    const Options& options_;
    Vocabulary& vocabulary_;
    MPI_Comm comm_;
    archive::MpiCommunication communication_;
    int first_, last_;  // own ranks
    std::unique_ptr<otf2::Archive> archive_;
    std::vector<Location> locations_;
};

}  // namespace critpath::bench
