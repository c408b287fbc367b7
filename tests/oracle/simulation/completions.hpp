// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the calls that complete requests, of messages and of non-blocking collectives alike: waits, and loops of tests.
#pragma once

#include "tests/oracle/simulation/world.hpp"

#include <cstdint>
#include <optional>
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
    void poll_between_work(int rank, const Step& step, const std::vector<Posted*>& open);
    void poll_in_vain(int rank, const Step& step, const std::vector<Posted*>& open);
    /// `reasons`: what the end of the polls in vain before it depended on.
    void finish_poll(int rank, const Step& step, const std::vector<Posted*>& open, const std::vector<Edge>& reasons);
    [[nodiscard]] std::optional<std::int64_t> done_since(const Step& step, const std::vector<Posted*>& open) const;
    static std::vector<Edge> reasons_of(const Step& step, const std::vector<Posted*>& open);
    [[nodiscard]] const Edge* latest(const std::vector<Edge>& because) const;

    World& world_;
    Scheduler& scheduler_;
    const Machine& machine_;
};

}  // namespace critpath::oracle
