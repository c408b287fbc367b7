// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// successor WAY: before MPI_Init, it becomes itself once more, by that function of exec(3), and says what it was given.
// Behind "chosen" in its place, it chooses what the next one loads.
#define _GNU_SOURCE
#include <mpi.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* self = "/proc/self/exe";

static void become(char* name, char* way)
{
    char* arguments[] = {name, way, "again", NULL};
    if (strcmp(way, "execl") == 0)
        execl(self, name, way, "again", (char*)NULL);
    else if (strcmp(way, "execle") == 0)
        execle(self, name, way, "again", (char*)NULL, environ);
    else if (strcmp(way, "execlp") == 0)
        execlp(name, name, way, "again", (char*)NULL);
    else if (strcmp(way, "execv") == 0)
        execv(self, arguments);
    else if (strcmp(way, "execvp") == 0)
        execvp(name, arguments);
    else if (strcmp(way, "execvpe") == 0)
        execvpe(name, arguments, environ);
    else if (strcmp(way, "fexecve") == 0)
        fexecve(open(self, O_RDONLY), arguments, environ);
    else
        execve(self, arguments, environ);
}

/// A child sees what the application was given.
static void show_child(void)
{
    char* volatile nothing = NULL;
    execl("/no/such/program", nothing, (char*)NULL);
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "env | grep -c -e ^CRITPATH_ -e ^LD_PRELOAD=; exit 7", (char*)NULL);
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: exit %d\n", WEXITSTATUS(status));
}

int main(int argc, char** argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 3) {
        show_child();
        if (strcmp(argv[1], "chosen") == 0)
            setenv("LD_PRELOAD", "libm.so.6", 1);
        become(argv[0], argv[1]);
        perror(argv[1]);
        return 9;
    }
    for (char** variable = environ; *variable != NULL; ++variable)
        if (strncmp(*variable, "CRITPATH_", 9) == 0 || strncmp(*variable, "LD_PRELOAD=", 11) == 0)
            puts(*variable);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%s %s\n", argv[1], argv[2]);
    MPI_Finalize();
    return 3;
}
