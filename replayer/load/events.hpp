// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the one linear pass over the events of a location: what each record means for the calls, messages,
// collectives and samples of that location. What needs the other threads of the process is left to assemble.hpp.
#pragma once

#include "analysis/model/trace.hpp"
#include "formats/otf2/reader.hpp"
#include "replayer/load/definitions.hpp"
#include "replayer/load/open_regions.hpp"
#include "replayer/load/open_requests.hpp"
#include "replayer/load/thread_waits.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace critpath::replayer::load
{

/// The post of a request, by its place in LocationEvents.
struct Posted {
    enum class Kind : std::uint8_t { Send, Receive, Collective };
    std::uint64_t request;
    model::Ns time;
    Kind kind;
    std::uint32_t index;
};

/// The completion of a request.
struct Completed {
    enum class Kind : std::uint8_t { Send, Receive, Collective, Cancelled };
    std::uint64_t request;
    model::Ns time;
    Kind kind;
    model::CallRef call;
    model::CommId comm;   // from here: of a receive or collective
    std::int32_t source;  // or root
    std::int32_t tag;
    std::uint64_t bytes;  // received
    std::uint64_t sent = 0;
    functions::FunctionId operation = functions::FunctionId::none;  // of a collective: the non-blocking function
};

/// A message that a matched probe took, and where: the index of the receive, or the probe's call.
template <class Where>
struct MessageOf {
    std::uint64_t message;
    Where where;
};

/// One location's events, before they are joined with those of the other threads of its process.
///
/// A receive without a valid `completion` is not completed yet; one with a completion but without a communicator was
/// cancelled, as was a send without a communicator. A collective without a valid `call` is not completed yet.
struct LocationEvents {
    model::LocationTrace trace;
    model::Sends sends;  // in order of their records, and so of their calls
    model::Receives receives;
    std::vector<model::Probe> probes;  // `receive` is not set
    model::CollectiveCalls collectives;
    model::Graphs graphs;
    std::vector<model::Skipped> skipped;
    std::vector<model::WindowEvent> window_events;
    ThreadLog threads;
    std::vector<Posted> open_posts;           // without a completion on this location
    std::vector<Completed> open_completions;  // without a post on this location
    std::vector<MessageOf<std::uint32_t>> message_receives;
    std::vector<MessageOf<model::CallRef>> message_probes;
    model::Anomalies anomalies;
    std::optional<model::Ns> clock_uncertainty;  // as in ProcessTrace

    /// Returns the bytes that the completing call moved by it.
    std::uint64_t complete(const Posted& post, const Completed& completion);
};

/// Builds LocationEvents from records in the order of the event file.
class EventLoader : public otf2::EventHandler
{
public:
    EventLoader(const LoadedDefinitions& loaded, model::LocationId location);

    /// Of the events so far; nothing: there were none.
    struct Interval {
        model::Ns first, last;
    };
    [[nodiscard]] std::optional<Interval> interval() const
    {
        return started_ ? std::optional<Interval>({out_.trace.begin, now_}) : std::nullopt;
    }

    /// Ends the pass: closes what is still open and hands the result out.
    LocationEvents finish();

    using EventHandler::on;
    void on(const otf2::definition::ClockOffset&) override;
    void on(const otf2::Moment&, const otf2::event::Enter&) override;
    void on(const otf2::Moment&, const otf2::event::Leave&) override;
    void on(const otf2::Moment&, const otf2::event::CallingContextEnter&) override;
    void on(const otf2::Moment&, const otf2::event::CallingContextLeave&) override;
    void on(const otf2::Moment&, const otf2::event::CallingContextSample&) override;
    void on(const otf2::Moment&, const otf2::event::MpiSend&) override;
    void on(const otf2::Moment&, const otf2::event::MpiIsend&) override;
    void on(const otf2::Moment&, const otf2::event::MpiIsendComplete&) override;
    void on(const otf2::Moment&, const otf2::event::MpiIrecvRequest&) override;
    void on(const otf2::Moment&, const otf2::event::MpiRecv&) override;
    void on(const otf2::Moment&, const otf2::event::MpiIrecv&) override;
    void on(const otf2::Moment&, const otf2::event::MpiRequestCancelled&) override;
    void on(const otf2::Moment&, const otf2::event::MpiCollectiveEnd&) override;
    void on(const otf2::Moment&, const otf2::event::NonBlockingCollectiveRequest&) override;
    void on(const otf2::Moment&, const otf2::event::NonBlockingCollectiveComplete&) override;
    void on(const otf2::Moment&, const otf2::event::RmaCollectiveEnd&) override;
    void on(const otf2::Moment&, const otf2::event::RmaGroupSync&) override;
    void on(const otf2::Moment&, const otf2::event::RmaRequestLock&) override;
    void on(const otf2::Moment&, const otf2::event::RmaAcquireLock&) override;
    void on(const otf2::Moment&, const otf2::event::RmaReleaseLock&) override;
    void on(const otf2::Moment&, const otf2::event::RmaSync&) override;
    void on(const otf2::Moment&, const otf2::event::RmaPut&) override;
    void on(const otf2::Moment&, const otf2::event::RmaGet&) override;
    void on(const otf2::Moment&, const otf2::event::RmaAtomic&) override;
    void on(const otf2::Moment&, const otf2::event::RmaOpCompleteBlocking&) override;
    void on(const otf2::Moment&, const otf2::event::RmaOpCompleteNonBlocking&) override;
    void on(const otf2::Moment&, const otf2::event::RmaOpCompleteRemote&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadFork&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadJoin&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadTeamBegin&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadTeamEnd&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadAcquireLock&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadReleaseLock&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadCreate&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadBegin&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadEnd&) override;
    void on(const otf2::Moment&, const otf2::event::ThreadWait&) override;
    void on(const otf2::Moment&, const otf2::event::BufferFlush&) override;
    void on(const otf2::Moment&, const otf2::event::CommCreate&) override;
    void on(const otf2::Moment&, const otf2::event::ParameterUnsignedInt&) override;
    void on(const otf2::Moment&, const otf2::event::MeasurementOnOff&) override;
    void on(const otf2::Moment&, const otf2::event::Metric&) override;
    void on(const otf2::Moment&, const otf2::event::Mark&) override;
    void on(const otf2::Moment&, const otf2::event::Other&) override;

private:
    model::Ns advance(const otf2::Moment& moment);
    void start(std::uint64_t ticks);
    [[noreturn]] void refuse_time(std::uint64_t ticks) const;
    /// Before an item is added: if there is no room, as much as the events to come will take if they are like those so
    /// far. What would be reserved beyond comes into memory in part, where pages are huge.
    template <class Table>
    void make_room(Table& table) const
    {
        if (table.size() == table.capacity())
            table.reserve(enough(table.size()));
    }
    [[nodiscard]] std::uint64_t enough(std::uint64_t size) const;
    void enter(model::Ns now, model::ContextId context);
    void leave(model::Ns now, model::ContextId context, const otf2::Moment& moment);
    void enter_call(model::Ns now, model::ContextId context);
    void leave_call(model::Ns now);
    void leave_call(model::Ns now, const otf2::Moment& moment);
    void leave_user(model::Ns now, model::ContextId context);
    void leave_processor(model::Ns now, bool preempted);
    void return_to_processor(model::Ns now, bool on_another = false);
    [[nodiscard]] bool is_on_another(const otf2::Moment& moment) const;
    [[nodiscard]] functions::FunctionId operation(const otf2::Moment& moment) const;
    void add_place(const otf2::Moment& moment);
    void add_wake_up(model::Ns now);
    void add_return(model::Ns since, model::Ns now);
    void add_probe(const otf2::Moment& moment);
    void add_unreported_probe();
    void add_send(const otf2::Moment& moment, const otf2::event::MpiIsend& send, bool blocking);
    void note_message(const otf2::Moment& moment);
    void post(model::Ns now, Posted::Kind kind, std::uint64_t request, std::size_t index);
    void complete(const Completed& completion);
    bool add_skipped(model::Ns now, const otf2::Moment& moment);
    [[nodiscard]] bool is_by_user(const otf2::Moment& moment) const;
    void end_off(model::Ns now);
    void end_flush(model::Ns now);
    void end_graph();
    [[nodiscard]] functions::SemanticClass current_class() const;
    [[nodiscard]] model::WindowId window_of(OTF2_RmaWinRef window);
    void add_transfer(OTF2_RmaWinRef reference, std::uint32_t remote, model::WindowEvent::Access access,
                      std::uint64_t bytes, std::uint64_t transfer);
    model::WindowEvent& add_window_event(model::WindowId window, model::WindowEvent::What what);
    void add_lock(model::WindowId window, std::int32_t target, OTF2_LockType type);
    std::uint64_t take_pending(model::WindowId window, std::int32_t target);
    bool add_thread_record(model::Ns now, ThreadRecord::What what, std::uint32_t object = 0);
    void add_thread_record(const otf2::Moment& moment, ThreadRecord::What what, std::uint32_t object,
                           std::uint64_t number);
    [[nodiscard]] std::uint32_t assertions(const otf2::Moment& moment) const;
    void add_counts(model::Ns now, const otf2::Moment& moment, std::uint64_t page_faults);
    void scale_samples();
    void ignore() { ++out_.anomalies.ignored_records; }

    [[nodiscard]] bool in_call() const { return depth_ > 0; }
    [[nodiscard]] bool is_of_what_it_makes() const;
    [[nodiscard]] bool is_member(model::CommId inter) const;
    [[nodiscard]] model::CallRef current_call() const { return {out_.trace.location, call_}; }
    [[nodiscard]] const model::Region& region(model::ContextId context) const { return definitions_.region(context); }
    [[nodiscard]] model::ContextId root(OTF2_RegionRef reference) const
    {
        const model::RegionId id = vocabulary_.regions.find(reference);
        return id.valid() ? vocabulary_.roots[id.value] : model::ContextId::none();
    }
    [[nodiscard]] ThreadRegion thread_region(model::ContextId context) const
    {
        return vocabulary_.thread_regions[definitions_.contexts[context.value].region.value];
    }

    const model::Definitions& definitions_;
    const Vocabulary& vocabulary_;
    LocationEvents out_;
    std::vector<otf2::ClockPoint> clock_points_;
    LocationClock clock_;         // of these, from the first event on
    std::uint64_t promised_ = 0;  // events
    std::uint64_t seen_ = 0;      // of these
    bool started_ = false;
    std::uint64_t first_tick_ = 0;
    std::uint64_t last_tick_ = 0;
    model::Ns now_{};                             // time of the newest event
    model::Ns latest_{};                          // that an event may have
    int depth_ = 0;                               // open MPI regions; only the outermost is a call
    model::CallId call_ = model::CallId::none();  // the open call, or the last one
    std::uint64_t calls_ = 0;                     // without points
    CountReader counts_;
    EventReader events_;
    std::uint64_t bytes_in_call_ = 0;
    OpenRegions user_regions_;
    std::optional<model::Ns> off_since_;  // measurement is off
    std::optional<model::Ns> on_since_;   // or was, until then
    bool off_by_user_ = false;
    bool in_flush_ = false;  // the last event was one; its interval is the last of the tool's
    bool has_processor_ = true;
    bool has_siblings_ = false;                    // other threads of the process
    model::CommId graph_ = model::CommId::none();  // whose in-neighbours follow, or followed last:
    std::uint32_t in_degree_ = 0;                  // so many more,
    std::vector<std::uint32_t> in_neighbours_;     // behind these
    OpenRequests<Posted> open_;
    std::set<std::pair<std::uint32_t, std::int32_t>> requested_locks_;         // by window and target
    std::map<std::pair<std::uint32_t, std::int32_t>, std::uint64_t> pending_;  // by window and target: bytes under way
    std::unordered_map<std::uint64_t, std::size_t> transfers_;  // by their ids, until done: into window_events
};

/// The time of an event, which never goes back on a location.
inline model::Ns EventLoader::advance(const otf2::Moment& moment)
{
    ++seen_;
    if (!started_) {
        start(moment.time);
    }
    last_tick_ = moment.time;
    if (moment.time >= farthest_ticks) {  // their correction may leave 64 bits
        refuse_time(moment.time);
    }
    const model::Ns time = clock_.to_ns(moment.time);
    if (time <= model::Ns{-farthest_time} || time > latest_) {
        refuse_time(moment.time);
    }
    out_.anomalies.clock_violations += time < now_ ? 1 : 0;
    now_ = std::max(now_, time);
    if (in_flush_) {
        end_flush(now_);
    }
    return now_;
}

}  // namespace critpath::replayer::load
