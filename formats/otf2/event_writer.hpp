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

/// Times are absolute ns and must not fall: what does is moved to the last time and counted. Made by
/// Archive::event_writer; used by one thread at a time.
class EventWriter
{
public:
    EventWriter(OTF2_EvtWriter* writer, OTF2_LocationRef location, std::string file);

    void program_begin(std::uint64_t time, OTF2_StringRef program, std::span<const OTF2_StringRef> arguments);
    void program_end(std::uint64_t time);
    void enter(std::uint64_t time, OTF2_RegionRef region);
    void leave(std::uint64_t time, OTF2_RegionRef region);
    /// Leave of a probe that found a message (bytes are not recorded).
    void leave_probe(std::uint64_t time, OTF2_RegionRef region, const Envelope& found,
                     std::optional<std::uint64_t> message);
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
    void comm_create(std::uint64_t time, OTF2_CommRef comm);
    void comm_destroy(std::uint64_t time, OTF2_CommRef comm);
    /// The collector stops (off) and resumes (on) measuring.
    void measurement(std::uint64_t time, bool on);
    void sample(std::uint64_t time, OTF2_CallingContextRef context, OTF2_InterruptGeneratorRef generator,
                std::uint64_t offset, std::optional<std::uint64_t> period);

    [[nodiscard]] bool has_events() const { return has_events_; }
    [[nodiscard]] std::uint64_t first_time() const { return first_; }
    [[nodiscard]] std::uint64_t last_time() const { return last_; }
    [[nodiscard]] std::uint64_t clipped() const { return clipped_; }
    [[nodiscard]] OTF2_EvtWriter* handle() const { return writer_; }
    [[nodiscard]] OTF2_LocationRef location() const { return location_; }
    [[nodiscard]] const std::string& file() const { return file_; }

private:
    OTF2_AttributeList* list(Attribute attribute, OTF2_AttributeValue value);
    std::uint64_t forward(std::uint64_t time);
    void checked(OTF2_ErrorCode rc) const;

    struct FreeList {
        void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
    };

    OTF2_EvtWriter* writer_;
    OTF2_LocationRef location_;
    std::string file_;
    std::unique_ptr<OTF2_AttributeList, FreeList> attributes_;
    bool has_events_ = false;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t clipped_ = 0;
};

}  // namespace critpath::otf2
