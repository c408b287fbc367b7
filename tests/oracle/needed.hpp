// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who waits for whom in a collective operation, as MPI has it, where everybody has something to give.
#pragma once

#include "tests/oracle/program.hpp"

#include <cstddef>
#include <vector>

namespace critpath::oracle
{

/// Whether it is an operation of the communicator that it makes: of both groups, if there are two.
bool makes_its_own(FunctionId function);

/// Of a collective operation, as the function table has it; that of communicators is not there.
functions::CollectiveShape shape_of(FunctionId function);

/// The members whose enter the leave of member `member` waits for. Members of an inter-communicator are those of its
/// first group, then those of its second.
std::vector<int> needed_members(const Program& program, std::size_t comm, FunctionId function, int member, int root);

/// Those that a member gets something from in a neighbourhood collective; each once.
std::vector<int> grid_sources(const Grid& grid, int member);

}  // namespace critpath::oracle
