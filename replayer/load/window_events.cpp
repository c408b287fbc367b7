// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of EventLoader that is about one-sided communication.
#include "formats/otf2/function_map.hpp"
#include "replayer/load/events.hpp"

#include <algorithm>
#include <limits>

namespace critpath::replayer::load
{

using namespace model;
using functions::SemanticClass;
using otf2::Moment;
namespace event = otf2::event;

namespace
{

/// -1: all. OTF2_UNDEFINED_UINT32 is -1 of 32 bits.
std::int32_t target_of(std::uint32_t remote)
{
    return static_cast<std::int32_t>(remote);
}

/// What brings nothing to the target only reads (MPI_NO_OP), and what brings nothing back only writes.
WindowEvent::Access access_of(const event::RmaAtomic& record)
{
    using Access = WindowEvent::Access;
    if (record.received == 0)
        return Access::Writes;
    if (record.sent == 0)
        return Access::Reads;
    const bool swaps = record.type == OTF2_RMA_ATOMIC_TYPE_SWAP || record.type == OTF2_RMA_ATOMIC_TYPE_TEST_AND_SET ||
                       record.type == OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
    return swaps ? Access::Swaps : Access::Changes;
}

}  // namespace

/// none(), and counted, if the record cannot be used: outside of calls, or on a window that is not defined.
WindowId EventLoader::window_of(OTF2_RmaWinRef window)
{
    const WindowId id = in_call() ? vocabulary_.windows.find(window) : WindowId::none();
    if (!id.valid()) {
        ++out_.anomalies.ignored_rma_records;
    }
    return id;
}

std::uint32_t EventLoader::assertions(const Moment& moment) const
{
    const OTF2_AttributeRef attribute = vocabulary_.attributes.assertions;
    return attribute == OTF2_UNDEFINED_ATTRIBUTE ? 0 : moment.uint32(attribute).value_or(0);
}

WindowEvent& EventLoader::add_window_event(WindowId window, WindowEvent::What what)
{
    return out_.window_events.emplace_back(WindowEvent{
        current_call(), {}, window, ProcessGroupId::none(), -1, what, false, false, WindowEvent::Access::None, 0});
}

/// The bytes of the transfers to a target, or to all, that the call completes.
std::uint64_t EventLoader::take_pending(WindowId window, std::int32_t target)
{
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    const auto begin = pending_.lower_bound({window.value, std::max(target, 0)});
    const auto end = pending_.upper_bound({window.value, target < 0 ? most : target});
    std::uint64_t bytes = 0;
    std::for_each(begin, end, [&](const auto& entry) { bytes += entry.second; });
    pending_.erase(begin, end);
    return bytes;
}

void EventLoader::on(const Moment& moment, const event::RmaCollectiveEnd& record)
{
    advance(moment);
    const WindowId window = window_of(record.window);
    if (!window.valid()) {
        return;
    }
    const bool is_fence = current_class() == SemanticClass::WinFence;
    const bool precedes = record.level != OTF2_RMA_SYNC_LEVEL_NONE &&
                          (assertions(moment) & static_cast<std::uint32_t>(otf2::assert_no_precede)) == 0;
    const std::uint64_t bytes = take_pending(window, -1);
    out_.collectives.push_back({current_call(), definitions_.windows[window.value].comm,
                                is_fence && !precedes ? CollectiveCall::no_precede : -1, std::max(bytes, record.sent),
                                record.received});
    bytes_in_call_ += std::max(record.sent, record.received);  // as of all that completes transfers
}

void EventLoader::on(const Moment& moment, const event::RmaGroupSync& record)
{
    advance(moment);
    const WindowId window = window_of(record.window);
    if (!window.valid()) {
        return;
    }
    const SemanticClass function = current_class();
    switch (function) {
    case SemanticClass::WinStart:
    case SemanticClass::WinPost: {
        WindowEvent& event = add_window_event(window, function == SemanticClass::WinStart ? WindowEvent::What::Start
                                                                                          : WindowEvent::What::Post);
        event.group = vocabulary_.groups.find(record.group);
        event.no_check = (assertions(moment) & static_cast<std::uint32_t>(otf2::assert_no_check)) != 0;
        break;
    }
    case SemanticClass::WinComplete:
        add_window_event(window, WindowEvent::What::Complete).bytes = take_pending(window, -1);
        break;
    case SemanticClass::WinWait:
    case SemanticClass::WinTest:
        add_window_event(window, WindowEvent::What::Wait);
        break;
    default:
        ++out_.anomalies.ignored_rma_records;
        break;
    }
}

void EventLoader::on(const Moment& moment, const event::RmaRequestLock& record)
{
    advance(moment);
    if (const WindowId window = window_of(record.window); window.valid()) {
        requested_locks_.emplace(window.value, target_of(record.remote));
        add_lock(window, target_of(record.remote), record.type);
    }
}

/// What was requested before is known already. A lock that is taken in one step, which waits for it, has this alone.
void EventLoader::on(const Moment& moment, const event::RmaAcquireLock& record)
{
    advance(moment);
    if (const WindowId window = window_of(record.window); window.valid()) {
        if (requested_locks_.erase({window.value, target_of(record.remote)}) == 0) {
            add_lock(window, target_of(record.remote), record.type);
        }
    }
}

void EventLoader::add_lock(WindowId window, std::int32_t target, OTF2_LockType type)
{
    WindowEvent& event = add_window_event(window, WindowEvent::What::Lock);
    event.target = target;
    event.exclusive = type == OTF2_LOCK_EXCLUSIVE;
}

void EventLoader::on(const Moment& moment, const event::RmaReleaseLock& record)
{
    advance(moment);
    if (const WindowId window = window_of(record.window); window.valid()) {
        WindowEvent& event = add_window_event(window, WindowEvent::What::Unlock);
        event.target = target_of(record.remote);
        event.bytes = take_pending(window, event.target);
        requested_locks_.erase({window.value, event.target});  // had it never been granted
    }
}

void EventLoader::on(const Moment& moment, const event::RmaSync& record)
{
    advance(moment);
    const WindowId window = window_of(record.window);
    if (!window.valid()) {
        return;
    }
    if (current_class() == SemanticClass::WinSync) {
        add_window_event(window, WindowEvent::What::Sync);
        return;
    }
    WindowEvent& event = add_window_event(window, WindowEvent::What::Flush);
    event.target = target_of(record.remote);
    event.bytes = take_pending(window, event.target);
}

void EventLoader::add_transfer(OTF2_RmaWinRef reference, std::uint32_t remote, WindowEvent::Access access,
                               std::uint64_t bytes, std::uint64_t transfer)
{
    const WindowId window = window_of(reference);
    if (!window.valid()) {
        return;
    }
    transfers_[transfer] = out_.window_events.size();
    WindowEvent& event = add_window_event(window, WindowEvent::What::Transfer);
    event.target = target_of(remote);
    event.access = access;
    event.bytes = bytes;
    // Of the calls that complete transfers, bytes do not count: they wait for these, however many there are.
    bytes_in_call_ += bytes;
    pending_[{window.value, event.target}] += bytes;
}

void EventLoader::on(const Moment& moment, const event::RmaPut& record)
{
    advance(moment);
    add_transfer(record.window, record.remote, WindowEvent::Access::Writes, record.bytes, record.transfer);
}

void EventLoader::on(const Moment& moment, const event::RmaGet& record)
{
    advance(moment);
    add_transfer(record.window, record.remote, WindowEvent::Access::Reads, record.bytes, record.transfer);
}

void EventLoader::on(const Moment& moment, const event::RmaAtomic& record)
{
    advance(moment);
    add_transfer(record.window, record.remote, access_of(record), std::max(record.sent, record.received),
                 record.transfer);
}

/// MPI_Win_flush_local has no record of its own: what it completed says so.
void EventLoader::on(const Moment& moment, const event::RmaOpCompleteBlocking& record)
{
    advance(moment);
    const WindowId window = window_of(record.window);
    const auto transfer = transfers_.find(record.transfer);
    if (!window.valid() || transfer == transfers_.end() || current_class() != SemanticClass::WinFlush) {
        return;
    }
    const WindowEvent done = out_.window_events[transfer->second];
    const WindowEvent& last = out_.window_events.back();
    if (last.what != WindowEvent::What::Flush || last.call != current_call()) {
        add_window_event(window, WindowEvent::What::Flush).target = done.target;
    }
    WindowEvent& flush = out_.window_events.back();
    flush.target = flush.target == done.target ? done.target : -1;
    flush.bytes += done.bytes;
}

void EventLoader::on(const Moment& moment, const event::RmaOpCompleteNonBlocking& record)
{
    advance(moment);
    const auto transfer = transfers_.find(record.transfer);
    if (window_of(record.window).valid() && transfer != transfers_.end()) {
        out_.window_events[transfer->second].completion = current_call();
        transfers_.erase(transfer);
    }
}

/// What is done at the target is done: who waits for its request afterwards does not wait.
void EventLoader::on(const Moment& moment, const event::RmaOpCompleteRemote& record)
{
    advance(moment);
    if (window_of(record.window).valid()) {
        transfers_.erase(record.transfer);
    }
}

}  // namespace critpath::replayer::load
