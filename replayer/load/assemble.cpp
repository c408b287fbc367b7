// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/assemble.hpp"

#include "formats/support/error.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
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

/// Of a call that is over by now, the largest part counts.
void add_size(Calls& calls, CallRef call, std::uint64_t bytes)
{
    const int bucket = std::max(size_bucket(bytes), calls.size_bucket(call.call.value));
    calls.set_size_bucket(call.call.value, bucket);
}

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
            const std::uint64_t bytes = owner.complete(owner.open_posts[post->index], completion);
            add_size(locations[loose.location].trace.calls, completion.call, bytes);
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
                location.receives.set_matched(receive.where, probe->second);
            }
        }
    }
}

/// The enter of a call of one of `locations`.
Ns enter_of(const std::vector<LocationTrace>& locations, CallRef call)
{
    return locations[call.location.value - locations.front().location.value].calls.enter(call.call.value);
}

/// Returns how many were not completed.
template <class Table>
std::uint64_t drop_without_message(Table& messages)
{
    std::uint64_t unfinished = 0;
    std::vector<std::uint32_t> kept;
    bool any = false;
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        unfinished += messages.completion(i) == CallNumbers::none ? 1 : 0;
        any = any || !messages.has_envelope(i);
    }
    for (std::uint32_t i = 0; any && i < messages.size(); ++i) {
        if (messages.has_envelope(i)) {
            kept.push_back(i);
        }
    }
    if (any) {
        messages.select(kept);
    }
    return unfinished;
}

std::vector<WindowEvent> merge_window_events(Locations& locations, const std::vector<LocationTrace>& traces)
{
    std::vector<WindowEvent> merged = std::move(locations.front().window_events);
    for (std::size_t l = 1; l < locations.size(); ++l) {
        merged.insert(merged.end(), locations[l].window_events.begin(), locations[l].window_events.end());
    }
    if (locations.size() > 1) {
        std::ranges::stable_sort(merged, {}, [&](const WindowEvent& event) { return enter_of(traces, event.call); });
    }
    return merged;
}

/// Leaves out what was cancelled, receives that were never completed, and collectives of which that leaves the
/// communicator unknown; counts what was not completed.
void drop_incomplete(ProcessTrace& trace)
{
    bool any = false;
    for (const CollectiveCall& collective : trace.collectives) {
        trace.anomalies.unfinished_requests += collective.call.valid() ? 0 : 1;
        any = any || !collective.comm.valid();
    }
    std::vector<std::uint32_t> kept;
    for (std::uint32_t i = 0; any && i < trace.collectives.size(); ++i) {
        if (trace.collectives[i].comm.valid()) {
            kept.push_back(i);
        }
    }
    if (any) {
        trace.collectives.select(kept);
    }
    trace.anomalies.unfinished_requests += drop_without_message(trace.sends) + drop_without_message(trace.receives);
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

/// Brings operations into the order of the enters of `call_of` them, then of threads, then of records.
template <class Table, class CallOf>
void sort_by_enter(const std::vector<LocationTrace>& traces, Table& operations, CallOf call_of)
{
    const auto enter = [&](std::uint32_t i) { return enter_of(traces, call_of(operations[i])); };
    std::uint32_t in_order = 0;
    for (Ns last = Ns::min(); in_order < operations.size(); ++in_order) {
        const Ns time = enter(in_order);
        if (time < last) {
            break;
        }
        last = time;
    }
    if (in_order == operations.size()) {
        return;  // as those of one thread are
    }
    std::vector<std::uint32_t> order(operations.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, enter);
    operations.select(order);
}

/// The operations of all locations.
template <class Table, class CallOf>
Table merge(Locations& locations, const std::vector<LocationTrace>& traces, Table LocationEvents::*member,
            CallOf call_of)
{
    Table merged = std::move(locations.front().*member);
    for (std::size_t l = 1; l < locations.size(); ++l) {
        for (const auto& operation : locations[l].*member) {
            merged.push_back(operation);
        }
    }
    sort_by_enter(traces, merged, call_of);
    return merged;
}

/// A few, so that they need no table.
std::vector<Probe> merge_probes(Locations& locations, const std::vector<LocationTrace>& traces)
{
    std::vector<Probe> merged = std::move(locations.front().probes);
    for (std::size_t l = 1; l < locations.size(); ++l) {
        merged.insert(merged.end(), locations[l].probes.begin(), locations[l].probes.end());
    }
    std::ranges::stable_sort(merged, {}, [&](const Probe& probe) { return enter_of(traces, probe.call); });
    return merged;
}

/// The calls of all locations in one row.
CallNumbers number_calls(const Locations& locations)
{
    const LocationId first = locations.front().trace.location;
    if (locations.size() == 1) {
        return CallNumbers(first);
    }
    std::vector<std::uint32_t> starts;
    std::uint64_t calls = 0;
    for (const auto& location : locations) {
        starts.push_back(static_cast<std::uint32_t>(calls));
        calls += location.trace.calls.size();
        if (calls >= CallNumbers::none) {
            fail(ExitCode::BadTrace, "location {}: its process has 2^32 MPI calls or more, which cannot be analyzed",
                 location.trace.location.value);
        }
    }
    return {first, std::move(starts)};
}

/// A probe reported the message that the next receive of its channel got: the next in the order in which receives are
/// matched, which for a matched probe is the order of the probe.
void link_probes(ProcessTrace& trace)
{
    if (trace.probes.empty()) {
        return;
    }
    const auto time_of = [&](std::size_t i) {
        const Receive receive = trace.receives[i];
        return enter_of(trace.locations, receive.matched.valid() ? receive.matched : receive.post);
    };
    std::unordered_set<Channel, ChannelHash> probed;
    for (const Probe& probe : trace.probes) {
        probed.insert({probe.comm, probe.source, probe.tag});
    }
    std::vector<std::uint32_t> receives;
    for (std::uint32_t i = 0; i < trace.receives.size(); ++i) {
        const Receive r = trace.receives[i];
        if (probed.contains({r.comm, r.source, r.tag})) {
            receives.push_back(i);
        }
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
            const Receive r = trace.receives[*receive];
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

void add_thread_waits(Locations& locations, ProcessTrace& trace)
{
    std::vector<ThreadLogOf> logs;
    for (const auto& location : locations) {
        logs.push_back({&location.threads, &location.trace});
    }
    ThreadWaits found = thread_waits(logs);
    trace.thread_waits = std::move(found.waits);
    trace.anomalies.ignored_thread_records += found.ignored;
    for (auto& location : locations) {
        location.threads = {};
    }
}

}  // namespace

ProcessTrace assemble(ProcessId process, Locations locations)
{
    ProcessTrace trace;
    trace.process = process;
    if (locations.empty()) {
        return trace;
    }
    trace.numbers = number_calls(locations);
    for (std::size_t l = 0; locations.size() > 1 && l < locations.size(); ++l) {
        locations[l].sends.renumber(trace.numbers);
        locations[l].receives.renumber(trace.numbers);
        locations[l].collectives.renumber(trace.numbers);
    }
    join_across_threads(locations);
    join_matched_probes(locations);
    add_thread_waits(locations, trace);
    for (auto& location : locations) {
        trace.locations.push_back(std::move(location.trace));
        add(trace.anomalies, location.anomalies);
        trace.graphs.merge(location.graphs);
        trace.skipped.insert(trace.skipped.end(), location.skipped.begin(), location.skipped.end());
        if (location.clock_uncertainty) {
            trace.clock_uncertainty = std::max(trace.clock_uncertainty.value_or(Ns{0}), *location.clock_uncertainty);
        }
    }
    const auto post = [](const auto& operation) { return operation.post; };
    const auto begin = [](const auto& operation) { return operation.begin(); };
    trace.sends = merge(locations, trace.locations, &LocationEvents::sends, post);
    trace.receives = merge(locations, trace.locations, &LocationEvents::receives, post);
    trace.probes = merge_probes(locations, trace.locations);
    trace.collectives = merge(locations, trace.locations, &LocationEvents::collectives, begin);
    trace.window_events = merge_window_events(locations, trace.locations);
    std::ranges::stable_sort(trace.skipped, {}, &Skipped::time);
    drop_incomplete(trace);
    link_probes(trace);
    trace.sends.settle();
    trace.receives.settle();
    trace.collectives.settle();
    return trace;
}

}  // namespace critpath::replayer::load
