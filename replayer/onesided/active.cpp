// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/exchange.hpp"
#include "replayer/onesided/phase.hpp"

#include <algorithm>
#include <unordered_map>

namespace critpath::replayer
{

namespace
{

using model::WindowEvent;

/// The k-th access epoch of an origin to a target meets the k-th exposure epoch of that target for that origin.
struct EpochKey {
    std::uint32_t window, peer;
    bool operator==(const EpochKey&) const = default;
};
struct EpochKeyHash {
    std::size_t operator()(const EpochKey& key) const noexcept
    {
        const std::uint64_t both = (std::uint64_t{key.window} << 32) | key.peer;
        return static_cast<std::size_t>((both ^ (both >> 29)) * 0x9e3779b97f4a7c15ULL >> 7);
    }
};
template <class T>
using ByPeer = std::unordered_map<EpochKey, T, EpochKeyHash>;

/// An exposure epoch on its way to an origin, or an access epoch that has ended on its way to a target.
struct EpochRecord {
    std::uint32_t window, from, to;  // processes
    std::uint32_t number;            // of the pair's epochs
    rules::Enter enter;              // of the Post, or of the Complete
    Ns leave;                        // of that
    rules::Enter transfer;           // of an access epoch: of its transfer that must have arrived last; else as `enter`
    std::uint64_t bytes;             // of that; 0: there was none
    std::uint64_t waited;            // 1: the Complete, for its transfers, as far as these may have been under way
};

/// What the other side of an epoch did; sorted by epoch, then by peer.
struct Met {
    std::uint32_t epoch;
    ProcessId peer;
    rules::Enter enter;
    Ns leave;
    rules::Enter transfer;
    std::uint64_t bytes;
    bool waited;
};

/// One side of all pairs, either access or exposure, of one owned process.
class Sides
{
public:
    Sides(const model::Definitions& definitions, const WindowProcess& process, const std::vector<Epoch>& epochs)
        : definitions_(definitions), process_(process), epochs_(epochs)
    {
        for (std::uint32_t e = 0; e < epochs.size(); ++e)
            for (const ProcessId peer : group(e))
                numbered_[{window(e), peer.value}].push_back(e);
    }

    [[nodiscard]] const model::ProcessGroup& group(std::uint32_t epoch) const
    {
        static const model::ProcessGroup nobody;
        const model::ProcessGroupId id = process_.event(epochs_[epoch].begin).group;
        return id.valid() ? definitions_.groups[id.value] : nobody;
    }
    [[nodiscard]] std::uint32_t window(std::uint32_t epoch) const
    {
        return process_.event(epochs_[epoch].begin).window.value;
    }

    /// Epochs must be asked for in their order.
    std::uint32_t next_number(std::uint32_t epoch, ProcessId peer) { return sent_[{window(epoch), peer.value}]++; }

    void take(const EpochRecord& record)
    {
        const auto found = numbered_.find({record.window, record.from});
        if (found != numbered_.end() && record.number < found->second.size())
            met_.push_back({found->second[record.number],
                            {record.from},
                            record.enter,
                            record.leave,
                            record.transfer,
                            record.bytes,
                            record.waited != 0});
    }

    void finish()
    {
        std::ranges::sort(met_, {}, [](const Met& met) { return std::pair(met.epoch, met.peer); });
    }
    [[nodiscard]] std::span<const Met> met(std::uint32_t epoch) const
    {
        const auto begin = std::ranges::lower_bound(met_, epoch, {}, &Met::epoch);
        return {begin, std::ranges::upper_bound(begin, met_.end(), epoch, {}, &Met::epoch)};
    }
    /// Null if that peer did nothing.
    [[nodiscard]] const Met* met(std::uint32_t epoch, ProcessId peer) const
    {
        const auto all = met(epoch);
        const auto found = std::ranges::lower_bound(all, peer, {}, &Met::peer);
        return found == all.end() || found->peer != peer ? nullptr : &*found;
    }

private:
    const model::Definitions& definitions_;
    const WindowProcess& process_;
    const std::vector<Epoch>& epochs_;
    ByPeer<std::vector<std::uint32_t>> numbered_;
    ByPeer<std::uint32_t> sent_;
    std::vector<Met> met_;
};

struct Pair {
    Sides access, exposure;
};

/// Of each target, the transfer of the epoch that is there last. It begins when the target has posted, too.
std::map<ProcessId, std::uint32_t> last_transfers(WindowProcess& process, const Sides& access, std::uint32_t epoch)
{
    std::map<ProcessId, std::uint32_t> result;
    const Epoch& e = process.epochs.access[epoch];
    for (std::uint32_t i = e.begin; i < e.end; ++i) {
        const auto& place = process.epochs.of_event[i];
        const WindowEvent& event = process.event(i);
        if (event.what != WindowEvent::What::Transfer || place.kind != Epochs::Kind::Access || place.epoch != epoch)
            continue;
        const auto target = process.target(event.window, event.target);
        if (!target)
            continue;
        const Met* met = access.met(epoch, *target);
        const auto arrival = [&](std::uint32_t t) {
            const Ns post = met != nullptr ? met->enter.time : Ns::min();
            return std::max(process.enter(t).time, post) + process.transfer_time(*target, process.event(t).bytes);
        };
        const auto [entry, is_new] = result.try_emplace(*target, i);
        if (!is_new && arrival(i) >= arrival(entry->second))
            entry->second = i;
    }
    return result;
}

using Outgoing = std::vector<std::vector<EpochRecord>>;

void emit_exposure(const Replay& replay, const WindowProcess& process, Pair& pair, std::uint32_t epoch, Outgoing& out)
{
    const std::uint32_t begin = process.epochs.exposure[epoch].begin;
    const rules::Enter post = process.enter(begin);
    for (const ProcessId origin : pair.exposure.group(epoch))
        out[static_cast<std::size_t>(replay.owner_of(origin))].push_back(
            {pair.exposure.window(epoch), process.trace.process.value, origin.value,
             pair.exposure.next_number(epoch, origin), post, process.leave(begin), post, 0, 0});
}

void emit_access(const Replay& replay, WindowProcess& process, Pair& pair, std::uint32_t epoch, Outgoing& out)
{
    const Epoch& e = process.epochs.access[epoch];
    const auto transfers =
        e.end == Epoch::open ? std::map<ProcessId, std::uint32_t>{} : last_transfers(process, pair.access, epoch);
    const bool waited = !transfers.empty() && process.may_have_waited(process.event(e.end).call);
    /// When both sides are there.
    const auto start_of = [&](ProcessId target, std::uint32_t transfer) {
        const Met* met = pair.access.met(epoch, target);
        return std::max(process.enter(transfer).time, met != nullptr ? met->enter.time : Ns::min());
    };
    for (const ProcessId target : pair.access.group(epoch)) {
        const std::uint32_t number = pair.access.next_number(epoch, target);
        if (e.end == Epoch::open)
            continue;
        const rules::Enter complete = process.enter(e.end);
        const auto last = transfers.find(target);
        const bool has_transfer = last != transfers.end();
        const bool waits = waited && has_transfer &&
                           process.may_be_under_way(start_of(target, last->second),
                                                    process.transfer_time(target, process.event(last->second).bytes),
                                                    process.event(e.end).call);
        out[static_cast<std::size_t>(replay.owner_of(target))].push_back(
            {pair.access.window(epoch), process.trace.process.value, target.value, number, complete,
             process.leave(e.end), has_transfer ? process.enter(last->second) : complete,
             has_transfer ? process.event(last->second).bytes : 0, waits ? 1U : 0U});
    }
}

/// One round: a window of epochs of each owned process.
template <class Emit, class Take>
void exchange_window(const Replay& replay, std::vector<WindowProcess>& processes, std::uint64_t round,
                     const std::vector<Epoch> Epochs::*kind, Emit emit, Take take)
{
    Outgoing out(static_cast<std::size_t>(replay.size));
    for (std::size_t p = 0; p < processes.size(); ++p) {
        const std::uint64_t all = (processes[p].epochs.*kind).size();
        for (std::uint64_t e = round * epoch_window; e < std::min(all, (round + 1) * epoch_window); ++e)
            emit(p, static_cast<std::uint32_t>(e), out);
    }
    for (const EpochRecord& record : replayer::exchange(replay.comm, out).items)
        take(replay.index_of({record.to}), record);
}

/// A late post holds up the start of the epoch, or if the implementation defers that, its first transfer, or its end:
/// whichever call waited.
void explain_access(WindowProcess& process, const Sides& sides)
{
    const std::vector<WindowEvent>& events = process.trace.window_events;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
        const auto& [kind, epoch] = process.epochs.of_event[i];
        const WindowEvent& event = events[i];
        if (kind != Epochs::Kind::Access || event.what == WindowEvent::What::Flush ||
            !process.may_have_waited(event.call))
            continue;
        const bool no_check = process.event(process.epochs.access[epoch].begin).no_check;
        if (event.what == WindowEvent::What::Transfer) {
            const auto target = process.target(event.window, event.target);
            const Met* met = target && !no_check ? sides.met(epoch, *target) : nullptr;
            if (met == nullptr)
                continue;
            // A later call of the epoch may be the one that waited for it.
            if (met->enter.time < leave_of(process.trace, event.call))
                process.depend(event.call, met->enter, 0, process.link(met->peer));
            else if (process.came_before_end(met->enter, event.call))
                process.doubt(event.call);
            continue;
        }
        if (!no_check)
            for (const Met& met : sides.met(epoch))
                process.depend(event.call, met.enter, 0, process.link(met.peer));
        if (event.what == WindowEvent::What::Complete)
            for (const auto& [target, transfer] : last_transfers(process, sides, epoch)) {
                const Met* met = sides.met(epoch, target);
                process.depend_on_transfer(event.call, process.enter(transfer),
                                           met != nullptr ? met->enter : rules::Enter{}, process.event(transfer).bytes,
                                           target, process.event(transfer).writes());
            }
    }
}

/// The end of an exposure epoch waits for the ends of the access epochs, and for what is on its way.
void explain_exposure(WindowProcess& process, const Sides& sides)
{
    for (std::uint32_t e = 0; e < process.epochs.exposure.size(); ++e) {
        const Epoch& epoch = process.epochs.exposure[e];
        if (epoch.end == Epoch::open || !process.may_have_waited(process.event(epoch.end).call))
            continue;
        const CallRef wait = process.event(epoch.end).call;
        for (const Met& met : sides.met(e)) {
            const bool has_transfer = met.bytes > 0 && process.came_before_end(met.transfer, wait);
            const Ns post = process.enter(epoch.begin).time;
            // Where the Complete had to wait for its transfers itself, these are what the target waits for, too.
            const auto is_held_by_transfer = [&](Ns shift) {
                return met.waited && has_transfer && process.is_too_early(wait, met.enter.time + shift, met.peer) &&
                       process.explains(std::max(met.transfer.time + shift, post),
                                        process.transfer_time(met.peer, met.bytes), wait);
            };
            if (depends_on_clocks(process.error(met.peer), is_held_by_transfer))
                process.doubt(wait);
            if (!is_held_by_transfer(Ns{0}))
                process.depend(wait, met.enter, 0, process.link(met.peer),
                               process.lateness(wait, met.enter, met.leave, met.peer));
            if (has_transfer)
                process.depend_on_transfer(wait, process.enter(epoch.begin), met.transfer, met.bytes, met.peer, false);
        }
    }
}

}  // namespace

void match_active(const Replay& replay, std::vector<WindowProcess>& processes)
{
    std::vector<Pair> pairs;
    std::uint64_t longest = 0;
    for (const WindowProcess& process : processes) {
        pairs.push_back({Sides(replay.definitions, process, process.epochs.access),
                         Sides(replay.definitions, process, process.epochs.exposure)});
        longest = std::max<std::uint64_t>({longest, process.epochs.access.size(), process.epochs.exposure.size()});
    }
    const std::uint64_t rounds = exchange_rounds(replay.comm, longest, epoch_window);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        exchange_window(
            replay, processes, round, &Epochs::exposure,
            [&](std::size_t p, std::uint32_t e, Outgoing& out) {
                emit_exposure(replay, processes[p], pairs[p], e, out);
            },
            [&](std::size_t p, const EpochRecord& record) { pairs[p].access.take(record); });
    }
    for (Pair& pair : pairs)
        pair.access.finish();
    for (std::uint64_t round = 0; round < rounds; ++round) {
        exchange_window(
            replay, processes, round, &Epochs::access,
            [&](std::size_t p, std::uint32_t e, Outgoing& out) { emit_access(replay, processes[p], pairs[p], e, out); },
            [&](std::size_t p, const EpochRecord& record) { pairs[p].exposure.take(record); });
    }
    for (std::size_t p = 0; p < processes.size(); ++p) {
        pairs[p].exposure.finish();
        explain_access(processes[p], pairs[p].access);
        explain_exposure(processes[p], pairs[p].exposure);
    }
}

}  // namespace critpath::replayer
