// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// endings WAY   2 ranks. All ways in which an application may come to its end, one a run; the first argument names it.
#define _GNU_SOURCE
#include "see.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static void work(void)
{
    int got = -1;
    for (int i = 0; i < 100; ++i)
        MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &got, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("message from %d", got);
    MPI_Barrier(MPI_COMM_WORLD);
    fflush(stdout);
}

static void set_default(int number)
{
    signal(number, SIG_DFL);
}

static int finalize_and_return(void)
{
    say("finalized: %d", MPI_Finalize());
    return 3;
}

static int exit_early(void)
{
    exit(4);
}

static int exit_at_once(void)
{
    _exit(5);
}

static int exit_quickly(void)
{
    quick_exit(6);
}

// Two ranks that end at once are ended by each other's launcher or by themselves, as it comes: only one does.
__attribute__((noreturn)) static void wait_for_the_end(void)
{
    for (;;)
        pause();
}

static int abort_all(void)
{
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    wait_for_the_end();
}

static int abort_itself(void)
{
    if (rank == 0)
        MPI_Abort(MPI_COMM_SELF, 8);
    wait_for_the_end();
}

static int fault(void)
{
    set_default(SIGSEGV);
    *(volatile int*)NULL = 1;
    return 1;
}

// With the handler of the MPI library, which says much.
static int fault_with_mpi(void)
{
    *(volatile int*)NULL = 1;
    return 1;
}

static int terminated(void)
{
    set_default(SIGTERM);
    raise(SIGTERM);
    return 1;
}

static int killed(void)
{
    raise(SIGKILL);
    return 1;
}

static int aborted(void)
{
    set_default(SIGABRT);
    abort();
}

static int fatal_error(void)
{
    int data = 0;
    if (rank == 0)
        MPI_Send(&data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
    wait_for_the_end();
}

static void finalize(void)
{
    int finalized;
    MPI_Barrier(MPI_COMM_WORLD);
    say("finalized in an exit handler: %d", MPI_Finalize());
    MPI_Finalized(&finalized);
    say("finalized: %d", finalized);
}

static int finalize_at_exit(void)
{
    atexit(finalize);
    return 9;
}

static int finalize_in_destructor_wanted;

__attribute__((destructor)) static void finalize_in_the_end(void)
{
    if (finalize_in_destructor_wanted)
        finalize();
}

static int finalize_in_destructor(void)
{
    finalize_in_destructor_wanted = 1;
    return 10;
}

static void* finalize_and_exit(void* main_thread)
{
    pthread_join(*(pthread_t*)main_thread, NULL);
    say("the main thread has ended");
    work();
    say("finalized: %d", MPI_Finalize());
    fflush(stdout);
    return NULL;
}

static int main_thread_ends(void)
{
    static pthread_t this, other;
    MPI_Comm some;
    // The more there is to describe, the larger the messages in which ranks tell each other of it.
    for (int i = 0; i < 100; ++i)
        MPI_Comm_split(MPI_COMM_WORLD, i % 2, rank, &some);
    this = pthread_self();
    pthread_create(&other, NULL, finalize_and_exit, &this);
    pthread_exit(NULL);
}

static int closed_streams(void)
{
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
    for (int i = 0; i <= 2; ++i)
        close(i);
    const int code = MPI_Finalize();
    dprintf(kept, "finalized: %d\n", code);
    for (int i = 0; i <= 2; ++i)
        dprintf(kept, "descriptor %d: %d\n", i, fcntl(i, F_GETFD));
    return 11;
}

static int elsewhere(void)
{
    if (chdir("/") != 0)
        return 1;
    umask(077);
    say("finalized: %d", MPI_Finalize());
    const mode_t mask = umask(0);
    say("umask %o", (unsigned)mask);
    return 12;
}

static int after_the_end(void)
{
    int initialized, finalized, version, subversion, length;
    char words[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Finalize();
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(words, &length);
    say("initialized %d finalized %d version %d.%d %s", initialized, finalized, version, subversion, words);
    return 13;
}

// A process that has ended MPI goes on as another program.
static int another_program(void)
{
    MPI_Finalize();
    execl("/bin/sh", "sh", "-c", "echo another program; exit 14", (char*)NULL);
    return 1;
}

static int another_program_early(void)
{
    execl("/bin/sh", "sh", "-c", "echo another program; exit 15", (char*)NULL);
    return 1;
}

// Of the trace; nothing where there is none. Others may do the same, or still write to it.
static void remove_it(void)
{
    if (getenv("REMOVE") != NULL)
        while (system("rm -rf \"$REMOVE\" 2>/dev/null") != 0)
            usleep(1000);
}

static int trace_removed(void)
{
    if (rank == 0)
        remove_it();
    MPI_Barrier(MPI_COMM_WORLD);
    return finalize_and_return();
}

// As daemons do: whatever was open is closed, before MPI opens what it needs.
static void close_everything(void)
{
    for (int i = 3; i < 5000; ++i)
        close(i);
}

int main(int argc, char** argv)
{
    static const struct {
        const char* name;
        int (*end)(void);
    } ways[] = {
        {"return", finalize_and_return},
        {"exit", exit_early},
        {"_exit", exit_at_once},
        {"quick_exit", exit_quickly},
        {"abort", abort_all},
        {"abort_itself", abort_itself},
        {"fault", fault},
        {"fault_with_mpi", fault_with_mpi},
        {"term", terminated},
        {"kill", killed},
        {"abrt", aborted},
        {"fatal_error", fatal_error},
        {"atexit", finalize_at_exit},
        {"destructor", finalize_in_destructor},
        {"main_thread", main_thread_ends},
        {"closed_streams", closed_streams},
        {"closed_all", finalize_and_return},
        {"elsewhere", elsewhere},
        {"after", after_the_end},
        {"exec", another_program},
        {"exec_early", another_program_early},
        {"trace_removed", trace_removed},
        {"trace_never_there", finalize_and_return},
    };
    int provided;
    if (argc < 2)
        return 99;
    if (strcmp(argv[1], "closed_all") == 0)
        close_everything();
    if (strcmp(argv[1], "trace_never_there") == 0)
        remove_it();
    MPI_Init_thread(&argc, &argv, strcmp(argv[1], "main_thread") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    work();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i)
        if (strcmp(argv[1], ways[i].name) == 0)
            return ways[i].end();
    return 99;
}
