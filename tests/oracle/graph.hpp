// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the truth about an execution: the program activity graph, explicit, with the weights that the machine really
// has, and what follows from it by one pass in topological order forwards and one backwards (the sequential reference).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace critpath::oracle
{

/// The enter or the leave of a call of a rank; calls count from 0.
struct Node {
    int rank;
    int call;
    bool leave;
    auto operator<=>(const Node&) const = default;
};

/// `to` cannot be before `from` and `weight` more ticks.
struct Edge {
    Node from, to;
    std::int64_t weight;
};

/// One call as it happened, in ticks.
struct Times {
    std::int64_t enter, leave;
};

class Graph
{
public:
    /// Later than all; nothing depends on what has that much slack, less its time.
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;

    /// `begin`: by rank, the start of its process; `calls`: by rank. What lies between calls is computation, and an
    /// edge by itself. Throws std::logic_error if `dependencies` have a cycle, or do not explain the times of the calls
    /// exactly.
    Graph(std::vector<std::int64_t> begin, std::vector<std::vector<Times>> calls,
          const std::vector<Edge>& dependencies);

    [[nodiscard]] int ranks() const { return static_cast<int>(calls_.size()); }
    [[nodiscard]] const std::vector<Times>& calls(int rank) const { return calls_[at(rank)]; }
    [[nodiscard]] std::int64_t begin(int rank) const { return begin_[at(rank)]; }
    [[nodiscard]] std::int64_t time(const Node& node) const;

    /// Start of the first process, and the last enter of a last call (MPI_Finalize).
    [[nodiscard]] std::int64_t first() const { return first_; }
    [[nodiscard]] std::int64_t last() const { return last_; }

    /// By how much the end of the run stays where it is if this takes longer.
    [[nodiscard]] std::int64_t slack(const Node& node) const { return latest_[id(node)] - time(node); }
    [[nodiscard]] std::int64_t slack(const Edge& edge) const
    {
        return latest_[id(edge.to)] - edge.weight - time(edge.from);
    }
    /// Of the computation before the call, and of the work within it (the edge from its enter, if it has that).
    [[nodiscard]] std::int64_t slack_of_gap(int rank, int call) const;
    [[nodiscard]] std::int64_t slack_of_work(int rank, int call) const;

    /// What the leave of a call depends on.
    [[nodiscard]] const std::vector<Edge>& into(const Node& node) const { return into_[id(node)]; }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    [[nodiscard]] std::size_t id(const Node& node) const
    {
        return offset_[at(node.rank)] + 2 * at(node.call) + (node.leave ? 1 : 0);
    }
    [[nodiscard]] Edge gap(int rank, int call) const;
    [[nodiscard]] std::vector<Node> topological() const;
    void check(const std::vector<Node>& order) const;
    void find_latest(const std::vector<Node>& order);

    std::vector<std::int64_t> begin_;
    std::vector<std::vector<Times>> calls_;
    std::vector<std::size_t> offset_;
    std::vector<std::vector<Edge>> into_;
    std::vector<std::int64_t> latest_;
    std::int64_t first_ = 0, last_ = 0;
};

}  // namespace critpath::oracle
