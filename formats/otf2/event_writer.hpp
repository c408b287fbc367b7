// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the event records of one location as formats/FORMAT.md states them: one function a record, and the
// attributes that go with it. All ids are those of the global definitions.
#pragma once

#include "formats/functions/functions.hpp"
#include "formats/otf2/function_map.hpp"

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace critpath::otf2
{

/// Envelope of a message or of a completed operation.
struct Envelope {
    std::int32_t peer;
    OTF2_CommRef comm;
    std::int32_t tag;
    std::uint64_t bytes;
};

struct CollectiveEnd {
    OTF2_CollectiveOp operation;
    OTF2_CommRef comm;
    std::uint32_t root;  // OTF2_COLLECTIVE_ROOT_NONE without a root
    std::uint64_t sent;
    std::uint64_t received;
};

/// A one-sided transfer; `id` names it to the records of its completion.
struct Transfer {
    OTF2_RmaWinRef window;
    std::uint32_t target;
    std::uint64_t sent;
    std::uint64_t received;
    std::uint64_t id;
};

struct Lock {
    OTF2_RmaWinRef window;
    std::uint32_t target;
    OTF2_LockType type;
};

/// Times are absolute ns and must not fall: what does is moved to the last time and counted. Made by
/// Archive::event_writer; used by one thread at a time.
class EventWriter
{
public:
    EventWriter(OTF2_EvtWriter* writer, OTF2_LocationRef location, std::string file);

    void program_begin(std::uint64_t time, OTF2_StringRef program, std::span<const OTF2_StringRef> arguments);
    void program_end(std::uint64_t time);
    /// Of no team, since nobody recorded who began it.
    void thread_begin(std::uint64_t time);
    void thread_end(std::uint64_t time);
    void enter(std::uint64_t time, OTF2_RegionRef region);
    void leave(std::uint64_t time, OTF2_RegionRef region);
    /// As enter and leave, of the region of `context`, which also says from where it was called.
    void enter_context(std::uint64_t time, OTF2_CallingContextRef context);
    void leave_context(std::uint64_t time, OTF2_CallingContextRef context);

    /// Gives the next record an attribute, of the type that `attribute` has.
    void attach(Attribute attribute, std::uint64_t value);
    void attach(Attribute attribute, std::int32_t value);
    void attach(Attribute attribute, std::uint32_t value);
    void attach(Attribute attribute, std::uint8_t value);

    void send(std::uint64_t time, const Envelope& message);
    void isend(std::uint64_t time, const Envelope& message, std::uint64_t request,
               functions::SendMode mode = functions::SendMode::None);
    void isend_complete(std::uint64_t time, std::uint64_t request);
    void irecv_request(std::uint64_t time, std::uint64_t request, std::optional<std::uint64_t> message = {});
    void irecv(std::uint64_t time, const Envelope& message, std::uint64_t request);
    void recv(std::uint64_t time, const Envelope& message, std::optional<std::uint64_t> matched = {});
    void request_cancelled(std::uint64_t time, std::uint64_t request);
    void collective_begin(std::uint64_t time);
    void collective_end(std::uint64_t time, const CollectiveEnd& end);
    /// `started`: the non-blocking function that does the same, of a persistent one.
    void collective_request(std::uint64_t time, OTF2_CommRef comm, std::uint64_t request,
                            std::optional<functions::FunctionId> started = std::nullopt);
    void collective_complete(std::uint64_t time, const CollectiveEnd& end, std::uint64_t request);
    /// `in_neighbours`: of this process, if it has a graph topology.
    void comm_create(std::uint64_t time, OTF2_CommRef comm, const std::set<std::uint32_t>* in_neighbours = nullptr);
    void comm_destroy(std::uint64_t time, OTF2_CommRef comm);

    void window_create(std::uint64_t time, OTF2_RmaWinRef window);
    void window_destroy(std::uint64_t time, OTF2_RmaWinRef window);
    void window_collective_begin(std::uint64_t time);
    void window_collective_end(std::uint64_t time, OTF2_RmaWinRef window, OTF2_CollectiveOp operation,
                               OTF2_RmaSyncLevel level);
    void window_group(std::uint64_t time, OTF2_RmaWinRef window, OTF2_GroupRef group, OTF2_RmaSyncLevel level);
    /// `target`: OTF2_UNDEFINED_UINT32 for all, also below.
    void lock_request(std::uint64_t time, const Lock& lock);
    void lock_acquire(std::uint64_t time, const Lock& lock);
    void lock_release(std::uint64_t time, OTF2_RmaWinRef window, std::uint32_t target);
    void window_sync(std::uint64_t time, OTF2_RmaWinRef window, std::uint32_t target);
    void put(std::uint64_t time, const Transfer& transfer);
    void get(std::uint64_t time, const Transfer& transfer);
    void atomic(std::uint64_t time, const Transfer& transfer, OTF2_RmaAtomicType type);
    /// Transfer::id is done at the origin (with or without a request), or at the target.
    void done_blocking(std::uint64_t time, OTF2_RmaWinRef window, std::uint64_t id);
    void done_request(std::uint64_t time, OTF2_RmaWinRef window, std::uint64_t id);
    void done_remote(std::uint64_t time, OTF2_RmaWinRef window, std::uint64_t id);

    /// Counters, in the order of MetricDefinition::names.
    void metric(std::uint64_t time, OTF2_MetricRef metric, std::span<const std::int64_t> values);

    /// The collector stops (off) and resumes (on) measuring.
    void measurement(std::uint64_t time, bool on);
    /// `period` only if it is not the generator's.
    void sample(std::uint64_t time, OTF2_CallingContextRef context, OTF2_InterruptGeneratorRef generator,
                std::uint64_t offset, std::optional<std::uint64_t> period,
                std::optional<std::uint64_t> page_faults = {});

    [[nodiscard]] bool has_events() const { return has_events_; }
    [[nodiscard]] std::uint64_t first_time() const { return first_; }
    [[nodiscard]] std::uint64_t last_time() const { return last_; }
    [[nodiscard]] std::uint64_t clipped() const { return clipped_; }
    [[nodiscard]] OTF2_EvtWriter* handle() const { return writer_; }
    [[nodiscard]] OTF2_LocationRef location() const { return location_; }
    [[nodiscard]] const std::string& file() const { return file_; }

private:
    void attach_value(Attribute attribute, OTF2_AttributeValue value);
    OTF2_AttributeList* attached();
    std::uint64_t forward(std::uint64_t time);
    void checked(OTF2_ErrorCode rc) const;

    struct FreeList {
        void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
    };

    OTF2_EvtWriter* writer_;
    OTF2_LocationRef location_;
    std::string file_;
    std::unique_ptr<OTF2_AttributeList, FreeList> attributes_;
    bool has_attached_ = false;
    bool has_events_ = false;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t clipped_ = 0;
};

}  // namespace critpath::otf2
