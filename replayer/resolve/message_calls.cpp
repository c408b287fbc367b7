// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/lookup.hpp"
#include "replayer/resolve/calls.hpp"
#include "replayer/resolve/poll_runs.hpp"

#include <algorithm>
#include <span>

namespace critpath::replayer
{

namespace
{

using rules::Dependence;
using rules::Message;

/// A message and the call whose leave it may explain.
struct Dependency {
    CallRef call;
    Message message;
};

class Collector
{
public:
    Collector(const Replay& replay, std::size_t process, const ProcessPairs& pairs,
              const rules::Calibration& calibration)
        : definitions_(replay.definitions), trace_(replay.processes[process]), pairs_(pairs), calibration_(calibration)
    {
    }

    std::vector<Dependency> all() const
    {
        std::vector<Dependency> result;
        for (std::size_t i = 0; i < trace_.receives.size(); ++i)
            add_receive(i, result);
        for (const MatchedReceive& receive : pairs_.of_send)
            add_send(receive, result);
        for (const model::Probe& probe : trace_.probes)
            if (dependence(probe.call) == Dependence::ProbedMessage && probe.receive < trace_.receives.size())
                add_probe(probe.call, probe.receive, result);
        std::ranges::stable_sort(result, {}, &Dependency::call);
        return result;
    }

    Dependence dependence(CallRef call) const
    {
        return rules::operation(function_of(definitions_, trace_, call)).dependence;
    }

private:
    rules::Protocol protocol(const MatchedSend& send, std::uint64_t bytes, Ns receive_post) const
    {
        return rules::protocol(send.mode, bytes, send.leave, receive_post,
                               calibration_.eager_limit[static_cast<std::size_t>(send.link)]);
    }

    void add_receive(std::size_t i, std::vector<Dependency>& result) const
    {
        const model::Receive& receive = trace_.receives[i];
        const MatchedSend& send = pairs_.of_receive[i];
        if (!send.post.valid())
            return;
        const Dependence completing = dependence(receive.completion);
        if (completing == Dependence::AllMessages || completing == Dependence::AnyMessage) {
            // The transfer of a matched message begins when its receive is posted, not when the probe found it.
            const rules::Enter post = enter_of(trace_, receive.post);
            result.push_back(
                {receive.completion,
                 {true, post, send.post, receive.bytes, protocol(send, receive.bytes, post.time), send.link}});
        }
        if (receive.matched.valid() && dependence(receive.matched) == Dependence::ProbedMessage)
            add_probe(receive.matched, i, result);
    }

    /// A probe waits for the envelope, which travels at once also where the data would wait for the receive.
    void add_probe(CallRef call, std::size_t i, std::vector<Dependency>& result) const
    {
        const MatchedSend& send = pairs_.of_receive[i];
        if (send.post.valid())
            result.push_back({call, {true, enter_of(trace_, call), send.post, 0, rules::Protocol::Eager, send.link}});
    }

    void add_send(const MatchedReceive& receive, std::vector<Dependency>& result) const
    {
        const model::Send& send = trace_.sends[receive.send];
        const rules::Protocol protocol =
            rules::protocol(send.mode, send.bytes, leave_of(trace_, send.completion), receive.post.time,
                            calibration_.eager_limit[static_cast<std::size_t>(receive.link)]);
        result.push_back(
            {send.completion, {false, enter_of(trace_, send.post), receive.post, send.bytes, protocol, receive.link}});
    }

    const model::Definitions& definitions_;
    const model::ProcessTrace& trace_;
    const ProcessPairs& pairs_;
    const rules::Calibration& calibration_;
};

}  // namespace

void resolve_completions(const Replay& replay, std::size_t process, const ProcessPairs& pairs,
                         std::span<const CompletedCollective> collectives, const CallBytes& bytes,
                         const rules::Calibration& calibration, ProcessAnswers& answers)
{
    const model::ProcessTrace& trace = replay.processes[process];
    const Collector collector(replay, process, pairs, calibration);
    const PollRuns poll_runs(replay, trace, calibration.calls);
    const auto dependencies = collector.all();
    std::vector<Message> messages;
    std::vector<rules::Gathered> gathered;
    auto message = dependencies.begin();
    auto collective = collectives.begin();
    while (message != dependencies.end() || collective != collectives.end()) {
        const bool is_message =
            collective == collectives.end() || (message != dependencies.end() && message->call <= collective->call);
        const CallRef call = is_message ? message->call : collective->call;
        messages.clear();
        for (; message != dependencies.end() && message->call == call; ++message)
            messages.push_back(message->message);
        gathered.clear();
        for (; collective != collectives.end() && collective->call == call; ++collective)
            gathered.push_back(collective->gathered);
        const rules::Operation operation = rules::operation(function_of(replay.definitions, trace, call));
        if (replay.rules != Rules::Arrival && (operation.polls || messages.empty()))
            continue;  // the other rule sets take a poll for work, and know nothing of non-blocking collectives
        const PollWait wait = operation.polls
                                  ? poll_runs.waiting(call)
                                  : PollWait{waiting(replay, trace, calibration.calls, call,
                                                     bytes[local_index(trace, call.location)][call.call.value]),
                                             false};
        rules::Predecessor predecessor = rules::message_predecessor(replay.rules, wait.waiting, operation.dependence,
                                                                    {messages, gathered}, calibration);
        predecessor.low_confidence = predecessor.low_confidence || wait.guessed;
        if (!operation.polls || predecessor.is_jump())
            answers.set(call, predecessor);
    }
}

}  // namespace critpath::replayer
