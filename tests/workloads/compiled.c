// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks. Rank 0 works in code that it has made itself and tells perf of, as just-in-time compilers do; rank 1 waits.
//
// A round: rank 0 is 100 ms in the code called `script::loop (made)` and sends. Path: rank 0.
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Counts its argument down to zero.
#if defined __x86_64__
static const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};  // dec rdi; jnz -5; ret
#elif defined __aarch64__
static const unsigned int code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};  // subs x0, x0, 1; b.ne -4; ret
#else
#error write it down for this processor
#endif

typedef void (*Loop)(long);

static Loop compile(const char* map)
{
    void* memory = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(1);
    memcpy(memory, code, sizeof code);
    __builtin___clear_cache((char*)memory, (char*)memory + sizeof code);
    mprotect(memory, sizeof code, PROT_READ | PROT_EXEC);
    FILE* file = fopen(map, "w");
    if (file == NULL)
        exit(1);
    fprintf(file, "%lx %zx script::loop (made)\n", (unsigned long)memory, sizeof code);
    fclose(file);
    Loop loop;
    memcpy(&loop, &memory, sizeof loop);
    return loop;
}

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    char map[64];
    snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
    const Loop loop = compile(map);
    for (int round = 0; round < 4; ++round) {
        if (rank == 0) {
            const double end = thread_seconds() + 0.1;
            while (thread_seconds() < end)
                loop(1000000);
            send_token(1, tag_data);
        } else {
            receive_token(0, tag_data);
        }
    }
    MPI_Finalize();
    unlink(map);
    return 0;
}
