// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/variance.hpp"

#include "replayer/peers/split.hpp"

#include <algorithm>
#include <cmath>

namespace critpath::replayer
{

Effect effect_of(std::span<const std::int64_t> differences)
{
    const auto n = static_cast<double>(differences.size());
    double sum = 0;
    for (const std::int64_t d : differences)
        sum += static_cast<double>(d) / fixed_one;
    const double mean = sum / n;
    double rest = 0;
    for (const std::int64_t d : differences) {
        const double left = static_cast<double>(d) / fixed_one - mean;
        rest += left * left;
    }
    return {std::llround(mean * fixed_one), std::llround(mean * mean * fixed_one), std::llround(rest / n * fixed_one)};
}

Variances variances(const EffectSums& sums)
{
    Variances result;
    const auto ranks = static_cast<double>(sums.ranks);
    const auto occurrences = static_cast<double>(sums.occurrences);
    for (const EffectSums::Node& node : sums.nodes)
        result.nodes += node.ranks > 0 ? 1 : 0;
    if (sums.ranks < 2 || sums.occurrences < 2)
        return result;
    const double squared = static_cast<double>(sums.squared) / fixed_one;
    const double rest = static_cast<double>(sums.rest) / fixed_one;
    result.noise = occurrences * rest / ((ranks - 1) * (occurrences - 1));
    result.rank = std::max(0.0, squared / (ranks - 1) - result.noise / occurrences);
    if (result.nodes < 2 || result.nodes >= sums.ranks)
        return result;
    double between = 0;
    double sizes = 0;  // squared
    for (const EffectSums::Node& node : sums.nodes) {
        if (node.ranks == 0)
            continue;
        const auto size = static_cast<double>(node.ranks);
        const double sum = static_cast<double>(node.mean) / fixed_one;
        between += sum * sum / size;
        sizes += size * size;
    }
    const auto nodes = static_cast<double>(result.nodes);
    const double within = std::max(0.0, squared - between) / (ranks - nodes);
    const double typical = (ranks - sizes / ranks) / (nodes - 1);  // ranks of a node
    result.node = std::max(0.0, (between / (nodes - 1) - within) / typical);
    result.node_rest = std::max(0.0, within - result.noise / occurrences);
    return result;
}

}  // namespace critpath::replayer
