// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/event_merge.hpp"

#include "formats/otf2/function_map.hpp"

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace critpath::archive
{

namespace
{

using functions::FunctionId;
using functions::SemanticClass;
using functions::SendMode;
using spool::CompletionsRecord;
using spool::RecordKind;

// One slot of a CompletionsRecord.
struct Completion {
    std::uint8_t flags;
    SendMode mode;
    std::uint64_t request;
    std::uint64_t bytes;
    std::int32_t peer, tag, comm;
};

class Merge
{
public:
    Merge(const ProcessData& process, std::size_t thread, const EventIds& ids, otf2::EventWriter& out)
        : process_(process), spool_(process.spool().threads[thread]), data_(process.threads()[thread]), ids_(ids),
          generator_(ids.generators[thread]), out_(out), sample_(data_.samples.begin())
    {
    }

    EventCounts run()
    {
        const spool::SpoolHeader& header = spool_.header();
        const bool is_first_thread = spool_.thread == 0;
        if (is_first_thread) {
            out_.program_begin(header.process_start, ids_.program, ids_.arguments);
        }
        if (spool_.calls) {
            merge_calls(RecordCursor(spool_.calls->body()));
        }
        if (!finalized_) {
            write_tools_until(no_limit);
            write_samples_until(no_limit);
        }
        if (is_first_thread) {
            const std::uint64_t end = finalized_ ? process_.end() : header.closed != 0 ? header.thread_end : 0;
            out_.program_end(std::max(end, out_.last_time()));
        }
        return counts_;
    }

private:
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    void merge_calls(RecordCursor cursor)
    {
        for (RecordKind kind = cursor.kind(); kind != RecordKind::Empty && !finalized_; kind = cursor.kind()) {
            if (kind == RecordKind::Call) {
                const auto& call = cursor.take<spool::Record>();
                take_completions(cursor);
                if (call.function < ids_.functions.size()) {
                    write_call(call);
                } else {
                    ++counts_.unresolved;
                }
            } else if (kind == RecordKind::Tool) {
                // May lie in the call whose record comes next: records are in the order of their ends.
                tools_.push_back(cursor.take<spool::Record>());
            } else {
                cursor.skip();
            }
        }
    }

    void take_completions(RecordCursor& cursor)
    {
        completions_.clear();
        while (cursor.kind() == RecordKind::Completions) {
            const auto& record = cursor.take<CompletionsRecord>();
            for (int i = 0; i < std::min<int>(record.slots, 2); ++i) {
                completions_.push_back({record.flags[i], SendMode{record.mode[i]}, record.request[i], record.bytes[i],
                                        record.peer[i], record.tag[i], record.comm[i]});
            }
        }
    }

    void write_call(const spool::Record& call)
    {
        const OTF2_RegionRef region = ids_.functions[call.function];
        const SemanticClass semantics = functions::info(FunctionId{call.function}).semantic_class;
        const bool is_finalize = semantics == SemanticClass::Finalize;
        const std::uint64_t leave = is_finalize ? call.enter : call.leave;
        write_tools_until(call.enter);
        write_samples_before(call.enter);
        out_.enter(call.enter, region);
        write_start(call, semantics);
        write_tools_until(leave);
        write_samples_until(leave);
        if (write_end(call, semantics, leave)) {
            out_.leave(leave, region);
        }
        ++counts_.calls;
        finalized_ = is_finalize;
    }

    // What belongs to the beginning of a call.
    void write_start(const spool::Record& call, SemanticClass semantics)
    {
        const std::uint64_t time = call.enter;
        if ((call.flags & spool::flag_failed) != 0) {
            return;
        }
        switch (semantics) {
        case SemanticClass::Send:
        case SemanticClass::Sendrecv:
            if (const auto message = envelope(call)) {
                out_.send(time, *message);
            }
            break;
        case SemanticClass::Isend:
            if (const auto message = envelope(call)) {
                out_.isend(time, *message, call.request);
            }
            break;
        case SemanticClass::Irecv:
            if (has_message(call.flags)) {
                out_.irecv_request(time, call.request);
            }
            break;
        case SemanticClass::Imrecv:
            if (has_message(call.flags)) {
                out_.irecv_request(time, call.request, call.extra);
            }
            break;
        case SemanticClass::Start:
            write_started(time, {call.flags, SendMode{static_cast<std::uint8_t>(call.extra)}, call.request, call.bytes,
                                 call.peer, call.tag, call.comm});
            break;
        case SemanticClass::Startall:
            for (const Completion& started : completions_) {
                write_started(time, started);
            }
            break;
        case SemanticClass::Init:
        case SemanticClass::Collective:
        case SemanticClass::CommCreate:
            if (collective_comm(call, semantics)) {
                out_.collective_begin(time);
            }
            break;
        default:
            break;
        }
    }

    void write_started(std::uint64_t time, const Completion& started)
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

    // What belongs to the end of a call. Returns false if it has written the LEAVE, too.
    bool write_end(const spool::Record& call, SemanticClass semantics, std::uint64_t time)
    {
        switch (semantics) {
        case SemanticClass::Recv:
        case SemanticClass::Mrecv:
            if ((call.flags & spool::flag_failed) == 0) {
                if (const auto message = envelope(call)) {
                    out_.recv(time, *message,
                              semantics == SemanticClass::Mrecv ? std::optional(call.request) : std::nullopt);
                }
            }
            break;
        case SemanticClass::Sendrecv:
            for (const Completion& received : completions_) {
                if (const auto message = envelope(received)) {
                    out_.recv(time, *message);
                }
            }
            break;
        case SemanticClass::Wait:
        case SemanticClass::Waitall:
        case SemanticClass::Waitany:
        case SemanticClass::Waitsome:
        case SemanticClass::Test:
        case SemanticClass::Testall:
        case SemanticClass::Testany:
        case SemanticClass::Testsome:
            for (const Completion& completion : completions_) {
                write_completion(time, completion);
            }
            break;
        case SemanticClass::Probe:
        case SemanticClass::Mprobe:
        case SemanticClass::Iprobe:
        case SemanticClass::Improbe:
            return !write_probe_leave(call, semantics, time);
        default:
            write_collective_end(call, semantics, time);
            break;
        }
        return true;
    }

    void write_completion(std::uint64_t time, const Completion& completion)
    {
        if (completion.request == 0 || !has_message(completion.flags) || (completion.flags & spool::flag_failed) != 0) {
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

    bool write_probe_leave(const spool::Record& call, SemanticClass semantics, std::uint64_t time)
    {
        const bool may_find_nothing = semantics == SemanticClass::Iprobe || semantics == SemanticClass::Improbe;
        const bool found =
            (!may_find_nothing || (call.flags & spool::flag_success) != 0) && (call.flags & spool::flag_failed) == 0;
        const auto message = found ? envelope(call) : std::nullopt;
        if (!message) {
            return false;
        }
        const bool is_matched = semantics == SemanticClass::Mprobe || semantics == SemanticClass::Improbe;
        out_.leave_probe(time, ids_.functions[call.function], *message,
                         is_matched ? std::optional(call.request) : std::nullopt);
        return true;
    }

    void write_collective_end(const spool::Record& call, SemanticClass semantics, std::uint64_t time)
    {
        if ((call.flags & spool::flag_failed) != 0) {
            return;
        }
        if (const auto comm = collective_comm(call, semantics)) {
            const bool is_data = semantics == SemanticClass::Collective;
            out_.collective_end(time, {*otf2::collective_operation(FunctionId{call.function}), *comm,
                                       is_data ? root(call, *comm) : OTF2_COLLECTIVE_ROOT_NONE,
                                       is_data ? call.bytes : 0, is_data ? call.extra : 0});
        }
        const bool creates = semantics == SemanticClass::CommCreate || semantics == SemanticClass::CommCreateGroup ||
                             semantics == SemanticClass::CommIdup;
        if (creates && call.extra != 0) {
            if (const auto comm = find_comm(static_cast<std::int32_t>(call.extra - 1))) {
                out_.comm_create(time, *comm);
            }
        } else if (semantics == SemanticClass::CommFree) {
            if (const auto comm = find_comm(call.comm)) {
                out_.comm_destroy(time, *comm);
            }
        }
    }

    // The communicator of the call's MPI_COLLECTIVE records; nothing if it gets none.
    std::optional<OTF2_CommRef> collective_comm(const spool::Record& call, SemanticClass semantics)
    {
        if (!otf2::collective_operation(FunctionId{call.function})) {
            return std::nullopt;
        }
        return find_comm(semantics == SemanticClass::Init ? 0 : call.comm);
    }

    [[nodiscard]] std::uint32_t root(const spool::Record& call, OTF2_CommRef comm) const
    {
        if (call.peer >= 0) {
            return static_cast<std::uint32_t>(call.peer);
        }
        if (ids_.is_inter[comm]) {
            if (call.peer == MPI_ROOT) {
                return OTF2_COLLECTIVE_ROOT_SELF;
            }
            if (call.peer == MPI_PROC_NULL || (call.flags & spool::flag_null_peer) != 0) {
                return OTF2_COLLECTIVE_ROOT_THIS_GROUP;
            }
        }
        return OTF2_COLLECTIVE_ROOT_NONE;
    }

    static bool has_message(std::uint8_t flags) { return (flags & spool::flag_null_peer) == 0; }

    // Of a Record or a Completion; nothing if there is no message.
    template <class Source>
    std::optional<otf2::Envelope> envelope(const Source& source)
    {
        if (!has_message(source.flags)) {
            return std::nullopt;
        }
        const auto comm = find_comm(source.comm);
        return comm ? std::optional(otf2::Envelope{source.peer, *comm, source.tag, source.bytes}) : std::nullopt;
    }

    std::optional<OTF2_CommRef> find_comm(std::int32_t id)
    {
        const auto index = static_cast<std::size_t>(id);  // -1, no communicator, is beyond the end
        if (index >= ids_.comms.size() || ids_.comms[index] == otf2::none) {
            ++counts_.unresolved;
            return std::nullopt;
        }
        return ids_.comms[index];
    }

    // Tool intervals that began before `time`, each between the samples around it.
    void write_tools_until(std::uint64_t time)
    {
        std::size_t written = 0;
        for (; written < tools_.size() && tools_[written].enter < time; ++written) {
            const spool::Record& tool = tools_[written];
            write_samples_before(tool.enter);
            out_.measurement(tool.enter, false);
            write_samples_before(tool.leave);
            out_.measurement(tool.leave, true);
        }
        tools_.erase(tools_.begin(), tools_.begin() + static_cast<std::ptrdiff_t>(written));
    }

    void write_samples_before(std::uint64_t time)
    {
        while (sample_ != data_.samples.end() && sample_->time < time) {
            write_sample();
        }
    }

    // Including `time`: a sample at the leave of a call still belongs to it.
    void write_samples_until(std::uint64_t time)
    {
        while (sample_ != data_.samples.end() && sample_->time <= time) {
            write_sample();
        }
    }

    void write_sample()
    {
        const SamplePoint& s = *sample_++;
        out_.sample(s.time, ids_.contexts[s.context], generator_, s.offset,
                    s.period == data_.period ? std::nullopt : std::optional(s.period));
        ++counts_.samples;
    }

    const ProcessData& process_;
    const ThreadSpool& spool_;
    const ThreadData& data_;
    const EventIds& ids_;
    OTF2_InterruptGeneratorRef generator_;
    otf2::EventWriter& out_;
    std::vector<SamplePoint>::const_iterator sample_;
    std::vector<Completion> completions_;
    std::vector<spool::Record> tools_;
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
