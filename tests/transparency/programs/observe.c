// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// observe DIRECTORY COMMAND...   runs a rank, whose stdout and stderr go to <rank>.out and <rank>.err of DIRECTORY, and
// writes "exit CODE" or "signal NUMBER" to <rank>.end; when all ranks have ended, it ends in the same way. So nothing
// of a rank passes through the launcher, which mixes the ranks, and which ends all when one has failed.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* first_of(const char* one, const char* other, const char* otherwise)
{
    return getenv(one) != NULL ? getenv(one) : getenv(other) != NULL ? getenv(other) : otherwise;
}

static const char* rank_of_this(void)
{
    return first_of("OMPI_COMM_WORLD_RANK", "PMI_RANK", "0");
}

static void wait_for_all(const char* directory)
{
    const int size = atoi(first_of("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "1"));
    const int patience = 5000;  // ms
    char path[PATH_MAX];
    for (int rank = 0, waited = 0; rank < size && waited < patience;) {
        snprintf(path, sizeof path, "%s/%d.end", directory, rank);
        if (access(path, F_OK) == 0) {
            ++rank;
        } else {
            usleep(1000);
            ++waited;
        }
    }
}

static void redirect(const char* directory, const char* what, int descriptor)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.%s", directory, rank_of_this(), what);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    if (file < 0 || dup2(file, descriptor) < 0) {
        perror(path);
        exit(99);
    }
    close(file);
}

static void write_end(const char* directory, int status)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.end", directory, rank_of_this());
    FILE* file = fopen(path, "w");
    if (file == NULL)
        exit(99);
    if (WIFSIGNALED(status))
        fprintf(file, "signal %d\n", WTERMSIG(status));
    else
        fprintf(file, "exit %d\n", WEXITSTATUS(status));
    fclose(file);
}

int main(int argc, char** argv)
{
    if (argc < 3)
        return 99;
    // The launcher may end all ranks by a signal to the process group: the child's end is still to be written.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t child = fork();
    if (child == 0) {
        redirect(argv[1], "out", STDOUT_FILENO);
        redirect(argv[1], "err", STDERR_FILENO);
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(98);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    write_end(argv[1], status);
    wait_for_all(argv[1]);
    if (WIFSIGNALED(status)) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}
