// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns whether ranks differ for good or by turns: the analysis of variance of one place of the program, whose gaps
// depend on the occurrence, on the rank, on the rank's node, and on chance. (docs/ALGORITHM, "Explanations")
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// How one rank differs from the mean of all ranks in each occurrence, in units of 2^-32 as fixed_log has them.
struct Effect {
    std::int64_t mean = 0;     // its effect
    std::int64_t squared = 0;  // of its effect
    std::int64_t rest = 0;     // mean square of what its effect leaves
};
Effect effect_of(std::span<const std::int64_t> differences);

/// Sums over ranks; exact, so that their order does not matter.
struct EffectSums {
    std::int64_t ranks = 0;
    std::int64_t occurrences = 0;
    std::int64_t squared = 0;  // of Effect
    std::int64_t rest = 0;
    struct Node {
        std::int64_t ranks = 0;
        std::int64_t mean = 0;
    };
    std::vector<Node> nodes;  // those without a rank do not count
};

/// Unbiased estimates, and not below 0.
struct Variances {
    std::int64_t nodes = 0;  // that have ranks
    double rank = 0;         // between ranks
    double noise = 0;
    double node = 0;       // of the first, what is between nodes; 0 if no node has several ranks, or there is one node
    double node_rest = 0;  // and between ranks of a node
};
Variances variances(const EffectSums& sums);

}  // namespace critpath::replayer
