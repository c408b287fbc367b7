// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of EventLoader that reads messages: sends, receives, and what completes requests.
#include "replayer/load/events.hpp"

#include <algorithm>

namespace critpath::replayer::load
{

using namespace model;
using otf2::Moment;
namespace event = otf2::event;

namespace
{

/// Of a function that is not in the table: MPI_Start-like functions of other tools post standard sends.
SendMode mode_of(FunctionId function)
{
    const SendMode mode = function == FunctionId::none ? SendMode::None : functions::info(function).mode;
    return mode == SendMode::None ? SendMode::Standard : mode;
}

}  // namespace

std::uint64_t LocationEvents::complete(const Posted& posted, const Completed& completion)
{
    const bool is_cancelled = completion.kind == Completed::Kind::Cancelled;
    if (posted.kind == Posted::Kind::Send) {
        if (is_cancelled) {
            sends.cancel(posted.index, completion.call);
            return 0;
        }
        sends.complete(posted.index, completion.call);
        return sends.bytes(posted.index);
    }
    if (posted.kind == Posted::Kind::Collective) {
        if (completion.kind == Completed::Kind::Collective) {
            collectives.complete(posted.index, completion.call, completion.comm, completion.source, completion.sent,
                                 completion.bytes, completion.operation);
        }
        return std::max(completion.sent, completion.bytes);
    }
    if (is_cancelled) {
        receives.cancel(posted.index, completion.call);
        ++anomalies.cancelled_receives;
        return 0;
    }
    receives.complete(posted.index, completion.call, {completion.comm, completion.source, completion.tag},
                      completion.bytes);
    return completion.bytes;
}

void EventLoader::on(const Moment& moment, const event::MpiSend& send)
{
    add_send(moment, {send.receiver, send.comm, send.tag, send.bytes, 0}, true);
}

void EventLoader::on(const Moment& moment, const event::MpiIsend& send)
{
    add_send(moment, send, false);
}

void EventLoader::add_send(const Moment& moment, const event::MpiIsend& send, bool blocking)
{
    const Ns now = advance(moment);
    const auto comm = vocabulary_.communicators.find(send.comm);
    if (!in_call() || !comm.valid()) {
        ignore();
        return;
    }
    SendMode mode = mode_of(region(out_.trace.calls.context(call_.value)).function);
    if (vocabulary_.attributes.mode != OTF2_UNDEFINED_ATTRIBUTE) {
        mode = SendMode{moment.uint8(vocabulary_.attributes.mode).value_or(static_cast<std::uint8_t>(mode))};
    }
    make_room(out_.sends);
    out_.sends.push_back({current_call(), blocking ? current_call() : CallRef{}, comm,
                          static_cast<std::int32_t>(send.receiver), static_cast<std::int32_t>(send.tag), mode,
                          send.bytes});
    bytes_in_call_ += send.bytes;
    if (!blocking) {
        post(now, Posted::Kind::Send, send.request, out_.sends.size() - 1);
    }
}

/// The receive that comes next gets the message that a matched probe took, if its event says so.
void EventLoader::note_message(const Moment& moment)
{
    if (vocabulary_.attributes.message == OTF2_UNDEFINED_ATTRIBUTE) {
        return;
    }
    if (const auto message = moment.uint64(vocabulary_.attributes.message)) {
        out_.message_receives.push_back({*message, static_cast<std::uint32_t>(out_.receives.size())});
    }
}

void EventLoader::on(const Moment& moment, const event::MpiIrecvRequest& record)
{
    const Ns now = advance(moment);
    if (!in_call()) {
        ignore();
        return;
    }
    note_message(moment);
    make_room(out_.receives);
    out_.receives.push_back({current_call(), {}, {}, CommId::none(), -1, -1, 0});
    post(now, Posted::Kind::Receive, record.request, out_.receives.size() - 1);
}

void EventLoader::on(const Moment& moment, const event::MpiRecv& record)
{
    advance(moment);
    const auto comm = vocabulary_.communicators.find(record.comm);
    if (!in_call() || !comm.valid()) {
        ignore();
        return;
    }
    note_message(moment);
    make_room(out_.receives);
    out_.receives.push_back({current_call(),
                             current_call(),
                             {},
                             comm,
                             static_cast<std::int32_t>(record.sender),
                             static_cast<std::int32_t>(record.tag),
                             record.bytes});
    bytes_in_call_ += record.bytes;
    add_unreported_probe();
}

/// Other tools do not say what a probe found: that right before a receive is taken to have found its message. Between
/// them there may be calls that are not in the table, such as MPI_Get_count.
void EventLoader::add_unreported_probe()
{
    constexpr std::size_t most_between = 8;
    const Calls& calls = out_.trace.calls;
    const auto function_at = [&](std::size_t call) { return region(calls.context(call)).function; };
    if (vocabulary_.attributes.source != OTF2_UNDEFINED_ATTRIBUTE ||
        functions::semantic_class(function_at(call_.value)) != functions::SemanticClass::Recv) {
        return;
    }
    std::size_t behind = calls.behind_last_call(call_.value);
    for (std::size_t i = 0; i < most_between && behind > 0 && function_at(behind - 1) == FunctionId::none; ++i) {
        behind = calls.behind_last_call(behind - 1);
    }
    if (behind == 0) {
        return;
    }
    const auto before = functions::semantic_class(function_at(behind - 1));
    if (before != functions::SemanticClass::Probe && before != functions::SemanticClass::Iprobe) {
        return;
    }
    constexpr auto unknown = static_cast<std::uint32_t>(-1);
    const Receive receive = out_.receives[out_.receives.size() - 1];
    out_.probes.push_back({{current_call().location, {static_cast<std::uint32_t>(behind - 1)}},
                           receive.comm,
                           receive.source,
                           receive.tag,
                           unknown});
}

void EventLoader::on(const Moment& moment, const event::MpiIsendComplete& record)
{
    complete({record.request, advance(moment), Completed::Kind::Send, current_call(), {}, 0, 0, 0});
}

void EventLoader::on(const Moment& moment, const event::MpiRequestCancelled& record)
{
    complete({record.request, advance(moment), Completed::Kind::Cancelled, current_call(), {}, 0, 0, 0});
}

void EventLoader::on(const Moment& moment, const event::MpiIrecv& record)
{
    const Ns now = advance(moment);
    const auto comm = vocabulary_.communicators.find(record.comm);
    if (!comm.valid()) {
        ignore();
        return;
    }
    complete({record.request, now, Completed::Kind::Receive, current_call(), comm,
              static_cast<std::int32_t>(record.sender), static_cast<std::int32_t>(record.tag), record.bytes});
}

void EventLoader::post(Ns now, Posted::Kind kind, std::uint64_t request, std::size_t index)
{
    if (const auto displaced = open_.add({request, now, kind, static_cast<std::uint32_t>(index)})) {
        out_.open_posts.push_back(*displaced);
    }
}

void EventLoader::complete(const Completed& completion)
{
    if (!in_call()) {
        ignore();
    } else if (const auto posted = open_.take(completion.request)) {
        bytes_in_call_ += out_.complete(*posted, completion);
    } else {
        out_.open_completions.push_back(completion);
    }
}

}  // namespace critpath::replayer::load
