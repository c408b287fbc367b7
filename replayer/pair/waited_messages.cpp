// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/waited_messages.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/progress.hpp"
#include "replayer/rules/message_rule.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace critpath::replayer
{

namespace
{

struct Question {
    std::uint32_t index;
    model::CallRef post;
    std::uint64_t bytes;
    Ns start, end;
};

struct Answer {
    std::uint32_t index;
    Ns since;
};

bool takes_less(const WaitedMessage& a, const WaitedMessage& b)
{
    const auto order = [](const WaitedMessage& m) { return std::tuple(m.end - m.since, m.bytes, m.start, m.post); };
    return order(a) < order(b);
}

/// Of those that moved: the fastest, but none that took less than half as long as the one in the middle, since that may
/// have moved on by itself before. They change their order.
const WaitedMessage& typical(std::vector<WaitedMessage>& messages)
{
    std::ranges::sort(messages, takes_less);
    const auto took = [](const WaitedMessage& m) { return m.end - m.since; };
    return *std::ranges::lower_bound(messages, took(messages[messages.size() / 2]) / 2, {}, took);
}

/// From the first quartile of `took(message)` to the third.
template <class Took>
Ns spread(const std::vector<WaitedMessage>& messages, Took took)
{
    std::vector<Ns> times;
    std::ranges::transform(messages, std::back_inserter(times), took);
    std::ranges::sort(times);
    return times[3 * times.size() / 4] - times[times.size() / 4];
}

/// Whether three quarters of them were over shortly after their receiver came back, in the last quarter of their time.
/// Of what moves on by itself, few end there; or all, in a program that does the same again and again, but seldom.
bool end_upon_return(const std::vector<WaitedMessage>& messages)
{
    const auto is_late = [](const WaitedMessage& m) { return 4 * (m.end - m.since) <= m.end - m.start; };
    return 4 * std::ranges::count_if(messages, is_late) >= 3 * std::ssize(messages);
}

constexpr int much = 2;  // transfers scatter, and a busy machine disturbs both times

Ns spread_since_post(const std::vector<WaitedMessage>& messages)
{
    return spread(messages, [](const WaitedMessage& m) { return m.end - m.start; });
}

Ns spread_since_return(const std::vector<WaitedMessage>& messages)
{
    return spread(messages, [](const WaitedMessage& m) { return m.end - m.since; });
}

/// Whether they took the same time since their receiver came back, rather than since they were posted. Of what moves on
/// by itself it comes back so shortly before the end by chance only; where most were waited for, it need not be chance.
bool take_time_since_return(const std::vector<WaitedMessage>& messages)
{
    return 2 * std::ranges::count_if(messages, &WaitedMessage::may_be_waited_for) <= std::ssize(messages) ||
           spread_since_post(messages) > much * spread_since_return(messages);
}

/// Whether they took the same time since they were posted, rather than since their sender came back.
bool take_time_since_post(const std::vector<WaitedMessage>& messages)
{
    constexpr std::size_t least = 3;
    return messages.size() >= least && spread_since_return(messages) > much * spread_since_post(messages);
}

/// `still` may be the first of their size, for which pages were touched and connections made. That a transfer can be
/// faster is known from `moved`, as a whole; or, if these take much longer as a whole, so that they do not move on by
/// themselves, from the time since their receiver came back. `typical`: of that.
void forget_slower(std::vector<WaitedMessage>& still, const std::vector<WaitedMessage>& moved, Ns typical)
{
    std::vector<Ns> times;
    std::ranges::transform(moved, std::back_inserter(times), [](const WaitedMessage& m) { return m.end - m.start; });
    std::ranges::sort(times);
    const Ns usual = times[times.size() / 2], quick = times[times.size() / 4];
    const bool stand_still = end_upon_return(moved);
    std::erase_if(still, [&](const WaitedMessage& m) {
        const Ns took = m.end - m.start;
        return took > usual || (stand_still && 4 * took <= 3 * quick && took > rules::longest(typical));
    });
}

/// Keeps the fastest ones.
void add_fastest(std::vector<WaitedMessage>& some, const WaitedMessage& message)
{
    constexpr std::size_t most_asked = 4;  // a sender comes back by chance now and then, but hardly each time
    some.insert(std::ranges::upper_bound(some, message, takes_less), message);
    if (some.size() > most_asked)
        some.pop_back();
}

}  // namespace

Ns moved_since(const model::Definitions& definitions, const model::ProcessTrace& trace, CallRef post,
               std::uint64_t bytes, Ns start, Ns end)
{
    const std::int64_t part = bytes >= rules::large_message ? 8 : 2;
    constexpr std::size_t most_calls = 256;  // whoever enters MPI so often does not keep anything waiting
    const model::Calls& calls = calls_of(trace, post.location);
    const ProgressCalls looks(definitions, trace, post.location);
    const std::size_t last = std::min(calls.size(), post.call.value + most_calls);
    const auto back_in = [&](ProgressCalls::Posts posts) {
        Ns outside_since = std::max(start, calls.leave(post.call.value));
        for (std::size_t i = post.call.value + 1; i < last && calls.enter(i) <= end; ++i) {
            if (!looks.at(i, posts))
                continue;
            if (part * (calls.enter(i) - outside_since) >= end - start)
                return calls.enter(i);
            outside_since = std::max(outside_since, calls.leave(i));
        }
        return start;
    };
    // Who posts something while it computes has not moved on anything in some libraries: then that, and all that it
    // computes behind it, would be learned as the time of a transfer. If nothing else explains it, the post has.
    const Ns back = back_in(ProgressCalls::Posts::DoNotLook);
    return back != start ? back : back_in(ProgressCalls::Posts::Look);
}

void WaitedMessages::add(const WaitedMessage& message)
{
    constexpr std::size_t most_kept = 1024;  // enough to know what is usual
    OfSize& some = of_size(message.link, message.bytes);
    if (!message.is_plausible())
        return;
    if (!message.has_moved()) {
        if (message.is_waited_for)
            add_fastest(some.still, message);
        return;
    }
    ++some.all_moved;
    if (some.moved.size() < most_kept)
        some.moved.push_back(message);
}

std::vector<WaitedMessage> WaitedMessages::examples()
{
    constexpr std::size_t least = 3;
    std::vector<WaitedMessage> result;
    for (auto& [key, some] : sizes_) {
        if (some.all_moved >= least && some.all_moved > some.there && take_time_since_return(some.moved)) {
            const WaitedMessage& moved = typical(some.moved);
            forget_slower(some.still, some.moved, moved.end - moved.since);
            result.push_back(moved);
        } else {
            for (WaitedMessage& message : some.moved) {
                message.since = message.start;
                if (message.is_waited_for && message.is_plausible())
                    add_fastest(some.still, message);
            }
        }
        std::ranges::copy(some.still, std::back_inserter(result));
    }
    return result;
}

void add_waited(const Replay& replay, const std::vector<WaitedMessage>& messages, ExamplesByLink& examples)
{
    auto out = lists_for<Question>(replay.size);
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        const WaitedMessage& m = messages[i];
        const model::ProcessId sender = replay.definitions.locations[m.post.location.value].process;
        out[static_cast<std::size_t>(replay.owner_of(sender))].push_back({i, m.post, m.bytes, m.start, m.end});
    }
    const auto questions = replayer::exchange(replay.comm, out);
    auto back = lists_for<Answer>(replay.size);
    for (std::size_t asker = 0; asker < back.size(); ++asker)
        for (const Question& q : questions.from(static_cast<int>(asker)))
            back[asker].push_back(
                {q.index, moved_since(replay.definitions,
                                      replay.trace_of(replay.definitions.locations[q.post.location.value].process),
                                      q.post, q.bytes, q.start, q.end)});
    std::map<std::tuple<ProcessId, rules::Link, int>, std::vector<WaitedMessage>> moved;
    for (const Answer& answer : replayer::exchange(replay.comm, back).items) {
        WaitedMessage m = messages[answer.index];
        m.since = std::max(answer.since, m.since);
        if (m.has_moved())
            moved[{m.receiver, m.link, rules::size_bucket(m.bytes)}].push_back(m);
        else
            examples[static_cast<std::size_t>(m.link)].add(m.end - m.start, m.end - m.start, m.bytes);
    }
    for (auto& [key, some] : moved) {
        if (take_time_since_post(some)) {
            for (const WaitedMessage& m : some)
                examples[static_cast<std::size_t>(m.link)].add(m.end - m.start, m.end - m.start, m.bytes);
            continue;
        }
        const WaitedMessage& m = typical(some);
        examples[static_cast<std::size_t>(m.link)].add_moved(m.end - m.since, m.bytes);
    }
}

}  // namespace critpath::replayer
