// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/conclude.hpp"

#include "replayer/common_bits.hpp"
#include "replayer/pair/all_waited.hpp"
#include "replayer/pair/learn_transfers.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

using functions::SendMode;

/// Calls `visit(i, receive, its send, the post of the receive)` for all matched receives; `i` is the owned process,
/// `receive` its index there.
template <class Visit>
void for_each_message(const Replay& replay, const std::vector<ProcessPairs>& pairs, Visit visit)
{
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        for (std::size_t i = 0; i < trace.receives.size(); ++i)
            if (pairs[p].of_receive.has(i))
                visit(trace, i, pairs[p].of_receive[i]);
    }
}

/// The largest standard send that was over before its receive was posted, or buffered one that had left its buffer:
/// proof that such data travels at once. And the
/// largest one that was over while its receiver was outside of MPI: proof that they wait for nobody.
void learn_limits(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration)
{
    std::array<std::int64_t, 2 * rules::links> limits;
    limits.fill(rules::surely_eager);
    for_each_message(replay, pairs, [&](const model::ProcessTrace& trace, std::size_t i, const MatchedSend& send) {
        const auto bytes = static_cast<std::int64_t>(trace.receives.bytes(i));
        const auto link = static_cast<std::size_t>(send.link);
        if ((send.mode == SendMode::Standard || send.mode == SendMode::Buffered) && send.surely_over)
            limits[link] = std::max(limits[link], bytes);
        if (send.unaided)
            limits[rules::links + link] = std::max(limits[rules::links + link], bytes);
    });
    MPI_Allreduce(MPI_IN_PLACE, limits.data(), 2 * rules::links, MPI_INT64_T, MPI_MAX, replay.comm);
    std::copy_n(limits.begin(), rules::links, calibration.eager_limit.begin());
    std::copy_n(limits.begin() + rules::links, rules::links, calibration.local_limit.begin());
}

/// Of calls that received one message each.
struct AfterSends {
    Ns least = Ns::max();    // from the send to the end of a call that was entered before
    std::int64_t waits = 0;  // such calls
    std::int64_t calls = 0;
};

std::map<rules::CallKey, AfterSends> after_sends(const Replay& replay, const std::vector<ProcessPairs>& pairs,
                                                 const rules::ClockUncertainty& clocks)
{
    std::map<rules::CallKey, AfterSends> result;
    auto last = result.end();  // most messages are like the one before
    for_each_message(replay, pairs, [&](const model::ProcessTrace& trace, std::size_t i, const MatchedSend& send) {
        const model::CallRef completion = trace.numbers.ref(trace.receives.completion(i));
        if (!completion.valid())
            return;
        const functions::FunctionId function = function_of(replay.definitions, trace, completion);
        if (!rules::receives_one_message(function))
            return;
        const model::Calls& calls = calls_of(trace, completion.location);
        const std::size_t call = completion.call.value;
        if (const rules::CallKey key{function, calls.size_bucket(call)}; last == result.end() || last->first != key)
            last = result.try_emplace(key).first;
        AfterSends& of_kind = last->second;
        ++of_kind.calls;
        if (send.post.time <= calls.enter(call))
            return;
        ++of_kind.waits;
        const Ns rest =
            calls.leave(call) - send.post.time + clocks.between(send.post.call.location, completion.location);
        if (rest >= Ns{0})  // else nobody knows what the clocks say
            of_kind.least = std::min(of_kind.least, rest);
    });
    return result;
}

/// Who was in a call before its message was sent may have waited until then, but needed no more than the rest. That
/// bounds the cost of a kind of calls if most of them were; the times of several clocks are as near to each other as is
/// known.
void bound_by_sends(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration)
{
    auto own = after_sends(replay, pairs, calibration.clocks);
    CommonBits keys(rules::CallKey::count);
    for (const auto& [key, of_kind] : own)
        keys.set(key.number());
    keys.agree(replay.comm);
    const std::vector<std::size_t> numbers = keys.numbers();
    std::vector<std::int64_t> least, counts;
    for (const std::size_t number : numbers) {
        const AfterSends& of_kind = own[rules::CallKey::of(number)];
        least.push_back(of_kind.least.count());
        counts.insert(counts.end(), {of_kind.waits, of_kind.calls});
    }
    MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T, MPI_MIN, replay.comm);
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (2 * counts[2 * i] > counts[2 * i + 1] && Ns{least[i]} < Ns::max())
            calibration.calls.bound(rules::CallKey::of(numbers[i]), Ns{least[i]});
}

/// Calls whose messages meet their receivers take as long as these do. If all of them waited, none of them tells.
void bound_costs(rules::Calibration& calibration)
{
    const std::int64_t eager = *std::ranges::max_element(calibration.eager_limit);
    const std::uint64_t from = std::max(rules::large_message, static_cast<std::uint64_t>(eager));
    for (int bucket = rules::size_bucket(from - 1) + 1; bucket < rules::size_buckets; ++bucket) {
        Ns most{0};
        for (const rules::TransferTime& transfer : calibration.transfer)
            most = std::max(most, transfer.of(rules::smallest_size(bucket)));
        if (most > Ns{0})
            calibration.calls.bound_messages(bucket, most);
    }
}

void add_counts(const Replay& replay, const rules::ClockUncertainty& clocks, Pairs& pairs)
{
    for_each_message(
        replay, pairs.processes, [&](const model::ProcessTrace& trace, std::size_t i, const MatchedSend& send) {
            const model::CallRef post = trace.numbers.ref(trace.receives.post(i));
            const Ns back = send.post.time - leave_of(trace, trace.numbers.ref(trace.receives.completion(i)));
            ++pairs.messages;
            pairs.clock_violations +=
                back > Ns{0} && back > clocks.between(send.post.call.location, post.location) ? 1 : 0;
        });
    for (const ProcessPairs& process : pairs.processes)
        pairs.unmatched_receives += process.of_receive.size();
    pairs.unmatched_receives -= pairs.messages;
    std::uint64_t counts[4] = {pairs.messages, pairs.unmatched_sends, pairs.unmatched_receives, pairs.clock_violations};
    MPI_Allreduce(MPI_IN_PLACE, counts, 4, MPI_UINT64_T, MPI_SUM, replay.comm);
    pairs.messages = counts[0];
    pairs.unmatched_sends = counts[1];
    pairs.unmatched_receives = counts[2];
    pairs.clock_violations = counts[3];
}

}  // namespace

Pairs conclude(const Replay& replay, std::vector<ProcessPairs> processes, std::uint64_t unmatched_sends,
               rules::Calibration& calibration)
{
    Pairs result;
    result.processes = std::move(processes);
    result.unmatched_sends = unmatched_sends;
    learn_limits(replay, result.processes, calibration);
    bound_by_sends(replay, result.processes, calibration);
    bound_by_starts(replay, result.processes, calibration);
    calibration.transfer = learn_transfers(replay, result.processes, calibration);
    bound_costs(calibration);
    bound_by_arrivals(replay, result.processes, calibration);
    add_counts(replay, calibration.clocks, result);
    return result;
}

}  // namespace critpath::replayer
