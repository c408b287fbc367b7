// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the events of a generated trace refer to: the functions of the made-up program, their call paths, its
// processes and communicators.
#pragma once

#include "bench/generate/options.hpp"
#include "formats/functions/functions.hpp"
#include "formats/otf2/definitions.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace critpath::bench
{

using functions::FunctionId;

/// Ranks of MPI_COMM_WORLD, by rank of the communicator.
struct Communicator {
    OTF2_CommRef id;
    std::vector<std::int32_t> ranks;
};

class Vocabulary
{
public:
    static constexpr OTF2_StringRef program = 0;
    static constexpr OTF2_CommRef world = 0;
    static constexpr OTF2_CommRef self = 1;

    /// What a sample shows.
    struct Sampled {
        OTF2_CallingContextRef context;
        std::uint64_t offset;
    };

    explicit Vocabulary(const Options& options);

    /// The call path of the program's calls of an MPI function.
    [[nodiscard]] OTF2_CallingContextRef call(FunctionId function) const
    {
        return calls_[static_cast<std::size_t>(function)];
    }

    /// Of the `n`-th sample of a location outside of MPI: 6 of 10 in one function, 3 and 1 in two others.
    [[nodiscard]] Sampled work(std::uint64_t n) const
    {
        const std::uint64_t at = n % 10;
        return work_[at < 6 ? 0 : at < 9 ? 1 : 2];
    }
    /// Of a sample within MPI.
    [[nodiscard]] Sampled progress() const { return progress_; }

    /// MPI_Comm_split made it of MPI_COMM_WORLD.
    OTF2_CommRef add_communicator(const std::vector<std::int32_t>& ranks);

    /// All but the times and the numbers of events.
    [[nodiscard]] otf2::TraceDefinitions& definitions() { return definitions_; }

private:
    std::uint32_t add_function(const std::string& name, const std::string& module);
    std::uint32_t add_context(std::uint32_t region, std::uint32_t parent);

    otf2::TraceDefinitions definitions_;
    std::array<OTF2_CallingContextRef, static_cast<std::size_t>(FunctionId::count)> calls_{};
    std::array<Sampled, 3> work_{};
    Sampled progress_{};
};

}  // namespace critpath::bench
