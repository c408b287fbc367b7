// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/pmpi.hpp"

#include "collector/mpi/process.hpp"

#include <cstring>

#include <dlfcn.h>
#include <link.h>

namespace critpath::preload
{

namespace
{

constexpr const char* const names[] = {
#define CRITPATH_PMPI(name) "PMPI_" #name,
#include "pmpi.inc"
#undef CRITPATH_PMPI
};

enum Index : int {
#define CRITPATH_PMPI(name) index_##name,
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

    template <Function Pmpi::*member, int index>
    static Result first_call(Arguments... arguments)
    {
        resolve_mpi();
        const Function function = pmpi.*member;
        return function == &first_call<member, index> ? missing<index>(arguments...) : function(arguments...);
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

    template <Function Pmpi::*member, int index>
    static Result first_call(Level level, ...)
    {
        resolve_mpi();
        const Function function = pmpi.*member;
        return function == &first_call<member, index> ? missing<index>(level) : function(level);
    }

    template <int index>
    static Result missing(Level /*unused*/, ...)
    {
        return report_missing(index);
    }
};

constexpr int max_objects = 4096;
struct Objects {
    const char* name[max_objects];
    int count;
};
Objects objects;

int remember_object(dl_phdr_info* info, size_t /*size*/, void* /*data*/)
{
    if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/' && objects.count < max_objects) {
        objects.name[objects.count++] = info->dlpi_name;
    }
    return 0;
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

}  // namespace

Pmpi pmpi = {
#define CRITPATH_PMPI(name) &Stub<decltype(&PMPI_##name)>::first_call<&Pmpi::name, index_##name>,
#include "pmpi.inc"
#undef CRITPATH_PMPI
};

Handles handles;

Scope find_scope(const char* probe)
{
    if (dlsym(RTLD_DEFAULT, probe) != nullptr) {
        return {RTLD_DEFAULT, true};
    }
    // Not inside dl_iterate_phdr, which holds a lock of the loader.
    objects.count = 0;
    dl_iterate_phdr(remember_object, nullptr);
    for (int i = 0; i < objects.count; ++i) {
        void* handle = dlopen(objects.name[i], RTLD_NOLOAD | RTLD_LAZY);
        if (handle != nullptr && dlsym(handle, probe) != nullptr) {
            return {handle, true};  // kept open: the pointers must stay good
        }
        if (handle != nullptr) {
            dlclose(handle);
        }
    }
    dlerror();
    return {nullptr, false};
}

bool mpi_is_loaded()
{
    return dlsym(RTLD_DEFAULT, "PMPI_Init") != nullptr;
}

bool resolve_mpi()
{
    if (resolution != Resolution::NotYet) {
        return resolution == Resolution::Done;
    }
    resolution = Resolution::Failed;
    const Scope scope = find_scope("PMPI_Init");
    if (!scope.found) {
        say(Text() << "cpcollect: an MPI function was called, but no MPI library is loaded; "
                   << "link the application to its MPI library");
        return false;
    }
    void* address = nullptr;
#define CRITPATH_PMPI(name)                                                                                            \
    address = dlsym(scope.handle, "PMPI_" #name);                                                                      \
    pmpi.name = address != nullptr ? reinterpret_cast<decltype(pmpi.name)>(address)                                    \
                                   : &Stub<decltype(&PMPI_##name)>::missing<index_##name>;
#include "pmpi.inc"
#undef CRITPATH_PMPI
    if (resolve_handles(scope)) {
        resolution = Resolution::Done;
    }
    return resolution == Resolution::Done;
}

}  // namespace critpath::preload
