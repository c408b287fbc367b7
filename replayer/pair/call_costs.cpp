// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/call_costs.hpp"

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

constexpr std::size_t functions_count = static_cast<std::size_t>(FunctionId::count);
constexpr std::size_t keys = functions_count * rules::size_buckets;

std::size_t index_of(CallKey key)
{
    return static_cast<std::size_t>(key.function) * rules::size_buckets + static_cast<std::size_t>(key.bucket);
}

CallKey key_at(std::size_t index)
{
    return {static_cast<FunctionId>(index / rules::size_buckets), static_cast<int>(index % rules::size_buckets)};
}

std::map<CallKey, Durations> local_durations(const Replay& replay)
{
    std::vector<Durations*> fast(keys, nullptr);
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
                Durations*& durations = fast[index_of(key)];
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
    std::vector<std::uint8_t> present(keys, 0);
    for (const auto& [key, durations] : local)
        present[index_of(key)] = 1;
    MPI_Allreduce(MPI_IN_PLACE, present.data(), static_cast<int>(keys), MPI_UINT8_T, MPI_MAX, comm);
    std::vector<CallKey> result;
    for (std::size_t i = 0; i < keys; ++i)
        if (present[i] != 0)
            result.push_back(key_at(i));
    return result;
}

}  // namespace

rules::CallCosts calibrate_calls(const Replay& replay)
{
    auto local = local_durations(replay);
    rules::CallCosts costs;
    for (const CallKey key : agree_on_keys(replay.comm, local)) {
        Durations& durations = local[key];
        MPI_Allreduce(MPI_IN_PLACE, durations.counts.data(), Durations::bins, MPI_UINT64_T, MPI_SUM, replay.comm);
        MPI_Allreduce(MPI_IN_PLACE, &durations.minimum, 1, MPI_INT64_T, MPI_MIN, replay.comm);
        costs.set(key, durations);
    }
    return costs;
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
    return {call, enter, enter + duration, duration - cost.least, cost.threshold};
}

}  // namespace critpath::replayer
