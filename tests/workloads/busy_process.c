// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An application that does for itself what a recorder could disturb: it handles SIGPROF and SIGIO, starts hundreds of
// short threads, forks, starts other programs, and allows itself few descriptors. Says what came of it.
#define _GNU_SOURCE
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int profiling_signals, io_signals, threads_done;

static void on_signal(int number)
{
    ++*(number == SIGPROF ? &profiling_signals : &io_signals);
}

static void handle(int number)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(number, &action, NULL);
}

static void profile_itself(void)
{
    handle(SIGPROF);
    const struct itimerval each_2_ms = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &each_2_ms, NULL);
    while (profiling_signals < 10)
        use_processor(0.001);
    setitimer(ITIMER_PROF, &never, NULL);
}

// One SIGIO a byte, because each is waited for.
static void be_told_of_input(void)
{
    int ends[2];
    handle(SIGIO);
    if (pipe(ends) != 0)
        exit(1);
    fcntl(ends[0], F_SETOWN, getpid());
    fcntl(ends[0], F_SETFL, O_ASYNC);
    for (int i = 0; i < 5; ++i) {
        char byte = 'x';
        const int before = io_signals;
        if (write(ends[1], &byte, 1) != 1)
            exit(1);
        while (io_signals == before)
            usleep(100);
        if (read(ends[0], &byte, 1) != 1)
            exit(1);
    }
    close(ends[0]);
    close(ends[1]);
}

static void* run(void* unused)
{
    ++threads_done;
    return unused;
}

static void run_threads(void)
{
    for (int round = 0; round < 30; ++round) {
        pthread_t threads[10];
        for (int i = 0; i < 10; ++i)
            if (pthread_create(&threads[i], NULL, run, NULL) != 0)
                exit(1);
        for (int i = 0; i < 10; ++i)
            pthread_join(threads[i], NULL);
    }
}

static int code_of_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
        _exit(1);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// What is left for the application: as many files as fit below a limit of its own making.
static int files_that_fit(void)
{
    enum { more = 60 };
    int files[64], count = 0;
    const int next = open("/dev/null", O_RDONLY);
    const struct rlimit limit = {(rlim_t)next + more, 4096};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        exit(1);
    while (count < 64 && (files[count] = open("/dev/null", O_RDONLY)) >= 0)
        ++count;
    for (int i = 0; i < count; ++i)
        close(files[i]);
    close(next);
    return count;
}

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    profile_itself();
    be_told_of_input();
    MPI_Barrier(MPI_COMM_WORLD);
    run_threads();
    const int child = code_of_child();
    const int programs = WEXITSTATUS(system("exit 9"));
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d: profiled %d, told of input %d times, %d threads, child %d, program %d, more files: %s\n", rank,
           profiling_signals >= 10, io_signals, threads_done, child, programs, files_that_fit() > 0 ? "yes" : "no");
    MPI_Finalize();
    return 0;
}
