// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns call trees whose paths are known: each MPI call is made through here(), which prints the return addresses that
// backtrace() sees there, innermost first, so that the recorded path of the k-th call must be the k-th line.
//
// usage: callpath CASE
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

namespace
{

constexpr int deepest = 256;

// The MPI call and backtrace() stand in one function: all frames but the innermost are the same.
__attribute__((noinline)) void here(const char* what)
{
    void* frames[deepest];
    const int count = backtrace(frames, deepest);
    MPI_Barrier(MPI_COMM_SELF);
    std::printf("%s %ld", what, static_cast<long>(gettid()));
    for (int i = 1; i < count; ++i) {
        std::printf(" %p", frames[i]);
    }
    std::printf("\n");
}

// Keeps the compiler from making tail calls and from inlining.
#define STEP __attribute__((noinline))
#define AFTER asm volatile("" ::: "memory")

STEP void recurse(int depth)
{
    if (depth == 0) {
        here("recursion");
    } else {
        recurse(depth - 1);
    }
    AFTER;
}

STEP void binary(int depth)
{
    if (depth == 0) {
        here("tree");
    } else {
        binary(depth - 1);
        AFTER;
        binary(depth - 1);
    }
    AFTER;
}

STEP void with_alloca(std::size_t bytes)
{
    auto* memory = static_cast<volatile char*>(alloca(bytes));
    memory[0] = 1;
    here("alloca");
    AFTER;
}

STEP void before_alloca(std::size_t bytes, std::size_t inner)
{
    auto* memory = static_cast<volatile char*>(alloca(bytes));
    memory[bytes - 1] = 1;
    with_alloca(inner);
    AFTER;
}

// The frames change places, while their sum, and so the stack pointer at the call, stays the same.
void alloca_frames()
{
    constexpr std::size_t sizes[][2] = {{64, 64}, {32, 96}, {96, 32}, {64, 64}, {4096, 64}, {64, 4096}, {128, 16}};
    for (int round = 0; round < 3; ++round) {
        for (const auto& size : sizes) {
            before_alloca(size[0], size[1]);
        }
    }
}

STEP void tail_called(int value)
{
    here(value != 0 ? "tail" : "plain");
    AFTER;
}

// Left by a jump where the optimiser is on.
STEP void tail(int value)
{
    tail_called(value);
}

STEP void site_first()
{
    here("first");
    AFTER;
}

STEP void site_second()
{
    here("second");
    AFTER;
}

STEP void both()
{
    for (int i = 0; i < 4; ++i) {
        site_first();
        site_second();
    }
    AFTER;
}

STEP void branches()
{
    site_first();
    AFTER;
    site_first();
    AFTER;
    site_first();
    AFTER;
}

void* in_thread(void*)
{
    both();
    recurse(5);
    return nullptr;
}

void threads()
{
    both();
    for (int i = 0; i < 2; ++i) {
        pthread_t thread;
        pthread_create(&thread, nullptr, in_thread, nullptr);
        pthread_join(thread, nullptr);
    }
}

ucontext_t main_context;
ucontext_t other_context;

void in_context()
{
    here("context");
    swapcontext(&other_context, &main_context);
    here("context");
}

void contexts()
{
    static char stack[65536];
    getcontext(&other_context);
    other_context.uc_stack = {stack, 0, sizeof stack};
    other_context.uc_link = &main_context;
    makecontext(&other_context, in_context, 0);
    here("main");
    swapcontext(&main_context, &other_context);
    here("main");
    swapcontext(&main_context, &other_context);
    here("main");
}

void handler(int)
{
    here("handler");
}

// `flags`: SA_ONSTACK or 0. The standard does not allow it; it must not crash.
void signals(int flags)
{
    static char memory[65536];
    const stack_t stack = {memory, 0, sizeof memory};
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    raise(SIGUSR1);
}

// Each of the many calls comes by a path of its own.
STEP void many(unsigned way, int depth)
{
    if (depth == 0) {
        MPI_Barrier(MPI_COMM_SELF);
    } else if ((way & 1) != 0) {
        many(way >> 1, depth - 1);
        AFTER;
    } else {
        many(way >> 1, depth - 1);
    }
    AFTER;
}

}  // namespace

void* init_mpi(void*)
{
    int provided;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    return nullptr;
}

int main(int argc, char** argv)
{
    const char* const name = argc > 1 ? argv[1] : "";
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("other_init")) {
        pthread_t thread;
        pthread_create(&thread, nullptr, init_mpi, nullptr);
        pthread_join(thread, nullptr);
        both();
        recurse(5);
    } else {
        init_mpi(nullptr);
    }
    if (is("recursion")) {
        for (int depth = 0; depth < 12; ++depth) {
            recurse(depth);
            recurse(depth);
        }
    } else if (is("deep")) {
        recurse(200);
        recurse(200);
    } else if (is("tree")) {
        binary(5);
        binary(5);
    } else if (is("alloca")) {
        alloca_frames();
    } else if (is("tail")) {
        for (int i = 0; i < 2; ++i) {
            tail(1);
            tail_called(0);
        }
    } else if (is("sites")) {
        both();
        branches();
        branches();
    } else if (is("threads")) {
        threads();
    } else if (is("contexts")) {
        contexts();
    } else if (is("signal")) {
        signals(0);
    } else if (is("altstack")) {
        signals(SA_ONSTACK);
    } else if (is("many")) {
        for (unsigned i = 0; i < 1U << 14; ++i) {
            many(i, 14);
        }
    }
    MPI_Finalize();
    return 0;
}
