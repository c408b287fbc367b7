// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 2 ranks. C++: exceptions out of error handlers, through the frames of MPI and of whoever stands before it; threads of
// the standard library; objects that are destroyed after main(), one of which calls MPI_Finalize.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

int rank = -1;

struct Session {
    ~Session()
    {
        int got = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, &got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        std::printf("the session ends, message from %d\n", got);
        MPI_Finalize();
    }
};

void handle(MPI_Comm* /*comm*/, int* code, ...)
{
    int error_class = 0;
    MPI_Error_class(*code, &error_class);
    throw std::runtime_error("class " + std::to_string(error_class));
}

struct Local {
    explicit Local(const char* text) : name(text) {}
    ~Local() { std::printf("%s is destroyed in thread\n", name); }
    const char* name;
};
thread_local Local local("a thread-local object");

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    static Session session;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    int got = -1;
    for (int i = 0; i < 3; ++i) {
        try {
            i == 2 ? MPI_Bcast(&rank, 1, MPI_INT, 99, MPI_COMM_WORLD)
                   : MPI_Send(&rank, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
            std::puts("no exception");
        } catch (const std::exception& error) {
            std::printf("caught: %s\n", error.what());
        }
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &got, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf("message from %d\n", got);
    for (int i = 0; i < 3; ++i) {
        std::thread([] { std::printf("%s\n", local.name); }).join();
    }
    std::exception_ptr thrown;
    std::thread([&thrown] {
        try {
            throw std::runtime_error("in a thread");
        } catch (...) {
            thrown = std::current_exception();
        }
    }).join();
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        std::printf("caught: %s\n", error.what());
    }
    std::puts("== end");
    return 5;
}
