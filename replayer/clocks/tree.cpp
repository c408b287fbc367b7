// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/tree.hpp"

#include <algorithm>

namespace critpath::replayer::clocks
{

namespace
{

/// What a way over one of `links` would make of `error`, and over which neighbour; of equal ones, the smallest.
void relax(const std::vector<std::int64_t>& error, const std::vector<Link>& links, std::vector<std::int64_t>& best,
           std::vector<std::uint32_t>& over)
{
    const auto try_way = [&](std::uint32_t from, std::uint32_t to, std::int64_t length) {
        if (error[from] >= Tree::unknown)
            return;
        const std::int64_t way = error[from] + length;
        if (way < best[to] || (way == best[to] && way < error[to] && from < over[to])) {
            best[to] = way;
            over[to] = from;
        }
    };
    for (const Link& link : links) {
        try_way(link.a, link.b, link.error);
        try_way(link.b, link.a, link.error);
    }
}

/// How many parents each clock has above it.
void find_levels(Tree& tree)
{
    const std::size_t clocks = tree.parent.size();
    tree.level.assign(clocks, Tree::none);
    for (std::uint32_t clock = 0; clock < clocks; ++clock) {
        std::vector<std::uint32_t> up;
        std::uint32_t at = clock;
        for (; tree.level[at] == Tree::none && tree.parent[at] != Tree::none; at = tree.parent[at])
            up.push_back(at);
        if (tree.level[at] == Tree::none)
            tree.level[at] = 0;
        for (std::uint32_t level = tree.level[at]; !up.empty(); up.pop_back())
            tree.level[up.back()] = ++level;
    }
    tree.depth = tree.level.empty() ? 0 : *std::ranges::max_element(tree.level);
}

}  // namespace

Tree shortest_paths(MPI_Comm comm, std::vector<std::int64_t> error, const std::vector<Link>& links)
{
    Tree tree;
    tree.error = std::move(error);
    const auto clocks = static_cast<int>(tree.error.size());
    tree.parent.assign(tree.error.size(), Tree::none);
    bool changed = true;
    while (changed) {
        std::vector<std::int64_t> best = tree.error;
        std::vector<std::uint32_t> over(tree.error.size(), Tree::none);
        relax(tree.error, links, best, over);
        const std::vector<std::int64_t> mine = best;
        MPI_Allreduce(MPI_IN_PLACE, best.data(), clocks, MPI_INT64_T, MPI_MIN, comm);
        std::vector<std::int64_t> parents(tree.error.size(), Tree::none);  // signed: MPICH 4.0 errs with others
        for (std::size_t i = 0; i < best.size(); ++i)
            if (mine[i] == best[i])
                parents[i] = over[i];
        MPI_Allreduce(MPI_IN_PLACE, parents.data(), clocks, MPI_INT64_T, MPI_MIN, comm);
        changed = false;
        for (std::size_t i = 0; i < best.size(); ++i)
            if (best[i] < tree.error[i]) {
                tree.parent[i] = static_cast<std::uint32_t>(parents[i]);
                changed = true;
            }
        tree.error = std::move(best);
    }
    find_levels(tree);
    return tree;
}

}  // namespace critpath::replayer::clocks
