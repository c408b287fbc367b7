// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the life of one wrapper call: guard, two clock reads, one record. What every wrapper keeps to:
//   - the guard is entered first and left last, so that MPI calls of MPI, of callbacks and of ours are not recorded;
//   - inside, only PMPI is called; nothing is asked of MPI before the application's call has succeeded, because
//     wrong arguments must meet the application's own error handler first;
//   - no allocation, stdio, lock or symbol search on the way (tables lock only at MPI_THREAD_MULTIPLE);
//   - the return code, the statuses and errno are those of the MPI library.
#pragma once

#include "collector/mpi/clock.hpp"
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
    explicit Call(FunctionId function)
    {
        if (local.depth++ == 0 && process.phase.load(std::memory_order_relaxed) == Phase::Recording) {
            thread_ = local.thread != nullptr ? local.thread : attach_thread();
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

    /// Calls the MPI library between two looks at the clock.
    template <class Function>
    int run(Function&& function)
    {
        if (!recorded()) {
            return function();
        }
        record_.enter = now();
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
        thread_->spool.append(record_);
        if (count == 0) {
            write_pause();
        }
    }

    /// Where the spool had to move its window: that was our time.
    void write_pause()
    {
        std::uint64_t begin;
        std::uint64_t end;
        if (thread_->spool.take_pause(begin, end)) {
            write_tool(begin, end);
        }
    }

    /// The time since the end of the call, if it was spent on more than a record.
    void write_own_time() { write_tool(record_.leave, now()); }

    /// An unsuccessful poll of `what` from the code at `site`. Directly behind an equal one it only makes that one
    /// longer (docs/ALGORITHM, "Polling"), unless the application has done something in between.
    void write_poll(std::uint64_t what, const void* site)
    {
        spool::Record* last = thread_->spool.last();
        if (last != nullptr && thread_->spool.records() == thread_->poll_record && thread_->poll_what == what &&
            thread_->poll_site == site && last->function == record_.function && is_tight(*last)) {
            last->leave = record_.leave;
            ++last->count;
            return;
        }
        record_.count = 1;
        thread_->spool.append(record_);
        thread_->poll_record = thread_->spool.records();
        thread_->poll_what = what;
        thread_->poll_site = site;
        write_pause();
    }

private:
    // Polls less than 5 us, or twice the length of a poll, apart are one wait.
    [[nodiscard]] bool is_tight(const spool::Record& last) const
    {
        const std::uint64_t gap = record_.enter - last.leave;
        return gap < 5000 || gap < 2 * (record_.leave - record_.enter);
    }

    void write_tool(std::uint64_t begin, std::uint64_t end)
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
    }

    Thread* thread_ = nullptr;
    spool::Record record_{};
};

}  // namespace critpath::preload
