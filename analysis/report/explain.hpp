// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the figures of a stretch of computation mean: why the path is there, and on that rank, in one plain
// sentence or a few. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/model/profile.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace critpath::report
{

enum class Verdict : std::uint8_t {
    NoPeers,         // no other rank does this, or most of it
    Balanced,        // the others take as long
    Shorter,         // the others take longer
    PersistentRank,  // the same ranks take longer each time
    PersistentNode,  // the ranks of the same nodes do
    FasterRanks,     // most ranks take as long; the same few take less each time
    Transient,       // they differ from time to time, not by rank
    Rare,            // it happens too rarely to tell these apart
};
std::string_view name(Verdict verdict);

/// What takes longer than its peers by so much of their time is said to take so many times as long.
inline constexpr double by_times_from = 2;

/// What can make a gap longer, in the order of model::Stretch; page faults are a part of what comes before Preempted.
enum class Factor : std::uint8_t {
    Instructions,
    Cycles,  // for each instruction
    Frequency,
    InstructionTime,  // the two before together
    AllCycles,        // the first two together
    Processor,        // the first three together
    Preempted,
    Blocked,
    PageFaults
};
inline constexpr std::size_t factors = 8;  // that have a part of their own
std::string_view name(Factor factor);

/// Factors that cannot be told apart, in words.
struct Untold {
    std::string_view what;    // "instructions and cycles per instruction"
    std::string why;          // a sentence without its end
    bool by_nothing = false;  // nobody has counted anything there
};

struct Explanation {
    std::shared_ptr<const model::Stretch> stretch;
    double path_share = 0;  // of the whole path
    std::string caller;     // functions that both calls were made by, outermost first: "main > step"; may be empty
    std::string before;  // the calls, with what only led to that one in front: "MPI_Waitall", "exchange > MPI_Waitall"
    std::string after;
    std::size_t rank = 0;  // with the most of it
    double rank_share = 0;
    std::size_t ranks_on_path = 0;
    std::string node;  // of that rank, or the node with the most of it where nodes differ
    double node_share = 0;
    std::size_t longer_rank = 0;             // of what takes longer than on peers: the rank with the most
    double longer_share = 0;                 // and the part of it, 0 if nothing does
    double excess = 0;                       // by how much longer than peers, as a part of their time; 0 without peers
    std::array<double, factors> parts{};     // of that, by Factor
    std::array<double, factors> errors{};    // of these, 95 %; 0 but where samples tell
    std::optional<double> persistent;        // part of the variance that is between ranks
    std::optional<double> persistent_nodes;  // and of that, between nodes
    Verdict verdict = Verdict::NoPeers;
    std::optional<Factor> cause;   // the largest part, where it takes longer; or page faults, if they can be that part
    std::optional<Untold> untold;  // of those with peers

    /// Whether most ranks take as long as the slowest one, and some take less.
    [[nodiscard]] bool has_faster_ranks() const;

    /// Whether what is known says anything of this factor, as far as it is one of the processor.
    [[nodiscard]] bool knows(Factor factor) const;
    /// In words, without the number.
    [[nodiscard]] std::string sentence(const model::Profile& profile) const;
};

/// Of the stretch with this index. The explanation must not outlive the profile.
Explanation explain(const model::Profile& profile, std::size_t stretch);

}  // namespace critpath::report
