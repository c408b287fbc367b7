// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the check that the ranks mean the same by the identity of a communicator. Ranks find identities without asking
// each other (docs/ALGORITHM, "Communicator identity"), so here, where all come together, each communicator must be
// known to its members, all of them, and to nobody else.
#pragma once

#include "collector/archive/tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::archive
{

enum class RankEnd : std::uint8_t;

/// A communicator that not all of its members know, or that others know as well.
struct Disagreement {
    std::string name;
    std::vector<std::int32_t> members;  // world ranks; ascending, as below
    std::vector<std::int32_t> knowers;
};

/// `numbers`: ids of the communicators of `tables`.
std::vector<Disagreement> find_disagreements(const Tables& tables, const std::vector<std::uint32_t>& numbers);

/// In words; empty if there is none. A rank whose recording did not end in MPI_Finalize (`ends`, by rank) may have had
/// no time to say what it knew.
std::string describe(const std::vector<Disagreement>& disagreements, const std::vector<RankEnd>& ends);

}  // namespace critpath::archive
