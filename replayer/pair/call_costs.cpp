// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/call_costs.hpp"

#include "replayer/common_bits.hpp"
#include "replayer/pair/lack.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <map>

namespace critpath::replayer
{

namespace
{

using rules::CallKey;
using rules::Durations;
using rules::FunctionId;

std::map<CallKey, Durations> local_durations(const Replay& replay)
{
    std::vector<Durations*> fast(CallKey::count, nullptr);
    std::map<CallKey, Durations> result;
    for (const model::ProcessTrace& trace : replay.processes)
        for (const model::LocationTrace& location : trace.locations) {
            const model::Calls& calls = location.calls;
            for (std::size_t i = 0; i < calls.size(); ++i) {
                if (calls.is_point(i))
                    continue;
                const FunctionId function = replay.definitions.region(calls.context(i)).function;
                if (function >= FunctionId::count)
                    continue;
                const CallKey key{function, calls.size_bucket(i)};
                Durations*& durations = fast[key.number()];
                if (durations == nullptr)
                    durations = &result[key];
                durations->add(calls.duration(i));
            }
        }
    return result;
}

/// Which keys occur anywhere.
std::vector<CallKey> agree_on_keys(MPI_Comm comm, const std::map<CallKey, Durations>& local)
{
    CommonBits present(CallKey::count);
    for (const auto& [key, durations] : local)
        present.set(key.number());
    present.agree(comm);
    std::vector<CallKey> result;
    for (const std::size_t number : present.numbers())
        result.push_back(CallKey::of(number));
    return result;
}

}  // namespace

rules::CallCosts calibrate_calls(const Replay& replay)
{
    const auto local = local_durations(replay);
    const std::vector<CallKey> agreed = agree_on_keys(replay.comm, local);
    std::vector<Durations> durations;
    for (const CallKey key : agreed) {
        const auto found = local.find(key);
        durations.push_back(found == local.end() ? Durations() : found->second);
    }
    merge(replay.comm, durations);
    rules::CallCosts costs;
    for (std::size_t i = 0; i < agreed.size(); ++i)
        costs.set(agreed[i], durations[i]);
    return costs;
}

void merge(MPI_Comm comm, std::vector<Durations>& durations)
{
    std::vector<std::uint64_t> counts;
    std::vector<std::int64_t> minima;
    for (const Durations& d : durations) {
        counts.insert(counts.end(), d.counts.begin(), d.counts.end());
        minima.push_back(d.minimum);
    }
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, minima.data(), static_cast<int>(minima.size()), MPI_INT64_T, MPI_MIN, comm);
    for (std::size_t i = 0; i < durations.size(); ++i) {
        std::copy_n(counts.begin() + static_cast<std::ptrdiff_t>(i * Durations::bins), Durations::bins,
                    durations[i].counts.begin());
        durations[i].minimum = minima[i];
    }
}

rules::Waiting waiting(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs,
                       model::CallRef call)
{
    const model::Calls& calls = calls_of(trace, call.location);
    const std::size_t i = call.call.value;
    const Ns enter = calls.enter(i);
    const Ns duration = calls.duration(i);
    const FunctionId function = replay.definitions.region(calls.context(i)).function;
    const rules::CallCost cost = costs.of_bucket(function, calls.size_bucket(i));
    rules::Waiting result{call, enter, enter + duration, duration - cost.least, cost.threshold};
    if (result.waited())
        result.lacked = result.leave - lacks_processor_since(trace.locations[local_index(trace, call.location)], enter,
                                                             result.leave, cost.least);
    return result;
}

}  // namespace critpath::replayer
