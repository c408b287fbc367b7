// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/event_merge.hpp"

#include "collector/archive/collective_events.hpp"
#include "collector/archive/file_events.hpp"
#include "collector/archive/message_events.hpp"
#include "collector/archive/window_events.hpp"
#include "formats/otf2/function_map.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace critpath::archive
{

namespace
{

using functions::FunctionId;
using functions::SemanticClass;
using spool::RecordKind;

class Merge
{
public:
    Merge(const ProcessData& process, std::size_t thread, const EventIds& ids, otf2::EventWriter& out)
        : process_(process), spool_(process.spool().threads[thread]), data_(process.threads()[thread]), ids_(ids),
          out_(out), metric_(ids.metrics[thread]), target_(process, ids, out),
          kernel_(process.threads()[thread], ids, thread, out)
    {
    }

    // Of communicators that were made while the recording was off, whose collectives may have been recorded.
    void write_early_graphs(std::uint64_t time)
    {
        for (const auto& [id, in_neighbours] : process_.graphs()) {
            const auto index = static_cast<std::size_t>(id);
            if (!process_.is_creation_recorded(id) && index < ids_.comms.size() && ids_.comms[index] != otf2::none) {
                out_.comm_create(time, ids_.comms[index], &in_neighbours);
            }
        }
    }

    EventCounts run()
    {
        const spool::SpoolHeader& header = spool_.header();
        const bool is_first_thread = spool_.thread == 0;
        if (is_first_thread) {
            out_.program_begin(header.process_start, ids_.program, ids_.arguments);
            write_early_graphs(header.process_start);
        } else {
            begin_thread();
        }
        merge_calls(spool_.records());
        if (data_.open_call && !finalized_) {
            enter_open_call(*data_.open_call);
        }
        if (!finalized_) {
            write_pauses_until(no_limit);
            kernel_.write_until(no_limit);
        }
        if (is_first_thread) {
            const std::uint64_t end = finalized_ ? process_.end() : header.closed != 0 ? header.thread_end : 0;
            out_.program_end(std::max(end, out_.last_time()));
        } else if (header.closed != 0 && !finalized_) {
            out_.thread_end(std::max(std::min(header.thread_end, process_.end()), out_.last_time()));
        }
        counts_.unresolved += target_.unresolved;
        counts_.samples = kernel_.samples();
        counts_.off = kernel_.off();
        return counts_;
    }

private:
    /// Sampling follows a thread from its first moment on; its calls of MPI alone do not say when that was.
    void begin_thread()
    {
        if (!spool_.samples || spool_.samples->header().thread_start == 0) {
            return;
        }
        std::uint64_t begin = std::min(spool_.samples->header().thread_start, process_.end());
        if (!data_.samples.empty()) {  // times of the kernel
            begin = std::min(begin, data_.samples.front().time);
        }
        if (!data_.off.empty()) {
            begin = std::min(begin, data_.off.front().begin);
        }
        out_.thread_begin(begin);
    }

    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    void merge_calls(RecordCursor cursor)
    {
        for (RecordKind kind = cursor.kind(); kind != RecordKind::Empty && !finalized_; kind = cursor.kind()) {
            if (kind == RecordKind::Call) {
                if (call_.take(cursor)) {
                    write_call();
                } else {
                    ++counts_.unresolved;
                }
                at_enter_.reset();
                at_leave_.reset();
            } else if (kind == RecordKind::Tool) {
                // May lie in the call whose record comes next: records are in the order of their ends.
                tools_.push_back(cursor.take<spool::Record>());
            } else if (kind == RecordKind::Counters) {
                const auto counters = cursor.take<spool::CountersRecord>();
                (counters.at_leave != 0 ? at_leave_ : at_enter_) = counters;
            } else {
                cursor.skip();
            }
        }
    }

    // The process ended in it.
    void enter_open_call(const OpenCall& call)
    {
        write_pauses_until(call.enter);
        kernel_.write_before(call.enter);
        out_.enter_context(call.enter, ids_.contexts[data_.call_paths.find(0, FunctionId{call.function})]);
    }

    /// Of a run of polls that may be work with polls in between.
    void attach_gaps_of_polls()
    {
        const spool::Record& call = call_.record;
        if (functions::is_poll(call_.semantics) && (call.flags & spool::flag_success) == 0 && call.extra > 0 &&
            2 * call.extra >= call.leave - call.enter)
            out_.attach(otf2::Attribute::BetweenPolls, call.extra);
    }

    void write_call()
    {
        const spool::Record& call = call_.record;
        finalized_ = call_.semantics == SemanticClass::Finalize;
        const std::uint64_t leave = finalized_ ? call.enter : call.leave;
        const OTF2_CallingContextRef context = ids_.contexts[data_.call_paths.find(call.callpath, call_.function())];
        write_pauses_until(call.enter);
        kernel_.write_before(call.enter);
        write_counters(at_enter_, call.enter);
        out_.enter_context(call.enter, context);
        const std::uint64_t unresolved = target_.unresolved;
        CallEvents* events = events_of(functions::group_of(call_.semantics));
        if (events != nullptr && !call_.failed()) {
            events->begin(call_);
            for (const spool::Record& start : call_.started) {
                collectives_.start(start, call.enter);
            }
        }
        write_pauses_until(leave);
        kernel_.write_until(leave);
        if (events != nullptr && !call_.failed()) {
            events->end(call_, leave);
        }
        write_completions(leave);
        target_.unresolved = std::min(target_.unresolved, unresolved + 1);  // at its begin and its end alike
        write_counters(at_leave_, leave);
        files_.attach_volume();
        attach_gaps_of_polls();
        out_.leave_context(leave, context);
        counts_.foreign += is_foreign() ? 1 : 0;
        ++counts_.calls;
    }

    // Of those that complete later, the post; of matched receives, the probe. Of persistent requests, some are of kinds
    // that nobody knows, and have no communicator for that reason.
    [[nodiscard]] bool is_foreign() const
    {
        switch (call_.semantics) {
        case SemanticClass::Send:
        case SemanticClass::Recv:
        case SemanticClass::Sendrecv:
        case SemanticClass::Isend:
        case SemanticClass::Irecv:
        case SemanticClass::Isendrecv:
        case SemanticClass::Probe:
        case SemanticClass::Mprobe:
        case SemanticClass::Collective:
        case SemanticClass::Icollective:
            return call_.record.comm == -1 && !call_.failed();
        default:
            return false;
        }
    }

    // Also of calls that failed: some of the requests may have been completed.
    void write_completions(std::uint64_t time)
    {
        if (call_.posts() || call_.semantics == SemanticClass::Sendrecv) {
            return;  // not completions
        }
        for (const Completion& completion : call_.completions) {
            if ((completion.flags & spool::flag_failed) == 0) {
                events_of(completion.operation).complete(completion, time);
            } else if (completion.operation != spool::Operation::Message) {
                target_.posts.complete(completion.request);
            }
        }
    }

    CallEvents* events_of(functions::Group group)
    {
        switch (group) {
        case functions::Group::Always:
        case functions::Group::Collective:
            return &collectives_;
        case functions::Group::PointToPoint:
            return &messages_;
        case functions::Group::Rma:
            return &windows_;
        case functions::Group::Io:
            return &files_;
        case functions::Group::Local:
            break;
        }
        return nullptr;
    }

    CallEvents& events_of(spool::Operation operation)
    {
        switch (operation) {
        case spool::Operation::Collective:
        case spool::Operation::NewComm:
            return collectives_;
        case spool::Operation::Rma:
            return windows_;
        case spool::Operation::File:
            return files_;
        case spool::Operation::Message:
            break;
        }
        return messages_;
    }

    void write_counters(const std::optional<spool::CountersRecord>& counters, std::uint64_t time)
    {
        if (counters && metric_ != otf2::none) {
            out_.metric(time, metric_, {counters->value, data_.counters});
        }
    }

    // What began before `time` of the collector's own time, and of what the user did not want to have recorded, each
    // between the samples around it.
    void write_pauses_until(std::uint64_t time)
    {
        std::size_t written = 0;
        for (; written < tools_.size() && tools_[written].enter < time; ++written) {
            const spool::Record& tool = tools_[written];
            write_switches_until(tool.enter);
            if (is_off_) {
                continue;
            }
            kernel_.write_before(tool.enter);
            out_.measurement(tool.enter, false);
            is_off_ = true;
            write_switches_until(tool.leave);  // none begins or ends here, but another thread's may have
            is_off_ = false;
            kernel_.write_tool_before(tool.leave);
            out_.measurement(tool.leave, true);
        }
        tools_.erase(tools_.begin(), tools_.begin() + static_cast<std::ptrdiff_t>(written));
        write_switches_until(time);
    }

    // Some calls are recorded even while the recording is off, so that on and off are two events between the others.
    void write_switches_until(std::uint64_t time)
    {
        for (; next_skipped_ < data_.skipped.size() && data_.skipped[next_skipped_].since < time; ++next_skipped_) {
            const spool::SkippedRecord& skipped = data_.skipped[next_skipped_];
            write_until(skipped.since);
            write_skipped(skipped);
        }
        write_until(time);
    }

    // Off and on at the same time: nothing is unmeasured between them. What another thread has posted may belong into a
    // stretch that is off: there it is on and off, so that the stretch goes on.
    void write_skipped(const spool::SkippedRecord& skipped)
    {
        using What = spool::SkippedRecord::What;
        for (std::size_t i = 0; i < std::min<std::size_t>(skipped.slots, std::size(skipped.what)); ++i) {
            const auto comm = target_.comm(skipped.comm[i]);
            if (!comm || skipped.count[i] == 0) {
                continue;
            }
            if (is_off_) {
                kernel_.write_tool_before(skipped.since);
                out_.measurement(skipped.since, true);
            } else {
                kernel_.write_around(skipped.since);
            }
            out_.attach(otf2::Attribute::Skipped, skipped.count[i]);
            out_.attach(otf2::Attribute::Comm, *comm);
            if (skipped.what[i] != What::Collective) {
                const bool is_send = skipped.what[i] == What::Send;
                out_.attach(is_send ? otf2::Attribute::Dest : otf2::Attribute::Source, skipped.peer[i]);
                out_.attach(otf2::Attribute::Tag, skipped.tag[i]);
            }
            out_.measurement(skipped.since, false);
            if (!is_off_) {
                out_.measurement(skipped.since, true);
            }
        }
    }

    void write_until(std::uint64_t time)
    {
        for (; next_switch_ < 2 * data_.switched_off.size(); ++next_switch_) {
            const Stretch& off = data_.switched_off[next_switch_ / 2];
            const bool ends = next_switch_ % 2 == 1;
            const std::uint64_t at = std::min(ends ? off.end : off.begin, process_.end());
            if (ends ? at > time : at >= time) {
                break;
            }
            if (ends) {
                kernel_.write_tool_before(at);
            } else {
                kernel_.write_before(at);
                out_.attach(otf2::Attribute::Reason, ids_.user_reason);
            }
            out_.measurement(at, ends);
            is_off_ = !ends;
        }
    }

    const ProcessData& process_;
    const ThreadSpool& spool_;
    const ThreadData& data_;
    const EventIds& ids_;
    otf2::EventWriter& out_;
    OTF2_MetricRef metric_;
    EventTarget target_;
    KernelEvents kernel_;
    MessageEvents messages_{target_};
    CollectiveEvents collectives_{target_};
    WindowEvents windows_{target_};
    FileEvents files_{target_};

    RecordedCall call_;
    std::optional<spool::CountersRecord> at_enter_, at_leave_;  // of the call that comes next
    std::vector<spool::Record> tools_;
    std::size_t next_switch_ = 0;  // in pairs: off and on of each stretch
    std::size_t next_skipped_ = 0;
    bool is_off_ = false;
    bool finalized_ = false;
    EventCounts counts_;
};

}  // namespace

EventCounts write_events(const ProcessData& process, std::size_t position, const EventIds& ids,
                         otf2::EventWriter& writer)
{
    return Merge(process, position, ids, writer).run();
}

}  // namespace critpath::archive
