// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/pattern.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

namespace critpath::bench
{

namespace
{

constexpr int degree = 4;  // messages that a rank sends in a step

enum class Completion { Waitany, Waitsome, Waitall };

/// Work; MPI_Irecv for all that will come, in every other step from anybody; MPI_Isend to the ranks that a random graph
/// says, of small messages and some that meet their receiver; then the received ones are completed with MPI_Waitany,
/// MPI_Waitsome or MPI_Waitall in turn, and what was sent with MPI_Waitall.
class Irregular : public Pattern
{
public:
    explicit Irregular(Program& program) : program_(program), incoming_(static_cast<std::size_t>(program.ranks()))
    {
        for (int rank = 0; rank < program.ranks(); ++rank)
            add_edges(rank);
        for (std::size_t edge = 0; edge < edges_.size(); ++edge)
            incoming_[static_cast<std::size_t>(edges_[edge].to)].push_back(edge);
        posted_.resize(incoming_.size());
    }

    [[nodiscard]] double events_a_step() const override
    {
        // Posts and the completion of the send; a message received by itself takes three events, by Waitsome about two.
        constexpr double of_an_edge = 2 * events_a_message_call + 1 + (3.0 + 2.0 + 1.0) / 3;
        return of_an_edge * static_cast<double>(edges_.size()) + 2.0 * program_.ranks();
    }

    void step(std::uint64_t number) override
    {
        const int every = program_.options().allreduce_every;
        // Messages from anybody must not be taken for those of another step: these are at most an Allreduce apart.
        tag_ = static_cast<std::int32_t>(number % static_cast<std::uint64_t>(every > 0 ? every : 1 << 15));
        wildcards_ = number % 2 == 0;
        for (int rank = 0; rank < program_.ranks(); ++rank)
            post(rank, number);
        for (int rank = 0; rank < program_.ranks(); ++rank)
            match(rank);
        for (int rank = 0; rank < program_.ranks(); ++rank)
            complete(rank, static_cast<Completion>(number / 2 % 3));
    }

private:
    static constexpr Time call = Machine::post + Machine::gap;

    /// A message of the step.
    struct Edge {
        int from, to;
        std::uint64_t bytes = 0;
        Time posted = 0;            // by the sender
        Time envelope = 0;          // arrives at the receiver
        Time arrival = 0;           // of all of it
        Time sent = 0;              // the sender may go on
        std::size_t slot = 0;       // which of the receiver's receives takes it
        std::uint64_t request = 0;  // of the sender; on its process only
    };

    void add_edges(int rank)
    {
        const auto ranks = static_cast<std::size_t>(program_.ranks());
        std::vector<int> targets;
        for (std::uint64_t i = 0; targets.size() < std::min<std::size_t>(degree, ranks - 1); ++i) {
            const auto target =
                static_cast<int>(program_.dice().below(ranks, Purpose::Graph, i, static_cast<std::uint64_t>(rank)));
            if (target != rank && std::ranges::find(targets, target) == targets.end())
                targets.push_back(target);
        }
        first_.push_back(edges_.size());
        for (const int target : targets)
            edges_.push_back({rank, target});
    }

    std::span<Edge> outgoing(int rank)
    {
        const std::size_t begin = first_[static_cast<std::size_t>(rank)];
        const std::size_t end =
            rank + 1 < program_.ranks() ? first_[static_cast<std::size_t>(rank) + 1] : edges_.size();
        return {edges_.data() + begin, end - begin};
    }

    const std::vector<std::size_t>& incoming(int rank) const { return incoming_[static_cast<std::size_t>(rank)]; }

    /// One in eight is large enough to meet its receiver.
    std::uint64_t size(std::uint64_t bits) const
    {
        const std::uint64_t small = 64 + (bits >> 8) % 2048;
        return bits % 8 == 0 ? Machine::eager_limit + small * 32 : small;
    }

    void post(int rank, std::uint64_t number)
    {
        const Time posted = program_.now(rank) + program_.work(rank, number);
        posted_[static_cast<std::size_t>(rank)] = posted;
        Time at = posted + static_cast<Time>(incoming(rank).size()) * call;
        for (Edge& edge : outgoing(rank)) {
            const auto id = static_cast<std::uint64_t>(&edge - edges_.data());
            edge.bytes = size(program_.dice().bits(Purpose::Size, number, id));
            edge.posted = at;
            edge.envelope = at + program_.machine().envelope(edge.from, edge.to) + program_.delay(id, number);
            at += call;
        }
    }

    /// A receive from anybody takes what comes first; then it is known when each message will be there.
    void match(int rank)
    {
        order_ = incoming(rank);
        if (wildcards_)
            std::ranges::sort(order_, {}, [&](std::size_t e) { return std::tuple(edges_[e].envelope, e); });
        for (std::size_t slot = 0; slot < order_.size(); ++slot) {
            Edge& edge = edges_[order_[slot]];
            edge.slot = slot;
            const Time received = posted_[static_cast<std::size_t>(rank)] + static_cast<Time>(slot) * call;
            const bool eager = edge.bytes <= Machine::eager_limit;
            const Time begin = eager ? edge.posted : std::max(edge.posted, received);
            edge.arrival = begin + (edge.envelope - edge.posted) + Machine::copy(edge.bytes);
            edge.sent = eager ? edge.posted : edge.arrival;
        }
    }

    void complete(int rank, Completion completion)
    {
        Location* const location = program_.location(rank);
        const Time posted = posted_[static_cast<std::size_t>(rank)];
        std::uint64_t first_request = 0;
        if (location != nullptr)
            first_request = write_posts(*location, rank, posted);
        Time now = posted + static_cast<Time>(incoming(rank).size() + outgoing(rank).size()) * call;
        order_ = incoming(rank);
        if (completion == Completion::Waitall) {
            sort_by_slot(order_);
            now = wait_for_all(location, rank, now, order_, first_request);
        } else {
            std::ranges::sort(order_, {}, [&](std::size_t e) { return std::tuple(edges_[e].arrival, e); });
            now = receive(location, now, completion, first_request);
            now = wait_for_all(location, rank, now, {}, first_request);
        }
        program_.now(rank) = now;
    }

    /// The first request.
    std::uint64_t write_posts(Location& location, int rank, Time at)
    {
        std::uint64_t first = 0;
        for (std::size_t i = 0; i < incoming(rank).size(); ++i, at += call) {
            const std::uint64_t request = location.irecv(at);
            first = i == 0 ? request : first;
        }
        for (Edge& edge : outgoing(rank)) {
            edge.request = location.isend(at, {edge.to, Vocabulary::world, tag_, edge.bytes});
            at += call;
        }
        return first;
    }

    /// Completions are recorded in the order of the array of requests.
    void sort_by_slot(std::span<std::size_t> edges) const
    {
        std::ranges::sort(edges, {}, [&](std::size_t e) { return edges_[e].slot; });
    }

    /// What has come first is completed first, by itself or with what else is there, and dealt with.
    Time receive(Location* location, Time now, Completion completion, std::uint64_t first_request)
    {
        const bool some = completion == Completion::Waitsome;
        const FunctionId function = some ? FunctionId::MPI_Waitsome : FunctionId::MPI_Waitany;
        for (std::size_t i = 0; i < order_.size();) {
            const Time enter = now + Machine::gap;
            const Time released = std::max(enter, edges_[order_[i]].arrival);
            std::size_t end = i + 1;
            while (some && end < order_.size() && edges_[order_[end]].arrival <= released)
                ++end;
            now = released + Machine::complete;
            sort_by_slot({order_.data() + i, end - i});
            if (location != nullptr)
                write_wait(*location, function, enter, now, {order_.data() + i, end - i}, first_request, {});
            now += static_cast<Time>(end - i) * Machine::handle;
            i = end;
        }
        return now;
    }

    Time wait_for_all(Location* location, int rank, Time now, std::span<const std::size_t> receives,
                      std::uint64_t first_request)
    {
        const Time enter = now + Machine::gap;
        Time left = enter;
        for (const Edge& edge : outgoing(rank))
            left = std::max(left, edge.sent);
        for (const std::size_t edge : receives)
            left = std::max(left, edges_[edge].arrival);
        left += Machine::complete;
        if (location != nullptr)
            write_wait(*location, FunctionId::MPI_Waitall, enter, left, receives, first_request, outgoing(rank));
        return left;
    }

    void write_wait(Location& location, FunctionId function, Time enter, Time left,
                    std::span<const std::size_t> receives, std::uint64_t first_request, std::span<const Edge> sends)
    {
        location.enter(function, enter);
        location.sample_call(left);
        for (const std::size_t e : receives)
            location.received(left, {edges_[e].from, Vocabulary::world, tag_, edges_[e].bytes},
                              first_request + edges_[e].slot);
        for (const Edge& edge : sends)
            location.sent(left, edge.request);
        location.leave(function, left);
    }

    Program& program_;
    std::vector<Edge> edges_;                         // by sender
    std::vector<std::size_t> first_;                  // of each rank
    std::vector<std::vector<std::size_t>> incoming_;  // edges to each rank
    std::vector<Time> posted_;                        // enter of the first receive of each rank
    std::vector<std::size_t> order_;                  // of the rank that is looked at
    std::int32_t tag_ = 0;
    bool wildcards_ = false;
};

}  // namespace

std::unique_ptr<Pattern> make_irregular(Program& program)
{
    return std::make_unique<Irregular>(program);
}

}  // namespace critpath::bench
