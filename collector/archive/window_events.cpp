// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/window_events.hpp"

#include "formats/otf2/function_map.hpp"

#include <mpi.h>

#include <utility>

namespace critpath::archive
{

using functions::FunctionId;
using functions::SemanticClass;
using otf2::Attribute;

namespace
{

constexpr OTF2_RmaSyncLevel no_sync = OTF2_RMA_SYNC_LEVEL_NONE;
constexpr OTF2_RmaSyncLevel processes = OTF2_RMA_SYNC_LEVEL_PROCESS;
constexpr OTF2_RmaSyncLevel memory = OTF2_RMA_SYNC_LEVEL_MEMORY;

// Ids of transfers with and without a request must differ; the former come back with the request.
std::uint64_t id_of_request(std::uint64_t request)
{
    return 2 * request;
}

std::uint32_t target_of(const spool::Record& call)
{
    return call.peer < 0 ? OTF2_UNDEFINED_UINT32 : static_cast<std::uint32_t>(call.peer);
}

otf2::Lock lock_of(const spool::Record& call, const WindowId& window)
{
    return {window.window, target_of(call),
            static_cast<OTF2_LockType>(call.extra == 1 ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED)};
}

std::uint32_t assertions(const spool::Record& call)
{
    constexpr std::pair<int, otf2::Assertion> bits[] = {
        {MPI_MODE_NOCHECK, otf2::assert_no_check},     {MPI_MODE_NOSTORE, otf2::assert_no_store},
        {MPI_MODE_NOPUT, otf2::assert_no_put},         {MPI_MODE_NOPRECEDE, otf2::assert_no_precede},
        {MPI_MODE_NOSUCCEED, otf2::assert_no_succeed},
    };
    std::uint32_t result = 0;
    for (const auto& [theirs, ours] : bits) {
        if ((call.extra & static_cast<unsigned>(theirs)) != 0) {
            result |= ours;
        }
    }
    return result;
}

// After an epoch without transfers nobody has to wait for anybody.
OTF2_RmaSyncLevel fence_level(const spool::Record& call)
{
    return (assertions(call) & otf2::assert_no_precede) != 0 ? no_sync : processes | memory;
}

bool has_target(const spool::Record& call)
{
    return (call.flags & spool::flag_null_peer) == 0;
}

}  // namespace

void WindowEvents::begin(const RecordedCall& recorded)
{
    const spool::Record& call = recorded.record;
    const WindowId* window = target_.window(call.tag);
    switch (recorded.semantics) {
    case SemanticClass::WinCreate:
    case SemanticClass::WinFree:
    case SemanticClass::WinFence:
        if (window != nullptr) {
            out_.window_collective_begin(call.enter);
        }
        break;
    case SemanticClass::WinLock:
        if (window != nullptr && has_target(call)) {
            out_.lock_request(call.enter, lock_of(call, *window));
        }
        break;
    case SemanticClass::RmaPut:
    case SemanticClass::RmaGet:
    case SemanticClass::RmaAtomic:
        if (call.request != 0) {
            target_.posts.post(call);
        }
        if (window != nullptr && has_target(call)) {
            transfer(recorded, *window);
        }
        break;
    default:
        break;
    }
}

void WindowEvents::transfer(const RecordedCall& recorded, const WindowId& window)
{
    const spool::Record& call = recorded.record;
    const bool has_request = call.request != 0;
    const std::uint64_t id = has_request ? id_of_request(call.request) : 2 * transfers_++ + 1;
    const otf2::Transfer transfer = {window.window, target_of(call), call.bytes, call.extra, id};
    if (recorded.semantics == SemanticClass::RmaPut) {
        out_.put(call.enter, transfer);
    } else if (recorded.semantics == SemanticClass::RmaGet) {
        out_.get(call.enter, transfer);
    } else {
        out_.atomic(call.enter, transfer,
                    otf2::atomic_type(recorded.function(), (call.flags & spool::flag_replaces) != 0));
    }
    open_[call.tag].begin(call.peer, id, has_request);
}

void WindowEvents::end(const RecordedCall& recorded, std::uint64_t time)
{
    const WindowId* window = target_.window(recorded.record.tag);
    if (window == nullptr) {
        return;
    }
    switch (recorded.semantics) {
    case SemanticClass::WinCreate:
    case SemanticClass::WinFree:
    case SemanticClass::WinFence:
        collective(recorded, *window, time);
        break;
    case SemanticClass::WinStart:
    case SemanticClass::WinPost:
    case SemanticClass::WinComplete:
    case SemanticClass::WinWait:
    case SemanticClass::WinTest:
        group(recorded, *window, time);
        break;
    default:
        if (has_target(recorded.record)) {
            passive(recorded, *window, time);
        }
        break;
    }
}

void WindowEvents::collective(const RecordedCall& recorded, const WindowId& window, std::uint64_t time)
{
    const spool::Record& call = recorded.record;
    OTF2_CollectiveOp operation = *otf2::collective_operation(recorded.function());
    OTF2_RmaSyncLevel level = processes;
    if (recorded.semantics == SemanticClass::WinCreate) {
        out_.window_create(time, window.window);
    } else if (recorded.semantics == SemanticClass::WinFree) {
        out_.window_destroy(time, window.window);
        if (window.is_allocated) {
            operation = OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE;
        }
        open_.erase(call.tag);
    } else {
        done_remote(call, window, -1, time);
        level = fence_level(call);
        if (const std::uint32_t bits = assertions(call); bits != 0) {
            out_.attach(Attribute::Assertions, bits);
        }
    }
    out_.window_collective_end(time, window.window, operation, level);
}

void WindowEvents::group(const RecordedCall& recorded, const WindowId& window, std::uint64_t time)
{
    const spool::Record& call = recorded.record;
    OTF2_RmaSyncLevel level = memory;
    OTF2_GroupRef group = OTF2_UNDEFINED_GROUP;
    switch (recorded.semantics) {
    case SemanticClass::WinStart:
    case SemanticClass::WinPost:
        group = group_of(group_key(recorded.members));
        level = no_sync;
        break;
    case SemanticClass::WinComplete:
        done_remote(call, window, -1, time);
        group = group_of(target_.epochs.open_at(call.tag, Epochs::Side::Access, call.enter));
        break;
    case SemanticClass::WinTest:
        if ((call.flags & spool::flag_success) == 0) {
            return;
        }
        [[fallthrough]];
    default:
        group = group_of(target_.epochs.open_at(call.tag, Epochs::Side::Exposure, call.enter));
        break;
    }
    if (group == OTF2_UNDEFINED_GROUP) {
        return;  // the begin of the epoch was not recorded
    }
    if (const std::uint32_t bits = level == no_sync ? assertions(call) : 0; bits != 0) {
        out_.attach(Attribute::Assertions, bits);
    }
    out_.window_group(time, window.window, group, level);
}

void WindowEvents::passive(const RecordedCall& recorded, const WindowId& window, std::uint64_t time)
{
    const spool::Record& call = recorded.record;
    switch (recorded.semantics) {
    case SemanticClass::WinLock:
        out_.lock_acquire(time, lock_of(call, window));
        break;
    case SemanticClass::WinUnlock:
        done_remote(call, window, call.peer, time);
        out_.lock_release(time, window.window, target_of(call));
        break;
    case SemanticClass::WinFlush:
        if (recorded.function() == FunctionId::MPI_Win_flush_local ||
            recorded.function() == FunctionId::MPI_Win_flush_local_all) {
            done_here(call, window, time);
        } else {
            done_remote(call, window, call.peer, time);
            out_.window_sync(time, window.window, target_of(call));
        }
        break;
    case SemanticClass::WinSync:
        out_.window_sync(time, window.window, window.own_rank);
        break;
    default:
        break;
    }
}

void WindowEvents::done_remote(const spool::Record& call, const WindowId& window, std::int32_t target,
                               std::uint64_t time)
{
    open_[call.tag].end_there(target, [&](std::uint64_t id) { out_.done_remote(time, window.window, id); });
}

void WindowEvents::done_here(const spool::Record& call, const WindowId& window, std::uint64_t time)
{
    open_[call.tag].end_here(call.peer, [&](std::uint64_t id) { out_.done_blocking(time, window.window, id); });
}

void WindowEvents::complete(const Completion& completion, std::uint64_t time)
{
    const auto post = target_.posts.complete(completion.request);
    if (!post) {
        ++target_.unresolved;
    } else if (const WindowId* window = target_.window(post->tag); window != nullptr && has_target(*post)) {
        out_.done_request(time, window->window, id_of_request(completion.request));
    }
}

OTF2_GroupRef WindowEvents::group_of(const std::optional<Hash128>& key) const
{
    const auto found = key ? target_.ids.groups.find(*key) : target_.ids.groups.end();
    return found == target_.ids.groups.end() ? OTF2_UNDEFINED_GROUP : found->second;
}

}  // namespace critpath::archive
