// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the collective operations of a simulation: who has come, and whom that lets go.
#pragma once

#include "tests/oracle/simulation/world.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace critpath::oracle
{

class Collectives
{
public:
    explicit Collectives(World& world);

    void collective(int rank, const Step& step);
    void icollective(int rank, const Step& step);

private:
    /// One operation: who came when. Members are ranks of the communicator.
    struct Gathering {
        std::map<int, Node> came;
        std::map<int, const Posted*> parts;
        std::vector<std::pair<std::vector<int>, Posted*>> waiting;  // with the members that each needs
        std::map<const Posted*, std::vector<int>> takers;           // of those that are held, who must be in any call
    };
    /// All that an operation needs has come, and some of it must be in a call yet.
    struct Standing {
        Posted* posted;
        std::vector<Node> since;  // what it waited for
        std::size_t missing;
        std::uint64_t bytes;
    };

    void describe(const Node& call, const Step& step, CollectiveOperation operation);
    [[nodiscard]] std::int64_t own_work(const Step& step) const;
    Posted* join(const Node& call, const Step& step, int request);
    [[nodiscard]] bool stands_still(const Step& step, std::size_t needed) const;
    [[nodiscard]] bool is_held(const Step& step) const;
    [[nodiscard]] bool is_buffered(const Step& step) const;
    void finish_when_inside(const Step& step, const std::shared_ptr<Standing>& standing,
                            const std::vector<int>& members);
    void finish(const Standing& standing);

    World& world_;
    Scheduler& scheduler_;
    const Machine& machine_;
    std::map<std::pair<int, std::size_t>, int> posted_;            // by rank and communicator: how many
    std::map<std::pair<std::size_t, int>, Gathering> gatherings_;  // by communicator and number
};

}  // namespace critpath::oracle
