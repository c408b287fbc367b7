// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/message_events.hpp"

namespace critpath::archive
{

using functions::SemanticClass;
using functions::SendMode;
using otf2::Attribute;

namespace
{

bool has_message(std::uint8_t flags)
{
    return (flags & spool::flag_null_peer) == 0;
}

}  // namespace

void MessageEvents::begin(const RecordedCall& recorded)
{
    const spool::Record& call = recorded.record;
    switch (recorded.semantics) {
    case SemanticClass::Send:
    case SemanticClass::Sendrecv:
        if (const auto message = envelope(call)) {
            out_.send(call.enter, *message);
        }
        break;
    case SemanticClass::Isend:
        if (const auto message = envelope(call)) {
            out_.isend(call.enter, *message, call.request);
        }
        break;
    case SemanticClass::Irecv:
        if (has_message(call.flags)) {
            out_.irecv_request(call.enter, call.request);
        }
        break;
    case SemanticClass::Imrecv:
        if (has_message(call.flags)) {
            out_.irecv_request(call.enter, call.request, call.extra);
        }
        break;
    case SemanticClass::Start:
        start({call.flags, SendMode{static_cast<std::uint8_t>(call.extra)}, spool::Operation::Message, call.request,
               call.bytes, call.peer, call.tag, call.comm},
              call.enter);
        [[fallthrough]];
    case SemanticClass::Startall:
    case SemanticClass::Isendrecv:
    case SemanticClass::Pready:
        for (const Completion& started : recorded.completions) {
            start(started, call.enter);
        }
        break;
    default:
        break;
    }
}

void MessageEvents::start(const Completion& started, std::uint64_t time)
{
    if (!has_message(started.flags) || started.request == 0) {
        return;
    }
    if ((started.flags & spool::flag_receive) != 0) {
        out_.irecv_request(time, started.request);
    } else if (const auto message = envelope(started)) {
        const bool is_standard = started.mode == SendMode::Standard;
        out_.isend(time, *message, started.request, is_standard ? SendMode::None : started.mode);
    }
}

void MessageEvents::end(const RecordedCall& recorded, std::uint64_t time)
{
    const spool::Record& call = recorded.record;
    switch (recorded.semantics) {
    case SemanticClass::Recv:
        if (const auto message = envelope(call)) {
            out_.recv(time, *message);
        }
        break;
    case SemanticClass::Mrecv:
        if (const auto message = envelope(call)) {
            out_.recv(time, *message, call.request);
        }
        break;
    case SemanticClass::Sendrecv:
        for (const Completion& received : recorded.completions) {
            if (const auto message = envelope(received)) {
                out_.recv(time, *message);
            }
        }
        break;
    case SemanticClass::Probe:
    case SemanticClass::Mprobe:
    case SemanticClass::Iprobe:
    case SemanticClass::Improbe:
        describe_probe(recorded);
        break;
    default:
        break;
    }
}

void MessageEvents::complete(const Completion& completion, std::uint64_t time)
{
    if (completion.request == 0 || !has_message(completion.flags)) {
        return;
    }
    if ((completion.flags & spool::flag_cancelled) != 0) {
        out_.request_cancelled(time, completion.request);
    } else if ((completion.flags & spool::flag_receive) == 0) {
        out_.isend_complete(time, completion.request);
    } else if (const auto message = envelope(completion)) {
        out_.irecv(time, *message, completion.request);
    }
}

void MessageEvents::describe_probe(const RecordedCall& recorded)
{
    const spool::Record& call = recorded.record;
    const bool is_matched = recorded.semantics == SemanticClass::Mprobe || recorded.semantics == SemanticClass::Improbe;
    const bool waited = recorded.semantics == SemanticClass::Probe || recorded.semantics == SemanticClass::Mprobe;
    const bool found = waited || (call.flags & spool::flag_success) != 0;
    const auto message = found ? envelope(call) : std::nullopt;
    if (!message) {
        return;
    }
    out_.attach(Attribute::Source, message->peer);
    out_.attach(Attribute::Tag, message->tag);
    out_.attach(Attribute::Comm, message->comm);
    if (is_matched) {
        out_.attach(Attribute::Message, call.request);
    }
}

// Of a Record or a Completion; nothing if there is no message.
template <class Source>
std::optional<otf2::Envelope> MessageEvents::envelope(const Source& source)
{
    if (!has_message(source.flags)) {
        return std::nullopt;
    }
    const auto comm = target_.comm(source.comm);
    return comm ? std::optional(otf2::Envelope{source.peer, *comm, source.tag, source.bytes}) : std::nullopt;
}

}  // namespace critpath::archive
