// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/waited_messages.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <tuple>

namespace critpath::replayer
{

namespace
{

struct Question {
    std::uint32_t index;
    model::CallRef post;
    Ns start, end;
};

struct Answer {
    std::uint32_t index;
    Ns since;
};

/// The start of the message; or when the thread that posted it came back to MPI, if it was outside for half of the time
/// of the message, and back before its end.
Ns moved_since(const Replay& replay, const Question& question)
{
    constexpr std::uint32_t most_calls = 256;  // whoever enters MPI so often does not keep anything waiting
    const model::ProcessId process = replay.definitions.locations[question.post.location.value].process;
    const model::Calls& calls = calls_of(replay.processes[replay.index_of(process)], question.post.location);
    const std::uint32_t post = question.post.call.value;
    const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(calls.size(), std::size_t{post} + most_calls));
    Ns outside_since = std::max(question.start, calls.leave(post));
    for (std::uint32_t i = post + 1; i < end && calls.enter(i) <= question.end; ++i) {
        if (calls.is_point(i))
            continue;
        if (2 * (calls.enter(i) - outside_since) >= question.end - question.start)
            return calls.enter(i);
        outside_since = std::max(outside_since, calls.leave(i));
    }
    return question.start;
}

}  // namespace

void WaitedMessages::add(const WaitedMessage& message)
{
    const auto key = [](const WaitedMessage& m) { return std::tuple(m.link, rules::size_bucket(m.bytes)); };
    const auto time = [](const WaitedMessage& m) { return std::tuple(m.end - m.start, m.bytes); };
    const auto same = std::ranges::find(fastest_, key(message), key);
    if (same == fastest_.end())
        fastest_.push_back(message);
    else if (time(message) < time(*same))
        *same = message;
}

void add_waited(const Replay& replay, const std::vector<WaitedMessage>& messages, ExamplesByLink& examples)
{
    auto out = lists_for<Question>(replay.size);
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        const WaitedMessage& m = messages[i];
        const model::ProcessId sender = replay.definitions.locations[m.post.location.value].process;
        out[static_cast<std::size_t>(replay.owner_of(sender))].push_back({i, m.post, m.start, m.end});
    }
    const auto questions = replayer::exchange(replay.comm, out);
    auto back = lists_for<Answer>(replay.size);
    for (std::size_t asker = 0; asker < back.size(); ++asker)
        for (const Question& q : questions.from(static_cast<int>(asker)))
            back[asker].push_back({q.index, moved_since(replay, q)});
    for (const Answer& answer : replayer::exchange(replay.comm, back).items) {
        const WaitedMessage& m = messages[answer.index];
        TransferExamples& of_link = examples[static_cast<std::size_t>(m.link)];
        if (answer.since == m.start)
            of_link.add(m.end - m.start, m.end - m.start, m.bytes);
        else
            of_link.add_moved(m.end - answer.since, m.bytes);
    }
}

}  // namespace critpath::replayer
