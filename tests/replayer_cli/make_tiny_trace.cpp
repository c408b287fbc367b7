// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a trace of four ranks for command_line.py: each sends to the next in a ring of ten rounds, or ROUNDS; rank 2
// is late.
//
// usage: make_tiny_trace DIRECTORY [ROUNDS]
#include "tests/load/tiny_trace.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace
{

constexpr std::uint32_t ranks = 4;

void write_rank(critpath::test::TinyThread& thread, std::uint32_t rank, std::uint64_t rounds)
{
    constexpr std::uint64_t round = 100'000;
    const std::uint64_t lateness = rank == 2 ? 50'000 : 0;
    thread.enter(0, "main").enter(10, "MPI_Init");
    thread.collective(1000, 1000, OTF2_COLLECTIVE_OP_CREATE_HANDLE, "world", OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    thread.leave(1000, "MPI_Init");
    for (std::uint64_t i = 1; i <= rounds; ++i) {
        const std::uint64_t start = i * round + lateness;
        thread.enter(start, "MPI_Send").send(start, "world", (rank + 1) % ranks, 1, 64).leave(start + 500, "MPI_Send");
        const std::uint64_t late_partner = rank == 3 ? 50'000 : 0;
        const std::uint64_t end = start + 1000 + late_partner;
        thread.enter(start + 600, "MPI_Recv").recv(end, "world", (rank + 3) % ranks, 1, 64).leave(end, "MPI_Recv");
    }
    thread.enter((rounds + 2) * round, "MPI_Finalize")
        .leave((rounds + 2) * round, "MPI_Finalize")
        .leave((rounds + 2) * round, "main");
}

}  // namespace

int main(int argc, char** argv)
try {
    if (argc != 2 && argc != 3) {
        std::fputs("usage: make_tiny_trace DIRECTORY [ROUNDS]\n", stderr);
        return 2;
    }
    const std::uint64_t rounds = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 10;
    critpath::test::TinyTrace trace(argv[1], ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        trace.thread(rank);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        write_rank(trace.thread(rank), rank, rounds);
    }
    trace.close();
    return 0;
} catch (const std::exception& failure) {
    std::fprintf(stderr, "make_tiny_trace: %s\n", failure.what());
    return 1;
}
