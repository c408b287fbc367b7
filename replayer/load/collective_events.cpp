// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of EventLoader that is about collective operations, and the communicators that they make.
#include "formats/otf2/function_map.hpp"
#include "replayer/load/events.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer::load
{

using namespace model;
using functions::FunctionId;
using functions::SemanticClass;
using otf2::Moment;
namespace event = otf2::event;

/// Of one of the two groups. Each is known from the processes of the other one: those may be missing in the trace.
bool EventLoader::is_member(CommId inter) const
{
    const model::Communicator& c = definitions_.communicators[inter.value];
    const ProcessId process = definitions_.locations[out_.trace.location.value].process;
    const auto has = [&](const std::vector<ProcessId>& group) {
        return std::ranges::find(group, process) != group.end();
    };
    return c.is_inter && (has(c.members) || has(c.remote));
}

/// Whether the call that is open is an operation of the communicator that it makes, of which all callers are members:
/// COMM_CREATE tells that one.
bool EventLoader::is_of_what_it_makes() const
{
    const SemanticClass c = current_class();
    const std::size_t count = out_.collectives.size();
    return c == SemanticClass::CommCreateGroup ||
           (c == SemanticClass::CommDynamic && count > 0 && out_.collectives[count - 1].call == current_call());
}

void EventLoader::on(const Moment& moment, const event::MpiCollectiveEnd& record)
{
    advance(moment);
    const auto comm = vocabulary_.communicators.find(record.comm);
    if (!in_call() || !comm.valid()) {
        ignore();
        return;
    }
    if (is_of_what_it_makes()) {
        return;
    }
    make_room(out_.collectives);
    // OTF2_COLLECTIVE_ROOT_NONE, _SELF and _THIS_GROUP are -1, -2 and -3 of 32 bits.
    out_.collectives.push_back(
        {current_call(), comm, static_cast<std::int32_t>(record.root), record.sent, record.received});
    bytes_in_call_ += std::max(record.sent, record.received);
}

/// Of a post, where the trace says it: of persistent operations.
FunctionId EventLoader::operation(const Moment& moment) const
{
    const OTF2_AttributeRef said = vocabulary_.attributes.operation;
    const auto operation = said == OTF2_UNDEFINED_ATTRIBUTE ? std::nullopt : moment.uint8(said);
    return operation ? otf2::non_blocking_function(*operation) : FunctionId::none;
}

/// Its place among the collectives is that of its post.
void EventLoader::on(const Moment& moment, const event::NonBlockingCollectiveRequest& record)
{
    const Ns now = advance(moment);
    if (!in_call()) {
        ignore();
        return;
    }
    const OTF2_AttributeRef said = vocabulary_.attributes.comm;
    const auto comm = said == OTF2_UNDEFINED_ATTRIBUTE ? std::nullopt : moment.comm(said);
    make_room(out_.collectives);
    out_.collectives.push_back({{},
                                vocabulary_.communicators.find(comm.value_or(OTF2_UNDEFINED_COMM)),
                                -1,
                                0,
                                0,
                                current_call(),
                                operation(moment)});
    post(now, Posted::Kind::Collective, record.request, out_.collectives.size() - 1);
}

void EventLoader::on(const Moment& moment, const event::NonBlockingCollectiveComplete& record)
{
    const Ns now = advance(moment);
    const auto comm = vocabulary_.communicators.find(record.comm);
    if (!comm.valid()) {
        ignore();
        return;
    }
    complete({record.request, now, Completed::Kind::Collective, current_call(), comm,
              static_cast<std::int32_t>(record.root), 0, record.received, record.sent,
              otf2::non_blocking_function(record.operation)});
}

void EventLoader::on(const Moment& moment, const event::CommCreate& record)
{
    advance(moment);
    if (const auto comm = vocabulary_.communicators.find(record.comm); comm.valid() && in_call()) {
        const SemanticClass c = current_class();
        if (c == SemanticClass::CommCreateGroup || (c == SemanticClass::CommDynamic && is_member(comm))) {
            out_.collectives.push_back({current_call(), comm, -1, 0, 0});
        }
    }
    const OTF2_AttributeRef said = vocabulary_.attributes.in_degree;
    const auto degree = said == OTF2_UNDEFINED_ATTRIBUTE ? std::nullopt : moment.uint32(said);
    if (!degree) {
        return;
    }
    graph_ = vocabulary_.communicators.find(record.comm);
    in_degree_ = *degree;
    in_neighbours_.clear();
    if (in_degree_ == 0) {
        end_graph();
    }
}

void EventLoader::on(const Moment& moment, const event::ParameterUnsignedInt& record)
{
    advance(moment);
    if (in_degree_ == 0) {
        ignore();  // of another tool
        return;
    }
    // Ranks have 32 bits; larger ones are no member's.
    in_neighbours_.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(record.value, UINT32_MAX)));
    if (--in_degree_ == 0) {
        end_graph();
    }
}

void EventLoader::end_graph()
{
    const auto is_member = [&](std::uint32_t rank) {
        return rank < definitions_.communicators[graph_.value].members.size();
    };
    if (!graph_.valid() || !std::ranges::all_of(in_neighbours_, is_member)) {
        ignore();
        return;
    }
    std::ranges::sort(in_neighbours_);
    out_.graphs[graph_] = in_neighbours_;
}

}  // namespace critpath::replayer::load
