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
void EventLoader::add_thread_record(Ns now, const ThreadRecord& record)
{
    if (in_call()) {
        ++out_.anomalies.ignored_thread_records;
        return;
    }
    auto& calls = out_.trace.calls;
    out_.thread_records.push_back(record);
    out_.thread_records.back().point = {static_cast<std::uint32_t>(calls.size())};
    calls.add_point(now);
}

void EventLoader::add_thread_record(const Moment& moment, What what, std::uint32_t object, std::uint64_t number)
{
    const Ns since = now_;
    add_thread_record(advance(moment), {what, {}, object, number, since});
}

void EventLoader::on(const Moment& moment, const event::ThreadFork& /*record*/)
{
    add_thread_record(moment, What::Fork);
}

void EventLoader::on(const Moment& moment, const event::ThreadJoin& /*record*/)
{
    add_thread_record(moment, What::Join);
}

void EventLoader::on(const Moment& moment, const event::ThreadTeamBegin& record)
{
    add_thread_record(moment, What::TeamBegin, record.team);
}

void EventLoader::on(const Moment& moment, const event::ThreadTeamEnd& record)
{
    add_thread_record(moment, What::TeamEnd, record.team);
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
    add_thread_record(moment, What::Begin, record.contingent, record.number);
}

void EventLoader::on(const Moment& moment, const event::ThreadEnd& record)
{
    add_thread_record(moment, What::End, record.contingent, record.number);
}

void EventLoader::on(const Moment& moment, const event::ThreadWait& record)
{
    add_thread_record(moment, What::Wait, record.contingent, record.number);
}

}  // namespace critpath::replayer::load
