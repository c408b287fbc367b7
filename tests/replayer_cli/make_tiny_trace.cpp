// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a trace of four ranks for command_line.py: each sends to the next in a ring of ten rounds, or ROUNDS; rank 2
// is late. With START, all of it happens so many ns later, and the trace is one of our recorder.
//
// usage: make_tiny_trace DIRECTORY [ROUNDS [START]]
#include "tests/load/tiny_trace.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace
{

constexpr std::uint32_t ranks = 4;
constexpr std::uint64_t round = 100'000;

void write_rank(critpath::test::TinyThread& thread, std::uint32_t rank, std::uint64_t rounds, std::uint64_t begin)
{
    const std::uint64_t lateness = rank == 2 ? 50'000 : 0;
    thread.enter(begin, "main").enter(begin + 10, "MPI_Init");
    thread.collective(begin + 1000, begin + 1000, OTF2_COLLECTIVE_OP_CREATE_HANDLE, "world", OTF2_COLLECTIVE_ROOT_NONE,
                      0, 0);
    thread.leave(begin + 1000, "MPI_Init");
    for (std::uint64_t i = 1; i <= rounds; ++i) {
        const std::uint64_t start = begin + i * round + lateness;
        thread.enter(start, "MPI_Send").send(start, "world", (rank + 1) % ranks, 1, 64).leave(start + 500, "MPI_Send");
        const std::uint64_t late_partner = rank == 3 ? 50'000 : 0;
        const std::uint64_t end = start + 1000 + late_partner;
        thread.enter(start + 600, "MPI_Recv").recv(end, "world", (rank + 3) % ranks, 1, 64).leave(end, "MPI_Recv");
    }
    const std::uint64_t end = begin + (rounds + 2) * round;
    thread.enter(end, "MPI_Finalize").leave(end, "MPI_Finalize").leave(end, "main");
}

}  // namespace

int main(int argc, char** argv)
try {
    if (argc < 2 || argc > 4) {
        std::fputs("usage: make_tiny_trace DIRECTORY [ROUNDS [START]]\n", stderr);
        return 2;
    }
    const std::uint64_t rounds = argc >= 3 ? std::strtoull(argv[2], nullptr, 10) : 10;
    const std::uint64_t start = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
    critpath::test::TinyTrace trace(argv[1], ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        trace.thread(rank);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        write_rank(trace.thread(rank), rank, rounds, start);
    }
    if (argc == 4) {
        trace.recorded(start, start + (rounds + 2) * round);
    }
    trace.close();
    return 0;
} catch (const std::exception& failure) {
    std::fprintf(stderr, "make_tiny_trace: %s\n", failure.what());
    return 1;
}
