// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/control.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/table_lock.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/sampling/sampling.hpp"

#include <algorithm>

namespace critpath::preload
{

constinit Control control;

namespace
{

constexpr std::uint32_t bit(functions::Group group)
{
    return 1U << static_cast<unsigned>(group);
}

// Requests come from all of these; also from MPI_Comm_idup, which is always recorded: see Completions::write.
constexpr std::uint32_t with_requests = bit(functions::Group::PointToPoint) | bit(functions::Group::Collective) |
                                        bit(functions::Group::Rma) | bit(functions::Group::Io);

void write_off(Thread& thread, std::uint64_t begin, std::uint64_t end)
{
    // What was entered before the stretch is recorded, and what was entered in it is not, to their leaves.
    begin = std::max(begin, thread.last_leave);
    end = std::max(end, thread.dropped_leave);
    if (begin >= end) {
        return;
    }
    append_span(thread, spool::RecordKind::Off, begin, end);
}

}  // namespace

void Control::start(const Settings& settings)
{
    included_ = (settings.groups & ~completion_bit) | life_cycle_bit;
    if ((included_ & with_requests) != 0) {
        included_ |= completion_bit;
    }
    range_begin_ = settings.range_begin;
    range_end_ = settings.range_end;
    counts_collectives_ = range_begin_ != 0 || range_end_ != ~0ULL;
    wanted_by_range_ = range_begin_ == 0;
    wanted_by_level_ = !settings.starts_off;
    groups_.store(included_, std::memory_order_relaxed);
    if (update(now())) {
        switch_sampling();
    }
}

bool Control::update(std::uint64_t time)
{
    const std::uint32_t switches = switches_.load(std::memory_order_relaxed);
    const bool was_on = switches % 2 == 0;
    if (is_on() == was_on) {
        return false;
    }
    Stretch& stretch = stretches_[switches / 2 % remembered];
    (was_on ? stretch.begin : stretch.end) = time;
    // In this order: who finds the groups off finds the switch, too.
    if (was_on) {
        switches_.store(switches + 1, std::memory_order_release);
        groups_.store(life_cycle_bit, std::memory_order_release);
        stretch.off_for_all = now();
    } else {
        groups_.store(included_, std::memory_order_release);
        switches_.store(switches + 1, std::memory_order_release);
    }
    return true;
}

// Without the lock of the tables, since it takes microseconds a thread, and may wait for a write. So another thread may
// switch meanwhile: whoever is the last to look finds the samples as recording is.
void Control::switch_sampling() const
{
    if (!process.sampling) {
        return;
    }
    std::uint32_t seen;
    do {
        seen = switches();
        seen % 2 != 0 ? sampling::pause() : sampling::resume();
    } while (seen != switches());
}

void Control::apply_level(int level)
{
    if (level != 0 && level != 1) {
        return;
    }
    bool switched;
    {
        const TableLock lock;
        wanted_by_level_ = level == 1;
        switched = update(now());
    }
    if (switched) {
        switch_sampling();
    }
}

void Control::count(functions::FunctionId function, MPI_Comm comm, std::uint64_t leave)
{
    const functions::FunctionInfo& what = functions::info(function);
    if (comm != handles.comm_world || what.shape != functions::CollectiveShape::AllToAll ||
        what.semantic_class != functions::SemanticClass::Collective) {
        return;
    }
    bool switched;
    {
        const TableLock lock;
        ++collectives_;
        wanted_by_range_ = collectives_ >= range_begin_ && collectives_ < range_end_;
        switched = update(leave);
    }
    if (switched) {
        switch_sampling();
    }
}

void Control::catch_up(Thread& thread, bool close)
{
    const TableLock lock;
    const std::uint32_t current = switches();
    const std::uint32_t over = current / 2;
    const std::uint64_t last_leave = thread.last_leave;
    for (std::uint32_t i = first_unwritten(thread, over); i < over; ++i) {
        write_off(thread, stretches_[i % remembered].begin, stretches_[i % remembered].end);
    }
    thread.stretches = std::max(thread.stretches, over);
    if (close && current % 2 != 0 && thread.stretches == over) {
        write_off(thread, stretches_[over % remembered].begin, now());
        ++thread.stretches;
    }
    if (current % 2 == 0 || close) {
        process.skipped.write(thread.spool);
    }
    if (thread.switches != current) {
        // The stretch that lasts, or has just ended: a call may have seen it, and be called late.
        thread.off_since = std::max(stretches_[(current - 1) / 2 % remembered].off_for_all, last_leave);
        thread.switches = current;
    }
}

void Control::interrupt(Thread& thread, std::uint64_t enter)
{
    const TableLock lock;
    const std::uint32_t current = switches();
    const std::uint32_t over = current / 2;
    for (std::uint32_t i = first_unwritten(thread, over); i < over; ++i) {
        write_off(thread, stretches_[i % remembered].begin, std::min(enter, stretches_[i % remembered].end));
    }
    if (current % 2 != 0 && thread.stretches <= over) {
        write_off(thread, stretches_[over % remembered].begin, enter);
    }
}

void Control::recorded_late(std::uint64_t enter)
{
    std::uint64_t known = late_enter_.load(std::memory_order_relaxed);
    while (known < enter && !late_enter_.compare_exchange_weak(known, enter, std::memory_order_acq_rel)) {
    }
}

std::uint64_t Control::off_since(const Thread& thread, std::uint32_t bit) const
{
    return (included_ & bit) == 0 ? 0 : std::max(thread.off_since, late_enter_.load(std::memory_order_acquire));
}

// The slot of the oldest may be that of a stretch that lasts.
std::uint32_t Control::first_unwritten(const Thread& thread, std::uint32_t over)
{
    const std::uint32_t kept = remembered - 1;
    return std::max(thread.stretches, over > kept ? over - kept : 0);
}

}  // namespace critpath::preload
