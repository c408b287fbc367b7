// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace critpath::oracle
{

namespace
{

std::string name(const Node& node)
{
    return fmt::format("{} of call {} of rank {}", node.leave ? "leave" : "enter", node.call, node.rank);
}

}  // namespace

Graph::Graph(std::vector<std::int64_t> begin, std::vector<std::vector<Times>> calls,
             const std::vector<Edge>& dependencies)
    : begin_(std::move(begin)), calls_(std::move(calls))
{
    std::size_t nodes = 0;
    for (const auto& of_rank : calls_) {
        offset_.push_back(nodes);
        nodes += 2 * of_rank.size();
    }
    into_.resize(nodes);
    for (int r = 0; r < ranks(); ++r)
        for (int i = 1; i < static_cast<int>(calls_[at(r)].size()); ++i)
            into_[id({r, i, false})].push_back(gap(r, i));
    for (const Edge& edge : dependencies)
        into_[id(edge.to)].push_back(edge);
    first_ = *std::ranges::min_element(begin_);
    last_ = first_;
    for (int r = 0; r < ranks(); ++r)
        last_ = std::max(last_, calls_[at(r)].back().enter);
    const std::vector<Node> order = topological();
    check(order);
    find_latest(order);
}

std::int64_t Graph::time(const Node& node) const
{
    const Times& times = calls_[at(node.rank)][at(node.call)];
    return node.leave ? times.leave : times.enter;
}

Edge Graph::gap(int rank, int call) const
{
    const auto& calls = calls_[at(rank)];
    return {{rank, call - 1, true}, {rank, call, false}, calls[at(call)].enter - calls[at(call - 1)].leave};
}

std::int64_t Graph::slack_of_gap(int rank, int call) const
{
    return call == 0 ? slack(Node{rank, 0, false}) : slack(gap(rank, call));
}

std::int64_t Graph::slack_of_work(int rank, int call) const
{
    std::int64_t least = never;
    for (const Edge& edge : into({rank, call, true}))
        if (edge.from == Node{rank, call, false})
            least = std::min(least, slack(edge));
    return least;
}

std::vector<Node> Graph::topological() const
{
    std::vector<std::vector<Node>> out(into_.size());
    std::vector<std::size_t> missing(into_.size());
    std::vector<Node> order;
    for (int r = 0; r < ranks(); ++r)
        for (int i = 0; i < static_cast<int>(calls_[at(r)].size()); ++i)
            for (const bool leave : {false, true}) {
                const Node node{r, i, leave};
                missing[id(node)] = into_[id(node)].size();
                for (const Edge& edge : into_[id(node)])
                    out[id(edge.from)].push_back(node);
                if (missing[id(node)] == 0)
                    order.push_back(node);
            }
    for (std::size_t i = 0; i < order.size(); ++i)
        for (const Node& next : out[id(order[i])])
            if (--missing[id(next)] == 0)
                order.push_back(next);
    if (order.size() != into_.size())
        throw std::logic_error("the dependencies have a cycle");
    return order;
}

void Graph::check(const std::vector<Node>& order) const
{
    for (const Node& node : order) {
        std::int64_t explained = node.call == 0 && !node.leave ? time(node) : -never;
        for (const Edge& edge : into(node))
            explained = std::max(explained, time(edge.from) + edge.weight);
        if (explained != time(node))
            throw std::logic_error(
                fmt::format("{}: is at {}, its dependencies say {}", name(node), time(node), explained));
    }
}

void Graph::find_latest(const std::vector<Node>& order)
{
    latest_.assign(into_.size(), never);
    for (int r = 0; r < ranks(); ++r)
        latest_[id({r, static_cast<int>(calls_[at(r)].size()) - 1, false})] = last_;
    for (auto node = order.rbegin(); node != order.rend(); ++node)
        for (const Edge& edge : into(*node)) {
            std::int64_t& latest = latest_[id(edge.from)];
            latest = std::min(latest, latest_[id(*node)] - edge.weight);
        }
}

}  // namespace critpath::oracle
