// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `helper sleeps|waits|shortly|joins|briefly`: 1 rank with a second thread, not of OpenMP. In a round, the first one
// does 40 ms without a processor, and then works 20 ms:
//
//   sleeps  it sleeps, and the second one works meanwhile on something else, without a pause
//   waits   the second one works for it, which then waits for the next piece
//   shortly likewise; in 20 rounds for each of the others, of a 20th
//   joins   as `waits`, and then ends
//   briefly likewise; in 20 rounds for each of the others, so that a thread ends before it is sampled, mostly
//
// Path: work_after 20 ms, and 40 ms of [blocked] in `sleeps`, of work_late otherwise.
#include "work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

WORK(work_late)
WORK(work_beside)
WORK(work_after)

enum { rounds = 8, parts = 20, nothing = 0, piece = 1, end = 2 };

static atomic_int is_over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int to_do = nothing;
static double late = 40, after = 20;  // ms

static void* beside(void* unused)
{
    while (!is_over)
        work_beside(5);
    return unused;
}

static void* one_piece(void* unused)
{
    work_late(late);
    return unused;
}

static void set(int what)
{
    pthread_mutex_lock(&mutex);
    to_do = what;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static int wait_while(int what)
{
    pthread_mutex_lock(&mutex);
    while (to_do == what)
        pthread_cond_wait(&changed, &mutex);
    const int now = to_do;
    pthread_mutex_unlock(&mutex);
    return now;
}

static void* pieces(void* unused)
{
    while (wait_while(nothing) == piece) {
        work_late(late);
        set(nothing);
    }
    return unused;
}

int main(int argc, char** argv)
{
    start(&argc, &argv);
    const char* how = argv[1];
    const int shortly = strcmp(how, "shortly") == 0, is_divided = shortly || strcmp(how, "briefly") == 0;
    const int sleeps = strcmp(how, "sleeps") == 0, waits = shortly || strcmp(how, "waits") == 0;
    if (is_divided) {
        late /= parts;
        after /= parts;
    }
    pthread_t thread;
    if (sleeps || waits)
        pthread_create(&thread, NULL, sleeps ? beside : pieces, NULL);
    for (int round = 0; round < (is_divided ? parts : 1) * rounds; ++round) {
        if (sleeps) {
            nanosleep(&(struct timespec){0, 40000000}, NULL);
        } else if (waits) {
            set(piece);
            wait_while(piece);
        } else {
            pthread_create(&thread, NULL, one_piece, NULL);
            pthread_join(thread, NULL);
        }
        work_after(after);
    }
    is_over = 1;
    if (waits)
        set(end);
    if (sleeps || waits)
        pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
