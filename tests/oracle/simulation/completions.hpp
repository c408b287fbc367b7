// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the calls that complete requests, of messages and of non-blocking collectives alike: waits, and loops of tests.
#pragma once

#include "tests/oracle/simulation/poll_loop.hpp"

#include <vector>

namespace critpath::oracle
{

class Completions
{
public:
    explicit Completions(World& world);

    void wait_for_all(int rank, const Step& step);
    void wait_for_one(int rank, const Step& step);  // Waitany, Waitsome
    void poll(int rank, const Step& step);

private:
    void complete(const Node& call, const Posted* posted);
    /// What a poll finds done.
    void complete_found(const Node& call, const Step& step, const std::vector<Posted*>& open);

    World& world_;
    Scheduler& scheduler_;
    const Machine& machine_;
    PollLoop loop_;
};

}  // namespace critpath::oracle
