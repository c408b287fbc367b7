// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided communication in whole ticks: a transfer begins when its origin makes it and its target has posted; locks
// are granted in the order in which they are asked for; the next holder has a lock one message after it was given up,
// and not before what was transferred meanwhile is there. Who looks for a transfer gets and flushes until it is there,
// the last time until just then. Whoever tests in vain learns of what has come by the next test that begins after it.
// On a lazy machine, a transfer waits until its target is in a call: under a lock, its origin does, and before a fence,
// that.
#include "tests/oracle/windows/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace critpath::oracle::windows
{

namespace
{

struct Moved {
    Node call;
    int target;
    std::uint64_t bytes;
    Node taken = call;  // by its target, if that has to be in a call
};

/// An access epoch, or an exposure epoch.
struct Epoch {
    bool is_open = false;                // of access
    std::map<int, std::size_t> numbers;  // by peer: its number among the epochs of the pair
    std::vector<Moved> moved;
    Node post{};
};

struct Ended {
    Node complete;
    std::vector<Moved> moved;  // to one target
    std::int64_t late = 0;     // by so much what it releases is
};

struct LockRequest {
    int rank, target;
    bool exclusive;
    std::vector<Moved> moved = {};
    bool is_over = false;
    Node unlock{};
    std::int64_t late = 0;  // as Ended

    [[nodiscard]] bool conflicts_with(const LockRequest& other) const
    {
        return (exclusive || other.exclusive) &&
               (target == other.target || target == Step::all || other.target == Step::all);
    }
};

class Simulation
{
public:
    Simulation(const Program& program, const Machine& machine)
        : program_(program), machine_(machine), calls_(at(program.ranks)), times_(at(program.ranks)),
          next_(at(program.ranks)), is_flush_next_(at(program.ranks)), looks_(at(program.ranks)),
          tested_(at(program.ranks)), waits_(at(program.ranks)), free_at_(at(program.ranks)),
          locks_(at(program.windows))
    {
        for (int w = 0; w < program.windows; ++w)
            members_.push_back(program.members_of(w));
        for (int r = 0; r < program.ranks; ++r) {
            std::vector<Step> all;
            add_of_all_windows(r, FunctionId::MPI_Win_create, all);
            all.insert(all.end(), program.steps[at(r)].begin(), program.steps[at(r)].end());
            add_of_all_windows(r, FunctionId::MPI_Win_free, all);
            steps_.push_back(all);
            wake(r, program.begin.empty() ? 0 : program.begin[at(r)]);
        }
    }

    WindowExecution run()
    {
        while (!events_.empty()) {
            const auto [time, order, rank] = events_.top();
            events_.pop();
            now_ = time;
            if (next_[at(rank)] < steps_[at(rank)].size())
                take(rank, steps_[at(rank)][next_[at(rank)]++]);
            retry();
        }
        for (int r = 0; r < program_.ranks; ++r) {
            if (waits_[at(r)])
                throw std::logic_error(fmt::format("rank {} waits for ever", r));
            now_ = free_at_[at(r)];
            const Node finalize = enter(r, FunctionId::MPI_Finalize, {});
            edges_.push_back({finalize, {r, finalize_call(r), true}, 0});
        }
        std::vector<int> locations(at(program_.ranks));
        std::iota(locations.begin(), locations.end(), 0);
        return {
            std::move(calls_),
            {{}, Graph(std::vector<std::int64_t>(at(program_.ranks), 0), std::move(times_), edges_), {}, locations}};
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    void add_of_all_windows(int r, FunctionId function, std::vector<Step>& steps) const
    {
        for (int w = 0; w < program_.windows; ++w)
            if (std::ranges::count(members_[at(w)], r) > 0)
                steps.push_back({.kind = Kind::Fence, .window = w, .function = function});
    }
    [[nodiscard]] int finalize_call(int r) const { return static_cast<int>(calls_[at(r)].size()) - 1; }

    void wake(int rank, std::int64_t time)
    {
        free_at_[at(rank)] = time;
        events_.push({time, order_++, rank});
    }

    /// Whoever waits may be able to go on.
    void retry()
    {
        for (bool moved = true; moved;) {
            moved = false;
            for (auto& attempt : waits_)
                if (attempt && attempt()) {
                    attempt = nullptr;
                    moved = true;
                }
        }
    }

    void wait(int rank, std::function<bool()> attempt)
    {
        if (!attempt())
            waits_[at(rank)] = std::move(attempt);
    }

    Node enter(int rank, FunctionId function, const Step& step)
    {
        calls_[at(rank)].push_back({function, step});
        times_[at(rank)].push_back({now_, now_});
        const Node call{rank, static_cast<int>(calls_[at(rank)].size()) - 1, false};
        for (Moved* moved : std::exchange(standing_[rank], {}))
            moved->taken = call;
        return call;
    }

    /// What the last call of `rank` takes longer, since no core was free when it began.
    [[nodiscard]] std::int64_t lateness(int rank) const
    {
        constexpr std::uint32_t one_in = 3, least = 40, most = 1000;
        if (!machine_.short_of_cores)
            return 0;
        std::mt19937 random(machine_.seed * 1'000'003U + static_cast<std::uint32_t>(rank) * 65'537U +
                            static_cast<std::uint32_t>(calls_[at(rank)].size()));
        return random() % one_in == 0 ? least + random() % (most - least) : 0;
    }

    /// `rank` is in its last call, which is left when all of `because` allows it, and `late` is over.
    void leave(int rank, std::vector<Edge> because, std::int64_t late = 0)
    {
        wake(rank, end(rank, std::move(because), late));
    }

    /// The same, but the rank goes on when somebody wakes it. When it is left.
    std::int64_t end(int rank, std::vector<Edge> because, std::int64_t late = 0)
    {
        const int call = static_cast<int>(calls_[at(rank)].size()) - 1;
        because.push_back({{rank, call, false}, {}, machine_.call + late});
        Times& times = times_[at(rank)].back();
        for (Edge& edge : because) {
            edge.to = {rank, call, true};
            times.leave = std::max(times.leave, time_of(edge.from) + edge.weight);
            edges_.push_back(edge);
        }
        return times.leave;
    }

    [[nodiscard]] std::int64_t time_of(const Node& node) const
    {
        const auto& [rank, call, is_leave] = node;
        const Times& times = times_[at(rank)][at(call)];
        return is_leave ? times.leave : times.enter;
    }

    [[nodiscard]] std::int64_t message(int from, int to) const { return machine_.transfer(from, to, 0); }
    [[nodiscard]] std::int64_t transfer(int from, const Moved& moved) const
    {
        return machine_.transfer(from, moved.target, moved.bytes);
    }

    void take(int r, const Step& step)
    {
        switch (step.kind) {
        case Kind::Compute:
            return wake(r, now_ + step.ticks);
        case Kind::Fence:
            return fence(r, step);
        case Kind::Post:
            return post(r, step);
        case Kind::Start:
            return start(r, step);
        case Kind::Transfer:
            return move(r, step);
        case Kind::Complete:
            return complete(r, step);
        case Kind::Wait:
            return step.function == FunctionId::MPI_Win_test ? test_exposed(r, step) : wait_exposed(r, step);
        case Kind::Lock:
            return lock(r, step);
        case Kind::Unlock:
            return unlock(r, step);
        case Kind::Flush:
            return flush(r, step);
        case Kind::Look:
            return look(r, step);
        }
    }

    static FunctionId function_of(const Step& step, FunctionId otherwise)
    {
        return step.function == FunctionId::none ? otherwise : step.function;
    }

    /// Also the making and the freeing of a window.
    void fence(int r, const Step& step)
    {
        const std::pair number{step.window, fences_[{step.window, r}]++};
        auto& came = came_[number];
        came.push_back(enter(r, function_of(step, FunctionId::MPI_Win_fence), step));
        if (!step.precedes && program_.opening == Opening::Passes)
            return leave(r, {});
        wait(r, [this, r, step, number, &came] {
            if (came.size() < members_[at(step.window)].size())
                return false;
            std::vector<Edge> because;
            for (const Node& member : came)
                because.push_back({member, {}, machine_.collective});
            for (const auto& [origin, moved] : fenced_[number])
                if (program_.fencing == Fencing::All)
                    add_fenced(origin, moved, number, machine_.collective, because);
                else if (origin == r || moved.target == r)
                    add_fenced(origin, moved, number, 0, because);
            leave(r, because);
            return true;
        });
    }

    /// A transfer before that fence begins when its origin makes it and its target has come to the fence before it.
    void add_fenced(int origin, const Moved& moved, const std::pair<int, std::size_t>& fence, std::int64_t behind,
                    std::vector<Edge>& because)
    {
        const std::int64_t weight = transfer(origin, moved) + behind;
        because.push_back({moved.call, {}, weight});
        if (moved.taken != moved.call)
            because.push_back({moved.taken, {}, weight});
        for (const Node& opened : came_.at({fence.first, fence.second - 1}))
            if (opened.rank == moved.target)
                because.push_back({opened, {}, weight});
    }

    // ------------------------------------------------------------------------------- post, start, complete, wait

    void post(int r, const Step& step)
    {
        const Node call = enter(r, FunctionId::MPI_Win_post, step);
        Epoch& epoch = exposure_[{step.window, r}];
        epoch = {false, {}, {}, call};
        for (const int origin : step.peers) {
            auto& posts = posts_[{step.window, r, origin}];
            epoch.numbers[origin] = posts.size();
            posts.push_back(call);
        }
        leave(r, {});
    }

    /// Null if it is not there yet.
    const Node* post_of(int window, int target, int origin)
    {
        const auto& posts = posts_[{window, target, origin}];
        const std::size_t number = access_[{window, origin}].numbers.at(target);
        return number < posts.size() ? &posts[number] : nullptr;
    }

    /// All posts of `targets`, each one message later; false if one is missing.
    bool add_posts(int r, int window, const std::vector<int>& targets, std::vector<Edge>& because)
    {
        for (const int target : targets) {
            const Node* post = post_of(window, target, r);
            if (post == nullptr)
                return false;
            because.push_back({*post, {}, message(target, r)});
        }
        return true;
    }

    void start(int r, const Step& step)
    {
        enter(r, FunctionId::MPI_Win_start, step);
        Epoch& epoch = access_[{step.window, r}];
        epoch = {};
        epoch.is_open = true;
        for (const int target : step.peers)
            epoch.numbers[target] = started_[{step.window, r, target}]++;
        wait(r, [this, r, step] {
            std::vector<Edge> because;
            if (program_.deferral == Deferral::Start && !add_posts(r, step.window, step.peers, because))
                return false;
            leave(r, because);
            return true;
        });
    }

    void move(int r, const Step& step)
    {
        const Node call = enter(r, function_of(step, FunctionId::MPI_Put), step);
        const Moved moved{call, step.target, step.bytes};
        puts_[{step.window, step.target, r}].push_back(moved);
        if (LockRequest* held = held_by(r, step.window, step.target); held != nullptr) {
            held->moved.push_back(moved);
            return wait_for_progress(r, call, step.target);
        }
        Epoch& access = access_[{step.window, r}];
        if (!access.is_open) {
            auto& added = fenced_[{step.window, fences_[{step.window, r}]}].emplace_back(r, moved);
            if (!machine_.progress && !is_inside(step.target))
                standing_[step.target].push_back(&added.second);
            return leave(r, {});
        }
        access.moved.push_back(moved);
        wait(r, [this, r, step] {
            std::vector<Edge> because;
            if (program_.deferral == Deferral::Transfer && !add_posts(r, step.window, {step.target}, because))
                return false;
            leave(r, because);
            return true;
        });
    }

    [[nodiscard]] bool is_inside(int r) const
    {
        return waits_[at(r)] ||
               (!times_[at(r)].empty() && (times_[at(r)].back().enter == now_ || times_[at(r)].back().leave > now_));
    }

    /// On a lazy machine, a transfer under a lock is over when its target is in a call that takes it.
    void wait_for_progress(int r, const Node& call, int target)
    {
        wait(r, [this, r, call, target] {
            if (!machine_.progress && !is_inside(target))
                return false;
            const Node inside{target, static_cast<int>(calls_[at(target)].size()) - 1, false};
            std::vector<Edge> because;
            if (!machine_.progress && target != r && time_of(inside) > time_of(call))
                because.push_back({inside, {}, message(target, r)});
            leave(r, because);
            return true;
        });
    }

    void complete(int r, const Step& step)
    {
        const Node call = enter(r, FunctionId::MPI_Win_complete, step);
        Epoch& epoch = access_[{step.window, r}];
        epoch.is_open = false;
        const std::int64_t late = lateness(r);
        std::vector<int> targets;
        for (const auto& [target, number] : epoch.numbers) {
            targets.push_back(target);
            Ended ended{call, {}, late};
            std::ranges::copy_if(epoch.moved, std::back_inserter(ended.moved),
                                 [&, t = target](const Moved& moved) { return moved.target == t; });
            ended_[{step.window, target, r}].push_back(ended);
        }
        wait(r, [this, r, step, targets, late] {
            std::vector<Edge> because;
            if (!add_posts(r, step.window, targets, because))
                return false;
            for (const Moved& moved : access_[{step.window, r}].moved) {
                because.push_back({moved.call, {}, transfer(r, moved)});
                because.push_back({*post_of(step.window, moved.target, r), {}, transfer(r, moved)});
            }
            leave(r, because, late);
            return true;
        });
    }

    void wait_exposed(int r, const Step& step)
    {
        enter(r, FunctionId::MPI_Win_wait, step);
        wait(r, [this, r, step] {
            std::vector<Edge> because;
            if (!add_ends(r, step, because))
                return false;
            leave(r, because);
            return true;
        });
    }

    /// What the end of the exposure epoch in hand depends on; false if some of it has not happened yet.
    bool add_ends(int r, const Step& step, std::vector<Edge>& because)
    {
        const Epoch& epoch = exposure_[{step.window, r}];
        for (const auto& [origin, number] : epoch.numbers) {
            const auto& ended = ended_[{step.window, r, origin}];
            if (number >= ended.size())
                return false;
            because.push_back({ended[number].complete, {}, message(origin, r) + ended[number].late});
            for (const Moved& moved : ended[number].moved) {
                because.push_back({moved.call, {}, transfer(origin, moved)});
                because.push_back({epoch.post, {}, transfer(origin, moved)});
            }
        }
        return true;
    }

    [[nodiscard]] std::int64_t arrival(const Edge& edge) const { return time_of(edge.from) + edge.weight; }

    void test_exposed(int r, const Step& step)
    {
        constexpr std::int64_t least_work = 5;  // as in the loops of polls for messages
        std::vector<Edge> ends;
        const bool is_known = add_ends(r, step, ends);
        const auto is_there = [this](const Edge& edge) { return arrival(edge) <= now_; };
        enter(r, FunctionId::MPI_Win_test, step);
        if (is_known && std::ranges::all_of(ends, is_there))
            return leave(r, std::exchange(tested_[at(r)], {}));
        times_[at(r)].back().leave = now_;
        calls_[at(r)].back().is_vain = true;
        --next_[at(r)];
        if (step.ticks >= least_work)
            return wake(r, end(r, {}) + step.ticks);
        wait(r, [this, r, step, begin = now_] {
            std::vector<Edge> because;
            if (!add_ends(r, step, because))
                return false;
            test_until_there(r, step, begin, because);
            return true;
        });
    }

    /// Tests in vain, from `begin` on, are one call of the trace. How many there are is a matter of when it is there,
    /// unless that began after the last of them.
    void test_until_there(int r, const Step& step, std::int64_t begin, std::vector<Edge> ends)
    {
        const auto by_arrival = [this](const Edge& edge) { return arrival(edge); };
        const Edge cause = *std::ranges::max_element(ends, {}, by_arrival);
        const std::int64_t round = machine_.call + step.ticks;
        const std::int64_t tests = std::max<std::int64_t>(1, (arrival(cause) - begin + round - 1) / round);
        const std::int64_t success = begin + tests * round, last = success - step.ticks;
        const Node vain{r, static_cast<int>(calls_[at(r)].size()) - 1, false};
        const bool is_caused = tests > 1 && time_of(cause.from) <= last;
        if (is_caused)
            end(r, {{cause.from, {}, last - time_of(cause.from)}});
        else
            end(r, {{vain, {}, last - begin}});
        tested_[at(r)] = {{cause.from, {}, success + machine_.call - time_of(cause.from)}};
        wake(r, success);
    }

    // -------------------------------------------------------------------------------------------------- locks

    LockRequest* held_by(int r, int window, int target)
    {
        for (LockRequest& request : locks_[at(window)])
            if (request.rank == r && !request.is_over &&
                (target == Step::all || request.target == target || request.target == Step::all))
                return &request;
        return nullptr;
    }

    void lock(int r, const Step& step)
    {
        enter(r, step.target == Step::all ? FunctionId::MPI_Win_lock_all : FunctionId::MPI_Win_lock, step);
        auto& requests = locks_[at(step.window)];
        requests.push_back({r, step.target, step.exclusive});
        wait(r, [this, r, &requests, index = requests.size() - 1] {
            std::vector<Edge> because;
            for (std::size_t i = 0; i < index; ++i) {
                const LockRequest& earlier = requests[i];
                if (!earlier.conflicts_with(requests[index]) || earlier.rank == r)
                    continue;
                if (!earlier.is_over)
                    return false;
                because.push_back({earlier.unlock, {}, message(earlier.rank, r) + earlier.late});
                for (const Moved& moved : earlier.moved)
                    because.push_back({moved.call, {}, transfer(earlier.rank, moved)});
            }
            leave(r, because);
            return true;
        });
    }

    std::vector<Edge> own_transfers(const LockRequest& held, int target) const
    {
        std::vector<Edge> because;
        for (const Moved& moved : held.moved)
            if (target == Step::all || moved.target == target)
                because.push_back({moved.call, {}, transfer(held.rank, moved)});
        return because;
    }

    void unlock(int r, const Step& step)
    {
        const Node call =
            enter(r, step.target == Step::all ? FunctionId::MPI_Win_unlock_all : FunctionId::MPI_Win_unlock, step);
        LockRequest* held = held_by(r, step.window, step.target);
        held->is_over = true;
        held->unlock = call;
        held->late = lateness(r);
        leave(r, own_transfers(*held, Step::all), held->late);
    }

    void flush(int r, const Step& step)
    {
        enter(r, function_of(step, FunctionId::MPI_Win_flush), step);
        leave(r, own_transfers(*held_by(r, step.window, step.target), step.target));
    }

    /// Looks in vain are shorter than a message: what they miss is there only when the next one goes on. The last one
    /// of three or more, which are a loop, ends when it is there.
    void look(int r, const Step& step)
    {
        if (!is_flush_next_[at(r)]) {
            enter(r, FunctionId::MPI_Get, step);
            --next_[at(r)];
            is_flush_next_[at(r)] = true;
            return leave(r, {});
        }
        is_flush_next_[at(r)] = false;
        const Node get{r, static_cast<int>(calls_[at(r)].size()) - 1, false};
        enter(r, FunctionId::MPI_Win_flush, step);
        const int writer = step.peers.front();
        const std::int64_t usual = machine_.latency - 4 * machine_.call;
        const std::int64_t longest = looks_[at(r)]++ < 2 ? time_of(get) + usual : now_ + 2 * machine_.latency;
        const auto& puts = puts_[{step.window, step.target, writer}];
        const bool is_known = step.number < puts.size();
        const Edge put = is_known ? Edge{puts[step.number].call, {}, transfer(writer, puts[step.number])} : Edge{};
        const std::int64_t arrival = is_known ? time_of(put.from) + put.weight : 0;
        if (is_known && arrival <= longest)
            return leave(r, {std::exchange(looks_[at(r)], 0) > 2 ? put : Edge{get, {}, usual}});
        --next_[at(r)];
        // What comes just behind it is there only when the next one goes on, too.
        leave(r, {{get, {}, is_known && arrival <= longest + 2 ? usual - 2 : usual}});
    }

    const Program& program_;
    const Machine& machine_;
    std::vector<std::vector<int>> members_;  // by window
    std::vector<std::vector<Step>> steps_;
    std::vector<std::vector<WindowCall>> calls_;
    std::vector<std::vector<Times>> times_;
    std::vector<Edge> edges_;
    std::vector<std::size_t> next_;
    std::vector<bool> is_flush_next_;        // of a look
    std::vector<int> looks_;                 // of the loop in hand
    std::vector<std::vector<Edge>> tested_;  // what a loop of tests in vain waited for
    std::vector<std::function<bool()>> waits_;
    std::vector<std::int64_t> free_at_;
    using Event = std::tuple<std::int64_t, std::uint64_t, int>;  // time, order, rank
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t order_ = 0;
    std::int64_t now_ = 0;

    using OfRank = std::pair<int, int>;        // window, rank
    using OfPair = std::tuple<int, int, int>;  // window and two ranks
    std::map<OfRank, std::size_t> fences_;
    std::map<std::pair<int, std::size_t>, std::vector<Node>> came_;                    // by window and number
    std::map<std::pair<int, std::size_t>, std::deque<std::pair<int, Moved>>> fenced_;  // likewise; by origin
    std::map<int, std::vector<Moved*>> standing_;  // of those, by target: until that is in a call
    std::map<OfRank, Epoch> access_, exposure_;
    std::map<OfPair, std::vector<Node>> posts_;   // window, target, origin
    std::map<OfPair, std::size_t> started_;       // window, origin, target
    std::map<OfPair, std::vector<Ended>> ended_;  // window, target, origin
    std::map<OfPair, std::vector<Moved>> puts_;   // window, target, origin
    std::vector<std::deque<LockRequest>> locks_;  // by window, in the order of the requests
};

}  // namespace

std::vector<int> Program::members_of(int window) const
{
    if (static_cast<std::size_t>(window) < members.size() && !members[static_cast<std::size_t>(window)].empty())
        return members[static_cast<std::size_t>(window)];
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

WindowExecution simulate(const Program& program, const Machine& machine)
{
    return Simulation(program, machine).run();
}

std::string text(const WindowExecution& execution)
{
    std::string words;
    for (std::size_t r = 0; r < execution.calls.size(); ++r)
        for (std::size_t i = 0; i < execution.calls[r].size(); ++i) {
            const WindowCall& call = execution.calls[r][i];
            const Times& times = execution.execution.graph.calls(static_cast<int>(r))[i];
            words +=
                fmt::format("    rank {} {:5}-{:<5} {} window {} target {} bytes {} peers {}{}\n", r, times.enter,
                            times.leave, functions::info(call.function).name, call.step.window, call.step.target,
                            call.step.bytes, fmt::join(call.step.peers, ","), call.step.exclusive ? " exclusive" : "");
        }
    return words;
}

}  // namespace critpath::oracle::windows
