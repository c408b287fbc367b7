// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 2 ranks. What an application sees of the process that it runs in, and does to it, between MPI_Init and MPI_Finalize:
// environment, descriptors, limits, children, signals, threads.
#define _GNU_SOURCE
#include "see.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static char** arguments;

static void message(void)
{
    int got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &got, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("message from %d", got);
}

// In its order, without what the MPI launcher makes anew for each run.
static void environment(void)
{
    for (char** variable = environ; *variable != NULL; ++variable)
        if (strncmp(*variable, "OMPI_", 5) != 0 && strncmp(*variable, "PMI", 3) != 0 &&
            strncmp(*variable, "HYDI_", 5) != 0 && strncmp(*variable, "MPI_", 4) != 0)
            say("%s", *variable);
}

static void itself(void)
{
    char text[PATH_MAX] = "";
    for (char** argument = arguments; *argument != NULL; ++argument)
        say("argument %s", *argument);
    say("called %s, %s", program_invocation_name, program_invocation_short_name);
    if (readlink("/proc/self/exe", text, sizeof text - 1) > 0)
        say("executable %s", text);
    if (getcwd(text, sizeof text) != NULL)
        say("in %s", text);
    const mode_t mask = umask(0);
    umask(mask);
    say("umask %o, dumpable group %d", (unsigned)mask, getpgrp() != 0);
    for (int i = 0; i < RLIM_NLIMITS; ++i) {
        struct rlimit limit;
        getrlimit(i, &limit);
        say("limit %d: %lld %lld", i, (long long)limit.rlim_cur, (long long)limit.rlim_max);
    }
    pthread_attr_t attributes;
    size_t stack = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &stack);
    pthread_attr_destroy(&attributes);
    cpu_set_t processors;
    sched_getaffinity(0, sizeof processors, &processors);
    // To the nearest: where it begins is random, and the C library counts from there.
    say("stack %zu MiB, nice %d, policy %d", (stack + (1 << 19)) >> 20, getpriority(PRIO_PROCESS, 0),
        sched_getscheduler(0));
}

static void descriptors(void)
{
    // What the collector opens for a thread that has just begun has a low number for a moment.
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    DIR* directory = opendir("/proc/self/fd");
    int seen[100] = {0};
    for (struct dirent* entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) < 100)
            seen[atoi(entry->d_name)] = 1;
    closedir(directory);
    for (int i = 0; i < 100; ++i)
        if (seen[i])
            say("descriptor %d, flags %d", i, fcntl(i, F_GETFD));
    const int next = dup(0);
    say("the next one is %d", next);
    close(next);
}

static void dispositions(void)
{
    sigset_t blocked;
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            say("signal %d is %s, flags %x", number, action.sa_handler == SIG_IGN ? "ignored" : "handled",
                (unsigned)action.sa_flags);
    }
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < NSIG; ++number)
        if (sigismember(&blocked, number) == 1)
            say("signal %d is blocked", number);
    stack_t stack;
    sigaltstack(NULL, &stack);
    say("alternate stack: flags %d", stack.ss_flags);
}

static void see_child(const char* what, pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
        say("%s: signal %d", what, WTERMSIG(status));
    else
        say("%s: exit %d", what, WEXITSTATUS(status));
}

static void at_exit(void)
{
    printf("exit handler in %s\n", getenv("CHILD") != NULL ? "a child" : "a rank");
}

static void children(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("CHILD", "1", 1);
        fflush(stdout);
        exit(5);
    }
    see_child("exit", child);
    if ((child = fork()) == 0)
        _exit(6);
    see_child("_exit", child);
    if ((child = fork()) == 0)
        abort();
    see_child("abort", child);
    if ((child = fork()) == 0) {
        pthread_t thread;
        _exit(pthread_create(&thread, NULL, (void* (*)(void*))getenv, "PATH") == 0 && pthread_join(thread, NULL) == 0
                  ? 7
                  : 1);
    }
    see_child("a thread in the child", child);
    if ((child = fork()) == 0) {
        execl("/bin/sh", "sh", "-c", "exit 8", (char*)NULL);
        _exit(1);
    }
    see_child("exec", child);
    if ((child = vfork()) == 0) {
        execl("/bin/sh", "sh", "-c", "exit 9", (char*)NULL);
        _exit(1);
    }
    see_child("vfork and exec", child);
    if ((child = vfork()) == 0)
        _exit(10);
    see_child("vfork", child);
    char* words[] = {"sh", "-c",
                     "env | grep -v -e ^OMPI_ -e ^PMI -e ^HYDI_ -e ^MPI_ -e ^_=; ls /proc/self/fd | wc -l; exit 11",
                     NULL};
    const int error = posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ);
    see_child("posix_spawn", child);
    say("spawned: %d", error);  // after what the child says
    say("system: %d", WEXITSTATUS(system("echo in a shell; exit 12")));
    FILE* pipe = popen("echo through a pipe; exit 13", "r");
    char line[100];
    while (fgets(line, sizeof line, pipe) != NULL)
        printf("%s", line);
    say("popen: %d", WEXITSTATUS(pclose(pipe)));
    errno = 0;
    const pid_t none = wait(NULL);
    say("no more children: %d %d", (int)none, errno == ECHILD);
    message();
}

#ifdef OPEN_MPI
// A rank starts a program that is an MPI application of its own: one of one rank.
static void child_with_mpi(void)
{
    char command[2 * PATH_MAX];
    if (rank == 0) {
        snprintf(command, sizeof command,
                 "env -i PATH=\"$PATH\" HOME=/ OMPI_ALLOW_RUN_AS_ROOT=1 "
                 "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 '%s' singleton </dev/null",
                 arguments[0]);
        say("system: %d", WEXITSTATUS(system(command)));
    }
    message();
}
#endif

static volatile sig_atomic_t profiled, alarmed, terminated;
static sigjmp_buf way_out;

static void count(int number)
{
    if (number == SIGPROF)
        ++profiled;
    else if (number == SIGALRM)
        ++alarmed;
    else
        ++terminated;
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

static void timers(void)
{
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    struct itimerval left;
    handle(SIGPROF, count, SA_RESTART);
    setitimer(ITIMER_PROF, &often, NULL);
    while (profiled < 20)
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &(int){0}, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    getitimer(ITIMER_PROF, &left);
    say("interval %ld", (long)left.it_interval.tv_usec);
    setitimer(ITIMER_PROF, &never, NULL);
    handle(SIGPROF, SIG_DFL, 0);
    // A system call that is interrupted and not restarted says so.
    handle(SIGALRM, count, 0);
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return;
    ualarm(20000, 0);
    errno = 0;
    const ssize_t got = read(ends[0], &byte, 1);
    say("read %zd, interrupted %d, alarms %d", got, errno == EINTR, (int)alarmed);
    ualarm(20000, 0);
    struct timespec rest, long_time = {5, 0};
    const int slept = nanosleep(&long_time, &rest);
    say("sleep %d, interrupted %d, alarms %d", slept, errno == EINTR, (int)alarmed);
    handle(SIGALRM, SIG_DFL, 0);
    close(ends[0]);
    close(ends[1]);
    message();
}

static void leave(int number)
{
    siglongjmp(way_out, number);
}

static void fault(const char* what)
{
    volatile int* nowhere = NULL;
    const int number = sigsetjmp(way_out, 1);
    if (number == 0)
        *nowhere = 1;
    say("%s: signal %d", what, number);
}

static void on_alternate_stack(int number)
{
    stack_t stack;
    sigaltstack(NULL, &stack);
    say("on the alternate stack: %d", stack.ss_flags == SS_ONSTACK);
    siglongjmp(way_out, number);
}

static void faults(void)
{
    static char memory[1 << 16];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory}, none = {.ss_flags = SS_DISABLE};
    struct sigaction before;
    sigaction(SIGSEGV, NULL, &before);
    handle(SIGSEGV, leave, 0);
    fault("fault");
    fault("again");
#ifdef OPEN_MPI  // MPICH would keep its lock
    // In a send: the bad buffer is found by MPI, below our wrapper.
    const int number = sigsetjmp(way_out, 1);
    if (number == 0)
        MPI_Pack((void*)8, 1000, MPI_INT, memory, sizeof memory, &(int){0}, MPI_COMM_SELF);
    say("fault in MPI_Pack: signal %d", number);
    if (sigsetjmp(way_out, 1) == 0)
        MPI_Reduce_local((void*)8, memory, 100, MPI_INT, MPI_SUM);
    say("fault in MPI_Reduce_local");
#endif
    sigaltstack(&stack, NULL);
    handle(SIGSEGV, on_alternate_stack, SA_ONSTACK);
    fault("fault, alternate stack");
    static char small[2048];  // enough by <signal.h>, and too small for other handlers than the application's own
    const stack_t tight = {.ss_sp = small, .ss_size = sizeof small};
    say("small alternate stack: %d", sigaltstack(&tight, NULL));
    for (const clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 20;)
        ;
    sigaltstack(&none, NULL);
    sigaction(SIGSEGV, &before, NULL);
    handle(SIGTERM, count, SA_RESTART);
    kill(getpid(), SIGTERM);
    raise(SIGTERM);
    say("terminated %d times", (int)terminated);
    handle(SIGTERM, SIG_DFL, 0);
    message();
}

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ended, values_forgotten;

static void forget(void* value)
{
    int got = rank;
#ifdef OPEN_MPI  // a destructor may still call MPI; MPICH's own has maybe come before
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
#endif
    pthread_mutex_lock(&lock);
    values_forgotten += value != NULL && got == rank;
    pthread_mutex_unlock(&lock);
}

static void* call_mpi(void* argument)
{
    int got = 0;
    pthread_setspecific(key, argument);
    for (int i = 0; i < 100; ++i)
        MPI_Sendrecv(&i, 1, MPI_INT, 0, *(int*)argument, &got, 1, MPI_INT, 0, *(int*)argument, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    pthread_mutex_lock(&lock);
    ++ended;
    pthread_mutex_unlock(&lock);
    return argument;
}

static void* exit_early(void* argument)
{
    pthread_exit(argument);
}

static _Noreturn void* wait_to_be_cancelled(void* argument)
{
    pthread_setspecific(key, argument);
    for (;;)
        pause();
}

static void* little_stack(void* argument)
{
    pthread_attr_t attributes;
    size_t stack;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &stack);
    pthread_attr_destroy(&attributes);
    return (void*)(stack >= *(size_t*)argument ? stack - stack % *(size_t*)argument : 0);
}

static void threads(void)
{
    static int numbers[4] = {11, 12, 13, 14};
    pthread_t ids[4];
    void* result;
    pthread_key_create(&key, forget);
    for (int i = 0; i < 4; ++i)
        say("created %d", pthread_create(&ids[i], NULL, call_mpi, &numbers[i]));
    for (int i = 0; i < 4; ++i) {
        const int code = pthread_join(ids[i], &result);
        say("joined %d, result %d", code, *(int*)result);
    }
    pthread_create(&ids[0], NULL, exit_early, &numbers[2]);
    pthread_join(ids[0], &result);
    say("exited with %d", *(int*)result);
    pthread_create(&ids[0], NULL, wait_to_be_cancelled, &numbers[0]);
    usleep(1000);
    pthread_cancel(ids[0]);
    pthread_join(ids[0], &result);
    say("cancelled %d", result == PTHREAD_CANCELED);
    say("%d ended, %d values forgotten", ended, values_forgotten);
    pthread_key_delete(key);
    for (size_t stack = PTHREAD_STACK_MIN; stack <= 1 << 20; stack *= 8) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, stack);
        const int code = pthread_create(&ids[0], &attributes, little_stack, &stack);
        pthread_attr_destroy(&attributes);
        if (code == 0)
            pthread_join(ids[0], &result);
        say("stack of %zu: %d, has %zu", stack, code, (size_t)result);
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    say("detached: %d", pthread_create(&ids[0], &attributes, exit_early, NULL));
    pthread_attr_setschedpolicy(&attributes, 12345);
    pthread_attr_destroy(&attributes);
    say("no stack: %d", pthread_attr_setstacksize(&attributes, 1));
    message();
}

int main(int argc, char** argv)
{
    static const struct Scenario scenarios[] = {
        SCENARIO(environment),    SCENARIO(itself), SCENARIO(descriptors), SCENARIO(dispositions), SCENARIO(children),
#ifdef OPEN_MPI
        SCENARIO(child_with_mpi),
#endif
        SCENARIO(timers),         SCENARIO(faults), SCENARIO(threads),     SCENARIO(descriptors)};
    int provided = -1;
    arguments = argv;
    descriptors();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    say("thread level %d", provided);
    if (argc > 1 && strcmp(argv[1], "singleton") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        say("a world of its own");
        MPI_Finalize();
        return 3;
    }
    atexit(at_exit);
    run_scenarios(scenarios, sizeof scenarios / sizeof scenarios[0], argc == 2 ? argv[1] : NULL);
    MPI_Finalize();
    say("== after MPI_Finalize");
    environment();
    descriptors();
    dispositions();
    return 17;
}
