// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the messages of a simulation: when each one arrives, which receive takes it, and when both sides are done.
#pragma once

#include "tests/oracle/simulation/poll_loop.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace critpath::oracle
{

/// On its way, or there and not taken yet.
struct Travelling {
    Posted* send = nullptr;
    std::size_t comm = 0;
    int source = 0, tag = 0;  // rank of the communicator
    std::int64_t there = 0;
};

class Messages
{
public:
    explicit Messages(World& world);

    void send(int rank, const Step& step);
    void receive(int rank, const Step& step);
    void sendrecv(int rank, const Step& step);
    void post(int rank, const Step& step);  // Isend, Irecv
    void start_all(int rank, const Step& step);
    void probe(int rank, const Step& step);
    void probe_loop(int rank, const Step& step);      // a loop of Iprobe, Improbe
    void receive_probed(int rank, const Step& step);  // Mrecv, Imrecv
    void cancel(int rank, const Step& step);
    void detach(int rank, const Step& step);

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    struct Inbox {
        std::vector<Posted*> open_receives;             // in the order of the posts
        std::vector<Travelling> unexpected;             // in the order of their arrival
        std::vector<std::optional<Travelling>> probed;  // by number of the request
    };

    /// The one that a probe finds; null: none is there.
    [[nodiscard]] const Travelling* find_unexpected(int rank, const Step& step);
    /// What the call says of what it has found; a matched probe takes it.
    void find(const Node& call, const Step& step, bool is_matched);
    Posted* add(const Node& call, bool receiving, int request, const Step& step, int peer);
    /// One that has a request.
    void begin(const Node& call, const Step& step);
    void post_send(Posted* send);
    void arrive(int to, const Travelling& message);
    void hold(int to, const Travelling& message);
    void post_receive(Posted* receive);
    void match(Posted* receive, const Travelling& message);
    void meet(Posted* receive, const Travelling& message, const std::vector<Node>& since);
    void take_from_buffer(const Travelling& message, const Node& receive, std::int64_t transfer);
    void finish(const Posted* receive, const Posted* send);
    void finish_receive(const Node& call, const Posted* receive);

    World& world_;
    Scheduler& scheduler_;
    const Machine& machine_;
    PollLoop loop_;
    std::vector<Inbox> inboxes_;                       // by rank
    std::vector<std::vector<const Posted*>> buffers_;  // by rank: large ones since the last detach
    std::map<const Posted*, Done> taken_;              // of these, when they were
    std::map<std::tuple<std::size_t, int, int>, std::int64_t> last_arrival_;  // by communicator, from, to
};

}  // namespace critpath::oracle
