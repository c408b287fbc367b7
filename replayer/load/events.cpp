// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/events.hpp"

#include "formats/support/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace critpath::replayer::load
{

using namespace model;
using functions::SemanticClass;
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

bool is_finalize(FunctionId function)
{
    return functions::semantic_class(function) == SemanticClass::Finalize;
}

bool is_probe(FunctionId function)
{
    const SemanticClass c = functions::semantic_class(function);
    return c >= SemanticClass::Probe && c <= SemanticClass::Improbe;
}

constexpr auto farthest_ticks = static_cast<std::uint64_t>(farthest_time);
constexpr Ns longest_run{std::int64_t{1} << 56};  // more than two years

bool is_off_processor(RegionRole role)
{
    return role == RegionRole::Preempted || role == RegionRole::Blocked;
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
                                 completion.bytes);
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
        out_.clock_uncertainty = clock_.uncertainty(first_tick_, last_tick_);
    }
    return std::move(out_);
}

/// The time of an event, which never goes back on a location.
Ns EventLoader::advance(const Moment& moment)
{
    ++seen_;
    if (!started_) {
        start(moment.time);
    }
    last_tick_ = moment.time;
    const Ns time = clock_.to_ns(moment.time);
    if (moment.time >= farthest_ticks || time <= Ns{-farthest_time} || time > latest_) {
        refuse_time(moment.time);
    }
    out_.anomalies.clock_violations += time < now_ ? 1 : 0;
    now_ = std::max(now_, time);
    if (in_flush_) {
        end_flush(now_);
    }
    return now_;
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

/// Items, where there are `size`.
std::uint64_t EventLoader::enough(std::uint64_t size) const
{
    const std::uint64_t first = promised_ / 256 + 16;
    const std::uint64_t to_come = size * (promised_ - std::min(promised_, seen_)) / std::max<std::uint64_t>(seen_, 1);
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
        user_stack_.push_back(id);
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
        return_to_processor(now);
        if (!out_.trace.off.empty())
            out_.trace.off.back().migrated = moment.uint32(vocabulary_.attributes.processor).has_value();
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
    out_.trace.off.push_back({now, now, preempted});
    has_processor_ = false;
}

void EventLoader::return_to_processor(Ns now)
{
    if (!has_processor_) {
        out_.trace.off.back().end = now;
        has_processor_ = true;
    }
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
        if (const auto is_thread = moment.uint8(attributes.waits_for_thread))
            off.waits_for = *is_thread != 0 ? WaitsFor::Thread : WaitsFor::Other;
    }
}

/// Where it was blocked until now, another thread of the process may have let it go on (resolve/guessed_waits).
void EventLoader::add_wake_up(Ns now)
{
    constexpr Ns least = std::chrono::microseconds{20};
    if (has_siblings_ && !in_call() && !out_.trace.off.empty()) {
        const OffProcessor& last = out_.trace.off.back();
        if (!last.preempted && last.end == now && last.end - last.begin >= least) {
            make_room(out_.trace.calls);
            out_.trace.calls.add_point(now);
        }
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
    if (is_probe(region(out_.trace.calls.context(call_.value)).function)) {
        add_probe(moment);
    }
}

void EventLoader::leave_user(Ns now, ContextId id)
{
    const RegionId left = definitions_.contexts[id.value].region;
    const auto found = std::find_if(user_stack_.rbegin(), user_stack_.rend(),
                                    [&](ContextId open) { return definitions_.contexts[open.value].region == left; });
    if (found == user_stack_.rend()) {
        ignore();
        return;
    }
    user_stack_.erase(std::next(found).base(), user_stack_.end());  // with what was left without a record
    if (thread_region(id) == ThreadRegion::Barrier) {
        add_thread_record(now, ThreadRecord::What::Depart);
    }
    out_.trace.user_regions.push_back({now, user_stack_.empty() ? ContextId::none() : user_stack_.back()});
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

// ------------------------------------------------------------------------------------------------- messages

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

void EventLoader::on(const Moment& moment, const event::MpiIrecvRequest& record)
{
    const Ns now = advance(moment);
    if (!in_call()) {
        ignore();
        return;
    }
    if (vocabulary_.attributes.message != OTF2_UNDEFINED_ATTRIBUTE) {
        if (const auto message = moment.uint64(vocabulary_.attributes.message)) {
            out_.message_receives.push_back({*message, static_cast<std::uint32_t>(out_.receives.size())});
        }
    }
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
    if (vocabulary_.attributes.message != OTF2_UNDEFINED_ATTRIBUTE) {
        if (const auto message = moment.uint64(vocabulary_.attributes.message)) {
            out_.message_receives.push_back({*message, static_cast<std::uint32_t>(out_.receives.size())});
        }
    }
    make_room(out_.receives);
    out_.receives.push_back({current_call(),
                             current_call(),
                             {},
                             comm,
                             static_cast<std::int32_t>(record.sender),
                             static_cast<std::int32_t>(record.tag),
                             record.bytes});
    bytes_in_call_ += record.bytes;
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

// -------------------------------------------------------------------------------- tool, samples

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

bool EventLoader::is_by_user(const Moment& moment) const
{
    const OTF2_AttributeRef reason = vocabulary_.attributes.reason;
    return vocabulary_.user_reason && reason != OTF2_UNDEFINED_ATTRIBUTE &&
           moment.string(reason) == vocabulary_.user_reason;
}

void EventLoader::end_off(Ns now)
{
    auto& intervals = off_by_user_ ? out_.trace.unrecorded : out_.trace.tool;
    if (*off_since_ < now) {
        intervals.push_back({*off_since_, now});
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

void EventLoader::on(const Moment& moment, const event::Metric& record)
{
    const Ns now = advance(moment);
    if (const auto sampled = vocabulary_.sampled.find(record.metric); sampled != vocabulary_.sampled.end()) {
        if (!events_.read(now, record, sampled->second, definitions_.counted.size())) {
            ++out_.anomalies.ignored_metric_records;
        }
        return;
    }
    const auto places = vocabulary_.counters.find(record.metric);
    if (places == vocabulary_.counters.end() || !counts_.read(now, record, places->second)) {
        ++out_.anomalies.ignored_metric_records;
    }
}

/// The weight is the period, in units of the generator; scale_samples makes it time.
void EventLoader::on(const Moment& moment, const event::CallingContextSample& record)
{
    const Ns now = advance(moment);
    const auto context = vocabulary_.contexts.find(record.context);
    if (!context.valid() || record.generator != vocabulary_.generator.reference) {
        ignore();
        return;
    }
    const auto& attributes = vocabulary_.attributes;
    std::uint64_t period = vocabulary_.generator.period;
    std::uint64_t offset = 0;
    if (attributes.period != OTF2_UNDEFINED_ATTRIBUTE) {
        period = moment.uint64(attributes.period).value_or(period);
    }
    if (attributes.offset != OTF2_UNDEFINED_ATTRIBUTE) {
        offset = moment.uint64(attributes.offset).value_or(0);
    }
    std::uint64_t page_faults = 0;
    if (attributes.page_faults != OTF2_UNDEFINED_ATTRIBUTE) {
        constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
        page_faults = std::min(most, moment.uint64(attributes.page_faults).value_or(0));
    }
    out_.trace.samples.push_back(
        {now, context, static_cast<std::uint32_t>(page_faults), static_cast<std::int64_t>(period), offset});
    add_counts(now, moment, page_faults);
}

/// What stands before the sample, or in its attributes.
void EventLoader::add_counts(Ns now, const Moment& moment, std::uint64_t page_faults)
{
    const std::size_t events = definitions_.counted.size();
    if (events == 0) {
        return;
    }
    const std::span<std::int64_t> counts = events_.take(now, events);
    const auto& attributes = vocabulary_.attributes;
    const bool has_faults = attributes.page_faults != OTF2_UNDEFINED_ATTRIBUTE &&
                            vocabulary_.locations[out_.trace.location.value].counts_page_faults;
    if (has_faults) {
        counts.front() = static_cast<std::int64_t>(page_faults);
    }
    bool is_scaled = false;
    if (attributes.counted != OTF2_UNDEFINED_ATTRIBUTE) {
        const auto counted = moment.uint32(attributes.counted);
        is_scaled = counted.has_value();
        if (counted == 0U) {
            std::ranges::fill(counts, model::SampleCounts::unknown);
        }
    }
    out_.trace.sample_counts.push_back(counts, is_scaled);
}

void EventLoader::scale_samples()
{
    auto& samples = out_.trace.samples;
    if (samples.empty()) {
        return;
    }
    double ns = vocabulary_.generator.ns_per_unit;
    if (!vocabulary_.generator.counts_time) {
        ns = vocabulary_.locations[out_.trace.location.value].ns_per_count;
        if (ns <= 0) {
            // The trace does not say how long an event takes. Take it that the thread never rested while it was
            // sampled.
            double counts = 0;
            std::for_each(samples.begin() + 1, samples.end(), [&](const Sample& s) { counts += double(s.weight); });
            const auto span = static_cast<double>((samples.back().time - samples.front().time).count());
            ns = counts > 0 ? span / counts : 0;
        }
    }
    constexpr std::int64_t longest = std::int64_t{1}
                                     << 40;  // 18 minutes; damaged traces say more, and their sum is none
    for (auto& sample : samples) {
        if (ns != 1 || sample.weight < 0 || sample.weight > longest) {
            const double weight = static_cast<double>(sample.weight) * ns;
            sample.weight = std::llround(std::fmin(std::fmax(weight, 0), static_cast<double>(longest)));
        }
    }
}

}  // namespace critpath::replayer::load
