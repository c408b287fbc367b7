// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns programs that leave MPI calls by other ways than a return, and programs that only look like it: one a mode,
// named by the first argument.
#include <mpi.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

namespace
{

jmp_buf place;
sigjmp_buf signal_place;
bool by_exception;

void leave(MPI_Comm* /*comm*/, int* /*error*/, ...)
{
    if (by_exception) {
        throw std::runtime_error("error");
    }
    std::longjmp(place, 1);
}

void set_handler()
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
}

void send(int count = 0)
{
    MPI_Send(nullptr, count, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

// Frames that are written all over.
template <int depth>
__attribute__((noinline)) void deep(void (*function)())
{
    volatile char frame[256];
    std::memset(const_cast<char*>(frame), depth, sizeof frame);
    if constexpr (depth > 0) {
        deep<depth - 1>(function);
    } else {
        function();
    }
    frame[0] = 1;
}

void barrier()
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void wrong()
{
    send(-1);
}

void by_throw(void (*function)())
{
    try {
        function();
    } catch (const std::exception&) {
        std::fputs("caught\n", stdout);  // one write: MPICH lets stdout have no buffer
    }
}

void by_jump(void (*function)())
{
    if (setjmp(place) == 0) {
        function();
    } else {
        std::fputs("jumped\n", stdout);
    }
}

void run_errors(void (*with)(void (*)()))
{
    set_handler();
    for (int i = 0; i < 3; ++i) {
        with(wrong);
        barrier();
    }
    // From deeper frames than the calls that follow, and the other way round.
    with([] { deep<3>(wrong); });
    barrier();
    with(wrong);
    deep<9>(barrier);
    with(wrong);  // the last one is left by a jump
}

void at_alarm(int /*signal*/)
{
    siglongjmp(signal_place, 1);
}

void run_timeout()
{
    struct sigaction action = {};
    action.sa_handler = at_alarm;
    sigaction(SIGALRM, &action, nullptr);
    barrier();
    if (sigsetjmp(signal_place, 1) == 0) {
        const itimerval soon = {{0, 0}, {0, 50'000}};
        setitimer(ITIMER_REAL, &soon, nullptr);
        MPI_Probe(0, 77, MPI_COMM_SELF, MPI_STATUS_IGNORE);  // for what never comes
    }
    barrier();
}

const sigset_t alarm_signal = [] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    return set;
}();

// Jumps come at any moment, also while the library is at work between calls.
void run_alarms(bool switches)
{
    struct sigaction action = {};
    action.sa_handler = at_alarm;
    sigaction(SIGALRM, &action, nullptr);
    pthread_sigmask(SIG_UNBLOCK, &alarm_signal, nullptr);
    const itimerval often = {{0, 100}, {0, 100}};
    const itimerval never = {};
    volatile int jumps = 0;
    if (sigsetjmp(signal_place, 1) != 0) {
        jumps = jumps + 1;
    }
    if (jumps < 400) {
        setitimer(ITIMER_REAL, &often, nullptr);
        for (;;) {
            if (switches) {
                MPI_Pcontrol(0);
                send();
                MPI_Pcontrol(1);
            }
            send();
        }
    }
    setitimer(ITIMER_REAL, &never, nullptr);
    std::printf("%d jumps\n", jumps);
}

void* run_thread(void* /*data*/)
{
    by_throw(wrong);
    send();
    by_throw(wrong);
    return nullptr;
}

void run_thread_that_ends()
{
    set_handler();
    pthread_t thread;
    pthread_create(&thread, nullptr, run_thread, nullptr);
    pthread_join(thread, nullptr);
    by_throw(wrong);
    pthread_create(&thread, nullptr, run_thread, nullptr);
    pthread_join(thread, nullptr);
}

// ---- other stacks

constexpr std::size_t stack_bytes = 256 << 10;
ucontext_t main_context;
ucontext_t fibre;

void run_fibre(void (*function)(), void* stack)
{
    getcontext(&fibre);
    fibre.uc_stack.ss_sp = stack;
    fibre.uc_stack.ss_size = stack_bytes;
    fibre.uc_link = &main_context;
    makecontext(&fibre, function, 0);
    swapcontext(&main_context, &fibre);
}

char* two_stacks()
{
    void* memory = mmap(nullptr, 2 * stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return static_cast<char*>(memory);
}

void* callback_stack;
ucontext_t in_callback;
ucontext_t second;

void run_second()
{
    send();
    send();
}

// A call from another stack while MPI is active on the first.
int at_copy(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* /*in*/, void* /*out*/, int* flag)
{
    getcontext(&second);
    second.uc_stack.ss_sp = callback_stack;
    second.uc_stack.ss_size = stack_bytes;
    second.uc_link = &in_callback;
    makecontext(&second, run_second, 0);
    swapcontext(&in_callback, &second);
    *flag = 0;
    return MPI_SUCCESS;
}

void duplicate()
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_free(&comm);
}

void run_fibres()
{
    int key;
    char* stacks = two_stacks();
    MPI_Comm_create_keyval(at_copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    callback_stack = stacks;
    duplicate();
    run_fibre(duplicate, stacks + stack_bytes);
    callback_stack = stacks + stack_bytes;
    run_fibre(duplicate, stacks);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    munmap(stacks, 2 * stack_bytes);
}

void throw_in_fibre()
{
    by_throw(wrong);
    send();
    by_throw(wrong);
}

void run_fibres_that_end()
{
    set_handler();
    for (int i = 0; i < 3; ++i) {
        char* stacks = two_stacks();
        run_fibre(throw_in_fibre, stacks + i % 2 * stack_bytes);
        munmap(stacks, 2 * stack_bytes);
        barrier();
    }
}

}  // namespace

int main(int argc, char** argv)
{
    const char* mode = argc == 2 ? argv[1] : "";
    int provided;
    const bool locks = std::strcmp(mode, "locked_alarms") == 0;
    const bool alarms = locks || std::strcmp(mode, "alarms") == 0;
    if (alarms) {
        pthread_sigmask(SIG_BLOCK, &alarm_signal, nullptr);  // in the threads of MPI
    }
    MPI_Init_thread(&argc, &argv, locks ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &provided);
    by_exception = std::strcmp(mode, "longjmp") != 0;
    if (std::strcmp(mode, "exception") == 0) {
        run_errors(by_throw);
    } else if (std::strcmp(mode, "longjmp") == 0) {
        run_errors(by_jump);
    } else if (std::strcmp(mode, "timeout") == 0) {
        run_timeout();
    } else if (alarms) {
        run_alarms(locks);
    } else if (std::strcmp(mode, "thread") == 0) {
        run_thread_that_ends();
    } else if (std::strcmp(mode, "fibres") == 0) {
        run_fibres();
    } else if (std::strcmp(mode, "ended_fibres") == 0) {
        run_fibres_that_end();
    }
    MPI_Finalize();
    return 0;
}
