// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/mixed/mixed.hpp"

#include "formats/otf2/trace_writer.hpp"
#include "tests/oracle/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace critpath::oracle::mixed
{

namespace
{

std::size_t index(int number)
{
    return static_cast<std::size_t>(number);
}

/// Threads and the collector's own work are left to programs of messages alone.
oracle::Block message_block(std::mt19937& random)
{
    auto kind = BlockKind::Threads;
    while (kind == BlockKind::Threads || kind == BlockKind::Tool)
        kind = static_cast<BlockKind>(random() % random_kinds);
    return {kind, static_cast<std::uint32_t>(random())};
}

/// When each rank is through with it.
std::vector<std::int64_t> ends(const Graph& graph, int ranks)
{
    std::vector<std::int64_t> result;
    for (int r = 0; r < ranks; ++r)
        result.push_back(graph.calls(r).back().enter);
    return result;
}

const Graph& graph_of(const Part& part)
{
    if (const auto* messages = std::get_if<MessagePart>(&part))
        return messages->execution.graph;
    return std::get<WindowPart>(part).execution.execution.graph;
}

/// Every rank begins when it is through with what was before.
Part simulate_part(const std::vector<oracle::Block>& blocks, int ranks, const std::vector<std::int64_t>& begin,
                   const Machine& machine, bool is_first)
{
    Program program = oracle::expand({ranks, blocks});
    for (int r = 0; r < ranks && !is_first; ++r)
        program.steps[index(r)].front() = compute(begin[index(r)]);  // in the place of MPI_Init
    Execution execution = oracle::simulate(program, machine);
    return MessagePart{std::move(program), std::move(execution)};
}

Part simulate_part(const std::vector<windows::Block>& blocks, int ranks, const std::vector<std::int64_t>& begin,
                   const Machine& machine, std::uint32_t seed)
{
    windows::Program program = windows::expand({ranks, seed, blocks});
    program.begin = begin;
    windows::WindowExecution execution = windows::simulate(program, machine);
    return WindowPart{std::move(program), std::move(execution)};
}

std::vector<Part> simulate_parts(const Recipe& recipe, const Machine& machine)
{
    std::vector<Part> parts;
    std::vector<std::int64_t> begin(index(recipe.ranks), 0);
    std::vector<oracle::Block> messages;
    std::vector<windows::Block> epochs;
    const auto go_on = [&](bool with_messages) {
        if (with_messages)
            parts.push_back(simulate_part(std::exchange(messages, {}), recipe.ranks, begin, machine, parts.empty()));
        else
            parts.push_back(simulate_part(std::exchange(epochs, {}), recipe.ranks, begin, machine, recipe.seed));
        begin = ends(graph_of(parts.back()), recipe.ranks);
    };
    go_on(true);  // MPI_Init
    for (const Block& block : recipe.blocks)
        if (const auto* of_messages = std::get_if<oracle::Block>(&block)) {
            if (!epochs.empty())
                go_on(false);
            messages.push_back(*of_messages);
        } else {
            if (!messages.empty())
                go_on(true);
            epochs.push_back(std::get<windows::Block>(block));
        }
    if (!epochs.empty())
        go_on(false);
    if (!messages.empty())
        go_on(true);
    return parts;
}

/// The parts as one.
Graph join(const std::vector<Part>& parts, int ranks)
{
    std::vector<std::vector<Times>> calls(index(ranks));
    std::vector<Edge> dependencies;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const Graph& graph = graph_of(parts[p]);
        std::vector<int> offsets;
        for (const auto& of_rank : calls)
            offsets.push_back(static_cast<int>(of_rank.size()));
        const auto moved = [&](Node node) {
            node.call += offsets[index(node.rank)];
            return node;
        };
        for (int r = 0; r < ranks; ++r) {
            const auto count = static_cast<int>(graph.calls(r).size()) - (p + 1 < parts.size() ? 1 : 0);
            for (int i = 0; i < count; ++i) {
                calls[index(r)].push_back(graph.calls(r)[index(i)]);
                for (const Edge& edge : graph.into({r, i, true}))
                    dependencies.push_back({moved(edge.from), moved(edge.to), edge.weight});
            }
        }
    }
    return {std::vector<std::int64_t>(index(ranks), 0), std::move(calls), dependencies};
}

}  // namespace

Recipe random_recipe(std::uint32_t seed)
{
    std::mt19937 random(seed);
    Recipe recipe{2 + static_cast<int>(random() % 5), static_cast<std::uint32_t>(random()), {}};
    for (auto i = 4 + random() % 8; i > 0; --i)
        if (random() % 2 == 0)
            recipe.blocks.emplace_back(message_block(random));
        else
            recipe.blocks.emplace_back(windows::Block{static_cast<windows::BlockKind>(random() % windows::block_kinds),
                                                      static_cast<std::uint32_t>(random())});
    return recipe;
}

std::string text(const Recipe& recipe)
{
    std::string words = fmt::format("{} ranks, windows({}):", recipe.ranks, recipe.seed);
    for (const Block& block : recipe.blocks)
        if (const auto* messages = std::get_if<oracle::Block>(&block))
            words += fmt::format(" {}({})", name(messages->kind), messages->seed);
        else
            words += fmt::format(" {}({})", windows::name(std::get<windows::Block>(block).kind),
                                 std::get<windows::Block>(block).seed);
    return words;
}

MixedExecution simulate(const Recipe& recipe, const Machine& machine)
{
    const bool holds_sends = machine.holds_sends();
    if (!machine.progress || holds_sends)
        throw std::logic_error("where something waits until a rank is in MPI, parts depend on those behind them");
    std::vector<Part> parts = simulate_parts(recipe, machine);
    std::vector<int> locations(index(recipe.ranks));
    std::iota(locations.begin(), locations.end(), 0);
    Execution whole{{}, join(parts, recipe.ranks), {}, std::move(locations)};
    return {std::move(parts), std::move(whole)};
}

Functions functions(const MixedExecution& execution)
{
    Functions result(index(execution.whole.graph.ranks()));
    for (const Part& part : execution.parts) {
        const auto* of_messages = std::get_if<MessagePart>(&part);
        const Functions of_part = of_messages != nullptr ? functions_of(of_messages->execution.calls)
                                                         : functions_of(std::get<WindowPart>(part).execution.calls);
        for (std::size_t r = 0; r < result.size(); ++r)
            result[r].insert(result[r].end(), of_part[r].begin(),
                             of_part[r].end() - (&part == &execution.parts.back() ? 0 : 1));
    }
    return result;
}

std::string text(const MixedExecution& execution)
{
    std::string words;
    for (const Part& part : execution.parts)
        if (const auto* of_messages = std::get_if<MessagePart>(&part))
            words += oracle::text(of_messages->execution);
        else
            words += windows::text(std::get<WindowPart>(part).execution);
    return words;
}

void write_archive(const std::string& directory, const MixedExecution& execution, const Machine& machine)
{
    const int ranks = execution.whole.graph.ranks();
    otf2::TraceWriter trace(directory, static_cast<std::uint32_t>(ranks));
    std::vector<PartWriter> messages;
    std::vector<windows::PartWriter> epochs;
    for (const Part& part : execution.parts)
        if (const auto* of_messages = std::get_if<MessagePart>(&part))
            messages.emplace_back(trace, of_messages->program, machine);
        else
            epochs.emplace_back(trace, std::get<WindowPart>(part).program, machine);
    for (int r = 0; r < ranks; ++r) {
        describe_rank(trace, r, machine, execution.whole.graph);
        otf2::EventWriter& out = trace.location(static_cast<std::uint32_t>(r));
        const auto clock = clock_of(r, machine, {});
        out.program_begin(clock(0), trace.string("oracle"), {});
        auto next_messages = messages.begin();
        auto next_epochs = epochs.begin();
        for (const Part& part : execution.parts) {
            const bool is_last = &part == &execution.parts.back();
            if (const auto* of_messages = std::get_if<MessagePart>(&part))
                (next_messages++)->write(r, of_messages->execution, out, is_last);
            else
                (next_epochs++)->write(r, std::get<WindowPart>(part).execution, out, is_last);
        }
        out.program_end(clock(execution.whole.graph.calls(r).back().enter));
    }
    trace.close();
}

windows::Judged check(const Recipe& recipe, const Machine& machine, Weights weights, replayer::Rules rules)
{
    windows::Judged judged;
    try {
        const MixedExecution execution = simulate(recipe, machine);
        replayer::Replay replay =
            load(MPI_COMM_SELF, [&](const std::string& directory) { write_archive(directory, execution, machine); });
        judged = windows::judge(std::move(replay), execution.whole, machine, weights, rules);
        judged.words = text(execution) + judged.words;
    } catch (const std::exception& error) {
        judged.broken = error.what();
    }
    return judged;
}

}  // namespace critpath::oracle::mixed
