// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// Functions that the compiler has made parts of `main`, and one that it has not, which is called there and by one of
// them. All ranks do the same, 10 times.
//
//     main                         1200 ms
//     +- step, inlined, twice      1000
//     |  +- work_inside             600
//     |  +- smooth, inlined         400
//     |  +- exchange, inlined             MPI_Barrier
//     +- work_inside                200
#include "work.h"

WORK(work_inside)

#define INLINED __attribute__((always_inline)) static inline void

INLINED smooth(double milliseconds)
{
    use_processor(1e-3 * milliseconds);
}

INLINED exchange(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

INLINED step(double milliseconds)
{
    work_inside(3 * milliseconds);
    smooth(2 * milliseconds);
    exchange();
}

int main(int argc, char** argv)
{
    start(&argc, &argv);
    for (int round = 0; round < 10; ++round) {
        step(15);
        work_inside(20);
        step(5);
    }
    MPI_Finalize();
    return 0;
}
