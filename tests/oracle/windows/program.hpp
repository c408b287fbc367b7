// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a program of one-sided communication is to the oracle: for each rank the steps that it takes. Times are
// ticks. Ranks are those of the world.
#pragma once

#include "formats/otf2/trace_writer.hpp"
#include "tests/oracle/archive.hpp"
#include "tests/oracle/simulate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::oracle::windows
{

enum class Kind : std::uint8_t { Compute, Fence, Post, Start, Transfer, Complete, Wait, Lock, Unlock, Flush, Look };

struct Step {
    static constexpr int all = -1;

    Kind kind = Kind::Compute;
    std::int64_t ticks = 0;  // of Compute; of a Wait by MPI_Win_test: between two tests
    int window = 0;
    int target = all;  // of Transfer, Lock, Unlock, Flush, Look
    std::uint64_t bytes = 8;
    std::vector<int> peers = {};  // of Post, Start; of Look, whose transfer is looked for
    bool exclusive = false;
    std::size_t number = 0;  // of Look: that transfer's among those of this rank to the target
    // Which function of its kind; none: MPI_Put, MPI_Win_flush, MPI_Win_wait, MPI_Win_fence.
    FunctionId function = FunctionId::none;
    bool precedes = true;  // of Fence: not MPI_MODE_NOPRECEDE
};

/// Which call of an access epoch an implementation lets wait for the posts.
enum class Deferral : std::uint8_t { Start, Transfer, Complete };

/// Whether an implementation lets those who come to a fence with MPI_MODE_NOPRECEDE pass before all have come: then a
/// transfer behind it begins when its target has come, too.
enum class Opening : std::uint8_t { WaitsForAll, Passes };

/// Whose transfers an implementation lets a fence wait for: everybody's (who have them done before they meet), or only
/// those from and to the own memory.
enum class Fencing : std::uint8_t { All, Own };

struct Program {
    int ranks = 0;
    int windows = 1;
    Deferral deferral = Deferral::Start;
    std::vector<std::vector<Step>> steps;  // by rank
    Fencing fencing = Fencing::All;
    std::vector<std::vector<int>> members = {};  // by window; of one that has none here, all ranks are
    Opening opening = Opening::WaitsForAll;
    std::vector<std::int64_t> begin = {};  // by rank, when it makes its windows; empty: at once

    [[nodiscard]] std::vector<int> members_of(int window) const;
};

/// A call, and what it did; Execution::graph knows when.
struct WindowCall {
    FunctionId function = FunctionId::none;
    Step step;
    bool is_vain = false;  // tests that did not succeed
};

struct WindowExecution {
    std::vector<std::vector<WindowCall>> calls;  // by rank
    Execution execution;                         // its graph; it has no calls of other kinds
};

/// Windows are made first, and freed last. Throws std::logic_error if the program cannot end.
WindowExecution simulate(const Program& program, const Machine& machine);

enum class BlockKind : std::uint8_t { Fences, Ring, Star, Notice, Locks };
inline constexpr int block_kinds = 5;

const char* name(BlockKind kind);

/// Epochs of one kind, by themselves: any block can be left out.
struct Block {
    BlockKind kind;
    std::uint32_t seed;
};

struct Recipe {
    int ranks;
    std::uint32_t seed;  // of the windows, and of what the implementation does
    std::vector<Block> blocks;
};

/// Random epochs of all kinds.
Recipe random_recipe(std::uint32_t seed);
Program expand(const Recipe& recipe);
Program random_program(std::uint32_t seed);
std::string text(const Recipe& recipe);

/// What happened, a line a call.
std::string text(const WindowExecution& execution);

/// As oracle::PartWriter; defines its windows.
class PartWriter
{
public:
    PartWriter(otf2::TraceWriter& trace, const Program& program, const Machine& machine, const Clocks& clocks = {});

    void write(int rank, const WindowExecution& execution, otf2::EventWriter& out, bool is_last) const;

private:
    otf2::TraceWriter* trace_;
    const Program* program_;
    Machine machine_;
    Clocks clocks_;
    int first_window_;
};

/// As oracle::write_archive.
void write_archive(const std::string& directory, const Program& program, const Machine& machine,
                   const WindowExecution& execution, const Clocks& clocks = {});

}  // namespace critpath::oracle::windows
