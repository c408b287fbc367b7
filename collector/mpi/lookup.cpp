// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns dlsym(): a program that loads the MPI library itself (Python's ctypes, Julia, plug-ins) looks its functions up
// in that library, past everything that is preloaded. Where it would get the library's own MPI_X, it gets the wrapper
// that a program linked to the library would have got.
//
// All other look-ups are left to the C library in the most exact way: the jump to its dlsym leaves stack and arguments
// as the caller made them, because it takes the return address for the one who asks (RTLD_NEXT, RTLD_DEFAULT). Of names
// that may be ours only real handles are looked at, whose meaning does not depend on the caller.
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"

#include <mpi.h>

#include <atomic>
#include <cstring>

#include <dlfcn.h>

namespace critpath::preload
{

namespace
{

using Lookup = void* (*)(void*, const char*);

std::atomic<Lookup> real_lookup = nullptr;

std::atomic<bool> looked_past_us = false;

struct Wrapped {
    const char* name;
    void* function;  // as the loader resolves it for everybody
};
const Wrapped wrapped[] = {
#define CRITPATH_WRAPPED(name) {#name, reinterpret_cast<void*>(&name)},
#include "wrapped.inc"
#undef CRITPATH_WRAPPED
};

// Not by dlsym, which is this one.
Lookup find_lookup()
{
    Lookup lookup = real_lookup.load(std::memory_order_relaxed);
    if (lookup == nullptr) {
        void* function = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        function = function != nullptr ? function : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        lookup = reinterpret_cast<Lookup>(function);
        real_lookup.store(lookup, std::memory_order_relaxed);
    }
    return lookup;
}

bool is_our_mpi(Lookup lookup, void* handle)
{
    const bool is_open_mpi = lookup(handle, "ompi_mpi_comm_world") != nullptr;
#ifdef OPEN_MPI
    return is_open_mpi;
#else
    return !is_open_mpi;
#endif
}

// A name that another library than MPI defines has another address than its PMPI name.
bool is_of_mpi(Lookup lookup, void* handle, const char* name)
{
    char profiled[128] = "P";
    if (std::strlen(name) + 2 > sizeof profiled) {
        return false;
    }
    std::strcpy(profiled + 1, name);  // NOLINT(clang-analyzer-security.insecureAPI.strcpy): the length is checked
    void* function = lookup(handle, name);
    const bool is = function != nullptr && function == lookup(handle, profiled) && is_our_mpi(lookup, handle);
    dlerror();  // what is not there was asked for by us
    return is;
}

void* find_wrapper(Lookup lookup, void* handle, const char* name)
{
    if (name == nullptr || std::strncmp(name, "MPI_", 4) != 0 || handle == RTLD_DEFAULT || handle == RTLD_NEXT ||
        local.depth > 0 || process.phase.load(std::memory_order_relaxed) == Phase::Abandoned) {
        return nullptr;
    }
    for (const Wrapped& entry : wrapped) {
        if (std::strcmp(name, entry.name) == 0) {
            return is_of_mpi(lookup, handle, name) ? entry.function : nullptr;
        }
    }
    return nullptr;
}

struct Answer {
    void* wrapper;   // or nullptr,
    Lookup instead;  // then it is asked
};

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) Answer critpath_look_up(void* handle, const char* name)
{
    const Lookup lookup = find_lookup();
    if (name != nullptr && local.depth == 0 && std::strncmp(name, "PMPI_Init", 9) == 0) {
        looked_past_us.store(true, std::memory_order_relaxed);
    }
    return {find_wrapper(lookup, handle, name), lookup};
}

bool pmpi_init_was_looked_up()
{
    return looked_past_us.load(std::memory_order_relaxed);
}

}  // namespace critpath::preload

#if defined(__x86_64__)
// Answer comes in rax and rdx.
__asm__(R"(
    .text
    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call critpath_look_up
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rax, %rax
    jne 1f
    jmpq *%rdx
1:  ret
    .cfi_endproc
    .size dlsym, . - dlsym
)");
#endif  // elsewhere such programs are not recorded
