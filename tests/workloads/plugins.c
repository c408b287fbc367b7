// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// plugins turns DIRECTORY: every rank loads libone.so, which works for 300 ms and meets the others, and unloads it;
// then libtwo.so (100 ms) at the same place, so that in the end there is nothing.
//
// plugins unseen DIRECTORY: libone.so works and stays, while libtwo.so comes and goes; then it goes in a way that
// nobody can see who has put a dlclose() before that of the C library.
//
// plugins often DIRECTORY: libone.so works; then libtwo.so comes and goes 3000 times, which takes a quarter of a
// second.
//
// plugins replaced DIRECTORY: libone.so and the program itself work for 300 and 100 ms; then rank 0 replaces the files
// of both by that of libtwo.so.
//
// plugins renamed DIRECTORY: likewise, but their own files get other names before (.old). All ranks have loaded and
// unloaded libtwo.so by then.
//
// All parts are on the path: each rank does the same. Rank 0 prints "same place" if libtwo.so came to be where
// libone.so had been.
#define _GNU_SOURCE
#include "work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WORK(own_work)

typedef void (*Run)(double);

static void fail(const char* what)
{
    fprintf(stderr, "plugins: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static char* path_of(const char* directory, const char* file)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return path;
}

static void* load(const char* directory, const char* file, const char* function, Run* run)
{
    void* library = dlopen(path_of(directory, file), RTLD_NOW | RTLD_LOCAL);
    void* found = library == NULL ? NULL : dlsym(library, function);
    if (found == NULL)
        fail(dlerror());
    memcpy(run, &found, sizeof found);
    return library;
}

static void replace(const char* directory, const char* file, int is_kept)
{
    char path[4096], copy[4104], kept[4104];
    snprintf(path, sizeof path, "%s", file);  // path_of() has room for one
    snprintf(copy, sizeof copy, "%s.new", path);
    snprintf(kept, sizeof kept, "%s.old", path);
    FILE* from = fopen(path_of(directory, "libtwo.so"), "rb");
    FILE* to = fopen(copy, "wb");
    char bytes[4096];
    for (size_t got; from != NULL && to != NULL && (got = fread(bytes, 1, sizeof bytes, from)) > 0;)
        fwrite(bytes, 1, got, to);
    if (from == NULL || to == NULL || fclose(to) != 0 || (is_kept && rename(path, kept) != 0) ||
        rename(copy, path) != 0)
        fail(path);
    fclose(from);
}

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    if (argc != 3)
        fail("usage: plugins turns|unseen|often|replaced|renamed DIRECTORY");
    const char* directory = argv[2];
    Run one, two;
    void* library = load(directory, "libone.so", "one_run", &one);
    one(300);
    if (strcmp(argv[1], "turns") == 0) {
        dlclose(library);
        library = load(directory, "libtwo.so", "two_run", &two);
        two(100);
        dlclose(library);
        if (rank == 0)
            puts(one == two ? "same place" : "another place");
    } else if (strcmp(argv[1], "unseen") == 0) {
        dlclose(load(directory, "libtwo.so", "two_run", &two));
        void* c_library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
        void* found = c_library == NULL ? NULL : dlsym(c_library, "dlclose");
        int (*unload)(void*) = NULL;
        memcpy(&unload, &found, sizeof found);
        if (unload == NULL || unload(library) != 0)
            fail("the C library does not unload");
    } else if (strcmp(argv[1], "often") == 0) {
        for (int i = 0; i < 3000; ++i)
            dlclose(load(directory, "libtwo.so", "two_run", &two));
    } else {
        const int is_kept = strcmp(argv[1], "renamed") == 0;
        if (is_kept)
            dlclose(load(directory, "libtwo.so", "two_run", &two));
        own_work(100);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            replace(directory, argv[0], is_kept);
            replace(directory, path_of(directory, "libone.so"), is_kept);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
