// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/exec.hpp"

#include "collector/mpi/environment.hpp"

#include <cstdarg>
#include <cstddef>

#include <alloca.h>
#include <dlfcn.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

using Execve = decltype(&execve);
using Fexecve = decltype(&fexecve);

Execve next_execve = nullptr, next_execvpe = nullptr;
Fexecve next_fexecve = nullptr;

// Of the stack of who calls.
#define ROOM_FOR(environment) static_cast<char**>(alloca(room_for_successor(environment) * sizeof(char*)))

/// The function of that name that the application would have called; libraries may call it before we are ready.
template <class Function>
Function look_up(Function& known, const char* name)
{
    if (known == nullptr) {
        known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
    }
    return known;
}

int become(const char* path, char* const* arguments, char* const* environment)
{
    return look_up(next_execve, "execve")(path, arguments, for_successor(environment, ROOM_FOR(environment)));
}

int find_and_become(const char* file, char* const* arguments, char* const* environment)
{
    return look_up(next_execvpe, "execvpe")(file, arguments, for_successor(environment, ROOM_FOR(environment)));
}

/// Up to the null pointer, which may be the first one.
std::size_t count_arguments(const char* first, va_list words)
{
    std::size_t size = 0;
    for (const char* argument = first; argument != nullptr; argument = va_arg(words, char*)) {
        ++size;
    }
    return size;
}

void take_arguments(const char* first, va_list words, char** arguments)
{
    *arguments = const_cast<char*>(first);
    while (*arguments != nullptr) {
        *++arguments = va_arg(words, char*);
    }
}

}  // namespace

void find_exec()
{
    look_up(next_execve, "execve");
    look_up(next_execvpe, "execvpe");
    look_up(next_fexecve, "fexecve");
}

}  // namespace critpath::preload

using namespace critpath::preload;

#define INTERPOSED extern "C" __attribute__((visibility("default")))

INTERPOSED int execve(const char* path, char* const* arguments, char* const* environment) noexcept
{
    return become(path, arguments, environment);
}

INTERPOSED int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept
{
    return find_and_become(file, arguments, environment);
}

INTERPOSED int execv(const char* path, char* const* arguments) noexcept
{
    return become(path, arguments, environ);
}

INTERPOSED int execvp(const char* file, char* const* arguments) noexcept
{
    return find_and_become(file, arguments, environ);
}

INTERPOSED int fexecve(int file, char* const* arguments, char* const* environment) noexcept
{
    return look_up(next_fexecve, "fexecve")(file, arguments, for_successor(environment, ROOM_FOR(environment)));
}

// The arguments stand one by one behind the path; as words of an array, for the functions above.
#define ARRAY_OF_ARGUMENTS(first, arguments)                                                                           \
    va_list words;                                                                                                     \
    va_start(words, first);                                                                                            \
    char** arguments = static_cast<char**>(alloca((count_arguments(first, words) + 1) * sizeof(char*)));               \
    va_end(words);                                                                                                     \
    va_start(words, first);                                                                                            \
    take_arguments(first, words, arguments)

INTERPOSED int execl(const char* path, const char* first, ...) noexcept
{
    ARRAY_OF_ARGUMENTS(first, arguments);
    va_end(words);
    return become(path, arguments, environ);
}

INTERPOSED int execlp(const char* file, const char* first, ...) noexcept
{
    ARRAY_OF_ARGUMENTS(first, arguments);
    va_end(words);
    return find_and_become(file, arguments, environ);
}

INTERPOSED int execle(const char* path, const char* first, ...) noexcept
{
    ARRAY_OF_ARGUMENTS(first, arguments);
    char* const* environment = va_arg(words, char* const*);
    va_end(words);
    return become(path, arguments, environment);
}
