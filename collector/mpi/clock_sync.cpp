// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/clock_sync.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/clock_domain.hpp"
#include "collector/mpi/clock_interval.hpp"
#include "collector/mpi/clock_schedule.hpp"
#include "collector/mpi/lifecycle.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"

namespace critpath::preload
{

bool watching_clocks = false;

namespace
{

constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::uint64_t partner_patience = 10'000'000;  // ns for one partner, once it has answered
constexpr int least_rounds = 8;
constexpr int ping_tag = 1;
constexpr int stamp_tag = 2;

/// The reference clock minus ours, at `time` on ours.
struct Offset {
    OffsetInterval interval;
    std::uint64_t time = 0;
};

struct Ping {
    std::int32_t more = 0;  // 1: answer with a stamp; 0: `offset` is the outcome
    std::int32_t padding = 0;
    Offset offset;
};

struct Clocks {
    bool several = false;
    MPI_Comm domain{};           // of the processes that share our clock
    MPI_Comm representatives{};  // the first one of each domain; null on the others
    bool represents = false;
    int domain_rank = 0;  // smallest world rank of the domain
    std::uint64_t start = 0;
    ClockSchedule schedule;
};
constinit Clocks clocks;

template <class Item>
bool share(Item& item, MPI_Comm comm)
{
    return pmpi.Bcast(&item, sizeof item, handles.type_byte, 0, comm) == MPI_SUCCESS;
}

bool all_equal(std::uint64_t mine, MPI_Comm comm, bool& equal)
{
    const std::uint64_t bounds[2] = {mine, ~mine};
    std::uint64_t least[2] = {};
    const bool done = pmpi.Allreduce(bounds, least, 2, handles.type_uint64, handles.op_min, comm) == MPI_SUCCESS;
    equal = least[0] == ~least[1];
    return done;
}

bool split(MPI_Comm from, int color, MPI_Comm& to)
{
    if (pmpi.Comm_split(from, color, process.rank, &to) != MPI_SUCCESS) {
        return false;
    }
    return to == handles.comm_null || pmpi.Comm_set_errhandler(to, handles.errors_return) == MPI_SUCCESS;
}

// The processes with our hash. A colour has 31 bits, so different clocks may meet in one and are told apart again.
bool split_by_clock(std::uint64_t hash)
{
    constexpr unsigned color_bits = 31;
    MPI_Comm from = process.comm;
    bool equal = false;
    for (unsigned shift = 0; shift < 64 && !equal; shift += color_bits) {
        const bool done = split(from, static_cast<int>(hash >> shift & 0x7fffffffU), clocks.domain);
        if (from != process.comm) {
            pmpi.Comm_free(&from);
        }
        if (!done || !all_equal(hash, clocks.domain, equal)) {
            return false;
        }
        from = clocks.domain;
    }
    return true;
}

bool choose_representatives()
{
    int rank = 0;
    clocks.domain_rank = process.rank;
    if (pmpi.Comm_rank(clocks.domain, &rank) != MPI_SUCCESS || !share(clocks.domain_rank, clocks.domain)) {
        return false;
    }
    clocks.represents = rank == 0;
    return split(process.comm, clocks.represents ? 0 : MPI_UNDEFINED, clocks.representatives);
}

// Of a partner's clock, as the one that asks. `mine`: of our own clock.
bool ask(int partner, const Offset& mine)
{
    OffsetEstimate estimate;
    Ping ping;
    std::uint64_t begin = 0;
    std::uint64_t received = 0;
    do {
        ping.more = 1;
        std::uint64_t stamp = 0;
        const std::uint64_t sent = now();
        if (pmpi.Send(&ping, sizeof ping, handles.type_byte, partner, ping_tag, clocks.representatives) !=
                MPI_SUCCESS ||
            pmpi.Recv(&stamp, sizeof stamp, handles.type_byte, partner, stamp_tag, clocks.representatives,
                      MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return false;
        }
        received = now();
        estimate.add(sent, stamp, received);
        begin = begin == 0 ? received : begin;
    } while (!estimate.is_settled() && (estimate.rounds() < least_rounds || received - begin < partner_patience));
    // The reference is exactly itself, however long ago that was found out.
    const bool is_reference = clocks.domain_rank == 0;
    const OffsetInterval ours = is_reference ? mine.interval : mine.interval.after(received - mine.time);
    ping = {0, 0, {chain(ours, estimate.interval()), estimate.stamp()}};
    return pmpi.Send(&ping, sizeof ping, handles.type_byte, partner, ping_tag, clocks.representatives) == MPI_SUCCESS;
}

// As the one that is asked.
bool be_asked(int partner, Offset& mine)
{
    while (true) {
        Ping ping;
        if (pmpi.Recv(&ping, sizeof ping, handles.type_byte, partner, ping_tag, clocks.representatives,
                      MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return false;
        }
        if (ping.more == 0) {
            mine = ping.offset;
            return true;
        }
        const std::uint64_t stamp = now();
        if (pmpi.Send(&stamp, sizeof stamp, handles.type_byte, partner, stamp_tag, clocks.representatives) !=
            MPI_SUCCESS) {
            return false;
        }
    }
}

bool compare_representatives(Offset& mine)
{
    int rank = 0;
    int size = 0;
    if (pmpi.Comm_rank(clocks.representatives, &rank) != MPI_SUCCESS ||
        pmpi.Comm_size(clocks.representatives, &size) != MPI_SUCCESS) {
        return false;
    }
    const auto clock = static_cast<unsigned>(rank);
    if (clock > 0 && !be_asked(static_cast<int>(ClockTree::parent(clock)), mine)) {
        return false;
    }
    for (unsigned step = ClockTree::first_step(clock); clock + step < static_cast<unsigned>(size); step *= 2) {
        if (!ask(static_cast<int>(clock + step), mine)) {
            return false;
        }
    }
    return true;
}

void record(const Offset& offset)
{
    Thread* thread = local.thread != nullptr ? local.thread : attach_thread();
    if (thread == nullptr) {
        return;
    }
    spool::ClockRecord record{};
    record.kind = spool::RecordKind::Clock;
    record.reference = 0;
    record.time = offset.time;
    record.low = offset.interval.low;
    record.high = offset.interval.high;
    record.domain = clocks.domain_rank;
    thread->spool.append(record);
}

// Collective over all ranks, which come at about the same time.
void compare()
{
    Offset offset;
    offset.time = now();
    struct {
        std::int32_t known = 1;
        std::int32_t padding = 0;
        Offset offset;
    } outcome;
    if (clocks.represents) {
        outcome.known = compare_representatives(offset) ? 1 : 0;
        outcome.offset = offset;
    }
    if (share(outcome, clocks.domain) && outcome.known != 0) {
        record(outcome.offset);
    }
}

bool find_domains()
{
    const std::uint64_t hash = clock_hash(process.header);
    bool equal = true;
    if (!all_equal(hash, process.comm, equal) || equal) {
        return false;
    }
    return agree(split_by_clock(hash) && choose_representatives());
}

}  // namespace

void start_clocks()
{
    clocks.several = find_domains();
    if (!clocks.several) {
        record({{}, now()});
        return;
    }
    const std::uint64_t period = process.settings.clock_period_s;
    clocks.schedule = ClockSchedule(5 * period * ns_per_second, period * ns_per_second);
    // A rank with several threads in MPI may have its collectives in another order, and ranks need not have asked for
    // the same level of threads.
    watching_clocks = agree(period > 0 && !process.threads_in_mpi);
    clocks.start = now();
    compare();
}

void finish_clocks()
{
    watching_clocks = false;
    if (!clocks.several) {
        return;
    }
    pmpi.Barrier(process.comm);
    compare();
    pmpi.Comm_free(&clocks.domain);
    if (clocks.represents) {
        pmpi.Comm_free(&clocks.representatives);
    }
    clocks.several = false;
}

bool count_for_clocks()
{
    if (process.phase != Phase::Recording || !clocks.schedule.count()) {
        return false;
    }
    const std::uint64_t mine = now() - clocks.start;
    std::uint64_t elapsed = 0;
    if (pmpi.Allreduce(&mine, &elapsed, 1, handles.type_uint64, handles.op_max, process.comm) != MPI_SUCCESS) {
        watching_clocks = false;
    } else if (clocks.schedule.agree(elapsed)) {
        compare();
    }
    return true;
}

}  // namespace critpath::preload
