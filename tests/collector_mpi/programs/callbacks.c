/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns programs whose attribute callbacks make and free MPI objects, or communicate: one a mode, named by the first
 * argument. MPI gives the handles of what was freed to what comes next. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static int rank;
static int buffer[4];
static MPI_Comm made;

static int free_comm(MPI_Comm comm, int key, void* value, void* extra)
{
    (void)comm, (void)key, (void)extra;
    return MPI_Comm_free(value);
}

static int free_window(MPI_Comm comm, int key, void* value, void* extra)
{
    (void)comm, (void)key, (void)extra;
    return MPI_Win_free(value);
}

static int close_file(MPI_Comm comm, int key, void* value, void* extra)
{
    (void)comm, (void)key, (void)extra;
    return MPI_File_close(value);
}

static int make_comm(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_Comm_dup(MPI_COMM_SELF, &made);
}

static void comms(void)
{
    MPI_Comm whole[8], before[8], half[8];
    for (int i = 0; i < 8; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &whole[i]);
    }
    for (int i = 0; i < 8; ++i) {
        before[i] = whole[i];
        int key;
        /* Comm_free is followed, the callback in it is not. */
        MPI_Comm owner;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_comm, &key, NULL);
        MPI_Comm_dup(MPI_COMM_SELF, &owner);
        MPI_Comm_set_attr(owner, key, &whole[i]);
        MPI_Comm_free(&owner);
        MPI_Comm_free_keyval(&key);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half[i]);
        MPI_Barrier(half[i]);
        for (int k = 0; k <= i; ++k) {
            fprintf(stderr, half[i] == before[k] ? "same handle\n" : "");
        }
    }
    for (int i = 0; i < 8; ++i) {
        MPI_Barrier(half[i]);
        MPI_Comm_free(&half[i]);
    }
}

static void windows(void)
{
    MPI_Comm half, owner;
    MPI_Win first, second;
    int key;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_window, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &owner);
    MPI_Win_create(buffer, sizeof buffer, sizeof *buffer, MPI_INFO_NULL, MPI_COMM_WORLD, &first);
    const MPI_Win before = first;
    MPI_Comm_set_attr(owner, key, &first);
    MPI_Comm_free(&owner);
    /* One after the other: both halves have one number within Open MPI, by which it names a file. Not recorded. */
    for (int turn = 0; turn < 2; ++turn) {
        if (rank % 2 == turn) {
            MPI_Win_create(buffer, sizeof buffer, sizeof *buffer, MPI_INFO_NULL, half, &second);
            fprintf(stderr, second == before ? "same handle\n" : "");
            MPI_Win_fence(0, second);
            MPI_Win_fence(0, second);
            MPI_Win_free(&second);
        }
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&half);
}

static void files(void)
{
    MPI_Comm owner;
    MPI_File first, second;
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_file, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &owner);
    MPI_File_open(MPI_COMM_WORLD, "first", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &first);
    MPI_Comm_set_attr(owner, key, &first);
    MPI_Comm_free(&owner);
    MPI_File_open(MPI_COMM_SELF, rank == 0 ? "second" : "third", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &second);
    MPI_File_write(second, buffer, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&second);
}

static void made_inside(void)
{
    int key;
    MPI_Comm dup;
    MPI_Comm_create_keyval(make_comm, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Barrier(made);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 5, buffer, 1, MPI_INT, 0, 5, made, MPI_STATUS_IGNORE);
    MPI_Barrier(dup);
    MPI_Comm_free(&made);
    MPI_Comm_free(&dup);
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
}

static int talk(MPI_Comm comm, int key, void* value, void* extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Send(&rank, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Recv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, 1, 7, buffer, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

/* What rank 0 does in a callback, rank 1 does without one. */
static void talking(void)
{
    int key;
    MPI_Comm owner;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, talk, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &owner);
    if (rank == 0) {
        MPI_Comm_set_attr(owner, key, NULL);
    }
    MPI_Comm_free(&owner);
    if (rank == 1) {
        MPI_Recv(buffer, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 8, buffer, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_dup(MPI_COMM_WORLD, &owner);
        MPI_Comm_free(&owner);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free_keyval(&key);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
    const char* mode = argc == 2 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(mode, "comms") == 0) {
        comms();
    } else if (strcmp(mode, "windows") == 0) {
        windows();
    } else if (strcmp(mode, "files") == 0) {
        files();
    } else if (strcmp(mode, "made") == 0) {
        made_inside();
    } else if (strcmp(mode, "talking") == 0) {
        talking();
    }
    MPI_Finalize();
    return 0;
}
