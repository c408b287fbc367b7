// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Leaves behind the spool of a run that never was, with every kind of record, and has the archive library make a
// trace of it. The run is the one that read_synthetic.py expects.
//
//   synthetic LIBRARY TRACE [fault|calls=<n>]    faults: no-spool, file-limit, exists, other-gid; each hits one rank
//   only
#include "collector/archive/archive.h"
#include "tests/archive/spool_builder.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <sys/resource.h>

// Functions whose addresses the samples name; never called. The sizes differ, so that they are not folded.
extern "C" {
__attribute__((noinline, used)) int synthetic_hot(int x)
{
    return x * 3 + 1;
}
__attribute__((noinline, used)) int synthetic_caller(int x)
{
    return (x ^ 5) * 7 + synthetic_hot(x);
}
__attribute__((noinline, used)) int synthetic_only_rank_3(int x)
{
    return (x | 9) * 11 - synthetic_caller(x + 2);
}
}

namespace
{

using namespace critpath;
using namespace critpath::test;
using functions::SendMode;
using Slot = CallsBuilder::Slot;

constexpr int ranks = 4;

template <class F>
std::uint64_t address(F* function)
{
    return reinterpret_cast<std::uint64_t>(function);
}

struct Point {
    std::int32_t comm, peer, tag;
    std::uint64_t bytes;
    std::uint64_t request = 0;
    std::uint8_t flags = 0;
    std::uint64_t extra = 0;
};

void point(CallsBuilder& out, FunctionId function, std::uint64_t enter, std::uint64_t leave, const Point& p,
           std::uint32_t path = 0)
{
    spool::Record& call = out.call(function, enter, leave);
    call.callpath = path;
    call.comm = p.comm;
    call.peer = p.peer;
    call.tag = p.tag;
    call.bytes = p.bytes;
    call.request = p.request;
    call.flags = p.flags;
    call.extra = p.extra;
}

void point_to_point(CallsBuilder& out, int rank)
{
    const int next = (rank + 1) % ranks;
    const int before = (rank + ranks - 1) % ranks;
    if (rank == 0) {
        point(out, FunctionId::MPI_Send, 1200, 1210, {0, 1, 7, 64});
        point(out, FunctionId::MPI_Send, 1220, 1225, {0, -2, 7, 64, 0, spool::flag_null_peer});
    }
    if (rank == 1) {
        point(out, FunctionId::MPI_Recv, 1200, 1250, {0, 0, 7, 64, 0, spool::flag_any_source | spool::flag_any_tag});
    }
    point(out, FunctionId::MPI_Sendrecv, 1300, 1320, {0, next, 8, 10U + rank, 0, spool::flag_has_completion});
    out.completions({{spool::flag_receive, 0, before, 8, 0, 10U + before}});
    point(out, FunctionId::MPI_Isend, 1400, 1405, {0, next, 1, 100, 1});
    point(out, FunctionId::MPI_Irecv, 1406, 1408, {0, -1, -1, 200, 2, spool::flag_any_source | spool::flag_any_tag});
    out.call(FunctionId::MPI_Waitall, 1410, 1450).count = 3;
    out.completions({{spool::flag_receive, 2, before, 1, 0, 100}, {0, 0}, {0, 1}});
}

Slot operation(spool::Operation what, std::uint64_t request, std::uint64_t bytes = 0)
{
    return {0, request, -1, -1, -1, bytes, 0, what};
}

void persistent(CallsBuilder& out, int rank)
{
    const int next = (rank + 1) % ranks;
    const int before = (rank + ranks - 1) % ranks;
    point(out, FunctionId::MPI_Start, 1460, 1462,
          {0, next, 3, 30, 3, 0, static_cast<std::uint64_t>(SendMode::Synchronous)});
    out.call(FunctionId::MPI_Startall, 1464, 1466).count = 2;
    out.completions({{0, 4, next, 3, 0, 40, static_cast<std::uint8_t>(SendMode::Standard)},
                     {spool::flag_receive, 5, before, 3, 0, 50}});
    spool::Record& polls = out.call(FunctionId::MPI_Test, 1468, 1469);  // a run of them: nothing follows
    polls.count = 3;
    polls.extra = 1;
    out.call(FunctionId::MPI_Waitall, 1470, 1480).count = 3;
    out.completions({{0, 3}, {0, 4}, {spool::flag_receive, 5, before, 3, 0, 30}});
    point(out, FunctionId::MPI_Irecv, 1481, 1482, {0, -1, 4, 8, 6, spool::flag_any_source});
    point(out, FunctionId::MPI_Cancel, 1483, 1484, {-1, 0, 0, 0, 6});
    out.call(FunctionId::MPI_Wait, 1485, 1486).count = 1;
    out.completions({{spool::flag_receive | spool::flag_cancelled, 6}});
    out.call(FunctionId::MPI_Startall, 1487, 1488).count = 3;
    out.completions({{0, 8, next, 3, 0, 40, static_cast<std::uint8_t>(SendMode::Standard)}});
    out.started(FunctionId::MPI_Igather, 0, 2, 10, 20, 9);
    out.started(FunctionId::MPI_Ineighbor_alltoallw, 0, -1, 6, 7, 10);
    spool::Record& both = out.call(FunctionId::MPI_Isendrecv, 1489, 1490);
    both.comm = 0;
    both.count = 2;
    out.completions({{0, 11, next, 3, 0, 40, static_cast<std::uint8_t>(SendMode::Standard)},
                     {spool::flag_receive, 12, before, 3, 0, 50}});
    out.call(FunctionId::MPI_Pready_range, 1490, 1491).count = 1;  // the last partitions
    out.completions({{0, 13, next, -5, 0, 40, static_cast<std::uint8_t>(SendMode::Synchronous)}});
    out.call(FunctionId::MPI_Waitall, 1491, 1492).count = 6;
    out.completions({{0, 8},
                     operation(spool::Operation::Collective, 9),
                     operation(spool::Operation::Collective, 10),
                     {0, 11},
                     {spool::flag_receive, 12, before, 3, 0, 30},
                     {0, 13}});
}

void probes(CallsBuilder& out)
{
    point(out, FunctionId::MPI_Mprobe, 1500, 1510, {0, 3, 5, 16, 1});
    point(out, FunctionId::MPI_Mrecv, 1511, 1515, {0, 3, 5, 16, 1});
    point(out, FunctionId::MPI_Improbe, 1516, 1517, {0, 0, 0, 0});
    point(out, FunctionId::MPI_Improbe, 1518, 1519, {0, 3, 6, 24, 2, spool::flag_success});
    point(out, FunctionId::MPI_Imrecv, 1520, 1521, {0, 3, 6, 32, 7, 0, 2});
    out.call(FunctionId::MPI_Wait, 1522, 1523).count = 1;
    out.completions({{spool::flag_receive, 7, 3, 6, 0, 24}});
    point(out, FunctionId::MPI_Probe, 1524, 1525, {0, 3, 9, 8, 0, spool::flag_any_tag});
}

// Rank 0 knows from where it calls, rank 1 what it counted.
void collectives(CallsBuilder& out, int rank)
{
    const std::uint32_t path = rank == 0 ? 1 : 0;
    if (rank == 0) {
        std::vector<std::uint64_t> addresses = {address(synthetic_hot) + 3};
        addresses.insert(addresses.end(), 7, address(synthetic_caller) + 4);  // more than one record holds
        out.call_path(path, addresses);
    }
    point(out, FunctionId::MPI_Bcast, 1600, 1620, {0, 2, 0, rank == 2 ? 80U : 0U, 0, 0, rank == 2 ? 0U : 80U}, path);
    point(out, FunctionId::MPI_Neighbor_alltoallv, 1630, 1640, {0, -1, 0, 8, 0, 0, 8});
    if (rank == 1) {
        out.counters(false, {10, -20});
        out.counters(true, {11, 1'000'000'000'000});
    }
    point(out, FunctionId::MPI_Barrier, 1650, 1660, {0, -1, 0, 0}, path);
}

void non_blocking(CallsBuilder& out, int rank)
{
    point(out, FunctionId::MPI_Ibcast, 1800, 1801, {0, 1, 0, rank == 1 ? 40U : 0U, 20, 0, rank == 1 ? 0U : 40U});
    point(out, FunctionId::MPI_Ibarrier, 1802, 1803, {0, -1, 0, 0, 21});
    out.comm_range({4, 111, 1, ranks, rank}, 0, 1);
    if (rank == 0) {
        out.graph(4, {});
    } else {
        out.graph(4, {3, 0, 3});
        out.graph(4, {1});
    }
    point(out, FunctionId::MPI_Comm_idup, 1804, 1805, {0, -1, 0, 0, 22, 0, 5});
    out.call(FunctionId::MPI_Waitall, 1806, 1808).count = 3;
    out.completions({operation(spool::Operation::Collective, 21), operation(spool::Operation::NewComm, 22),
                     operation(spool::Operation::Collective, 20)});
    if (rank != 3) {  // there another thread has posted it
        point(out, FunctionId::MPI_Ireduce, 1809, 1810, {0, 0, 0, 8, 23});
    }
    out.call(FunctionId::MPI_Wait, 1811, 1812).count = 1;
    out.completions({operation(spool::Operation::Collective, 23)});
}

void fences(CallsBuilder& out, int next, int before)
{
    out.object(spool::ObjectRecord::Window, 0, 0, FunctionId::MPI_Win_allocate, 500);
    point(out, FunctionId::MPI_Win_allocate, 1815, 1816, {0, 0, 0, 4096});
    point(out, FunctionId::MPI_Win_fence, 1817, 1818, {0, 0, 0, 0, 0, 0, MPI_MODE_NOPRECEDE | MPI_MODE_NOPUT});
    point(out, FunctionId::MPI_Put, 1819, 1820, {0, next, 0, 80});
    point(out, FunctionId::MPI_Put, 1820, 1820, {0, -1, 0, 80, 0, spool::flag_null_peer});
    point(out, FunctionId::MPI_Rget, 1821, 1822, {0, next, 0, 0, 24, 0, 16});
    out.call(FunctionId::MPI_Wait, 1823, 1824).count = 1;
    out.completions({operation(spool::Operation::Rma, 24)});
    point(out, FunctionId::MPI_Win_flush_local, 1825, 1826, {0, next, 0, 0});
    point(out, FunctionId::MPI_Accumulate, 1827, 1828, {0, before, 0, 8});
    point(out, FunctionId::MPI_Win_flush_local, 1828, 1828, {0, next, 0, 0});
    point(out, FunctionId::MPI_Win_flush_local_all, 1828, 1829, {0, -1, 0, 0});
    point(out, FunctionId::MPI_Win_fence, 1829, 1830, {0, 0, 0, 0});
}

void epochs(CallsBuilder& out, int next, int before)
{
    point(out, FunctionId::MPI_Win_post, 1831, 1832, {0, 0, 0, 0, 0, 0, MPI_MODE_NOCHECK});
    out.members({before});
    point(out, FunctionId::MPI_Win_start, 1833, 1834, {0, 0, 0, 0});
    out.members({next});
    point(out, FunctionId::MPI_Compare_and_swap, 1835, 1836, {0, next, 0, 8, 0, 0, 8});
    point(out, FunctionId::MPI_Fetch_and_op, 1836, 1836, {0, next, 0, 8, 0, spool::flag_replaces, 8});
    point(out, FunctionId::MPI_Win_complete, 1837, 1838, {0, 0, 0, 0});
    out.call(FunctionId::MPI_Win_test, 1839, 1840).count = 7;  // a run of polls
    point(out, FunctionId::MPI_Win_test, 1841, 1842, {0, 0, 0, 0, 0, spool::flag_success});
    point(out, FunctionId::MPI_Win_lock, 1843, 1844, {0, next, 0, 0, 0, 0, 1});
    point(out, FunctionId::MPI_Get, 1845, 1846, {0, next, 0, 0, 0, 0, 24});
    point(out, FunctionId::MPI_Win_flush, 1847, 1848, {0, next, 0, 0});
    point(out, FunctionId::MPI_Win_unlock, 1849, 1850, {0, next, 0, 0});
    point(out, FunctionId::MPI_Win_lock_all, 1851, 1852, {0, -1, 0, 0, 0, 0, 2});
    point(out, FunctionId::MPI_Win_sync, 1853, 1854, {0, 0, 0, 0});
    point(out, FunctionId::MPI_Win_unlock_all, 1855, 1856, {0, -1, 0, 0});
    point(out, FunctionId::MPI_Win_free, 1857, 1858, {0, 0, 0, 0});
}

// Each on its own, and nobody knows of the others'.
void window_alone(CallsBuilder& out, int rank)
{
    out.object(spool::ObjectRecord::Window, 1, 1, FunctionId::MPI_Win_create, 600U + rank);
    point(out, FunctionId::MPI_Win_create, 1859, 1860, {1, 0, 1, 64});
    out.object(spool::ObjectRecord::Window, 2, -1, FunctionId::MPI_Win_create, 700);  // cannot be described
    point(out, FunctionId::MPI_Win_fence, 1861, 1862, {-1, 0, -1, 0});
}

void input_output(CallsBuilder& out)
{
    out.object(spool::ObjectRecord::File, 0, 0, FunctionId::MPI_File_open, 800, "some/data.bin");
    point(out, FunctionId::MPI_File_open, 1863, 1864, {0, 0, 0, 0});
    point(out, FunctionId::MPI_File_write_all, 1865, 1866, {0, 0, 0, 100});
    point(out, FunctionId::MPI_File_iread, 1867, 1868, {0, 0, 0, 0, 25, 0, 64});
    point(out, FunctionId::MPI_File_iwrite_all, 1869, 1870, {0, 0, 0, 32, 26});
    out.call(FunctionId::MPI_Waitall, 1871, 1872).count = 2;
    out.completions({operation(spool::Operation::File, 25, 60), operation(spool::Operation::File, 26, 31)});
    point(out, FunctionId::MPI_File_write_ordered, 1873, 1874, {0, 0, 0, 9});
    point(out, FunctionId::MPI_File_read_all_begin, 1875, 1876, {0, 0, 0, 0, 0, 0, 128});
    point(out, FunctionId::MPI_File_read_all_end, 1877, 1878, {0, 0, 0, 0, 0, 0, 120});
    point(out, FunctionId::MPI_File_close, 1879, 1880, {0, 0, 0, 0});
}

// On rank 2 the user has switched the recording off, which leaves out what need not be known.
void switched_off(CallsBuilder& out, int rank)
{
    if (rank == 2) {
        out.tool(1881, 1882);
    }
    point(out, FunctionId::MPI_Comm_free, 1883, 1884, {4, -1, 0, 0});
    if (rank == 2) {
        out.off(1880, 1885);
        out.off(1886, 1887);
        // Posted by other threads meanwhile, or not meanwhile but while this thread was at our work.
        out.skipped(1882, 1, 71, 3);
        out.skipped(1880, 1, 72, 4);
        out.skipped(1792, 1, 73, 5);
        out.skipped(1350, 1, 74, 6);  // while it was blocked
    }
}

void communicators(CallsBuilder& out, int rank)
{
    if (rank % 2 == 1) {
        out.comm_list({2, 77, 1, 2, rank / 2}, {1, 3});
    } else {
        out.comm_list({2, 88U + rank, 1, 1, 0}, {rank});
    }
    point(out, FunctionId::MPI_Comm_split, 1700, 1710, {0, -1, 0, 0, 0, 0, 3});
    out.comm_list({3, 99, 0, 2, rank % 2, true}, rank < 2 ? std::vector{2, 3} : std::vector{0, 1});
    point(out, FunctionId::MPI_Intercomm_create, 1720, 1730, {0, -1, 0, 0, 0, 0, 4});
    out.comm_list({9, 98, 0, 2, rank % 2, true}, rank < 2 ? std::vector{2, 3} : std::vector{0, 1});
    point(out, rank < 2 ? FunctionId::MPI_Comm_accept : FunctionId::MPI_Comm_connect, 1731, 1735,
          {0, 1, 0, 0, 0, 0, 10});
    if (rank == 0) {
        point(out, FunctionId::MPI_Send, 1740, 1745, {3, 1, 2, 12});
    }
    const int root = rank == 0 ? int{spool::root_is_me} : rank == 1 ? int{spool::root_in_my_group} : 0;
    point(out, FunctionId::MPI_Bcast, 1750, 1760, {3, root, 0, 0});
    point(out, FunctionId::MPI_Comm_free, 1770, 1780, {2, -1, 0, 0});
    point(out, FunctionId::MPI_Recv, 1785, 1786, {0, 0, 0, 0, 0, spool::flag_failed});
}

void write_main_thread(const std::string& base, int rank)
{
    CallsBuilder out;
    out.predefined(rank, ranks);
    out.tool(1020, 1030);
    out.call(FunctionId::MPI_Init, 1000, 1100);
    point_to_point(out, rank);
    persistent(out, rank);
    if (rank == 2) {
        probes(out);
    }
    collectives(out, rank);
    communicators(out, rank);
    out.tool(1790, 1795);
    non_blocking(out, rank);
    fences(out, (rank + 1) % ranks, (rank + ranks - 1) % ranks);
    epochs(out, (rank + 1) % ranks, (rank + ranks - 1) % ranks);
    window_alone(out, rank);
    input_output(out);
    switched_off(out, rank);
    if (rank == 1) {
        point(out, FunctionId::MPI_Win_fence, 1890, 1891, {0, 0, 7, 0});  // on a window that nobody defined
    }
    out.call(FunctionId::MPI_Finalize, 1900, 1950);
    out.call(static_cast<FunctionId>(0), 0, 0).kind = RecordKind::Empty;
    spool::SpoolHeader header = make_header(rank, ranks, 0);
    header.process_start = 500U + rank;
    header.lost = rank == 1 ? 3 : 0;
    header.closed = 1;
    if (rank == 1) {
        header.counter_count = 2;
        std::strcpy(header.counters[0], "PAPI_TOT_INS");
        std::strcpy(header.counters[1], "PAPI_TOT_CYC");
        std::strcpy(header.counters[2], "perf::X:u=1");
        header.counter_refusal[2] = spool::Refusal::NotPermitted;
    }
    out.write(base + ".0.calls", header);
}

spool::SpoolHeader sampled(int rank, int thread)
{
    spool::SpoolHeader header = make_header(rank, ranks, thread);
    std::strcpy(header.samples.event, "cpu-clock");
    header.samples.run_delay = 1;
    header.samples.period = 1000;
    header.samples.call_graph = spool::CallGraph::FramePointers;
    header.samples.counted_events = 1;
    std::strcpy(header.samples.events[0], "page-faults");
    header.closed = 1;
    return header;
}

void write_samples(const std::string& base, int rank)
{
    constexpr std::uint64_t user = SamplesBuilder::user;
    const std::uint64_t hot = address(synthetic_hot) + 2;
    const std::uint64_t caller = address(synthetic_caller) + 3;
    SamplesBuilder out;
    if (rank == 2) {  // within the collector's own time
        out.out(1022, true);
        out.in(1028);
    }
    out.sample(1150, 1000, {user, hot});
    if (rank == 3) {
        out.sample(1205, 1000, {user, address(synthetic_only_rank_3) + 1, caller});
    }
    if (rank == 2) {  // within a call, to another processor; and an out whose in is missing
        out.out(1310, true, 0);
        out.in(1312, 0);
        out.out(1313, true, 0);
        out.in(1316, 1);
        out.out(1321, true, 1);
        out.in(1322, 1);
        out.sample(1323, 1000, {user, hot}, 0, 3, 1);
        out.out(1324, true, 1);
        out.in(1325, 1);
        out.out(1326, false, 1);
    }
    out.sample(1405, 1000, {user, hot, caller}, 0, rank == 2 ? 7 : 0, 1);
    // Out of order, from the kernel, and with an address behind which nothing can be trusted.
    out.sample(1305, 2500, {SamplesBuilder::kernel, 0xffffffff81000000U, user, hot, caller, 0x10, caller});
    out.lost(5);
    out.sample(1949, 1000, {user, hot});  // after the end
    spool::SpoolHeader header = sampled(rank, 0);
    header.lost = 5;
    header.samples.page_faults = rank == 2 ? 9 : 0;
    if (rank == 1) {
        std::strcpy(header.refused_events[0].name, "cycles");
        header.refused_events[0].why = spool::Refusal::NotSupported;
    }
    out.write(base + ".0.samples", header);
}

void write_other_threads(const std::string& base, int rank)
{
    if (rank == 2) {
        SamplesBuilder samples;
        samples.sample(1001, 1000, {SamplesBuilder::user, address(synthetic_hot)});
        spool::SpoolHeader header = sampled(rank, 1);
        header.thread_start = 990;
        samples.write(base + ".1.samples", header);
    }
    if (rank == 3) {
        CallsBuilder calls;
        point(calls, FunctionId::MPI_Send, 1206, 1207, {0, 0, 2, 4});
        point(calls, FunctionId::MPI_Ireduce, 1809, 1810, {0, 0, 0, 8, 23});
        calls.skipped(1204, 1, 75, 7);  // before it began
        spool::SpoolHeader header = make_header(rank, ranks, 2);
        header.thread_start = 1205;
        header.samples.why_not = 13;  // EACCES
        header.closed = 1;
        std::strcpy(header.thread_name, "loader");
        calls.write(base + ".2.calls", header);
    }
}

void write_spool(const std::string& spool, int rank)
{
    const std::string base = fmt::format("{}/{}", spool, rank);
    write_main_thread(base, rank);
    write_samples(base, rank);
    write_other_threads(base, rank);
    std::ifstream maps("/proc/self/maps");
    std::ofstream(base + ".maps") << maps.rdbuf();
}

// For measuring: rounds of Isend, Irecv, Waitall.
void write_many(const std::string& spool, int rank, int size, std::uint64_t calls)
{
    CallsBuilder out;
    out.predefined(rank, size);
    std::uint64_t time = 1000;
    const int next = (rank + 1) % size;
    const int before = (rank + size - 1) % size;
    for (std::uint64_t i = 0; i < calls; i += 3, time += 5000) {
        point(out, FunctionId::MPI_Isend, time, time + 700, {0, next, 1, 1024, i + 1});
        point(out, FunctionId::MPI_Irecv, time + 900, time + 1300, {0, before, 1, 1024, i + 2});
        out.call(FunctionId::MPI_Waitall, time + 1500, time + 4000).count = 2;
        out.completions({{0, i + 1}, {spool::flag_receive, i + 2, before, 1, 0, 1024}});
    }
    out.call(FunctionId::MPI_Finalize, time, time);
    out.write(fmt::format("{}/{}.0.calls", spool, rank), make_header(rank, size, 0));
}

// As if the process had missed that another communicator was made.
void change_gid(const std::string& path)
{
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    spool::CommunicatorRecord record;
    for (std::streamoff at = spool::header_size; file.seekg(at).read(reinterpret_cast<char*>(&record), sizeof record);
         at += static_cast<std::streamoff>(sizeof record)) {
        if (record.kind == spool::RecordKind::Communicator && record.comm > 1 && record.is_inter == 0 &&
            record.size > 1) {
            ++record.gid[1];
            file.seekp(at).write(reinterpret_cast<const char*>(&record), sizeof record);
            return;
        }
    }
}

void make_fault(const std::string& fault, const std::string& trace, int rank)
{
    if (fault == "no-spool" && rank == 2) {
        std::filesystem::remove(trace + "/spool/2.0.calls");
        std::filesystem::remove(trace + "/spool/2.0.samples");
    } else if (fault == "file-limit" && rank == 1) {
        // As a full disk: writes beyond the limit fail.
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{256, 256};
        setrlimit(RLIMIT_FSIZE, &limit);
    } else if (fault == "other-gid" && rank == 1) {
        change_gid(trace + "/spool/1.0.calls");
    } else if (fault == "exists" && rank == 0) {
        std::filesystem::create_directory(trace + "/traces");
    }
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const std::string trace = argv[2];
    const std::string option = argc > 3 ? argv[3] : "";
    const std::string spool = trace + "/spool";
    std::filesystem::create_directories(spool);
    if (option.starts_with("calls=")) {
        write_many(spool, rank, size, std::stoull(option.substr(6)));
    } else {
        write_spool(spool, rank);
    }
    make_fault(option, trace, rank);
    MPI_Barrier(MPI_COMM_WORLD);

    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    auto* write = library == nullptr
                      ? nullptr
                      : reinterpret_cast<decltype(&critpath_archive_write)>(dlsym(library, CRITPATH_ARCHIVE_SYMBOL));
    if (write == nullptr) {
        fmt::print(stderr, "{}\n", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 3);
        return 3;
    }
    const critpath_archive_request request = {trace.c_str(), spool.c_str(), rank, 4};
    critpath_archive_summary sums{};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const auto start = std::chrono::steady_clock::now();
    const int rc = write(&request, MPI_COMM_WORLD, &sums);
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    int lowest = rc;
    int highest = rc;
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        fmt::print(
            "{{\"rc\": {}, \"same\": {}, \"calls\": {}, \"samples\": {}, \"events\": {}, \"bytes\": {}, "
            "\"lost_records\": {}, \"lost_samples\": {}, \"cut_samples\": {}, \"ns\": {:.0f}, \"error\": \"{}\", "
            "\"inconsistent\": \"{}\"}}\n",
            rc, lowest == highest, sums.calls, sums.samples, sums.events, sums.bytes, sums.lost_records,
            sums.lost_samples, sums.cut_samples, taken.count(), sums.error, sums.inconsistent);
    }
    MPI_Finalize();
    return 0;
}
