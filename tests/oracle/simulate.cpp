// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <stdexcept>
#include <utility>

namespace critpath::oracle
{

namespace
{

/// Something that is done at a moment, because of what.
struct Done {
    std::int64_t time = 0;
    std::vector<Edge> because;  // `to` is filled in by who waits for it
};

struct Posted {
    int rank = 0;
    int request = -1;  // -1: a blocking call
    Message message;
    Node post{};
    std::int64_t time = 0;
    std::optional<Done> done;
};

/// On its way, or there and not taken yet.
struct Travelling {
    Posted* send = nullptr;
    std::size_t comm = 0;
    int source = 0, tag = 0;  // rank of the communicator
    std::int64_t there = 0;
};

/// One collective operation: who came when.
struct Gathering {
    std::map<int, Node> came;  // by rank of the communicator
    std::map<int, std::int64_t> when;
    std::vector<std::pair<int, Posted*>> waiting;  // rank of the communicator
};

class Simulation
{
public:
    Simulation(const Program& program, const Machine& machine)
        : program_(program), machine_(machine), random_(machine.seed), ranks_(at(program.ranks))
    {
        for (int r = 0; r < program.ranks; ++r) {
            ranks_[at(r)].requests.resize(count_requests(program.steps[at(r)]), nullptr);
            wake(r, 0);
        }
    }

    Execution run()
    {
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            if (event.time < now_)
                throw std::logic_error(fmt::format("time falls from {} to {}", now_, event.time));
            now_ = event.time;
            event.action();
        }
        std::vector<std::vector<Call>> calls;
        std::vector<std::vector<Times>> times;
        for (Rank& rank : ranks_) {
            if (rank.next < program_.steps[calls.size()].size() || rank.waits)
                throw std::logic_error(fmt::format("rank {} waits for ever in {}, step {}", calls.size(),
                                                   functions::info(rank.calls.back().function).name, rank.next));
            rank.calls.push_back({FunctionId::MPI_Finalize, {}, {}, {}, {}, false, {}});
            rank.times.push_back({rank.now, rank.now});
            edges_.push_back({{static_cast<int>(calls.size()), static_cast<int>(rank.calls.size()) - 1, false},
                              {static_cast<int>(calls.size()), static_cast<int>(rank.calls.size()) - 1, true},
                              0});
            calls.push_back(std::move(rank.calls));
            times.push_back(std::move(rank.times));
        }
        return {std::move(calls), Graph(std::vector<std::int64_t>(ranks_.size(), 0), std::move(times), edges_)};
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    struct Rank {
        std::size_t next = 0;  // step
        std::int64_t now = 0;  // when it is free for that
        std::vector<Call> calls;
        std::vector<Times> times;
        std::vector<Posted*> requests;
        std::vector<Posted*> open_receives;             // in the order of the posts
        std::vector<Travelling> unexpected;             // in the order of their arrival
        std::vector<std::optional<Travelling>> probed;  // by number of the request
        std::map<std::size_t, int> collectives;         // by communicator: how many it has posted
        std::function<bool()> waits;                    // true if it could go on
    };

    struct Event {
        std::int64_t time;
        std::uint64_t order;
        std::function<void()> action;
        bool operator<(const Event& other) const { return std::pair(time, order) > std::pair(other.time, other.order); }
    };

    static std::size_t count_requests(const std::vector<Step>& steps)
    {
        int most = -1;
        for (const Step& step : steps)
            most = std::max(most, step.request);
        return at(most + 1);
    }

    void later(std::int64_t time, std::function<void()> action)
    {
        events_.push({time, next_order_++, std::move(action)});
    }

    void wake(int r, std::int64_t time)
    {
        ranks_[at(r)].now = time;
        later(time, [this, r] { step(r); });
    }

    /// Something happened that the rank may wait for.
    void notify(int r)
    {
        Rank& rank = ranks_[at(r)];
        if (rank.waits && rank.waits())
            rank.waits = nullptr;
    }

    void wait(int r, std::function<bool()> attempt)
    {
        if (!attempt())
            ranks_[at(r)].waits = std::move(attempt);
    }

    // -------------------------------------------------------------------------------------------------- calls

    Node enter_call(int r, FunctionId function)
    {
        Rank& rank = ranks_[at(r)];
        rank.calls.push_back({function, {}, {}, {}, {}, false, {}});
        rank.times.push_back({now_, now_});
        return {r, static_cast<int>(rank.calls.size()) - 1, false};
    }

    /// The call takes `work`, and what else it depends on.
    void leave_call(const Node& enter, std::int64_t work, const std::vector<Edge>& because = {})
    {
        Rank& rank = ranks_[at(enter.rank)];
        const Node leave{enter.rank, enter.call, true};
        std::int64_t time = rank.times[at(enter.call)].enter + work;
        edges_.push_back({enter, leave, work});
        for (Edge edge : because) {
            edge.to = leave;
            time = std::max(time, time_of(edge.from) + edge.weight);
            edges_.push_back(edge);
        }
        rank.times[at(enter.call)].leave = time;
        wake(enter.rank, time);
    }

    [[nodiscard]] std::int64_t time_of(const Node& node) const
    {
        const Times& times = ranks_[at(node.rank)].times[at(node.call)];
        return node.leave ? times.leave : times.enter;
    }
    Call& call_of(const Node& node) { return ranks_[at(node.rank)].calls[at(node.call)]; }

    void step(int r)
    {
        Rank& rank = ranks_[at(r)];
        if (rank.next == program_.steps[at(r)].size())
            return;
        const Step& step = program_.steps[at(r)][rank.next++];
        switch (step.kind) {
        case Kind::Compute:
            wake(r, now_ + step.ticks);
            break;
        case Kind::Send:
            send(r, step);
            break;
        case Kind::Recv:
            receive(r, step);
            break;
        case Kind::Sendrecv:
            sendrecv(r, step);
            break;
        case Kind::Isend:
        case Kind::Irecv:
            post(r, step);
            break;
        case Kind::Waitall:
            waitall(r, step);
            break;
        case Kind::Waitany:
        case Kind::Waitsome:
            wait_for_one(r, step);
            break;
        case Kind::PollLoop:
            poll(r, step);
            break;
        case Kind::Probe:
        case Kind::Mprobe:
            probe(r, step);
            break;
        case Kind::Mrecv:
            receive_probed(r, step);
            break;
        case Kind::Cancel:
            cancel(r, step);
            break;
        case Kind::Collective:
            collective(r, step);
            break;
        case Kind::Icollective:
            icollective(r, step);
            break;
        }
    }

    // ----------------------------------------------------------------------------------------------- messages

    [[nodiscard]] int world_rank(std::size_t comm, int rank) const { return program_.comms[comm][at(rank)]; }
    [[nodiscard]] int rank_in(std::size_t comm, int world) const
    {
        const auto& members = program_.comms[comm];
        return static_cast<int>(std::ranges::find(members, world) - members.begin());
    }

    Posted* add_posted(int r, const Node& call, bool receiving, int request, const Step& step, int peer)
    {
        Posted& posted = posted_.emplace_back();
        posted.rank = r;
        posted.request = request;
        posted.post = call;
        posted.time = now_;
        posted.message.receiving = receiving;
        posted.message.peer = peer;
        posted.message.tag = step.tag;
        posted.message.comm = step.comm;
        posted.message.bytes = step.bytes;
        posted.message.mode = receiving ? SendMode::None : step.mode;
        if (request >= 0) {
            posted.message.request = static_cast<std::uint64_t>(request) + 1;
            ranks_[at(r)].requests[at(request)] = &posted;
        }
        return &posted;
    }

    void post_send(Posted* send, std::int64_t work)
    {
        const Message& message = send->message;
        const int to = world_rank(message.comm, message.peer);
        const bool is_eager = machine_.is_eager(message.mode, message.bytes);
        if (is_eager) {
            send->done = Done{now_ + work, {}};
            later(send->done->time, [this, r = send->rank] { notify(r); });
        }
        // The envelope travels with the data if they fit into one packet.
        const std::int64_t time =
            machine_.transfer(send->rank, to, message.bytes <= machine_.eager_limit ? message.bytes : 0);
        std::int64_t& last = last_arrival_[{message.comm, send->rank, to}];
        last = std::max(last, now_ + time + draw(machine_.jitter));  // they do not overtake each other
        const Travelling travelling{send, message.comm, rank_in(message.comm, send->rank), message.tag, last};
        later(last, [this, to, travelling] { arrive(to, travelling); });
    }

    void arrive(int to, const Travelling& message)
    {
        Rank& rank = ranks_[at(to)];
        const auto open = std::ranges::find_if(rank.open_receives,
                                               [&](const Posted* receive) { return fits(receive->message, message); });
        if (open == rank.open_receives.end()) {
            rank.unexpected.push_back(message);
            notify(to);  // a probe
            return;
        }
        Posted* receive = *open;
        rank.open_receives.erase(open);
        match(receive, message);
    }

    void post_receive(Posted* receive)
    {
        Rank& rank = ranks_[at(receive->rank)];
        const auto there = std::ranges::find_if(
            rank.unexpected, [&](const Travelling& message) { return fits(receive->message, message); });
        if (there == rank.unexpected.end()) {
            rank.open_receives.push_back(receive);
            return;
        }
        const Travelling message = *there;
        rank.unexpected.erase(there);
        match(receive, message);
    }

    static bool fits(const Message& receive, const Travelling& message)
    {
        return receive.comm == message.comm && (receive.peer == any_source || receive.peer == message.source) &&
               (receive.tag == any_tag || receive.tag == message.tag);
    }

    void match(Posted* receive, const Travelling& message)
    {
        Posted* send = message.send;
        receive->message.peer = message.source;
        receive->message.tag = message.tag;
        receive->message.bytes = send->message.bytes;
        if (machine_.is_eager(send->message.mode, send->message.bytes)) {
            const std::int64_t time =
                std::max(message.there - send->time, machine_.transfer(send->rank, receive->rank, send->message.bytes));
            receive->done = Done{send->time + time, {{send->post, {}, time}}};
        } else {
            const std::int64_t time =
                machine_.transfer(send->rank, receive->rank, send->message.bytes) + draw(machine_.jitter);
            const Done done{std::max(send->time, receive->time) + time,
                            {{send->post, {}, time}, {receive->post, {}, time}}};
            // Not before the envelope is there: jitter may make that later.
            const std::int64_t late = std::max<std::int64_t>(0, message.there - done.time);
            receive->done = send->done =
                Done{done.time + late, {{send->post, {}, time + late}, {receive->post, {}, time + late}}};
        }
        for (const Posted* posted : {static_cast<const Posted*>(receive), static_cast<const Posted*>(send)})
            if (posted->done)
                later(std::max(now_, posted->done->time), [this, r = posted->rank] { notify(r); });
    }

    void send(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        Posted* send = add_posted(r, call, false, -1, step, step.peer);
        call_of(call).posted.push_back(send->message);
        post_send(send, machine_.call);
        wait(r, [this, call, send] {
            if (!is_done(send))
                return false;
            leave_call(call, machine_.call, send->done->because);
            return true;
        });
    }

    void receive(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        Posted* receive = add_posted(r, call, true, -1, step, step.peer);
        post_receive(receive);
        wait(r, [this, call, receive] {
            if (!is_done(receive))
                return false;
            call_of(call).completed.push_back(receive->message);
            leave_call(call, machine_.call, receive->done->because);
            return true;
        });
    }

    void sendrecv(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        Posted* send = add_posted(r, call, false, -1, step, step.peer);
        Posted* receive = add_posted(r, call, true, -1, step, step.source);
        call_of(call).posted.push_back(send->message);
        post_receive(receive);
        post_send(send, machine_.call);
        wait(r, [this, call, send, receive] {
            if (!is_done(send) || !is_done(receive))
                return false;
            call_of(call).completed.push_back(receive->message);
            std::vector<Edge> because = send->done->because;
            because.insert(because.end(), receive->done->because.begin(), receive->done->because.end());
            leave_call(call, machine_.call, because);
            return true;
        });
    }

    void post(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        const bool receiving = step.kind == Kind::Irecv;
        Posted* posted = add_posted(r, call, receiving, step.request, step, step.peer);
        call_of(call).posted.push_back(posted->message);
        if (receiving)
            post_receive(posted);
        else
            post_send(posted, machine_.call);
        leave_call(call, machine_.call);
    }

    // -------------------------------------------------------------------------------------------- completions

    [[nodiscard]] bool is_done(const Posted* posted) const { return posted->done && posted->done->time <= now_; }

    void complete(const Node& call, Posted* posted)
    {
        Call& completing = call_of(call);
        if (const auto found = collective_of_.find(posted); found != collective_of_.end())
            completing.collectives_completed.push_back(found->second);
        else
            completing.completed.push_back(posted->message);
        ranks_[at(posted->rank)].requests[at(posted->request)] = nullptr;
    }

    std::vector<Posted*> open_requests(int r, const std::vector<int>& numbers)
    {
        std::vector<Posted*> result;
        for (const int number : numbers)
            if (Posted* posted = ranks_[at(r)].requests[at(number)]; posted != nullptr)
                result.push_back(posted);
        return result;
    }

    void waitall(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        const std::vector<Posted*> open = open_requests(r, step.requests);
        wait(r, [this, call, open] {
            if (!std::ranges::all_of(open, [this](const Posted* posted) { return is_done(posted); }))
                return false;
            std::vector<Edge> because;
            for (Posted* posted : open) {
                because.insert(because.end(), posted->done->because.begin(), posted->done->because.end());
                complete(call, posted);
            }
            leave_call(call, machine_.call, because);
            return true;
        });
    }

    void wait_for_one(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        const std::vector<Posted*> open = open_requests(r, step.requests);
        const bool some = step.kind == Kind::Waitsome;
        wait(r, [this, call, open, some] {
            std::vector<Posted*> done;
            std::ranges::copy_if(open, std::back_inserter(done), [this](const Posted* p) { return is_done(p); });
            if (done.empty() && !open.empty())
                return false;
            std::ranges::stable_sort(done, {}, [](const Posted* posted) { return posted->done->time; });
            const std::vector<Edge> because = done.empty() ? std::vector<Edge>{} : done.front()->done->because;
            for (Posted* posted : done)
                if (some || posted == done.front())
                    complete(call, posted);
            leave_call(call, machine_.call, because);
            return true;
        });
    }

    /// Polls in vain are one call of the trace: from the first enter to the last leave.
    void poll(int r, const Step& step)
    {
        Posted* posted = ranks_[at(r)].requests[at(step.request)];
        if (is_done(posted)) {
            finish_poll(r, step, posted, 0);
            return;
        }
        const Node vain = enter_call(r, step.function);
        wait(r, [this, r, vain, &step, posted] {
            if (!is_done(posted))
                return false;
            const std::int64_t begin = time_of(vain);
            const std::int64_t round = machine_.call + step.ticks;
            // The first poll that begins when it is done; the polls before that were in vain.
            const std::int64_t polls = std::max<std::int64_t>(1, (posted->done->time - begin + round - 1) / round);
            const std::int64_t success = begin + polls * round;
            Rank& rank = ranks_[at(r)];
            const std::int64_t end = success - step.ticks;
            rank.times[at(vain.call)].leave = end;
            // How often it polls is a matter of when the message is there, if it was not sent after the last poll in
            // vain.
            const Edge* cause = latest(posted->done->because);
            const bool is_caused = polls > 1 && cause != nullptr && time_of(cause->from) <= end;
            edges_.push_back({vain, {r, vain.call, true}, is_caused ? machine_.call : end - begin});
            if (is_caused)
                edges_.push_back({cause->from, {r, vain.call, true}, end - time_of(cause->from)});
            later(success, [this, r, &step, posted, polls] { finish_poll(r, step, posted, polls); });
            return true;
        });
    }

    /// What was last of all that something needed; null if it needed nothing.
    [[nodiscard]] const Edge* latest(const std::vector<Edge>& because) const
    {
        const auto last =
            std::ranges::max_element(because, {}, [this](const Edge& e) { return time_of(e.from) + e.weight; });
        return last == because.end() ? nullptr : &*last;
    }

    void finish_poll(int r, const Step& step, Posted* posted, std::int64_t polls)
    {
        const Node call = enter_call(r, step.function);
        std::vector<Edge> because;
        if (const Edge* cause = latest(posted->done->because); polls > 0 && cause != nullptr)
            because.push_back({cause->from, {}, now_ + machine_.call - time_of(cause->from)});
        complete(call, posted);
        leave_call(call, machine_.call, because);
    }

    // ------------------------------------------------------------------------------------------------- probes

    void probe(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        wait(r, [this, r, call, &step] {
            Rank& rank = ranks_[at(r)];
            Message wanted;
            wanted.peer = step.peer;
            wanted.tag = step.tag;
            wanted.comm = step.comm;
            const auto there =
                std::ranges::find_if(rank.unexpected, [&](const Travelling& message) { return fits(wanted, message); });
            if (there == rank.unexpected.end())
                return false;
            const Travelling message = *there;
            Call& probing = call_of(call);
            probing.has_probed = true;
            probing.probed = message.send->message;
            probing.probed.peer = message.source;
            if (step.kind == Kind::Mprobe) {
                rank.unexpected.erase(there);
                rank.probed.resize(std::max(rank.probed.size(), at(step.request) + 1));
                rank.probed[at(step.request)] = message;
                probing.probed.probed = static_cast<std::uint64_t>(step.request) + 1;
            }
            leave_call(call, machine_.call, {{message.send->post, {}, message.there - message.send->time}});
            return true;
        });
    }

    void receive_probed(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        Posted* receive = add_posted(r, call, true, -1, step, any_source);
        receive->message.probed = static_cast<std::uint64_t>(step.request) + 1;
        match(receive, *ranks_[at(r)].probed[at(step.request)]);
        wait(r, [this, call, receive] {
            if (!is_done(receive))
                return false;
            call_of(call).completed.push_back(receive->message);
            leave_call(call, machine_.call, receive->done->because);
            return true;
        });
    }

    /// What completes it afterwards finds it cancelled.
    void cancel(int r, const Step& step)
    {
        Rank& rank = ranks_[at(r)];
        Posted* receive = rank.requests[at(step.request)];
        std::erase(rank.open_receives, receive);
        receive->message.cancelled = true;
        receive->done = Done{now_, {}};
        leave_call(enter_call(r, step.function), machine_.call);
    }

    // -------------------------------------------------------------------------------------------- collectives

    Gathering& gather(int r, const Step& step, const Node& call, int& place)
    {
        Rank& rank = ranks_[at(r)];
        const int number = rank.collectives[step.comm]++;
        Gathering& gathering = gatherings_[{step.comm, number}];
        place = rank_in(step.comm, r);
        gathering.came[place] = call;
        gathering.when[place] = now_;
        return gathering;
    }

    /// Tells all who wait for this one, and the one itself.
    void join(Gathering& gathering, const Step& step, int place, Posted* posted)
    {
        gathering.waiting.emplace_back(place, posted);
        const int size = static_cast<int>(program_.comms[step.comm].size());
        for (auto& [waiting, theirs] : gathering.waiting) {
            if (theirs->done)
                continue;
            const std::vector<int> needed = needed_members(step.function, waiting, size, step.root);
            if (!std::ranges::all_of(needed, [&](int member) { return gathering.came.contains(member); }))
                continue;
            const std::int64_t completion = machine_.collective + draw(machine_.skew);
            Done done{0, {}};
            for (const int member : needed) {
                done.because.push_back({gathering.came[member], {}, completion});
                done.time = std::max(done.time, gathering.when[member] + completion);
            }
            theirs->done = done;
            later(std::max(now_, done.time), [this, r = theirs->rank] { notify(r); });
        }
    }

    void collective(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        int place = 0;
        Gathering& gathering = gather(r, step, call, place);
        Posted* posted = add_posted(r, call, false, -1, step, 0);
        const CollectiveOperation operation{step.function, step.comm, step.root, step.bytes, 0};
        call_of(call).collectives_completed.push_back(operation);
        join(gathering, step, place, posted);
        wait(r, [this, call, posted] {
            if (!is_done(posted))
                return false;
            leave_call(call, machine_.call, posted->done->because);
            return true;
        });
    }

    void icollective(int r, const Step& step)
    {
        const Node call = enter_call(r, step.function);
        int place = 0;
        Gathering& gathering = gather(r, step, call, place);
        Posted* posted = add_posted(r, call, false, step.request, step, 0);
        const CollectiveOperation operation{step.function, step.comm, step.root, step.bytes, posted->message.request};
        call_of(call).collectives_posted.push_back(operation);
        collective_of_[posted] = operation;
        join(gathering, step, place, posted);
        leave_call(call, machine_.call);
    }

    std::int64_t draw(std::int64_t most)
    {
        return most == 0 ? 0 : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
    }

    const Program& program_;
    const Machine& machine_;
    std::mt19937_64 random_;
    std::vector<Rank> ranks_;
    std::deque<Posted> posted_;  // stay where they are
    std::map<const Posted*, CollectiveOperation> collective_of_;
    std::map<std::pair<std::size_t, int>, Gathering> gatherings_;
    std::map<std::tuple<std::size_t, int, int>, std::int64_t> last_arrival_;
    std::vector<Edge> edges_;
    std::priority_queue<Event> events_;
    std::uint64_t next_order_ = 0;
    std::int64_t now_ = 0;
};

std::vector<int> range(int from, int to)
{
    std::vector<int> result(static_cast<std::size_t>(std::max(0, to - from)));
    std::iota(result.begin(), result.end(), from);
    return result;
}

}  // namespace

std::vector<int> needed_members(FunctionId function, int rank, int size, int root)
{
    using functions::CollectiveShape;
    if (function == FunctionId::MPI_Init)
        return range(0, size);
    switch (functions::info(function).shape) {
    case CollectiveShape::AllToAll:
        return range(0, size);
    case CollectiveShape::OneToAll:
        return rank == root ? std::vector<int>{} : std::vector<int>{root};
    case CollectiveShape::AllToOne:
        return rank == root ? range(0, size) : std::vector<int>{};
    case CollectiveShape::Prefix:
        return range(0, rank + (function == FunctionId::MPI_Exscan || function == FunctionId::MPI_Iexscan ? 0 : 1));
    default:
        throw std::logic_error("no such collective in the oracle");
    }
}

Execution simulate(const Program& program, const Machine& machine)
{
    return Simulation(program, machine).run();
}

std::string text(const Execution& execution)
{
    std::string words;
    const auto describe = [&](const char* what, const Message& m) {
        words += fmt::format(" {} {}{}, tag {}, {} bytes", what, m.receiving ? "from " : "to ", m.peer, m.tag, m.bytes);
    };
    for (int r = 0; r < execution.graph.ranks(); ++r)
        for (std::size_t i = 0; i < execution.calls[static_cast<std::size_t>(r)].size(); ++i) {
            const Call& call = execution.calls[static_cast<std::size_t>(r)][i];
            const Times& times = execution.graph.calls(r)[i];
            words += fmt::format("    rank {} {:5}-{:<5} {}:", r, times.enter, times.leave,
                                 functions::info(call.function).name);
            for (const Message& message : call.posted)
                describe("posts", message);
            for (const Message& message : call.completed)
                describe(message.cancelled ? "cancelled" : "completes", message);
            if (call.has_probed)
                describe("has found", call.probed);
            words += fmt::format(" (slack {})\n", execution.graph.slack(Node{r, static_cast<int>(i), true}));
        }
    return words;
}

}  // namespace critpath::oracle
