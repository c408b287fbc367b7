// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/by_call.hpp"
#include "replayer/pair/lack.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/message_sides.hpp"
#include "replayer/pair/polling.hpp"
#include "replayer/pair/send_ends.hpp"
#include "replayer/resolve/calls.hpp"
#include "replayer/resolve/poll_runs.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

using rules::Dependence;
using rules::Message;

/// By so much later than a wait may a loop of polls see what has come, and by the time before its last poll.
constexpr Ns between_polls = close_polls;

/// A probe that found the message of `receive`.
struct FoundByProbe {
    std::uint32_t call;
    std::uint32_t receive;
};

class Resolver
{
public:
    Resolver(const Replay& replay, std::size_t process, const Awaited& awaited, const rules::Calibration& calibration,
             ProcessAnswers& answers, LateCalls& late)
        : replay_(replay), process_(process), trace_(replay.processes[process]), pairs_(awaited.pairs),
          windows_(awaited.windows), collectives_(awaited.collectives), calibration_(calibration), answers_(answers),
          late_(late), probes_(find_probes()), send_ends_(replay.definitions, trace_),
          sides_(trace_, pairs_, send_ends_, calibration_),
          receives_(trace_.receives.size(), [this](std::uint32_t i) { return sides_.completion_of_receive(i); }),
          sends_(awaited.pairs.of_send.size(), [this](std::uint32_t i) { return sides_.completion_of_send(i); })
    {
    }

    void run()
    {
        for (std::uint32_t call = next_call(); call != no_call; call = next_call()) {
            resolve(call);
            pairs_.of_receive.forget(receives_.passed());  // jumps take the room
        }
    }

private:
    [[nodiscard]] const rules::Operation& operation(CallRef call) const
    {
        return rules::operation(function_of(replay_.definitions, trace_, call));
    }

    [[nodiscard]] std::vector<FoundByProbe> find_probes() const
    {
        std::vector<FoundByProbe> found;
        const auto add = [&](CallRef call, std::uint32_t receive) {
            if (!pairs_.of_receive.has(receive) || operation(call).dependence != Dependence::ProbedMessage)
                return;
            // Which one it found is a guess in traces of other tools.
            const rules::Enter post = pairs_.of_receive[receive].post;
            const Ns error = calibration_.clocks.between(post.call.location, call.location);
            if (post.time - error <= leave_of(trace_, call))
                found.push_back({trace_.numbers.of(call), receive});
        };
        for (const model::Probe& probe : trace_.probes)
            if (probe.receive < trace_.receives.size())
                add(probe.call, probe.receive);
        for (std::uint32_t i = 0; trace_.receives.any_matched() && i < trace_.receives.size(); ++i)
            if (const CallRef matched = trace_.receives.matched(i); matched.valid())
                add(matched, i);
        std::ranges::stable_sort(found, {}, &FoundByProbe::call);
        return found;
    }

    /// The next call that completed or found something.
    [[nodiscard]] std::uint32_t next_call() const
    {
        std::uint32_t call = no_call;
        if (!receives_.at_end())
            call = std::min(call, sides_.completion_of_receive(receives_.next()));
        if (!sends_.at_end())
            call = std::min(call, sides_.completion_of_send(sends_.next()));
        if (probe_ < probes_.size())
            call = std::min(call, probes_[probe_].call);
        if (collective_ < collectives_.size())
            call = std::min(call, trace_.numbers.of(collectives_[collective_].call));
        if (dependency_ < windows_.dependencies.size())
            call = std::min(call, trace_.numbers.of(windows_.dependencies[dependency_].call));
        if (progress_ < windows_.progress.size())
            call = std::min(call, trace_.numbers.of(windows_.progress[progress_].call));
        if (found_ < windows_.found.size())
            call = std::min(call, trace_.numbers.of(windows_.found[found_].call));
        if (unsure_ < windows_.unsure.size())
            call = std::min(call, trace_.numbers.of(windows_.unsure[unsure_]));
        return call;
    }

    /// It may take somewhat longer than its least cost, since a poll has found what it completes: no longer than a gap
    /// between polls, which is not waiting either.
    [[nodiscard]] static bool returns_at_once(const rules::Waiting& wait)
    {
        return wait.excess <= std::max(wait.threshold, close_polls);
    }

    void resolve(std::uint32_t number)
    {
        const CallRef call = trace_.numbers.ref(number);
        const rules::Operation& of_call = operation(call);
        PollWait wait =
            of_call.polls ? poll_runs().waiting(call) : PollWait{waiting(replay_, trace_, calibration_.calls, call)};
        CallRef status_poll;
        if (!of_call.polls && returns_at_once(wait.waiting) && replay_.rules == Rules::Arrival) {
            status_poll = status_poll_before(replay_.definitions, trace_, call);
            if (status_poll.valid())
                wait = poll_runs().waiting(status_poll);
        }
        const bool polls = of_call.polls || status_poll.valid();
        if (polls)
            wait.waiting.unseen = between_polls + wait.missed;
        const bool is_wanted = replay_.rules != Rules::Arrival || wait.waiting.waited();
        const bool may_have_waited = polls && !is_wanted && wait.guessed;
        gather(number, of_call.dependence, is_wanted || may_have_waited);
        const OfWindows of_windows = gather_windows(call);
        if (found_ < windows_.found.size() && windows_.found[found_].call == call) {
            found_in_window(windows_.found[found_++]);
            return;
        }
        if (of_call.dependence == Dependence::Members)
            return;  // a collective, whatever else ended in it: its members say what it waited for
        const CallRef ends = status_poll.valid() ? status_poll : call;
        if (may_have_waited && found_others_work())
            answers_.set(ends, {rules::Route::Work, {}, 0, true});
        // The other rule sets take a poll for work, and know nothing of non-blocking collectives.
        if (!is_wanted || (replay_.rules != Rules::Arrival && (of_call.polls || messages_.empty())))
            return;
        auto [predecessor, explained] = rules::message_predecessor(replay_.rules, wait.waiting, of_call.dependence,
                                                                   {messages_, gathered_}, calibration_);
        predecessor.low_confidence = predecessor.low_confidence || wait.guessed;
        if (!of_windows.is_nothing() && replay_.rules == Rules::Arrival) {
            if (of_windows.is_doubt_only() && messages_.empty() && gathered_.empty() && !of_call.blocking)
                predecessor.route = rules::Route::Work;  // as it would be if nothing were in doubt
            if (of_windows.progress != nullptr)
                consider_progress(wait.waiting, *of_windows.progress, predecessor);
            predecessor.doubt_clocks(of_windows.is_unsure);
        }
        if (may_be_late(ends, wait.waiting, explained))
            late_.calls.push_back({process_, ends, polls, predecessor});
        else
            answers_.set_end(ends, predecessor, polls);
    }

    /// Of what the call found, something may have come late: not so of sends that wait for nobody.
    [[nodiscard]] bool found_others_work() const
    {
        return !gathered_.empty() || std::ranges::any_of(messages_, [](const Message& message) {
            return message.receiving || message.protocol != rules::Protocol::Eager;
        });
    }

    /// What is known of a call on a window besides messages.
    struct OfWindows {
        const TargetProgress* progress = nullptr;  // null: none
        bool is_unsure = false;                    // which epoch it waited for, as far as clocks can tell

        [[nodiscard]] bool is_nothing() const { return progress == nullptr && !is_unsure; }
        /// Nothing would be known of it if clocks were true.
        [[nodiscard]] bool is_doubt_only() const { return !is_nothing() && (progress == nullptr || !progress->target); }
    };

    /// The target may have moved on what stood still.
    void consider_progress(const rules::Waiting& waiting, const TargetProgress& progress,
                           rules::Predecessor& predecessor) const
    {
        if (predecessor.is_jump() && predecessor.from.call.location != waiting.call.location)
            return;
        const auto moves_on = [&](const rules::Enter& target) {
            return target.valid() && rules::stood_still(waiting, target.time, {messages_, gathered_}, calibration_);
        };
        const auto moved_by = [&](const rules::Enter& target) { return moves_on(target) ? target.call : CallRef{}; };
        const rules::Enter target = progress.target.value_or(rules::Enter{});
        const CallRef found = moved_by(target);
        const bool within_clocks =
            predecessor.within_clocks || std::ranges::any_of(progress.shifted, [&](const rules::Enter& shifted) {
                return shifted.order() != target.order() && moved_by(shifted) != found;
            });
        if (found.valid())
            predecessor = {rules::Route::Message, target, 0, true};
        predecessor.doubt_clocks(within_clocks);
    }

    /// What the call itself had to do was but the last one of many looks.
    void found_in_window(const FoundInWindow& found)
    {
        const Ns leave = leave_of(trace_, found.call);
        const rules::CallCost cost = calibration_.calls.of(function_of(replay_.definitions, trace_, found.call), 0);
        rules::Predecessor predecessor =
            rules::message_predecessor(replay_.rules,
                                       {found.call, found.since, leave, leave - found.since, cost.threshold},
                                       Dependence::AllMessages, {std::span(&found.message, 1)}, calibration_)
                .predecessor;
        predecessor.low_confidence = true;
        predecessor.doubt_clocks(found.within_clocks);
        answers_.set(found.call, predecessor);
    }

    /// Transfers that may have stood still are put down.
    bool may_be_late(CallRef call, rules::Waiting waiting, Ns explained)
    {
        if (replay_.rules != Rules::Arrival)
            return false;
        waiting.threshold += std::exchange(waiting.unseen, Ns{0});
        if (messages_.empty() && gathered_.empty())
            return false;
        const std::size_t before = late_.questions();
        for (const Message& message : messages_)
            if (auto standstill = rules::standstill(waiting, explained, message, calibration_)) {
                if (message.sends())
                    standstill->lacked = lacked(*standstill, call);
                const auto partner = replay_.definitions.locations[message.remote.call.location.value].process;
                late_.transfers.push_back(
                    {process_, call, partner, message.peer(), message.sends(), message.bytes, *standstill});
            }
        add_late_collectives(waiting, explained);
        return late_.questions() > before;
    }

    /// The thread may have had no processor to end the call when it was over. Not so of who receives: most that came
    /// while it had none only waits for it to take it.
    [[nodiscard]] Ns lacked(const rules::Standstill& s, CallRef call) const
    {
        const model::LocationTrace& location = trace_.locations[local_index(trace_, call.location)];
        return s.leave - lacks_processor_since(location, std::max(s.start, s.enter), s.leave, s.transfer);
    }

    /// When somebody can have held up a call that would have ended before `due`, had nobody done so. If the operation
    /// was over for others by then, what goes on through the hands of a member had not reached the call yet; or the
    /// call was late for want of a processor, and who held up the others held it up, too. Whoever came back later
    /// counts.
    [[nodiscard]] std::vector<Period> held_up(const CompletedCollective& c, Ns due) const
    {
        // Of a short time, whoever comes to MPI at all may have been outside for the most.
        std::vector<Period> periods{c.held_up.since < due ? c.held_up : Period{}};
        if (c.held_up.until < due - calibration_.clocks.largest())
            periods.push_back({c.held_up.until, Ns::max()});
        return periods;
    }

    /// Those of the call that comes next in `late_`.
    void add_late_collectives(const rules::Waiting& waiting, Ns explained)
    {
        for (std::size_t i = collective_ - gathered_.size(); i < collective_; ++i) {
            const CompletedCollective& c = collectives_[i];
            const auto query = rules::standstill(waiting, explained, c.gathered, c.limit);
            if (!query)
                continue;
            const bool is_long = waiting.leave - std::max(waiting.enter, c.gathered.last.time) > query->limit;
            const auto ask = [&](const rules::MemberQuery& question, Side side, const Period& asked) {
                late_.collectives.push_back(
                    {late_.calls.size(), c.gathered.bytes, is_long, {side, c.number, question, {}, asked}});
            };
            for (const Period& asked : held_up(c, waiting.leave - query->limit)) {
                ask(*query, c.side, asked);
                if (c.other != c.side)
                    ask(*query, c.other, asked);
            }
            const bool others_later = c.last_post > std::max(waiting.enter, c.gathered.last.time);
            if (others_later && (c.gathered.needs_nobody || is_long))
                ask(rules::release(*query, calibration_), c.side, Period{});
        }
    }

    /// All that the call completed or found; what is not wanted is passed over.
    void gather(std::uint32_t call, Dependence dependence, bool is_wanted)
    {
        messages_.clear();
        gathered_.clear();
        const bool of_messages = dependence == Dependence::AllMessages || dependence == Dependence::AnyMessage;
        for (; !receives_.at_end() && sides_.completion_of_receive(receives_.next()) == call; receives_.advance())
            if (is_wanted && of_messages)
                messages_.push_back(sides_.received(receives_.next()));
        for (; !sends_.at_end() && sides_.completion_of_send(sends_.next()) == call; sends_.advance())
            if (is_wanted)
                messages_.push_back(sides_.sent(pairs_.of_send[sends_.next()]));
        for (; probe_ < probes_.size() && probes_[probe_].call == call; ++probe_)
            if (is_wanted)
                add_probe(probes_[probe_]);
        const CallRef ref = trace_.numbers.ref(call);
        for (; collective_ < collectives_.size() && collectives_[collective_].call == ref; ++collective_)
            gathered_.push_back(collectives_[collective_].gathered);
    }

    /// Takes what was known elsewhere for a message, and returns the rest.
    OfWindows gather_windows(CallRef call)
    {
        const auto& dependencies = windows_.dependencies;
        for (; dependency_ < dependencies.size() && dependencies[dependency_].call == call; ++dependency_)
            messages_.push_back(dependencies[dependency_].message);
        OfWindows result;
        for (; progress_ < windows_.progress.size() && windows_.progress[progress_].call == call; ++progress_)
            result.progress = &windows_.progress[progress_];
        for (; unsure_ < windows_.unsure.size() && windows_.unsure[unsure_] == call; ++unsure_)
            result.is_unsure = true;
        return result;
    }

    /// A probe waits for the envelope, which travels at once also where the data would wait for the receive.
    void add_probe(const FoundByProbe& probe)
    {
        const MatchedSend send = pairs_.of_receive[probe.receive];
        const rules::Enter enter = enter_of(trace_, trace_.numbers.ref(probe.call));
        messages_.push_back({true, enter, send.post, 0, rules::Protocol::Eager, send.link});
    }

    const PollRuns& poll_runs()
    {
        if (!poll_runs_)
            poll_runs_.emplace(replay_, trace_, calibration_.calls);
        return *poll_runs_;
    }

    const Replay& replay_;
    std::size_t process_;
    const model::ProcessTrace& trace_;
    ProcessPairs& pairs_;
    const ProcessWindows& windows_;
    std::span<const CompletedCollective> collectives_;
    const rules::Calibration& calibration_;
    ProcessAnswers& answers_;
    LateCalls& late_;
    std::vector<FoundByProbe> probes_;
    SendEnds send_ends_;
    MessageSides sides_;
    ByCall receives_, sends_;
    std::size_t probe_ = 0, collective_ = 0, dependency_ = 0, progress_ = 0, found_ = 0, unsure_ = 0;
    std::vector<Message> messages_;          // of the call in hand
    std::vector<rules::Gathered> gathered_;  // likewise
    std::optional<PollRuns> poll_runs_;      // only if there are polls
};

}  // namespace

void resolve_completions(const Replay& replay, std::size_t process, const Awaited& awaited,
                         const rules::Calibration& calibration, ProcessAnswers& answers, LateCalls& late)
{
    Resolver(replay, process, awaited, calibration, answers, late).run();
}

}  // namespace critpath::replayer
