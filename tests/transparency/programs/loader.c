// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// loader MODULE   a program without MPI, which loads a module with MPI for itself alone, as interpreters do.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv)
{
    void* module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(int, char**) = module == NULL ? NULL : (int (*)(int, char**))dlsym(module, "run");
    if (run == NULL) {
        puts(argc > 1 ? dlerror() : "no module");
        return 1;
    }
    return run(argc, argv);
}
