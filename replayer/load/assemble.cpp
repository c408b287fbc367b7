// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/assemble.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace critpath::replayer::load
{

using namespace model;

namespace
{

using Locations = std::vector<LocationEvents>;

/// A post or a completion that found no counterpart on its own location.
struct Loose {
    std::uint64_t request;
    Ns time;
    bool is_completion;  // at equal times the post comes first
    std::size_t location;
    std::size_t index;

    [[nodiscard]] auto order() const { return std::tuple(request, time, is_completion, location, index); }
};

/// Joins what one thread posted and another completed. Request ids are unique in the traces that we write; in others
/// they may come back once a request is completed, and then a completion belongs to the last post before it.
void join_across_threads(Locations& locations)
{
    std::vector<Loose> all;
    for (std::size_t l = 0; l < locations.size(); ++l) {
        for (std::size_t i = 0; i < locations[l].open_posts.size(); ++i) {
            all.push_back({locations[l].open_posts[i].request, locations[l].open_posts[i].time, false, l, i});
        }
        for (std::size_t i = 0; i < locations[l].open_completions.size(); ++i) {
            const auto& completion = locations[l].open_completions[i];
            all.push_back({completion.request, completion.time, true, l, i});
        }
    }
    std::sort(all.begin(), all.end(), [](const Loose& a, const Loose& b) { return a.order() < b.order(); });

    const Loose* post = nullptr;
    for (const Loose& loose : all) {
        if (!loose.is_completion) {
            post = &loose;
            continue;
        }
        const auto& completion = locations[loose.location].open_completions[loose.index];
        if (post != nullptr && post->request == loose.request) {
            auto& owner = locations[post->location];
            owner.complete(owner.open_posts[post->index], completion);
            post = nullptr;
        } else if (completion.kind == Completed::Kind::Receive) {
            // Posted before measurement began. The message counts all the same, or those behind it would be paired with
            // the wrong sends.
            locations[loose.location].receives.push_back({completion.call,
                                                          completion.call,
                                                          {},
                                                          completion.comm,
                                                          completion.source,
                                                          completion.tag,
                                                          completion.bytes});
        } else {
            ++locations[loose.location].anomalies.ignored_records;
        }
    }
}

void join_matched_probes(Locations& locations)
{
    std::unordered_map<std::uint64_t, CallRef> probe_of;
    for (const auto& location : locations) {
        for (const auto& probe : location.message_probes) {
            probe_of[probe.message] = probe.where;
        }
    }
    for (auto& location : locations) {
        for (const auto& receive : location.message_receives) {
            const auto probe = probe_of.find(receive.message);
            if (probe != probe_of.end()) {
                location.receives[receive.where].matched = probe->second;
            }
        }
    }
}

/// The enter of a call of one of `locations`.
Ns enter_of(const std::vector<LocationTrace>& locations, CallRef call)
{
    return locations[call.location.value - locations.front().location.value].calls.enter[call.call.value];
}

/// Concatenates one member of all locations and brings it into order of `call`'s enter, then of threads, then of
/// records.
template <class T, class CallOf>
std::vector<T> merge(Locations& locations, const std::vector<LocationTrace>& traces,
                     std::vector<T> LocationEvents::*member, CallOf call)
{
    std::vector<T> merged = std::move(locations.front().*member);
    for (std::size_t l = 1; l < locations.size(); ++l) {
        const auto& more = locations[l].*member;
        merged.insert(merged.end(), more.begin(), more.end());
    }
    const auto earlier = [&](const T& a, const T& b) { return enter_of(traces, call(a)) < enter_of(traces, call(b)); };
    if (!std::is_sorted(merged.begin(), merged.end(), earlier)) {
        std::stable_sort(merged.begin(), merged.end(), earlier);
    }
    return merged;
}

/// Leaves out what was cancelled, receives that were never completed, and collectives of which that leaves the
/// communicator unknown; counts what was not completed.
void drop_incomplete(ProcessTrace& trace)
{
    for (const auto& send : trace.sends) {
        trace.anomalies.unfinished_requests += send.completion.valid() ? 0 : 1;
    }
    for (const auto& receive : trace.receives) {
        trace.anomalies.unfinished_requests += receive.completion.valid() ? 0 : 1;
    }
    for (const auto& collective : trace.collectives) {
        trace.anomalies.unfinished_requests += collective.call.valid() ? 0 : 1;
    }
    std::erase_if(trace.collectives, [](const CollectiveCall& collective) { return !collective.comm.valid(); });
    std::erase_if(trace.sends, [](const Send& send) { return !send.comm.valid(); });
    std::erase_if(trace.receives, [](const Receive& receive) { return !receive.comm.valid(); });
}

struct Channel {
    CommId comm;
    std::int32_t source;
    std::int32_t tag;
    bool operator==(const Channel&) const = default;
};

struct ChannelHash {
    std::size_t operator()(const Channel& channel) const
    {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
        std::uint64_t hash = channel.comm.value;
        hash = (hash ^ static_cast<std::uint32_t>(channel.source)) * odd;
        return (hash ^ static_cast<std::uint32_t>(channel.tag)) * odd >> 16;
    }
};

/// A probe reported the message that the next receive of its channel got: the next in the order in which receives are
/// matched, which for a matched probe is the order of the probe.
void link_probes(ProcessTrace& trace)
{
    if (trace.probes.empty()) {
        return;
    }
    const auto time_of = [&](std::size_t i) {
        const auto& receive = trace.receives[i];
        return enter_of(trace.locations, receive.matched.valid() ? receive.matched : receive.post);
    };
    std::vector<std::uint32_t> receives(trace.receives.size());
    for (std::size_t i = 0; i < receives.size(); ++i) {
        receives[i] = static_cast<std::uint32_t>(i);
    }
    std::stable_sort(receives.begin(), receives.end(), [&](auto a, auto b) { return time_of(a) < time_of(b); });

    // Backwards, so that the newest entry of a channel is the next receive. If that was not recorded, there is none.
    std::unordered_map<Channel, std::uint32_t, ChannelHash> next;
    auto receive = receives.rbegin();
    auto skipped = trace.skipped.rbegin();
    const auto forget_skipped = [&](Ns after) {
        for (; skipped != trace.skipped.rend() && skipped->time >= after; ++skipped) {
            if (skipped->what == Skipped::What::Receive) {
                next.erase({skipped->comm, skipped->peer, skipped->tag});
            }
        }
    };
    for (auto probe = trace.probes.rbegin(); probe != trace.probes.rend(); ++probe) {
        const Ns time = enter_of(trace.locations, probe->call);
        for (; receive != receives.rend() && time_of(*receive) > time; ++receive) {
            const auto& r = trace.receives[*receive];
            forget_skipped(time_of(*receive));
            next[{r.comm, r.source, r.tag}] = *receive;
        }
        forget_skipped(time);
        const auto found = next.find({probe->comm, probe->source, probe->tag});
        if (found != next.end()) {
            probe->receive = found->second;
        }
    }
}

void add(Anomalies& sum, const Anomalies& more)
{
    sum.cancelled_receives += more.cancelled_receives;
    sum.unfinished_requests += more.unfinished_requests;
    sum.open_calls += more.open_calls;
    sum.ignored_records += more.ignored_records;
    sum.ignored_rma_records += more.ignored_rma_records;
    sum.ignored_metric_records += more.ignored_metric_records;
    sum.clock_violations += more.clock_violations;
    sum.lost_records += more.lost_records;
    sum.unresolved_records += more.unresolved_records;
    sum.lost_samples += more.lost_samples;
    sum.respite_ns += more.respite_ns;
    sum.wait_respite_ns += more.wait_respite_ns;
}

}  // namespace

ProcessTrace assemble(ProcessId process, Locations locations)
{
    ProcessTrace trace;
    trace.process = process;
    if (locations.empty()) {
        return trace;
    }
    join_across_threads(locations);
    join_matched_probes(locations);
    for (auto& location : locations) {
        trace.locations.push_back(std::move(location.trace));
        add(trace.anomalies, location.anomalies);
        trace.skipped.insert(trace.skipped.end(), location.skipped.begin(), location.skipped.end());
        if (location.clock_uncertainty) {
            trace.clock_uncertainty = std::max(trace.clock_uncertainty.value_or(Ns{0}), *location.clock_uncertainty);
        }
    }
    const auto post = [](const auto& operation) { return operation.post; };
    const auto call = [](const auto& operation) { return operation.call; };
    const auto begin = [](const auto& operation) { return operation.begin(); };
    trace.sends = merge(locations, trace.locations, &LocationEvents::sends, post);
    trace.receives = merge(locations, trace.locations, &LocationEvents::receives, post);
    trace.probes = merge(locations, trace.locations, &LocationEvents::probes, call);
    trace.collectives = merge(locations, trace.locations, &LocationEvents::collectives, begin);
    std::ranges::stable_sort(trace.skipped, {}, &Skipped::time);
    drop_incomplete(trace);
    link_probes(trace);
    return trace;
}

}  // namespace critpath::replayer::load
