// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the life of one wrapper call: guard, two clock reads, one record. A call that the user did not ask for
// (control.hpp) is recorded() like any other, so that the tables stay right, but its records are dropped. What every
// wrapper keeps to:
//   - the guard is entered first and left last, so that MPI calls of MPI, of callbacks and of ours are not recorded;
//   - inside, only PMPI is called; nothing is asked of MPI before the application's call has succeeded, because
//     wrong arguments must meet the application's own error handler first;
//   - no allocation, stdio, lock or symbol search on the way (tables lock only at MPI_THREAD_MULTIPLE);
//   - the return code, the statuses and errno are those of the MPI library.
#pragma once

#include "collector/mpi/callpath.hpp"
#include "collector/mpi/clock.hpp"
#include "collector/mpi/control.hpp"
#include "collector/mpi/jump.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/table_lock.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/sampling/sampling.hpp"
#include "formats/functions/functions.hpp"
#include "formats/spool/record.hpp"

#include <cstdint>

namespace critpath::preload
{

using functions::FunctionId;

/// Attributes are copied or deleted: callbacks of the application run.
constexpr bool runs_callbacks(functions::SemanticClass semantic_class)
{
    using enum functions::SemanticClass;
    return semantic_class == CommCreate || semantic_class == CommIdup || semantic_class == CommFree ||
           semantic_class == WinFree;
}

class Call
{
public:
    /// To be made in the wrapper itself, which is what `caller` is about. Inlined, so that all that depends on the
    /// function alone is known when it is compiled.
    __attribute__((always_inline)) explicit Call(FunctionId function, const Caller& caller = CRITPATH_CALLER)
        : caller_(caller), may_wait_(functions::may_wait(functions::info(function).semantic_class)),
          runs_callbacks_(runs_callbacks(functions::info(function).semantic_class))
    {
        if (local.depth != 0) [[unlikely]] {
            notice_jump(caller);
        }
        depth_ = local.depth++;
        if (depth_ == 0) {
            local.frame = reinterpret_cast<std::uintptr_t>(caller.stack);
            local.site = reinterpret_cast<std::uintptr_t>(caller.site);
            local.callbacks_since = 0;
            if (process.phase.load(std::memory_order_relaxed) == Phase::Recording) {
                thread_ = local.thread != nullptr ? local.thread : attach_thread();
            }
        }
        if (thread_ != nullptr) {
            const std::uint32_t bit = group_bit(function);
            if (thread_->switches != control.switches() || bit == life_cycle_bit) [[unlikely]] {
                control.catch_up(*thread_, bit == life_cycle_bit);
                write_pause();  // of before the call
            }
            dropped_ = !control.includes(bit);
            if (dropped_ && thread_->switches != control.switches()) [[unlikely]] {
                control.catch_up(*thread_, false);
            }
        }
        record_.kind = spool::RecordKind::Call;
        record_.function = static_cast<std::uint16_t>(function);
        record_.comm = -1;
        record_.peer = -1;
        record_.tag = -1;
    }
    ~Call() { local.depth = depth_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// False inside another wrapper and when nothing is recorded: then only run() may be called.
    [[nodiscard]] bool recorded() const { return thread_ != nullptr; }

    /// What the call makes or takes away is known from then on: as recorded(), and inside another wrapper.
    [[nodiscard]] bool follows() const
    {
        return recorded() ||
               (local.thread != nullptr && process.phase.load(std::memory_order_relaxed) == Phase::Recording);
    }

    /// After the call: if it follows(), all but run() may be called. Inside another wrapper, which is an attribute
    /// callback mostly, objects get their records, but the call gets none.
    bool follow()
    {
        if (!recorded() && follows()) [[unlikely]] {
            thread_ = local.thread;
            dropped_ = true;
            is_inside_ = true;
        }
        return recorded();
    }

    /// Made by a callback of the application. MPI libraries make no such calls themselves where callbacks run: they
    /// call their PMPI functions, or internal ones.
    [[nodiscard]] bool is_in_callback() const { return !recorded() && local.callbacks_since != 0 && follows(); }

    /// After the call: as recorded(), and as follow() in a callback, where it counts although it is not recorded.
    bool counts()
    {
        if (is_in_callback() && follow()) [[unlikely]] {
            record_.leave = now();
        }
        return recorded();
    }

    /// The call is followed, but it will not be in the trace: a request that it makes must not be, either.
    [[nodiscard]] bool dropped() const { return dropped_; }

    /// Leaves the call out of the trace, where nothing in it was asked for.
    void drop() { dropped_ = true; }

    /// Puts the call into the trace although recording is off: it ends what is in the trace already.
    void tell()
    {
        if (dropped_) [[unlikely]] {
            dropped_ = false;
            told_late_ = true;
            control.interrupt(*thread_, record_.enter);
        }
    }

    /// Of a dropped call: since when recording is off or, in a callback, the call lasts that runs it; 0 if it is
    /// dropped for another reason. Always the same.
    [[nodiscard]] std::uint64_t off_since()
    {
        if (!dropped_) {
            return 0;
        }
        const std::uint32_t bit = group_bit(static_cast<FunctionId>(record_.function));
        if (is_inside_ && (local.callbacks_since == 0 || control.includes(bit))) {
            return local.callbacks_since;
        }
        if (!knows_off_since_) {
            off_since_ = control.off_since(*thread_, bit);
            knows_off_since_ = true;
        }
        return off_since_;
    }

    /// Where what the call posts has its place, should it count without being recorded (spool::SkippedRecord): at the
    /// call; of a dropped one at off_since(), or nowhere (0) if that is 0.
    [[nodiscard]] std::uint64_t since() { return dropped_ ? off_since() : record_.enter; }

    /// Of a dropped call: the operation counts all the same (spool::SkippedRecord), if recording is only off or the
    /// call is one of a callback. The peer and the tag are those of the message.
    void skip(Skipped::What what, std::int32_t comm, std::int32_t peer = -1, std::int32_t tag = -1);

    /// Calls the MPI library between two looks at the clock. `hits`: where a poll says whether it found anything; the
    /// end of one in vain waits for nothing, since nothing has come.
    template <class Function>
    int run(Function&& function, const int* hits = nullptr)
    {
        if (!recorded()) {
            return function();
        }
        if (thread_->counters.are_on()) [[unlikely]] {
            read_counters();
        }
        thread_->spool.touch();
        record_.enter = now_before();
        if (runs_callbacks_) {
            local.callbacks_since = record_.enter;
        }
        if (thread_->switches != control.switches() && !dropped_) [[unlikely]] {
            control.recorded_late(record_.enter);
        }
        thread_->spool.enter_call(record_.function, record_.enter);
        if (may_wait_) {
            sampling::wait_begins();
        }
        const int result = function();
        record_.leave = hits != nullptr && result == MPI_SUCCESS && *hits == 0 ? now_before() : now();
        if (may_wait_) {
            end_wait();
        }
        if (result != MPI_SUCCESS) {
            record_.flags |= spool::flag_failed;
        }
        return result;
    }

    spool::Record& record() { return record_; }
    Thread& thread() { return *thread_; }
    void flag(std::uint8_t flags) { record_.flags |= flags; }

    /// Appends the record. `count`: slots in the Completions records that the caller appends next.
    void write(std::uint32_t count = 0)
    {
        record_.count = count;
        if (append_record() && count == 0) {
            write_pause();
        }
    }

    /// Appends a record that belongs to the one that was written. What defines something that later calls may refer
    /// to (Communicator, Object) goes to the thread's spool directly.
    template <class Record>
    void append(const Record& record)
    {
        if (!dropped_) {
            thread_->spool.append(record);
        }
    }

    /// Where the stage was drained, or the stack was unwound: that was our time.
    void write_pause()
    {
        std::uint64_t begin;
        std::uint64_t end;
        while (thread_->spool.take_pause(begin, end)) {
            append_span(*thread_, spool::RecordKind::Tool, begin, end);
        }
    }

    /// The time since the end of the call, if it was spent on more than a record.
    void write_own_time()
    {
        if (!dropped_) {
            append_span(*thread_, spool::RecordKind::Tool, thread_->last_leave, now());
        }
    }

    /// A poll in vain for `what` from the code at `site`. Where the same was asked before, and nothing but polls stand
    /// close behind that, it only makes the last record longer (docs/ALGORITHM, "Polling").
    void write_poll(std::uint64_t what, const void* site)
    {
        const PollQuestion question = {what, site, record_.function};
        spool::Record* last = last_poll();
        if (last != nullptr && !dropped_ && gap_behind(*last) < tight) {
            sampling::wait_goes_on();
        } else {
            end_wait();
        }
        if (last == nullptr || dropped_ || !is_tight(*last)) {
            thread_->polls.clear();
        } else if (spool::Record* same = thread_->spool.on_stage(thread_->polls.find(question));
                   same != nullptr && same->count != ~0U) {
            const std::uint64_t gap = gap_behind(*last);
            last->extra += gap > functions::least_gap_of_polls ? gap : 0;
            last->leave = record_.leave;
            thread_->last_leave = record_.leave;
            thread_->counters.drop();
            ++same->count;
            return;
        }
        record_.count = 1;
        if (!append_record(true)) {
            return;
        }
        thread_->polls.add(question, thread_->spool.records());
        write_pause();
    }

private:
    // That of the call, or of the polls before it.
    void end_wait()
    {
        if (sampling::wait_ends()) [[unlikely]] {
            thread_->spool.add_pause(record_.leave, now());
        }
    }

    // False if it is dropped.
    bool append_record(bool is_poll = false)
    {
        if (!is_poll && !may_wait_) {
            end_wait();  // of polls before it
        }
        if (dropped_) [[unlikely]] {
            forget();
            return false;
        }
        if (told_late_) [[unlikely]] {
            thread_->counters.drop();
        } else if (thread_->counters.are_on()) [[unlikely]] {
            write_counters(is_poll);
        }
        const std::uint64_t since = is_poll ? record_.leave : waiting_since();
        record_.callpath = thread_->paths.find(caller_, thread_->spool);
        thread_->spool.append(record_);
        thread_->last_leave = record_.leave;
        if (record_.leave - since > long_wait && sampling::work_begins()) [[unlikely]] {
            thread_->spool.add_pause(record_.leave, now());
        }
        return true;
    }

    // The enter of the call, or of the polls in vain before it.
    [[nodiscard]] std::uint64_t waiting_since() const
    {
        const spool::Record* poll = last_poll();
        return poll == nullptr ? record_.enter : poll->enter;
    }

    __attribute__((noinline)) void forget()
    {
        std::uint64_t begin;
        std::uint64_t end;
        thread_->spool.take_pause(begin, end);
        skip_call();
        if (is_inside_) {
            return;
        }
        thread_->dropped_leave = record_.leave;
        thread_->counters.drop();
    }

    // Counts what the record says was posted.
    void skip_call();

    // The last record of the thread, if it is a poll in vain that may be changed, and with it those before it.
    [[nodiscard]] spool::Record* last_poll() const
    {
        // What was lost may have been the last, or in between.
        const bool is_last = thread_->polls.last() != 0 && thread_->polls.last() == thread_->spool.records() &&
                             thread_->spool.lost() == 0;
        return is_last ? thread_->spool.on_stage(thread_->polls.last()) : nullptr;
    }

    static constexpr std::uint64_t long_wait = 100'000;  // ns

    // Polls less than 5 us, or twice the length of a poll, apart are one wait.
    static constexpr std::uint64_t tight = 5000;  // ns

    [[nodiscard]] bool is_tight(const spool::Record& last) const
    {
        const std::uint64_t gap = gap_behind(last);
        return gap < tight || gap < 2 * (record_.leave - record_.enter);
    }

    [[nodiscard]] std::uint64_t gap_behind(const spool::Record& last) const
    {
        return record_.enter > last.leave ? record_.enter - last.leave : 0;
    }

    // A poll that goes on with a run would be slower than the run.
    void read_counters()
    {
        const spool::Record* last = last_poll();
        const bool goes_on = last != nullptr && thread_->polls.ask_by(record_.function) && now() - last->leave < tight;
        if (!dropped_ && !goes_on) {
            thread_->counters.read_enter();
        }
    }

    void write_counters(bool is_poll)
    {
        if (!is_poll) {
            thread_->counters.read_leave();
        }
        thread_->counters.write(thread_->spool);
    }

    Caller caller_;
    bool may_wait_;
    bool runs_callbacks_;
    Thread* thread_ = nullptr;
    int depth_;  // before the call
    bool dropped_ = false;
    bool told_late_ = false;
    bool is_inside_ = false;  // another wrapper, and all the same followed
    bool knows_off_since_ = false;
    std::uint64_t off_since_ = 0;
    spool::Record record_{};
};

inline void Call::skip(Skipped::What what, std::int32_t comm, std::int32_t peer, std::int32_t tag)
{
    if (const std::uint64_t since = off_since(); since != 0 && comm >= 0) {
        const TableLock lock;
        process.skipped.add(what, comm, peer, tag, since, 1, thread_->spool);
        if (is_inside_ && control.switches() % 2 == 0) {
            process.skipped.write(thread_->spool);
        }
    }
}

inline void Call::skip_call()
{
    using enum functions::SemanticClass;
    if ((record_.flags & (spool::flag_failed | spool::flag_null_peer)) != 0) {
        return;
    }
    const functions::SemanticClass what = functions::info(static_cast<FunctionId>(record_.function)).semantic_class;
    switch (what) {
    case Send:
    case Sendrecv:
    case Isend:
        skip(Skipped::What::Send, record_.comm, record_.peer, record_.tag);
        break;
    case Start:
        if ((record_.flags & spool::flag_receive) == 0) {
            skip(Skipped::What::Send, record_.comm, record_.peer, record_.tag);
        }
        break;
    case Recv:
        skip(Skipped::What::Receive, record_.comm, record_.peer, record_.tag);
        break;
    case Mprobe:
    case Improbe:
        if (record_.request != 0) {  // the message is taken
            skip(Skipped::What::Receive, record_.comm, record_.peer, record_.tag);
        }
        break;
    default:
        // Where it is known what processes that meet make, the call is an operation of that.
        if (functions::is_on_communicator(what) && !(what == CommDynamic && record_.extra != 0)) {
            skip(Skipped::What::Collective, record_.comm);
        }
        break;
    }
}

}  // namespace critpath::preload
