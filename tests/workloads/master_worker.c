// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. A master hands tasks to two workers and receives the results with MPI_ANY_SOURCE.
//
// A batch: the master prepares for 50 ms; one worker gets a task of 150 ms, the other one four tasks of 10 ms, one at a
// time; then the master collects for 30 ms. The worker with the long task changes from batch to batch: 1, 2, 1, ...
// Path: rank 0 for 50 ms, the worker with the long task for 150 ms, rank 0 for 30 ms (which joins the 50 ms of the next
// batch). work_short is not on it.
#include "work.h"

WORK(work_prepare)
WORK(work_long)
WORK(work_short)
WORK(work_collect)

enum { batches = 5, short_tasks = 4, task_long = 1, task_short = 2, task_stop = 3 };

static void send_task(int task, int worker)
{
    MPI_Send(&task, 1, MPI_INT, worker, tag_data, MPI_COMM_WORLD);
}

static void master(void)
{
    for (int batch = 0; batch < batches; ++batch) {
        work_prepare(50);
        const int slow = 1 + batch % 2;
        const int quick = 3 - slow;
        send_task(task_long, slow);
        send_task(task_short, quick);
        int left = short_tasks - 1;
        for (int results = 0; results < 1 + short_tasks; ++results) {
            const int worker = receive_token(MPI_ANY_SOURCE, tag_reply);
            if (worker == quick && left > 0) {
                send_task(task_short, quick);
                --left;
            }
        }
        work_collect(30);
    }
    for (int worker = 1; worker <= 2; ++worker)
        send_task(task_stop, worker);
}

static void worker(void)
{
    for (;;) {
        int task;
        MPI_Recv(&task, 1, MPI_INT, 0, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task == task_stop)
            return;
        if (task == task_long)
            work_long(150);
        else
            work_short(10);
        send_token(0, tag_reply);
    }
}

int main(int argc, char** argv)
{
    if (start(&argc, &argv) == 0)
        master();
    else
        worker();
    MPI_Finalize();
    return 0;
}
