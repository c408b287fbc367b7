// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bad_input/archive.hpp"

#include "tests/load/tiny_trace.hpp"
#include "tests/scratch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <system_error>

#include <unistd.h>

namespace critpath::bad_input
{

namespace fs = std::filesystem;
using test::TinyThread;
using test::TinyTrace;

Archive read_archive(const fs::path& directory)
{
    Archive archive;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
        if (entry.is_regular_file()) {
            std::ifstream stream(entry.path(), std::ios::binary);
            archive.push_back(
                {entry.path().lexically_relative(directory), std::string(std::istreambuf_iterator<char>(stream), {})});
        }
    }
    std::ranges::sort(archive, {}, &File::name);
    return archive;
}

void write_file(const fs::path& directory, const File& file)
{
    std::ofstream stream(directory / file.name, std::ios::binary | std::ios::trunc);
    stream.write(file.bytes.data(), static_cast<std::streamsize>(file.bytes.size()));
}

void write_archive(const fs::path& directory, const Archive& archive)
{
    for (const File& file : archive) {
        fs::create_directories((directory / file.name).parent_path());
        write_file(directory, file);
    }
}

Workshop::Workshop()
{
    const fs::path shm = "/dev/shm";
    std::string name = (::access(shm.c_str(), W_OK) == 0 ? shm : fs::temp_directory_path()) / "critpath-bad-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
}

Workshop::~Workshop()
{
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path Workshop::lay_out(const Archive& archive)
{
    const fs::path directory = path_ / "trace";
    for (const File& old : there_) {
        const bool stays = std::ranges::any_of(archive, [&](const File& file) { return file.name == old.name; });
        if (!stays) {
            fs::remove(directory / old.name);
        }
    }
    for (const File& file : archive) {
        const auto old = std::ranges::find(there_, file.name, &File::name);
        if (old == there_.end() || old->bytes != file.bytes) {
            fs::create_directories((directory / file.name).parent_path());
            write_file(directory, file);
        }
    }
    there_ = archive;
    return directory;
}

namespace
{

/// `write` writes the events of one rank.
Archive make(std::uint32_t ranks, const std::function<void(TinyTrace&)>& define,
             const std::function<void(TinyThread&, std::uint32_t)>& write)
{
    const test::Scratch scratch;
    TinyTrace trace(scratch.path() / "trace", ranks);
    define(trace);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        trace.thread(rank);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        write(trace.thread(rank), rank);
    }
    trace.close();
    return read_archive(scratch.path() / "trace");
}

void begin(TinyThread& thread)
{
    thread.enter(0, "main").enter(10, "MPI_Init");
    thread.collective(10, 1000, OTF2_COLLECTIVE_OP_CREATE_HANDLE, "world", OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    thread.leave(1000, "MPI_Init");
}

void end(TinyThread& thread, std::uint64_t time)
{
    thread.enter(time, "MPI_Finalize").leave(time, "MPI_Finalize").leave(time, "main");
}

/// To the next rank and from the one before.
void shift(TinyThread& thread, std::uint64_t time, std::uint32_t rank, std::uint32_t ranks)
{
    thread.enter(time, "MPI_Send").send(time, "world", (rank + 1) % ranks, 1, 64).leave(time + 50, "MPI_Send");
    thread.enter(time + 60, "MPI_Recv").recv(time + 90, "world", (rank + ranks - 1) % ranks, 1, 64);
    thread.leave(time + 90, "MPI_Recv");
}

void exchange(TinyThread& thread, std::uint64_t time, std::uint32_t rank)
{
    const std::uint32_t other = 1 - rank;
    thread.enter(time, "MPI_Irecv").irecv_request(time, 7).leave(time + 1, "MPI_Irecv");
    thread.enter(time + 2, "MPI_Isend").isend(time + 2, "world", other, 3, 1 << 20, 8, 3).leave(time + 3, "MPI_Isend");
    thread.enter(time + 4, "MPI_Irecv").irecv_request(time + 4, 9).leave(time + 5, "MPI_Irecv");
    thread.enter(time + 10 + rank, "MPI_Waitall")
        .isend_complete(time + 80, 8)
        .irecv(time + 80, "world", other, 3, 1 << 20, 7);
    thread.leave(time + 80, "MPI_Waitall");
    thread.enter(time + 81, "MPI_Wait").cancelled(time + 82, 9).leave(time + 82, "MPI_Wait");
}

void probe(TinyThread& thread, std::uint64_t time, std::uint32_t rank)
{
    if (rank == 0) {
        thread.enter(time, "MPI_Ssend").send(time, "world", 1, 4, 8).leave(time + 40, "MPI_Ssend");
        thread.enter(time + 50, "MPI_Send").send(time + 50, "world", 1, 5, 8).leave(time + 60, "MPI_Send");
        return;
    }
    thread.enter(time + 1, "MPI_Probe").leave_probe(time + 20, "MPI_Probe", "world", 0, 4);
    thread.enter(time + 21, "MPI_Recv").recv(time + 41, "world", 0, 4, 8).leave(time + 41, "MPI_Recv");
    thread.enter(time + 42, "MPI_Mprobe").leave_mprobe(time + 70, "MPI_Mprobe", 77);
    thread.enter(time + 71, "MPI_Mrecv").recv(time + 72, "world", 0, 5, 8, 77).leave(time + 72, "MPI_Mrecv");
}

void collectives(TinyThread& thread, std::uint64_t time, std::uint32_t rank)
{
    thread.enter(time + rank, "MPI_Bcast")
        .collective(time + rank, time + 30, OTF2_COLLECTIVE_OP_BCAST, "world", 0, 8, 8);
    thread.leave(time + 30, "MPI_Bcast");
    thread.enter(time + 40, "MPI_Ibarrier").collective_request(time + 40, 20).leave(time + 41, "MPI_Ibarrier");
    thread.enter(time + 50, "MPI_Wait");
    thread.collective_complete(time + 60, OTF2_COLLECTIVE_OP_BARRIER, "world", OTF2_COLLECTIVE_ROOT_NONE, 0, 0, 20);
    thread.leave(time + 60, "MPI_Wait");
    thread.enter(time + 70, "MPI_Allreduce");
    thread.collective(time + 70, time + 90, OTF2_COLLECTIVE_OP_ALLREDUCE, "both", OTF2_COLLECTIVE_ROOT_NONE, 8, 8);
    thread.leave(time + 90, "MPI_Allreduce");
}

void other_records(TinyThread& thread, std::uint64_t time)
{
    thread.context_enter(time, "work").sample(time + 1, "work", 16).sample(time + 11, "work", 32, 20);
    thread.put(time + 12).metric(time + 13).task_create(time + 14).context_leave(time + 20, "work");
    thread.write([=](auto* w) { return OTF2_EvtWriter_ThreadFork(w, nullptr, time + 20, OTF2_PARADIGM_OPENMP, 2); });
    thread.write([=](auto* w) { return OTF2_EvtWriter_ThreadTeamBegin(w, nullptr, time + 20, 1); });
    thread.enter(time + 20, "barrier").leave(time + 20, "barrier");
    thread.write([=](auto* w) { return OTF2_EvtWriter_ThreadTeamEnd(w, nullptr, time + 20, 1); });
    thread.write([=](auto* w) { return OTF2_EvtWriter_ThreadJoin(w, nullptr, time + 20, OTF2_PARADIGM_OPENMP); });
    thread.flush(time + 21, time + 25).measurement(time + 30, false).measurement(time + 35, true);
    thread.skipped_sends(time + 40, 1, 1, 9, "world").measurement(time + 40, true);
    thread.switched_off(time + 50, "user").measurement(time + 55, true);
}

}  // namespace

Archive twins()
{
    return make(
        2, [](TinyTrace&) {},
        [](TinyThread& thread, std::uint32_t rank) {
            begin(thread);
            for (std::uint64_t round = 1; round <= 10; ++round) {
                shift(thread, 1000 * (round + 1) + 20 * rank, rank, 2);
            }
            end(thread, 20'000);
        });
}

Archive variety()
{
    return make(
        2,
        [](TinyTrace& trace) {
            trace.communicator("both", {0, 1});
            trace.paradigm("barrier", OTF2_PARADIGM_OPENMP);
            trace.role("barrier", OTF2_REGION_ROLE_BARRIER);
            trace.inter_communicator("between", {0}, {1});
            trace.generator("cpu-clock", OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9, 10);
            trace.context_parent("work", "caller");
            for (std::uint32_t rank = 0; rank < 2; ++rank) {
                trace.process_property(rank, "critpath.host", rank == 0 ? "a" : "b");
                trace.process_property(rank, "critpath.boot_id", rank == 0 ? "a" : "b");
                trace.location_property(rank, "critpath.lost_records", std::uint64_t{0});
                trace.location_property(rank, "critpath.ns_per_count", 0.5);
                trace.clock_offset(rank, 0, -5, 2);
                trace.clock_offset(rank, 9000, rank == 0 ? 4 : 6, 2);
                trace.mapping(rank, OTF2_MAPPING_ATTRIBUTE, {{90, 91}, {92, 93}});
            }
        },
        [](TinyThread& thread, std::uint32_t rank) {
            begin(thread);
            shift(thread, 2000, rank, 2);
            exchange(thread, 3000, rank);
            probe(thread, 4000, rank);
            collectives(thread, 5000, rank);
            other_records(thread, 6000);
            end(thread, 9000);
        });
}

Archive long_ring()
{
    constexpr std::uint32_t ranks = 3;
    return make(
        ranks, [](TinyTrace&) {},
        [](TinyThread& thread, std::uint32_t rank) {
            begin(thread);
            constexpr std::uint64_t rounds = 6'500;
            for (std::uint64_t round = 1; round <= rounds; ++round) {
                shift(thread, 1000 * (round + 1) + 20 * rank, rank, ranks);
            }
            end(thread, 1000 * (rounds + 2));
        });
}

Archive years_apart()
{
    constexpr std::int64_t year = 365LL * 24 * 3600 * 1'000'000'000;
    return make(
        2, [](TinyTrace& trace) { trace.clock_offset(1, 0, 10 * year, 1); },
        [](TinyThread& thread, std::uint32_t rank) {
            begin(thread);
            exchange(thread, 2000, rank);
            end(thread, 3000);
        });
}

Archive unsure_clocks()
{
    return make(
        2,
        [](TinyTrace& trace) {
            constexpr double years = 2e18;
            for (std::uint32_t rank = 0; rank < 2; ++rank) {
                trace.process_property(rank, "critpath.boot_id", rank == 0 ? "a" : "b");
                trace.clock_offset(rank, 0, rank == 0 ? 0 : 5, years);
                trace.clock_offset(rank, 9000, rank == 0 ? 0 : 7, years);
            }
        },
        [](TinyThread& thread, std::uint32_t rank) {
            begin(thread);
            exchange(thread, 2000, rank);
            end(thread, 3000);
        });
}

Archive two_years()
{
    constexpr std::uint32_t ranks = 4;
    return make(
        ranks,
        [](TinyTrace& trace) {
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                trace.process_property(rank, "critpath.boot_id", std::to_string(rank));
                trace.clock_offset(rank, 0, 5 * rank, 2);
                trace.clock_offset(rank, 9000, 7 * rank, 2);
            }
        },
        [](TinyThread& thread, std::uint32_t rank) {
            begin(thread);
            shift(thread, 2000, rank, ranks);
            constexpr std::uint64_t year = 365ULL * 24 * 3600 * 1'000'000'000;
            end(thread, rank == 0 ? 2 * year : 3000);
        });
}

Archive never_left()
{
    return make(
        1, [](TinyTrace&) {},
        [](TinyThread& thread, std::uint32_t) {
            begin(thread);
            constexpr int functions = 500'000;
            for (int i = 0; i < functions; ++i) {
                thread.enter(2000, "entered");
            }
            for (int i = 0; i < functions; ++i) {
                thread.leave(2000, "left");
            }
            end(thread, 3000);
        });
}

}  // namespace critpath::bad_input
