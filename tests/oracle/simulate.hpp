// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a program runs: a discrete-event simulation of MPI in whole ticks, in which each leave is the maximum of
// what it depends on, so that the graph of an execution is exact. What MPI leaves open (which message a wildcard takes,
// which request comes first) is decided here, by time, and then stands.
#pragma once

#include "tests/oracle/graph.hpp"
#include "tests/oracle/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::oracle
{

/// What things cost, in ticks.
struct Machine {
    std::int64_t tick_ns = 1250;    // more than what is too short to be told from work
    std::int64_t call = 1;          // of each call
    std::int64_t latency = 20;      // of a message within a node
    std::int64_t far_latency = 50;  // between nodes
    std::uint64_t bytes_a_tick = 1000;
    std::uint64_t eager_limit = 4096;
    std::uint64_t local_limit = 1 << 20;  // larger ones up to that limit are over when the receiver's rank takes them
    std::int64_t collective = 12;         // after the last arrival that is needed, of one that moves hardly anything
    std::int64_t jitter = 0;              // at most so much longer, a message
    std::int64_t skew = 0;                // at most so much later, a leave of a collective
    bool progress = true;    // what is under way moves on by itself; else, only while those who take part are in calls
    bool posts_look = true;  // calls that only post are among those calls
    bool by_groups = false;  // between groups, who gets something in a blocking collective waits for its own group too
    bool synchronous = false;  // who gives something in a rooted collective waits for those who get it, in their calls;
                               // but where sends are held, in a blocking one only of as much, and in any call of theirs
    std::int64_t file_system = 0;  // at most so much of its own work has a collective call that does not wait for all
    bool short_of_cores = false;   // calls that end epochs of windows may be late, and then so is what they release
    int ranks_a_node = 1 << 20;
    std::uint32_t seed = 1;  // of jitter and skew

    /// By how much one event may be late at most.
    [[nodiscard]] std::int64_t noise() const { return jitter + skew; }
    [[nodiscard]] bool same_node(int a, int b) const { return a / ranks_a_node == b / ranks_a_node; }
    /// The least time of a message, from when both sides that must be there are there.
    [[nodiscard]] std::int64_t transfer(int from, int to, std::uint64_t bytes) const
    {
        return (same_node(from, to) ? latency : far_latency) + static_cast<std::int64_t>(bytes / bytes_a_tick);
    }
    /// From the last arrival that is needed to the end of a collective operation.
    [[nodiscard]] std::int64_t completion(std::uint64_t bytes) const
    {
        return collective + static_cast<std::int64_t>(bytes / bytes_a_tick);
    }
    [[nodiscard]] bool holds_sends() const { return local_limit < eager_limit; }
    [[nodiscard]] bool is_held(SendMode mode, std::uint64_t bytes) const
    {
        return mode == SendMode::Standard && bytes > local_limit && bytes <= eager_limit;
    }
    [[nodiscard]] bool is_eager(SendMode mode, std::uint64_t bytes) const
    {
        return mode == SendMode::Buffered || mode == SendMode::Ready ||
               (mode == SendMode::Standard && bytes <= eager_limit);
    }
};

/// Who waits for the own group, or for those who get something, too, is told by at least one message, so that
/// collectives take longer than that.
inline void go_by_groups(Machine& machine)
{
    machine.by_groups = true;
    machine.collective = machine.latency + 4;
}
inline void go_synchronous(Machine& machine)
{
    machine.synchronous = true;
    machine.collective = machine.latency + 4;
}

/// A machine of any kind, with noise of several ticks in most cases.
Machine random_machine(std::uint32_t seed);

/// A message operation as it ended.
struct Message {
    bool receiving = false;
    bool cancelled = false;
    int peer = 0;  // member of the communicator: the actual one
    int tag = 0;
    std::size_t comm = 0;
    std::uint64_t bytes = 0;
    SendMode mode = SendMode::Standard;
    std::uint64_t request = 0;  // 0: none
    std::uint64_t probed = 0;   // matched-probe message that it takes; 0: none
};

struct CollectiveOperation {
    FunctionId function;
    std::size_t comm;
    int root;  // as the trace has it
    std::uint64_t sent, received;
    std::uint64_t request;  // 0: blocking
};

/// What the trace says of a call besides its times.
struct Call {
    FunctionId function = FunctionId::none;
    std::vector<Message> posted, completed;
    std::vector<CollectiveOperation> collectives_posted, collectives_completed;
    std::size_t makes = 0;  // the communicator whose handle it returns before it can be used, if any
    bool has_probed = false;
    Message probed;
};

/// When the collector said that it was at work.
struct ToolTime {
    std::int64_t begin, end;
};

/// `Node::rank` counts threads, as Program has them.
struct Execution {
    std::vector<std::vector<Call>> calls;  // by thread, as Graph::calls
    Graph graph;
    std::vector<std::vector<ToolTime>> tool = {};  // by thread
    std::vector<int> locations = {};               // threads in the order of the trace: by rank, main threads first
};

/// Throws std::logic_error if the program cannot end.
Execution simulate(const Program& program, const Machine& machine);

/// Of the calls, by thread.
using Functions = std::vector<std::vector<FunctionId>>;
template <class AnyCall>
Functions functions_of(const std::vector<std::vector<AnyCall>>& threads)
{
    Functions functions;
    for (const std::vector<AnyCall>& calls : threads) {
        functions.emplace_back();
        for (const AnyCall& call : calls)
            functions.back().push_back(call.function);
    }
    return functions;
}

/// What happened, a line a call.
std::string text(const Execution& execution);

}  // namespace critpath::oracle
