// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns random programs: a recipe is a list of blocks (a halo exchange, a sweep, a farm, ...), each of which is a
// program of its own that ends, so that any block can be left out when a recipe that fails is made smaller.
#pragma once

#include "tests/oracle/program.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace critpath::oracle
{

enum class BlockKind : std::uint8_t {
    Halo,         // neighbours, non-blocking or persistent, completed in one of all ways
    Sweep,        // a wavefront along the ranks
    Pairs,        // blocking messages in all modes, and Sendrecv
    Farm,         // any source; the master answers whoever has come
    Collectives,  // a few of any shape, on any communicator
    Overlap,      // non-blocking collectives and messages around computation
    Crossing,     // messages that cross a collective
    Probes,
    ProbeLoops,
    Buffers,  // buffered messages, and the detaching of the buffer that they are in
    Cancelled,
    BetweenGroups,    // collectives on an inter-communicator
    Neighbourhoods,   // on a ring, a plane, or a graph
    Amounts,          // collectives of any shape in which some, or all, have nothing to give or to get
    Threads,          // of some ranks, which send and receive beside their main threads
    Tool,             // messages around the collector's own work
    Files,            // collective, split and independent operations on one
    Creations,        // of communicators, by their members alone
    Ready,            // sends in ready mode, to receives that are there
    AcrossGroups,     // messages on an inter-communicator
    StartedTogether,  // persistent messages by MPI_Startall
    Copies,           // of communicators, which are made by requests, used, and freed
    Standing,         // messages beside whose transfer one side always computes; only in standing_recipe()
    Exchange,         // large messages for which all wait; only in exchange_recipe()
};
inline constexpr int block_kinds = 24;
inline constexpr int random_kinds = 22;  // of random_recipe() and alike_recipe()

const char* name(BlockKind kind);

struct Block {
    BlockKind kind;
    std::uint32_t seed;
    std::uint32_t times = 0;  // not 0: the seed of how long ranks compute, so that blocks may be alike in all else
};

struct Recipe {
    int ranks;
    std::vector<Block> blocks;
};

Recipe random_recipe(std::uint32_t seed);
/// Of one kind of block and its size alone, as most applications are: what a trace teaches comes from nothing else.
Recipe alike_recipe(std::uint32_t seed);
/// Of large messages alone, and the same rank computes beside each of them: on a machine that moves nothing meanwhile,
/// no message shows what one takes that does not stand still.
Recipe standing_recipe(std::uint32_t seed);
/// Of one exchange of large messages alone, beside which all compute for no longer than it takes: all calls wait, so
/// that none tells what it costs.
Recipe exchange_recipe(std::uint32_t seed);
Program expand(const Recipe& recipe);
std::string text(const Recipe& recipe);

/// The smallest recipe that can be had from a failing one by leaving out blocks and ranks.
template <class AnyRecipe, class Fails>
AnyRecipe shrink(AnyRecipe recipe, const Fails& fails)
{
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (std::size_t i = 0; i < recipe.blocks.size() && !smaller; ++i) {
            AnyRecipe without = recipe;
            without.blocks.erase(without.blocks.begin() + static_cast<std::ptrdiff_t>(i));
            smaller = fails(without);
            recipe = smaller ? without : recipe;
        }
        if (AnyRecipe without = recipe; !smaller && recipe.ranks > 2) {
            --without.ranks;
            smaller = fails(without);
            recipe = smaller ? without : recipe;
        }
    }
    return recipe;
}

}  // namespace critpath::oracle
