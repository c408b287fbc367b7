/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a program that loads MPI at run time and privately, as interpreters do. It is not linked to MPI.
 *   dlopened plugin FILE    a library that is linked to MPI (plugin.c)
 *   dlopened direct FILE    the MPI library itself, called through pointers; also `global`: loaded for everybody,
 *   dlopened pmpi FILE      and `pmpi`: by its PMPI names
 *   dlopened lookups FILE   what dlsym says in other cases */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*Init)(int*, char***);
typedef int (*Finalize)(void);

static void* symbol(void* library, const char* name)
{
    void* address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "%s\n", dlerror());
    }
    return address;
}

/* The program's own, which RTLD_NEXT must pass over, since it is the program that asks. */
int atoi(const char* text)
{
    (void)text;
    return -1;
}

static int look_up(void* library)
{
    int (*next)(const char*) = (int (*)(const char*))dlsym(RTLD_NEXT, "atoi");
    int (*first)(const char*) = (int (*)(const char*))dlsym(RTLD_DEFAULT, "atoi");
    printf("%s, ", next != NULL && next != atoi && next("7") == 7 ? "next from the program" : "wrong next");
    printf("%s, ", first != NULL && first("7") == -1 ? "default" : "wrong default");
    printf("%s, ", dlsym(library, "PMPI_Wtime") != NULL ? "handle" : "no handle");
    printf("%s, ", dlsym(library, "MPI_No_such_function") == NULL ? "missing" : "found");
    const char* error = dlerror();
    printf("%s, ", error != NULL && strstr(error, "MPI_No_such_function") != NULL ? "error" : "no error");
    printf("%s\n", dlerror() == NULL && dlsym(library, "MPI_Barrier") != NULL && dlerror() == NULL ? "none" : "more");
    return 0;
}

int main(int argc, char** argv)
{
    const int scope = argc == 3 && strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    void* library = argc == 3 ? dlopen(argv[2], RTLD_NOW | scope) : NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: dlopened plugin|direct FILE");
        return 1;
    }
    if (strcmp(argv[1], "plugin") == 0) {
        Finalize run = (Finalize)symbol(library, "run");
        return run == NULL ? 1 : run();
    }
    if (strcmp(argv[1], "lookups") == 0) {
        return look_up(library);
    }
    const int by_profiling = strcmp(argv[1], "pmpi") == 0;
    Init init = (Init)symbol(library, by_profiling ? "PMPI_Init" : "MPI_Init");
    Finalize finalize = (Finalize)symbol(library, by_profiling ? "PMPI_Finalize" : "MPI_Finalize");
    if (init == NULL || finalize == NULL || init(NULL, NULL) != 0 || finalize() != 0) {
        return 1;
    }
    puts("direct");
    return 5;
}
