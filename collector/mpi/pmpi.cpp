// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/pmpi.hpp"

#include "collector/mpi/process.hpp"

#include <cstring>

#include <dlfcn.h>
#include <link.h>

// From the linker, where this library begins and ends in memory.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];  // NOLINT(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("hidden"))) const char _end[];          // NOLINT(bugprone-reserved-identifier)

namespace critpath::preload
{

namespace
{

constexpr const char* const names[] = {
#define CRITPATH_PMPI(name, function) #function,
#include "pmpi.inc"
#undef CRITPATH_PMPI
};

enum Index : int {
#define CRITPATH_PMPI(name, function) index_##name,
#include "pmpi.inc"
#undef CRITPATH_PMPI
};

int report_missing(int index)
{
    say(Text() << "cpcollect: " << names[index] << ": the MPI library does not have this function; "
               << "check which MPI library the application uses");
    return MPI_ERR_OTHER;
}

// What a pointer of Pmpi leads to before its function is known, and where it stays unknown.
template <class Function>
struct Stub;

template <class Result, class... Arguments>
struct Stub<Result (*)(Arguments...)> {
    using Function = Result (*)(Arguments...);

    template <Pmpi& table, Function Pmpi::*member, int index>
    static Result first_call(Arguments... arguments)
    {
        resolve_mpi();
        const Function function = table.*member;
        return function == &first_call<table, member, index> ? missing<index>(arguments...) : function(arguments...);
    }

    template <int index>
    static Result missing(Arguments... /*unused*/)
    {
        return report_missing(index);
    }
};

// MPI_Pcontrol: what follows the level is not passed on.
template <class Result, class Level>
struct Stub<Result (*)(Level, ...)> {
    using Function = Result (*)(Level, ...);

    template <Pmpi& table, Function Pmpi::*member, int index>
    static Result first_call(Level level, ...)
    {
        resolve_mpi();
        const Function function = table.*member;
        return function == &first_call<table, member, index> ? missing<index>(level) : function(level);
    }

    template <int index>
    static Result missing(Level /*unused*/, ...)
    {
        return report_missing(index);
    }
};

constexpr int max_objects = 4096;
struct LoadedObjects {
    const char* name[max_objects];
    int count;
};
LoadedObjects loaded_objects;

int remember_object(dl_phdr_info* info, size_t /*size*/, void* /*data*/)
{
    if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/' && loaded_objects.count < max_objects) {
        loaded_objects.name[loaded_objects.count++] = info->dlpi_name;
    }
    return 0;
}

// By the bounds of this library: dladdr would go through all symbols of a library each time.
bool is_own(const void* address)
{
    return address >= __ehdr_start && address < _end;
}

// Of the libraries that are loaded, also privately, the one that has `probe`. It stays loaded.
Scope find_library(const char* probe)
{
    // Not inside dl_iterate_phdr, which holds a lock of the loader.
    loaded_objects.count = 0;
    dl_iterate_phdr(remember_object, nullptr);
    for (int i = 0; i < loaded_objects.count; ++i) {
        void* handle = dlopen(loaded_objects.name[i], RTLD_NOLOAD | RTLD_LAZY);
        void* address = handle != nullptr ? dlsym(handle, probe) : nullptr;
        if (address != nullptr && !is_own(address)) {
            return {handle, true};  // kept open: the pointers must stay good
        }
        if (handle != nullptr) {
            dlclose(handle);
        }
    }
    dlerror();
    return {nullptr, false};
}

enum class Resolution { NotYet, Done, Failed };
Resolution resolution = Resolution::NotYet;

template <class Handle>
bool resolve_handle(const Scope& scope, Handle& handle, const char* symbol)
{
    void* address = dlsym(scope.handle, symbol);
    if (address == nullptr) {
        say(Text() << "cpcollect: the MPI library has no symbol " << symbol
                   << ", nothing will be recorded; rebuild critpath with the MPI library that the application uses");
        return false;
    }
    handle = static_cast<Handle>(address);
    return true;
}

bool resolve_handles(const Scope& scope)
{
    bool all = true;
#ifdef OPEN_MPI
#define CRITPATH_HANDLE(type, member, constant, symbol) all = all && resolve_handle(scope, handles.member, #symbol);
#else
#define CRITPATH_HANDLE(type, member, constant, symbol) handles.member = constant;
#endif
    CRITPATH_HANDLES(CRITPATH_HANDLE)
#undef CRITPATH_HANDLE
    handles.shared_request = key_of(dlsym(scope.handle, "ompi_request_empty"));
    return all;
}

bool is_foreign(void* handle)
{
    const bool is_open_mpi = dlsym(handle, "ompi_mpi_comm_world") != nullptr;
#ifdef OPEN_MPI
    return !is_open_mpi;
#else
    return is_open_mpi;
#endif
}

// `name` as somebody else defines it: behind this library in the order of the loader, or in one library.
void* theirs(const Scope& scope, const char* name)
{
    void* address = dlsym(scope.handle == RTLD_DEFAULT ? RTLD_NEXT : scope.handle, name);
    return address != nullptr && !is_own(address) ? address : nullptr;
}

// A library that offers MPI functions under no other name: one that was made to run programs without MPI, mostly.
Scope find_without_pmpi()
{
    const Scope everywhere = {RTLD_DEFAULT, theirs({RTLD_DEFAULT, true}, "MPI_Init") != nullptr};
    if (everywhere.found) {
        return everywhere;
    }
    return find_library("MPI_Init");
}

// Each says that the MPI library lacks it.
const Pmpi missing_mpi = {
#define CRITPATH_PMPI(name, function) &Stub<decltype(&function)>::missing<index_##name>,
#include "pmpi.inc"
#undef CRITPATH_PMPI
};

struct Found {
    void* own;   // of the MPI library
    void* next;  // what the application would have called
};

// `name`: with the P.
__attribute__((noinline)) Found find_function(const Scope& scope, const char* name)
{
    void* own = dlsym(scope.handle, name);
    own = own != nullptr ? own : theirs(scope, name + 1);
    void* next = theirs({RTLD_DEFAULT, true}, name + 1);
    return {own, next != nullptr ? next : own};
}

void resolve_functions(const Scope& scope)
{
    Found found{};
#define CRITPATH_PMPI(name, function)                                                                                  \
    found = find_function(scope, #function);                                                                           \
    pmpi.name = found.own != nullptr ? reinterpret_cast<decltype(pmpi.name)>(found.own) : missing_mpi.name;            \
    next_mpi.name = found.next != nullptr ? reinterpret_cast<decltype(pmpi.name)>(found.next) : pmpi.name;
#include "pmpi.inc"
#undef CRITPATH_PMPI
}

}  // namespace

Pmpi pmpi = {
#define CRITPATH_PMPI(name, function) &Stub<decltype(&function)>::first_call<pmpi, &Pmpi::name, index_##name>,
#include "pmpi.inc"
#undef CRITPATH_PMPI
};

Pmpi next_mpi = {
#define CRITPATH_PMPI(name, function) &Stub<decltype(&function)>::first_call<next_mpi, &Pmpi::name, index_##name>,
#include "pmpi.inc"
#undef CRITPATH_PMPI
};

Handles handles;

Scope find_scope(const char* probe)
{
    return dlsym(RTLD_DEFAULT, probe) != nullptr ? Scope{RTLD_DEFAULT, true} : find_library(probe);
}

bool mpi_is_loaded()
{
    return dlsym(RTLD_DEFAULT, "PMPI_Init") != nullptr;
}

bool loaded_mpi_is_foreign()
{
    return mpi_is_loaded() && is_foreign(RTLD_DEFAULT);
}

void say_foreign()
{
#ifdef OPEN_MPI
    constexpr const char* ours = "Open MPI";
#else
    constexpr const char* ours = "MPICH";
#endif
    say(Text() << "cpcollect: the MPI library of the application is not " << ours << ", which critpath was built with, "
               << "so nothing will be recorded; build critpath with the library that the application uses");
}

bool resolve_mpi()
{
    if (resolution != Resolution::NotYet) {
        return resolution == Resolution::Done;
    }
    resolution = Resolution::Failed;
    const Scope scope = find_scope("PMPI_Init");
    if (!scope.found) {
        const Scope other = find_without_pmpi();
        if (other.found) {
            resolve_functions(other);
            say(Text() << "cpcollect: the MPI library of the application has no PMPI functions, so nothing will be "
                       << "recorded; link the application to a library that is a whole MPI");
        } else {
            say(Text() << "cpcollect: an MPI function was called, but no MPI library is loaded; "
                       << "link the application to its MPI library");
        }
        return false;
    }
    if (is_foreign(scope.handle)) {
        say_foreign();
#ifdef OPEN_MPI
        resolve_functions(scope);  // numbers as handles pass through where pointers would
#else
        pmpi = next_mpi = missing_mpi;  // handles of Open MPI do not even fit into the arguments of our wrappers
#endif
        return false;
    }
    resolve_functions(scope);
    if (resolve_handles(scope)) {
        resolution = Resolution::Done;
    }
    return resolution == Resolution::Done;
}

}  // namespace critpath::preload
