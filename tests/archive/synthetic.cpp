// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Leaves behind the spool of a run that never was, with every kind of record, and has the archive library make a
// trace of it. The run is the one that read_synthetic.py expects.
//
//   synthetic LIBRARY TRACE [fault|calls=<n>]    faults: no-spool, file-limit, exists; each hits one rank only
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

void point(CallsBuilder& out, FunctionId function, std::uint64_t enter, std::uint64_t leave, const Point& p)
{
    spool::Record& call = out.call(function, enter, leave);
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

void persistent(CallsBuilder& out, int rank)
{
    const int next = (rank + 1) % ranks;
    const int before = (rank + ranks - 1) % ranks;
    point(out, FunctionId::MPI_Start, 1460, 1462,
          {0, next, 3, 30, 3, 0, static_cast<std::uint64_t>(SendMode::Synchronous)});
    out.call(FunctionId::MPI_Startall, 1464, 1466).count = 2;
    out.completions({{0, 4, next, 3, 0, 40, static_cast<std::uint8_t>(SendMode::Standard)},
                     {spool::flag_receive, 5, before, 3, 0, 50}});
    out.call(FunctionId::MPI_Test, 1468, 1469).count = 3;  // a run of polls: nothing follows
    out.call(FunctionId::MPI_Waitall, 1470, 1480).count = 3;
    out.completions({{0, 3}, {0, 4}, {spool::flag_receive, 5, before, 3, 0, 30}});
    point(out, FunctionId::MPI_Irecv, 1481, 1482, {0, -1, 4, 8, 6, spool::flag_any_source});
    point(out, FunctionId::MPI_Cancel, 1483, 1484, {-1, 0, 0, 0, 6});
    out.call(FunctionId::MPI_Wait, 1485, 1486).count = 1;
    out.completions({{spool::flag_receive | spool::flag_cancelled, 6}});
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

void collectives(CallsBuilder& out, int rank)
{
    point(out, FunctionId::MPI_Bcast, 1600, 1620, {0, 2, 0, rank == 2 ? 80U : 0U, 0, 0, rank == 2 ? 0U : 80U});
    point(out, FunctionId::MPI_Neighbor_alltoallv, 1630, 1640, {0, -1, 0, 8, 0, 0, 8});
    point(out, FunctionId::MPI_Barrier, 1650, 1660, {0, -1, 0, 0});
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
    if (rank == 0) {
        point(out, FunctionId::MPI_Send, 1740, 1745, {3, 1, 2, 12});
    }
    const int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;
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
    out.call(FunctionId::MPI_Finalize, 1900, 1950);
    out.call(static_cast<FunctionId>(0), 0, 0).kind = RecordKind::Empty;
    spool::SpoolHeader header = make_header(rank, ranks, 0);
    header.process_start = 500U + rank;
    header.lost = rank == 1 ? 3 : 0;
    header.closed = 1;
    out.write(base + ".0.calls", header);
}

spool::SpoolHeader sampled(int rank, int thread)
{
    spool::SpoolHeader header = make_header(rank, ranks, thread);
    std::strcpy(header.samples.event, "cpu-clock");
    header.samples.period = 1000;
    header.closed = 1;
    return header;
}

void write_samples(const std::string& base, int rank)
{
    constexpr std::uint64_t user = SamplesBuilder::user;
    const std::uint64_t hot = address(synthetic_hot) + 2;
    const std::uint64_t caller = address(synthetic_caller) + 3;
    SamplesBuilder out;
    out.sample(1150, 1000, {user, hot});
    if (rank == 3) {
        out.sample(1205, 1000, {user, address(synthetic_only_rank_3) + 1, caller});
    }
    out.sample(1405, 1000, {user, hot, caller});
    // Out of order, from the kernel, and with an address behind which nothing can be trusted.
    out.sample(1305, 2500, {SamplesBuilder::kernel, 0xffffffff81000000U, user, hot, caller, 0x10, caller});
    out.lost(5);
    out.sample(1949, 1000, {user, hot});  // after the end
    spool::SpoolHeader header = sampled(rank, 0);
    header.lost = 5;
    out.write(base + ".0.samples", header);
}

void write_other_threads(const std::string& base, int rank)
{
    if (rank == 2) {
        SamplesBuilder samples;
        samples.sample(1001, 1000, {SamplesBuilder::user, address(synthetic_hot)});
        samples.write(base + ".1.samples", sampled(rank, 1));
    }
    if (rank == 3) {
        CallsBuilder calls;
        point(calls, FunctionId::MPI_Send, 1200, 1201, {0, 0, 2, 4});
        spool::SpoolHeader header = make_header(rank, ranks, 2);
        header.samples.why_not = 13;  // EACCES
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
    const critpath_archive_request request = {trace.c_str(), spool.c_str(), rank, size};
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
        fmt::print("{{\"rc\": {}, \"same\": {}, \"calls\": {}, \"samples\": {}, \"events\": {}, \"bytes\": {}, "
                   "\"lost_records\": {}, \"lost_samples\": {}, \"ns\": {:.0f}, \"error\": \"{}\"}}\n",
                   rc, lowest == highest, sums.calls, sums.samples, sums.events, sums.bytes, sums.lost_records,
                   sums.lost_samples, taken.count(), sums.error);
    }
    MPI_Finalize();
    return 0;
}
