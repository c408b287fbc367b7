// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/truth.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

namespace critpath::oracle
{
namespace
{

using nlohmann::ordered_json;

ordered_json described(const Machine& machine)
{
    return {{"tick_ns", machine.tick_ns},
            {"call", machine.call},
            {"latency", machine.latency},
            {"far_latency", machine.far_latency},
            {"bytes_a_tick", machine.bytes_a_tick},
            {"eager_limit", machine.eager_limit},
            {"local_limit", machine.local_limit},
            {"collective", machine.collective},
            {"jitter", machine.jitter},
            {"skew", machine.skew},
            {"file_system", machine.file_system},
            {"progress", machine.progress},
            {"by_groups", machine.by_groups},
            {"synchronous", machine.synchronous},
            {"ranks_a_node", machine.ranks_a_node}};
}

ordered_json described(const Node& node)
{
    return {node.rank, node.call, node.leave ? "leave" : "enter"};
}

ordered_json slack_or_null(std::int64_t slack)
{
    return slack < Graph::never / 2 ? ordered_json(slack) : ordered_json();
}

}  // namespace

void write_truth(const std::filesystem::path& directory, const Machine& machine, const Graph& graph,
                 const Functions& functions)
{
    ordered_json threads = ordered_json::array();
    ordered_json weights = ordered_json::array();
    for (int thread = 0; thread < graph.ranks(); ++thread) {
        ordered_json calls = ordered_json::array();
        for (std::size_t i = 0; i < graph.calls(thread).size(); ++i) {
            const Times& times = graph.calls(thread)[i];
            const Node leave{thread, static_cast<int>(i), true};
            calls.push_back({{"function", functions::info(functions.at(static_cast<std::size_t>(thread)).at(i)).name},
                             {"enter", times.enter},
                             {"leave", times.leave},
                             {"slack", slack_or_null(graph.slack(leave))}});
            for (const Edge& edge : graph.into(leave))
                weights.push_back({{"from", described(edge.from)},
                                   {"to", described(edge.to)},
                                   {"weight", edge.weight},
                                   {"slack", slack_or_null(graph.slack(edge))}});
        }
        threads.push_back({{"begin", graph.begin(thread)}, {"calls", std::move(calls)}});
    }
    const std::filesystem::path path = directory / truth_name;
    std::ofstream file(path);
    file << ordered_json{{"machine", described(machine)},
                         {"threads", std::move(threads)},
                         {"weights", std::move(weights)}}
                .dump(1)
         << '\n';
    file.close();
    if (!file)
        throw std::runtime_error(path.string() + ": cannot be written");
}

}  // namespace critpath::oracle
