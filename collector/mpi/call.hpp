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
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"
#include "formats/functions/functions.hpp"
#include "formats/spool/record.hpp"

#include <cstdint>

namespace critpath::preload
{

using functions::FunctionId;

class Call
{
public:
    /// To be made in the wrapper itself, which is what `caller` is about. Inlined, so that all that depends on the
    /// function alone is known when it is compiled.
    __attribute__((always_inline)) explicit Call(FunctionId function, const Caller& caller = CRITPATH_CALLER)
        : caller_(caller)
    {
        if (local.depth++ == 0 && process.phase.load(std::memory_order_relaxed) == Phase::Recording) {
            thread_ = local.thread != nullptr ? local.thread : attach_thread();
        }
        if (thread_ != nullptr) {
            const std::uint32_t bit = group_bit(function);
            if (thread_->switches != control.switches() || bit == life_cycle_bit) [[unlikely]] {
                control.catch_up(*thread_, bit == life_cycle_bit);
            }
            dropped_ = !control.includes(bit);
        }
        record_.kind = spool::RecordKind::Call;
        record_.function = static_cast<std::uint16_t>(function);
        record_.comm = -1;
        record_.peer = -1;
        record_.tag = -1;
    }
    ~Call() { --local.depth; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// False inside another wrapper and when nothing is recorded: then only run() may be called.
    [[nodiscard]] bool recorded() const { return thread_ != nullptr; }

    /// The call is followed, but it will not be in the trace: a request that it makes must not be, either.
    [[nodiscard]] bool dropped() const { return dropped_; }

    /// Leaves the call out of the trace, where nothing in it was asked for.
    void drop() { dropped_ = true; }

    /// Calls the MPI library between two looks at the clock.
    template <class Function>
    int run(Function&& function)
    {
        if (!recorded()) {
            return function();
        }
        if (thread_->counters.are_on()) [[unlikely]] {
            read_counters();
        }
        thread_->spool.touch();
        record_.enter = now();
        thread_->spool.enter_call(record_.function, record_.enter);
        const int result = function();
        record_.leave = now();
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

    /// Where the spool had to move its window, or the stack was unwound: that was our time.
    void write_pause()
    {
        std::uint64_t begin;
        std::uint64_t end;
        while (thread_->spool.take_pause(begin, end)) {
            write_tool(begin, end);
        }
    }

    /// The time since the end of the call, if it was spent on more than a record.
    void write_own_time()
    {
        if (!dropped_) {
            write_tool(thread_->last_leave, now());
        }
    }

    /// An unsuccessful poll of `what` from the code at `site`. Directly behind an equal one it only makes that one
    /// longer (docs/ALGORITHM, "Polling"), unless the application has done something in between.
    void write_poll(std::uint64_t what, const void* site)
    {
        spool::Record* last = last_poll();
        if (last != nullptr && thread_->poll_what == what && thread_->poll_site == site &&
            last->function == record_.function && is_tight(*last)) {
            last->leave = record_.leave;
            thread_->last_leave = record_.leave;
            ++last->count;
            return;
        }
        record_.count = 1;
        if (!append_record(true)) {
            return;
        }
        thread_->poll_record = thread_->spool.records();
        thread_->poll_what = what;
        thread_->poll_site = site;
        write_pause();
    }

private:
    // False if it is dropped.
    bool append_record(bool is_poll = false)
    {
        if (dropped_) [[unlikely]] {
            forget();
            return false;
        }
        if (thread_->counters.are_on()) [[unlikely]] {
            write_counters(is_poll);
        }
        record_.callpath = thread_->paths.find(caller_, thread_->spool);
        thread_->spool.append(record_);
        thread_->last_leave = record_.leave;
        return true;
    }

    void forget()
    {
        std::uint64_t begin;
        std::uint64_t end;
        thread_->spool.take_pause(begin, end);
        thread_->dropped_leave = record_.leave;
        thread_->counters.drop();
    }

    // The last record of the thread, if it is a poll run.
    [[nodiscard]] spool::Record* last_poll() const
    {
        return thread_->spool.records() == thread_->poll_record ? thread_->spool.last() : nullptr;
    }

    // Polls less than 5 us, or twice the length of a poll, apart are one wait.
    static constexpr std::uint64_t tight = 5000;  // ns

    [[nodiscard]] bool is_tight(const spool::Record& last) const
    {
        const std::uint64_t gap = record_.enter - last.leave;
        return gap < tight || gap < 2 * (record_.leave - record_.enter);
    }

    // A poll that goes on with a run would be slower than the run.
    void read_counters()
    {
        const spool::Record* last = last_poll();
        const bool goes_on = last != nullptr && last->function == record_.function && now() - last->leave < tight;
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

    __attribute__((noinline)) void write_tool(std::uint64_t begin, std::uint64_t end)
    {
        spool::Record tool{};
        tool.kind = spool::RecordKind::Tool;
        tool.function = static_cast<std::uint16_t>(FunctionId::none);
        tool.comm = -1;
        tool.peer = -1;
        tool.tag = -1;
        tool.enter = begin;
        tool.leave = end;
        thread_->spool.append(tool);
        thread_->last_leave = end;
    }

    Caller caller_;
    Thread* thread_ = nullptr;
    bool dropped_ = false;
    spool::Record record_{};
};

}  // namespace critpath::preload
