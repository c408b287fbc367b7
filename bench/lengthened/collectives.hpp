// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how one collective operation of a random program is called: who gives whom how much, by the arguments of its
// function.
#pragma once

#include "bench/lengthened/communicators.hpp"
#include "tests/oracle/program.hpp"

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <map>

namespace critpath::lengthened
{

/// Room for what one operation moves.
struct Buffers {
    char* send;
    char* receive;
};

/// The arguments of one call; defined where they are made.
struct Operation;

/// Of one process, in one run of the program.
class Collectives
{
public:
    /// Both must stay. Operations make and free communicators.
    Collectives(const oracle::Program& program, Communicators& communicators);
    ~Collectives();
    Collectives(const Collectives&) = delete;
    Collectives& operator=(const Collectives&) = delete;

    /// The next operation on its communicator; `request` is null if it blocks.
    void perform(const oracle::Step& step, Buffers buffers, MPI_Request* request);
    /// Frees what the program has made and does not use. Collective.
    void free_made();

private:
    const oracle::Program& program_;
    Communicators& communicators_;
    std::map<std::size_t, std::size_t> performed_;  // by communicator: how many
    std::deque<Operation> kept_;                    // arguments must stay while operations are under way
    std::deque<MPI_Comm> made_;
};

/// Whether the function of a collective step can be called here.
bool is_performed(oracle::FunctionId function);

/// The most that an operation of the program moves either way, in bytes.
std::size_t room(const oracle::Program& program);

}  // namespace critpath::lengthened
