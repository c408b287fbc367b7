// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of EventLoader that is about threads.
#include "replayer/load/events.hpp"

namespace critpath::replayer::load
{

using namespace model;
using otf2::Moment;
using What = ThreadRecord::What;
namespace event = otf2::event;

/// What happens inside of an MPI call is that call's.
bool EventLoader::add_thread_record(Ns now, What what, std::uint32_t object)
{
    if (in_call()) {
        ++out_.anomalies.ignored_thread_records;
        return false;
    }
    auto& calls = out_.trace.calls;
    out_.threads.records.push_back({what, {static_cast<std::uint32_t>(calls.size())}, object});
    make_room(calls);
    calls.add_point(now);
    return true;
}

/// A thread waits from when it entered a function for that, or else since the event before.
void EventLoader::add_thread_record(const Moment& moment, What what, std::uint32_t object, std::uint64_t number)
{
    const bool is_in_wait = !user_regions_.empty() && thread_region(user_regions_.innermost()) == ThreadRegion::Wait;
    const Ns since = is_in_wait ? out_.trace.user_regions.back().time : now_;
    if (add_thread_record(advance(moment), what, object))
        out_.threads.details.push_back({number, since});
}

void EventLoader::on(const Moment& moment, const event::ThreadFork& /*record*/)
{
    add_thread_record(advance(moment), What::Fork);
}

void EventLoader::on(const Moment& moment, const event::ThreadJoin& /*record*/)
{
    add_thread_record(advance(moment), What::Join);
}

void EventLoader::on(const Moment& moment, const event::ThreadTeamBegin& record)
{
    add_thread_record(advance(moment), What::TeamBegin, record.team);
}

void EventLoader::on(const Moment& moment, const event::ThreadTeamEnd& record)
{
    add_thread_record(advance(moment), What::TeamEnd, record.team);
}

void EventLoader::on(const Moment& moment, const event::ThreadAcquireLock& record)
{
    add_thread_record(moment, What::Acquire, record.lock, record.order);
}

void EventLoader::on(const Moment& moment, const event::ThreadReleaseLock& record)
{
    add_thread_record(moment, What::Release, record.lock, record.order);
}

void EventLoader::on(const Moment& moment, const event::ThreadCreate& record)
{
    add_thread_record(moment, What::Create, record.contingent, record.number);
}

void EventLoader::on(const Moment& moment, const event::ThreadBegin& record)
{
    if (record.contingent == OTF2_UNDEFINED_COMM)  // only says when
        advance(moment);
    else
        add_thread_record(moment, What::Begin, record.contingent, record.number);
}

void EventLoader::on(const Moment& moment, const event::ThreadEnd& record)
{
    if (record.contingent == OTF2_UNDEFINED_COMM)  // only says when
        advance(moment);
    else
        add_thread_record(moment, What::End, record.contingent, record.number);
}

void EventLoader::on(const Moment& moment, const event::ThreadWait& record)
{
    add_thread_record(moment, What::Wait, record.contingent, record.number);
}

}  // namespace critpath::replayer::load
