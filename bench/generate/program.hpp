// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the run of the made-up program: what time it is on each rank, and the operations of all patterns. Every process
// runs all ranks, step by step, and writes down what its own do; so nobody has to be asked for a time, and the trace
// does not depend on the number of processes.
#pragma once

#include "bench/generate/machine.hpp"
#include "bench/generate/options.hpp"
#include "bench/generate/random.hpp"
#include "bench/generate/trace.hpp"
#include "bench/generate/vocabulary.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace critpath::bench
{

class Program
{
public:
    Program(const Options& options, const Dice& dice, Vocabulary& vocabulary, Trace& trace);

    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] const Machine& machine() const { return machine_; }
    [[nodiscard]] const Dice& dice() const { return dice_; }
    [[nodiscard]] int ranks() const { return options_.locations; }
    [[nodiscard]] const Communicator& world() const { return world_; }
    [[nodiscard]] Location* location(int rank) { return trace_.location(rank); }

    /// The end of the last call of `rank`, to be moved on by whoever adds calls.
    [[nodiscard]] Time& now(int rank) { return now_[static_cast<std::size_t>(rank)]; }

    /// What `rank` computes in `step`.
    [[nodiscard]] Time work(int rank, std::uint64_t step) const;
    /// By how much longer than it must take the `step`-th message on `edge` takes.
    [[nodiscard]] Time delay(std::uint64_t edge, std::uint64_t step) const;

    /// From the first event to the end of MPI_Init, and MPI_Finalize with what follows.
    void start();
    void finish();

    /// Each rank belongs to one of `groups`.
    std::vector<Communicator> split(const std::vector<std::vector<std::int32_t>>& groups);

    /// Collective operations of a communicator's members, that take their turn now. Bytes: of one member.
    void all_to_all(FunctionId function, const Communicator& comm, std::uint64_t bytes);
    void one_to_all(FunctionId function, const Communicator& comm, std::uint64_t bytes, std::size_t root);
    void all_to_one(FunctionId function, const Communicator& comm, std::uint64_t bytes, std::size_t root);

    [[nodiscard]] Time begin() const { return begin_; }
    [[nodiscard]] Time end() const { return end_; }
    [[nodiscard]] std::uint64_t collectives() const { return collectives_; }

private:
    [[nodiscard]] Time last_arrival(const Communicator& comm) const;
    void leave(FunctionId function, int rank, Time at, const otf2::CollectiveEnd& operation);
    [[nodiscard]] Time skew(int rank) const;

    const Options& options_;
    const Dice& dice_;
    Vocabulary& vocabulary_;
    Trace& trace_;
    Machine machine_;
    std::uint64_t jitter_;  // ns, of messages and collectives
    Communicator world_;
    std::vector<Time> now_;
    Time begin_ = 0, end_ = 0;
    std::uint64_t collectives_ = 0;
};

}  // namespace critpath::bench
