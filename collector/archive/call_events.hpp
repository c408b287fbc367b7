// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the interface between the merge of a thread's records and those who know what MPI functions of one kind leave
// in the trace between ENTER and LEAVE (formats/FORMAT.md, "Events"): one class a kind, each in its file.
#pragma once

#include "collector/archive/posts.hpp"
#include "collector/archive/process.hpp"
#include "collector/archive/recorded_call.hpp"
#include "formats/otf2/event_writer.hpp"

#include <cstdint>
#include <optional>

namespace critpath::archive
{

/// What all of them need: where the events go, and what the records' ids are in the trace.
class EventTarget
{
public:
    EventTarget(const ProcessData& process, const EventIds& event_ids, otf2::EventWriter& writer)
        : ids(event_ids), out(writer), posts(process.posts()), epochs(process.epochs()), graphs(process.graphs())
    {
    }

    const EventIds& ids;
    otf2::EventWriter& out;
    PostsOfThread posts;
    const Epochs& epochs;
    const Graphs& graphs;
    std::uint64_t unresolved = 0;  // times that a record names what nobody defined

    /// Nothing for -1, which is no communicator or none that can be described.
    std::optional<OTF2_CommRef> comm(std::int32_t id) { return find(ids.comms, id); }
    /// Null if the id is not known.
    const WindowId* window(std::int32_t id);

    /// The communicator of the call's collective records; nothing if it gets none.
    std::optional<OTF2_CommRef> collective_comm(const spool::Record& call, functions::FunctionId function);
    /// The operation of a function that collective_comm() accepts. A creation or destruction moves no data.
    static otf2::CollectiveEnd collective(const spool::Record& call, OTF2_CommRef comm);

private:
    template <class Ref>
    std::optional<Ref> find(const std::vector<Ref>& refs, std::int32_t id)
    {
        const auto index = static_cast<std::size_t>(id);
        if (index < refs.size() && refs[index] != otf2::none) {
            return refs[index];
        }
        unresolved += id == -1 ? 0 : 1;
        return std::nullopt;
    }
};

class CallEvents
{
public:
    explicit CallEvents(EventTarget& target) : target_(target), out_(target.out) {}
    virtual ~CallEvents() = default;
    CallEvents(const CallEvents&) = delete;
    CallEvents& operator=(const CallEvents&) = delete;

    /// What belongs to the beginning of a call, at its enter; what belongs to its end, at `time`. Never of calls that
    /// failed. Attributes that end() attaches last are those of the LEAVE.
    virtual void begin(const RecordedCall& call) = 0;
    virtual void end(const RecordedCall& call, std::uint64_t time) = 0;
    /// The completion of a request of this kind, by whatever call.
    virtual void complete(const Completion& completion, std::uint64_t time) = 0;

protected:
    EventTarget& target_;
    otf2::EventWriter& out_;
};

}  // namespace critpath::archive
