// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/all_waited.hpp"

#include "replayer/common_bits.hpp"
#include "replayer/pair/by_call.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/enders.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/message_sides.hpp"
#include "replayer/pair/send_ends.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

namespace critpath::replayer
{

namespace
{

using rules::CallKey;
using rules::Durations;

/// What such a call may cost, whatever is known: how long transfers take is learned with what the calls cost that
/// complete them.
constexpr Ns least_bound = std::chrono::microseconds{2};

/// Of the calls of one kind that completed messages and nothing else. They arrive as far as the calibration knows: when
/// their transfer begins, where it knows of no transfer.
struct Kind {
    Durations after;      // from the arrival of what a call waits for to its end
    Durations under_way;  // from there until it was entered; 0: it came later
    Durations durations;

    /// All, but for less than one of a hundred: else the 1 % of them that took least time tell what they cost.
    [[nodiscard]] bool have_waited() const
    {
        return 100 * under_way.count_from(std::max(after.fast(), Ns{1})) < under_way.count_from(Ns{0});
    }
    /// They end when something has come, rather than when they have done their work.
    [[nodiscard]] bool end_by_arrival() const
    {
        constexpr int much = 2;
        return much * after.spread() <= durations.spread();
    }
};
using Kinds = std::map<CallKey, Kind>;

/// By CallKey::number(): whether such calls wait for what they complete, and what is known to be their cost can be a
/// wait at all. Empty: none is like that.
std::vector<bool> may_have_waited(const rules::CallCosts& costs)
{
    std::vector<bool> result;
    for (const CallKey& key : costs.above(least_bound)) {
        const rules::Operation& of_call = rules::operation(key.function);
        const bool waits =
            of_call.dependence == rules::Dependence::AllMessages || of_call.dependence == rules::Dependence::AnyMessage;
        if (!waits || of_call.polls)
            continue;
        result.resize(CallKey::count);
        result[key.number()] = true;
    }
    return result;
}

/// Goes through the calls of one process. `asked`: as may_have_waited().
class Collector
{
public:
    Collector(const Replay& replay, const model::ProcessTrace& trace, const ProcessPairs& pairs,
              const rules::Calibration& calibration, const std::vector<bool>& asked, Kinds& kinds)
        : replay_(replay), trace_(trace), pairs_(pairs), calibration_(calibration), asked_(asked), kinds_(kinds),
          send_ends_(replay.definitions, trace), sides_(trace, pairs, send_ends_, calibration),
          receives_(trace.receives.size(), [this](std::uint32_t i) { return sides_.completion_of_receive(i); }),
          sends_(pairs.of_send.size(), [this](std::uint32_t i) { return sides_.completion_of_send(i); }),
          collectives_(completions_of_collectives(trace))
    {
    }

    void run()
    {
        while (!receives_.at_end() || !sends_.at_end()) {
            const std::uint32_t call =
                std::min(receives_.at_end() ? no_call : sides_.completion_of_receive(receives_.next()),
                         sends_.at_end() ? no_call : sides_.completion_of_send(sends_.next()));
            const bool is_wanted =
                is_asked(kind(trace_.numbers.ref(call))) && !std::ranges::binary_search(collectives_, call);
            messages_.clear();
            for (; !receives_.at_end() && sides_.completion_of_receive(receives_.next()) == call; receives_.advance())
                if (is_wanted)
                    messages_.push_back(sides_.received(receives_.next()));
            for (; !sends_.at_end() && sides_.completion_of_send(sends_.next()) == call; sends_.advance())
                if (is_wanted)
                    messages_.push_back(sides_.sent(pairs_.of_send[sends_.next()]));
            if (is_wanted)
                add(trace_.numbers.ref(call));
        }
    }

private:
    [[nodiscard]] CallKey kind(model::CallRef call) const
    {
        const rules::FunctionId function = function_of(replay_.definitions, trace_, call);
        return {function, calls_of(trace_, call.location).size_bucket(call.call.value)};
    }

    [[nodiscard]] bool is_asked(const CallKey& key) const
    {
        return key.function < rules::FunctionId::count && asked_[key.number()];
    }

    void add(model::CallRef ref)
    {
        const CallKey key = kind(ref);
        if (last_ == kinds_.end() || last_->first != key)
            last_ = kinds_.try_emplace(key).first;
        const rules::Waiting call{ref, enter_of(trace_, ref).time, leave_of(trace_, ref), Ns{0}, Ns{0}};
        const auto arrival = rules::arrival(call, rules::operation(key.function).dependence, {messages_}, calibration_);
        Kind& of_kind = last_->second;
        of_kind.durations.add(call.leave - call.enter);
        // What waits for nobody is there at any time.
        of_kind.after.add(call.leave - (arrival ? arrival->time - arrival->error : call.enter));
        of_kind.under_way.add(arrival ? call.enter - arrival->time + arrival->error : Ns::max());
    }

    const Replay& replay_;
    const model::ProcessTrace& trace_;
    const ProcessPairs& pairs_;
    const rules::Calibration& calibration_;
    const std::vector<bool>& asked_;
    Kinds& kinds_;
    Kinds::iterator last_ = kinds_.end();  // most calls are like the one before
    SendEnds send_ends_;
    MessageSides sides_;
    ByCall receives_, sends_;
    std::vector<std::uint32_t> collectives_;
    std::vector<rules::Message> messages_;  // of the call in hand
};

/// Of all processes. Collective over `replay.comm`.
Kinds kinds_of_calls(const Replay& replay, const std::vector<ProcessPairs>& pairs,
                     const rules::Calibration& calibration)
{
    const std::vector<bool> asked = may_have_waited(calibration.calls);
    if (asked.empty())
        return {};
    Kinds own;
    for (std::size_t p = 0; p < pairs.size(); ++p)
        Collector(replay, replay.processes[p], pairs[p], calibration, asked, own).run();
    CommonBits keys(CallKey::count);
    for (const auto& [key, kind] : own)
        keys.set(key.number());
    keys.agree(replay.comm);
    const std::vector<std::size_t> numbers = keys.numbers();
    std::vector<Durations> all;
    for (const std::size_t number : numbers) {
        const Kind& kind = own[CallKey::of(number)];
        all.insert(all.end(), {kind.after, kind.under_way, kind.durations});
    }
    merge(replay.comm, all);
    Kinds result;
    auto next = all.begin();
    for (const std::size_t number : numbers) {
        result[CallKey::of(number)] = {next[0], next[1], next[2]};
        next += 3;
    }
    return result;
}

}  // namespace

void bound_by_starts(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration)
{
    for (const auto& [key, kind] : kinds_of_calls(replay, pairs, calibration))
        if (kind.have_waited() && kind.end_by_arrival())
            calibration.calls.bound_all_waited(key, least_bound);
}

void bound_by_arrivals(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration)
{
    for (const auto& [key, kind] : kinds_of_calls(replay, pairs, calibration))
        if (kind.have_waited())
            calibration.calls.bound(key, std::max(kind.after.fast(), least_bound));
}

}  // namespace critpath::replayer
