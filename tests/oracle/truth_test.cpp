// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/check.hpp"
#include "tests/oracle/truth.hpp"
#include "tests/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::oracle
{
namespace
{

using nlohmann::json;
using Place = std::tuple<int, int, std::string>;

/// When each node is, from the weights and what lies between calls alone.
std::map<Place, std::int64_t> times_of(const json& truth)
{
    std::map<Place, std::vector<std::pair<Place, std::int64_t>>> into;
    std::map<Place, std::int64_t> times;
    for (const json& weight : truth["weights"])
        into[weight["to"].get<Place>()].emplace_back(weight["from"].get<Place>(), weight["weight"].get<std::int64_t>());
    std::size_t nodes = 0;
    for (int thread = 0; const json& of : truth["threads"]) {
        const json& calls = of["calls"];
        for (int i = 0; i < static_cast<int>(calls.size()); ++i) {
            const auto enter = calls[static_cast<std::size_t>(i)]["enter"].get<std::int64_t>();
            if (i == 0)
                times[{thread, 0, "enter"}] = enter;
            else
                into[{thread, i, "enter"}].emplace_back(
                    Place{thread, i - 1, "leave"},
                    enter - calls[static_cast<std::size_t>(i) - 1]["leave"].get<std::int64_t>());
        }
        nodes += 2 * calls.size();
        ++thread;
    }
    for (std::size_t known = 0; known != times.size();) {
        known = times.size();
        for (const auto& [to, edges] : into) {
            if (times.contains(to) ||
                !std::ranges::all_of(edges, [&](const auto& edge) { return times.contains(edge.first); }))
                continue;
            std::int64_t latest = std::numeric_limits<std::int64_t>::min();
            for (const auto& [from, weight] : edges)
                latest = std::max(latest, times[from] + weight);
            times[to] = latest;
        }
    }
    EXPECT_EQ(times.size(), nodes);
    return times;
}

TEST(Truth, ItsWeightsSayWhenAllIs)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const Machine machine = random_machine(seed);
        const Execution execution = simulate(expand(random_recipe(seed)), machine);
        const test::Scratch scratch;
        write_truth(scratch.path(), machine, execution.graph, functions_of(execution.calls));
        const json truth = json::parse(std::ifstream(scratch.path() / truth_name));
        EXPECT_EQ(truth["machine"]["latency"], machine.latency);
        for (const auto& [place, time] : times_of(truth)) {
            const auto& [thread, call, end] = place;
            const json& described = truth["threads"][static_cast<std::size_t>(thread)]["calls"];
            EXPECT_EQ(described[static_cast<std::size_t>(call)][end], time) << seed << ": " << thread << "." << call;
        }
    }
}

TEST(Truth, HasAPathWithoutSlack)
{
    const Machine machine;
    const Execution execution = simulate(expand(random_recipe(3)), machine);
    const test::Scratch scratch;
    write_truth(scratch.path(), machine, execution.graph, functions_of(execution.calls));
    const json truth = json::parse(std::ifstream(scratch.path() / truth_name));
    EXPECT_TRUE(std::ranges::any_of(truth["weights"], [](const json& weight) { return weight["slack"] == 0; }));
    EXPECT_TRUE(std::ranges::none_of(truth["weights"], [](const json& weight) {
        return weight["slack"].is_number() && weight["slack"].get<std::int64_t>() < 0;
    }));
}

}  // namespace
}  // namespace critpath::oracle
