// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/events.hpp"

#include "formats/support/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace critpath::replayer::load
{

using namespace model;
using functions::SemanticClass;
using otf2::Moment;
namespace event = otf2::event;

namespace
{

bool is_finalize(FunctionId function)
{
    return functions::semantic_class(function) == SemanticClass::Finalize;
}

bool is_probe(FunctionId function)
{
    const SemanticClass c = functions::semantic_class(function);
    return c >= SemanticClass::Probe && c <= SemanticClass::Improbe;
}

/// Where a thread goes on after a shorter stop is not kept.
constexpr Ns least_stop = std::chrono::microseconds{20};
constexpr Ns longest_run{otf2::longest_run};
constexpr Ns largest_uncertainty{std::int64_t{1} << 52};  // more than fifty days: nothing is known, as beyond that

bool is_off_processor(RegionRole role)
{
    return role == RegionRole::Preempted || role == RegionRole::Blocked;
}

}  // namespace

EventLoader::EventLoader(const LoadedDefinitions& loaded, LocationId location)
    : definitions_(loaded.definitions), vocabulary_(loaded.vocabulary)
{
    out_.trace.location = location;
    const auto& facts = vocabulary_.locations[location.value];
    out_.anomalies = facts.anomalies;
    out_.trace.recording_end = facts.recording_end;
    const Location& defined = definitions_.locations[location.value];
    promised_ = defined.events;
    has_siblings_ = definitions_.processes[defined.process.value].locations.size() > 1;
    out_.sends = Sends(CallNumbers(location));
    out_.receives = Receives(CallNumbers(location));
    out_.collectives = CollectiveCalls(CallNumbers(location));
}

SemanticClass EventLoader::current_class() const
{
    return functions::semantic_class(region(out_.trace.calls.context(call_.value)).function);
}

LocationEvents EventLoader::finish()
{
    if (in_call()) {
        leave_call(now_);
        out_.trace.ends_in_call = true;
        ++out_.anomalies.open_calls;
    }
    if (off_since_) {
        end_off(now_);
    }
    return_to_processor(now_);
    if (!out_.trace.has_finalize) {
        out_.trace.end = now_;
    }
    const auto rest = open_.rest();
    out_.open_posts.insert(out_.open_posts.end(), rest.begin(), rest.end());
    scale_samples();
    if (!clock_.correction().is_identity()) {
        out_.clock_uncertainty = std::min(clock_.uncertainty(first_tick_, last_tick_), largest_uncertainty);
    }
    return std::move(out_);
}

/// With the first event.
void EventLoader::start(std::uint64_t ticks)
{
    clock_ = LocationClock(vocabulary_.clock, otf2::ClockCorrection(std::move(clock_points_)));
    out_.anomalies.clock_violations += clock_.correction().contradictions();
    first_tick_ = ticks;
    if (ticks >= farthest_ticks) {
        refuse_time(ticks);
    }
    now_ = clock_.to_ns(ticks);
    out_.trace.begin = now_;
    latest_ = std::min(Ns{farthest_time - 1}, now_ + longest_run);
    started_ = true;
}

/// Items, where there are `size`. A damaged trace promises any number, and its file may have a hole of any size: what
/// is reserved is within a factor of what has been read.
std::uint64_t EventLoader::enough(std::uint64_t size) const
{
    constexpr std::uint64_t most_at_first = 1 << 20;
    constexpr double most_times = 1024;
    const std::uint64_t first = std::min(promised_ / 256, most_at_first) + 16;
    const auto left = static_cast<double>(promised_ - std::min(promised_, seen_));
    const double times = std::min(left / static_cast<double>(std::max<std::uint64_t>(seen_, 1)), most_times);
    const auto to_come = static_cast<std::uint64_t>(static_cast<double>(size) * times);
    return size + to_come + to_come / 32 + size / 8 + first;
}

void EventLoader::refuse_time(std::uint64_t ticks) const
{
    fail(ExitCode::BadTrace,
         "{}: an event at {} ticks of its clock is years away; record the application again, or copy "
         "the trace again",
         definitions_.locations[out_.trace.location.value].name, ticks);
}

void EventLoader::on(const otf2::definition::ClockOffset& offset)
{
    constexpr auto largest = static_cast<double>(otf2::largest_clock_offset);
    const bool is_possible = offset.offset <= otf2::largest_clock_offset &&
                             offset.offset >= -otf2::largest_clock_offset && std::abs(offset.deviation) <= largest;
    if (offset.time >= farthest_ticks || !is_possible) {
        refuse_time(offset.time);
    }
    clock_points_.push_back({offset.time, offset.offset, std::llround(std::ceil(std::abs(offset.deviation)))});
}

// --------------------------------------------------------------------------------------------------- regions

void EventLoader::on(const Moment& moment, const event::Enter& record)
{
    enter(advance(moment), root(record.region));
}

void EventLoader::on(const Moment& moment, const event::Leave& record)
{
    leave(advance(moment), root(record.region), moment);
}

void EventLoader::on(const Moment& moment, const event::CallingContextEnter& record)
{
    const Ns now = advance(moment);
    enter(now, vocabulary_.contexts.find(record.context));
}

void EventLoader::on(const Moment& moment, const event::CallingContextLeave& record)
{
    const Ns now = advance(moment);
    leave(now, vocabulary_.contexts.find(record.context), moment);
}

void EventLoader::enter(Ns now, ContextId id)
{
    if (!id.valid()) {
        ignore();
    } else if (region(id).role == RegionRole::Mpi) {
        if (depth_++ == 0) {
            enter_call(now, id);
        }
    } else if (is_off_processor(region(id).role)) {
        leave_processor(now, region(id).role == RegionRole::Preempted);
    } else {
        user_regions_.enter(id, definitions_.contexts[id.value].region);
        out_.trace.user_regions.push_back({now, id});
        if (thread_region(id) == ThreadRegion::Barrier) {
            add_thread_record(now, ThreadRecord::What::Arrive);
        }
    }
}

void EventLoader::leave(Ns now, ContextId id, const Moment& moment)
{
    const bool is_mpi = id.valid() && region(id).role == RegionRole::Mpi;
    if (!id.valid() || (is_mpi && depth_ == 0)) {
        ignore();  // not defined, or measurement began inside the call
    } else if (is_off_processor(region(id).role)) {
        return_to_processor(now, is_on_another(moment));
        add_place(moment);
        add_wake_up(now);
    } else if (!is_mpi) {
        leave_user(now, id);
    } else if (--depth_ == 0) {
        leave_call(now, moment);
    }
}

// Neither a call nor a region of the program: what the thread was doing goes on.
void EventLoader::leave_processor(Ns now, bool preempted)
{
    return_to_processor(now);
    auto& off = out_.trace.off;
    const bool is_woken = preempted && !off.empty() && !off.back().preempted && off.back().end == now;
    off.push_back({now, now, preempted});
    off.back().is_woken = is_woken;
    has_processor_ = false;
}

void EventLoader::return_to_processor(Ns now, bool on_another)
{
    if (!has_processor_) {
        out_.trace.off.back().end = now;
        out_.trace.off.back().migrated = on_another;
        has_processor_ = true;
    }
}

/// On another processor than the thread left.
bool EventLoader::is_on_another(const Moment& moment) const
{
    const OTF2_AttributeRef processor = vocabulary_.attributes.processor;
    return processor != OTF2_UNDEFINED_ATTRIBUTE && moment.uint32(processor);
}

/// Where it was blocked until now, and what for, if it was looked at.
void EventLoader::add_place(const Moment& moment)
{
    const auto& attributes = vocabulary_.attributes;
    if (attributes.blocked_in == OTF2_UNDEFINED_ATTRIBUTE || out_.trace.off.empty()) {
        return;
    }
    if (const auto context = moment.calling_context(attributes.blocked_in)) {
        OffProcessor& off = out_.trace.off.back();
        off.found_in = vocabulary_.contexts.find(*context);
        off.is_found = off.found_in.valid();
        const auto what = moment.uint8(attributes.waits_for);
        if (what && *what <= static_cast<std::uint8_t>(WaitsFor::ThreadOrTime))
            off.waits_for = WaitsFor{*what};
    }
}

/// Where it was blocked until now, another thread of the process may have let it go on (resolve/guessed_waits).
void EventLoader::add_wake_up(Ns now)
{
    if (out_.trace.off.empty() || out_.trace.off.back().end != now) {
        return;
    }
    const OffProcessor& last = out_.trace.off.back();
    if (last.preempted) {
        add_return(last.begin, now);
    } else if (has_siblings_ && !in_call() && now - last.begin >= least_stop) {
        make_room(out_.trace.calls);
        out_.trace.calls.add_point(now);
    }
}

/// Behind a look, the thread may find what was stored while it was preempted or in the collector (onesided/looks).
void EventLoader::add_return(Ns since, Ns now)
{
    auto& calls = out_.trace.calls;
    if (in_call() || calls.empty() || now - since < least_stop) {
        return;
    }
    const auto context = calls.context(calls.size() - 1);
    if (!context.valid()) {  // a point in front of the first call
        return;
    }
    if (functions::may_look_at_memory(functions::semantic_class(region(context).function))) {
        make_room(calls);
        calls.add_point(now);
    }
}

void EventLoader::enter_call(Ns now, ContextId id)
{
    auto& calls = out_.trace.calls;
    make_room(calls);
    call_ = CallId{static_cast<std::uint32_t>(calls.size())};
    calls.add(now, now, id);
    bytes_in_call_ = 0;
    counts_.enter(now, calls_++, out_.trace.counted);
    if (!out_.trace.has_finalize && is_finalize(region(id).function)) {
        out_.trace.has_finalize = true;
        out_.trace.end = now;
    }
}

void EventLoader::leave_call(Ns now)
{
    out_.trace.calls.set_leave(call_.value, now);
    counts_.leave(now);
    out_.trace.calls.set_size_bucket(call_.value, model::size_bucket(bytes_in_call_));
}

void EventLoader::leave_call(Ns now, const Moment& moment)
{
    leave_call(now);
    const FunctionId function = region(out_.trace.calls.context(call_.value)).function;
    if (is_probe(function)) {
        add_probe(moment);
    }
    const OTF2_AttributeRef between = vocabulary_.attributes.between_polls;
    if (between != OTF2_UNDEFINED_ATTRIBUTE && functions::is_poll(functions::semantic_class(function))) {
        if (const auto ns = moment.uint64(between)) {
            out_.trace.loose_polls.push_back({call_, Ns{static_cast<std::int64_t>(*ns)}});
        }
    }
}

void EventLoader::leave_user(Ns now, ContextId id)
{
    if (!user_regions_.leave(definitions_.contexts[id.value].region)) {
        ignore();
        return;
    }
    if (thread_region(id) == ThreadRegion::Barrier) {
        add_thread_record(now, ThreadRecord::What::Depart);
    }
    out_.trace.user_regions.push_back({now, user_regions_.innermost()});
}

/// A probe that found a message says so with the attributes of its LEAVE.
void EventLoader::add_probe(const Moment& moment)
{
    const auto& attributes = vocabulary_.attributes;
    const auto source = attributes.source == OTF2_UNDEFINED_ATTRIBUTE ? std::nullopt : moment.int32(attributes.source);
    if (!source) {
        return;
    }
    if (const auto message = moment.uint64(attributes.message)) {
        out_.message_probes.push_back({*message, current_call()});
        return;
    }
    const auto comm = vocabulary_.communicators.find(moment.comm(attributes.comm).value_or(OTF2_UNDEFINED_COMM));
    if (!comm.valid()) {
        ignore();
        return;
    }
    constexpr auto unknown = static_cast<std::uint32_t>(-1);
    out_.probes.push_back({current_call(), comm, *source, moment.int32(attributes.tag).value_or(0), unknown});
}

// ----------------------------------------------------------------------------------------- the recording itself

void EventLoader::on(const Moment& moment, const event::BufferFlush& record)
{
    const Ns begin = advance(moment);
    out_.trace.tool.push_back({begin, std::max(begin, clock_.to_ns(std::min(record.stop, farthest_ticks - 1)))});
    in_flush_ = true;
}

/// Nothing is recorded during a flush: what is recorded next was behind it, whatever the flush says of its end.
void EventLoader::end_flush(Ns now)
{
    if (out_.trace.tool.back().end > now) {
        out_.trace.tool.back().end = now;
        ++out_.anomalies.clock_violations;
    }
    in_flush_ = false;
}

void EventLoader::on(const Moment& moment, const event::MeasurementOnOff& record)
{
    const Ns now = advance(moment);
    if (record.mode == OTF2_MEASUREMENT_OFF) {
        const bool is_skipped = add_skipped(now, moment);
        if (!off_since_ && (!is_skipped || on_since_ == now)) {
            off_since_ = now;
            off_by_user_ = is_skipped ? off_by_user_ : is_by_user(moment);
        }
    } else if (off_since_) {
        end_off(now);
    }
}

/// An off that only says what was posted before it while the recording was off: directly followed by an on or, in a
/// stretch that is off, directly after one.
bool EventLoader::add_skipped(Ns now, const Moment& moment)
{
    const auto& attributes = vocabulary_.attributes;
    const auto count = attributes.skipped == OTF2_UNDEFINED_ATTRIBUTE ? std::nullopt : moment.int32(attributes.skipped);
    if (!count) {
        return false;
    }
    const auto comm = vocabulary_.communicators.find(moment.comm(attributes.comm).value_or(OTF2_UNDEFINED_COMM));
    if (!comm.valid()) {
        ignore();
        return true;
    }
    const auto dest = moment.int32(attributes.dest);
    const auto source = moment.int32(attributes.source);
    const auto what = dest ? Skipped::What::Send : source ? Skipped::What::Receive : Skipped::What::Collective;
    out_.skipped.push_back(
        {now, what, comm, dest.value_or(source.value_or(-1)), moment.int32(attributes.tag).value_or(-1), *count});
    return true;
}

void EventLoader::on(const Moment& moment, const event::Mark& /*record*/)
{
    advance(moment);
}

/// Other tools have no attribute that says so. They write these records where the application asks for it; what they do
/// themselves is a BUFFER_FLUSH.
bool EventLoader::is_by_user(const Moment& moment) const
{
    const OTF2_AttributeRef reason = vocabulary_.attributes.reason;
    return reason == OTF2_UNDEFINED_ATTRIBUTE ||
           (vocabulary_.user_reason && moment.string(reason) == vocabulary_.user_reason);
}

void EventLoader::end_off(Ns now)
{
    auto& intervals = off_by_user_ ? out_.trace.unrecorded : out_.trace.tool;
    if (*off_since_ < now) {
        intervals.push_back({*off_since_, now});
    }
    if (!off_by_user_) {
        add_return(*off_since_, now);
    }
    off_since_.reset();
    on_since_ = now;
}

void EventLoader::on(const Moment& moment, const event::Other& record)
{
    advance(moment);
    using enum event::Other::Kind;
    auto& anomalies = out_.anomalies;
    switch (record.kind) {
    case Rma:
        ++anomalies.ignored_rma_records;
        break;
    case OpenMp:
    case Thread:
        ++anomalies.ignored_thread_records;
        break;
    case Io:
        ++anomalies.ignored_io_records;
        break;
    case Unknown:
    case Parameter:
        ignore();
        break;
    }
}

}  // namespace critpath::replayer::load
