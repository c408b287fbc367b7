// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns loops of polls: a rank asks until something is there, of requests or of messages alike.
#pragma once

#include "tests/oracle/simulation/world.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace critpath::oracle
{

/// What a loop asks for.
struct Poll {
    FunctionId function = FunctionId::none;
    std::int64_t ticks = 0;                              // between two polls
    std::function<std::optional<std::int64_t>()> since;  // when it is there; nothing: that is not known yet
    std::function<std::vector<Edge>()> reasons;          // what that depends on
    std::function<void(const Node&)> take;               // by the poll that finds it
};

class PollLoop
{
public:
    explicit PollLoop(World& world);

    /// The rank polls from now on, and is free when it has found something.
    void run(int rank, const Poll& poll);

private:
    void poll_between_work(int rank, const Poll& poll);
    void poll_in_vain(int rank, const Poll& poll);
    /// `reasons`: what the end of the polls in vain before it depended on.
    void find(int rank, const Poll& poll, const std::vector<Edge>& reasons);
    [[nodiscard]] bool is_there(const Poll& poll) const;
    [[nodiscard]] const Edge* latest(const std::vector<Edge>& because) const;

    Scheduler& scheduler_;
    const Machine& machine_;
};

}  // namespace critpath::oracle
