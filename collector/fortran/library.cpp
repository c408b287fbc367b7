// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/fortran/library.hpp"

#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"

#include <atomic>
#include <cstring>

#include <dlfcn.h>

namespace critpath::preload::fortran
{

void* entries[index_count];
Constants constants;
Conversions conversions;

namespace
{

// With "p" before them they are MPI's own entries.
constexpr const char* const names[] = {
#define CRITPATH_FORTRAN(symbol) "p" #symbol,
#include "fortran_symbols.inc"
#undef CRITPATH_FORTRAN
};

// The two bindings come from two libraries.
constexpr const char* const probes[] = {"pmpi_init_", "pmpi_init_f08_"};

// Several threads may be the first.
class Lock
{
public:
    Lock()
    {
        while (taken.exchange(true, std::memory_order_acquire)) {
            __builtin_ia32_pause();
        }
    }
    ~Lock() { taken.store(false, std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    static inline std::atomic<bool> taken = false;
};

// `name` is a common block, under the name that each convention of compilers gives it. `pointer` is MPI's variable with
// the address that it uses itself, `in_f08` the name that it has in another binding.
void resolve_constant(const void* (&addresses)[Constants::names], void* scope, const char* name, const char* pointer,
                      const char* in_f08)
{
    char other[48] = {};
    std::size_t length = std::strlen(name);
    std::memcpy(other, name, length);
    int count = 0;
    addresses[count++] = dlsym(scope, other);
    other[length] = '_';
    addresses[count++] = dlsym(scope, other);
    other[length + 1] = '_';
    addresses[count++] = dlsym(scope, other);
    for (std::size_t i = 0; i < length; ++i) {
        other[i] = other[i] == '_' ? '_' : static_cast<char>(other[i] - 'a' + 'A');
    }
    other[length] = '\0';
    addresses[count++] = dlsym(scope, other);
    void* variable = pointer == nullptr ? nullptr : dlsym(scope, pointer);
    addresses[count++] = variable == nullptr ? nullptr : *static_cast<void**>(variable);
    addresses[count++] = in_f08 == nullptr ? nullptr : dlsym(scope, in_f08);
}

void resolve_constants(void* scope)
{
    resolve_constant(constants.status_ignore, scope, "mpi_fortran_status_ignore", "MPI_F_STATUS_IGNORE",
                     "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
    resolve_constant(constants.statuses_ignore, scope, "mpi_fortran_statuses_ignore", "MPI_F_STATUSES_IGNORE",
                     "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
    resolve_constant(constants.in_place, scope, "mpi_fortran_in_place", nullptr, nullptr);
}

template <class Function>
bool resolve_function(Function*& function, void* scope, const char* name)
{
    function = reinterpret_cast<Function*>(dlsym(scope, name));
    return function != nullptr;
}

bool resolve_conversions(void* scope)
{
    bool all = resolve_function(conversions.status, scope, "PMPI_Status_f2c");
#define CRITPATH_CONVERSION(type, member, symbol) all = resolve_function(conversions.member, scope, symbol) && all;
    CRITPATH_CONVERSIONS(CRITPATH_CONVERSION)
#undef CRITPATH_CONVERSION
    return all;
}

void resolve_entries(void* scope)
{
    for (int i = 0; i < index_count; ++i) {
        void* entry = entries[i] == nullptr ? dlsym(scope, names[i]) : nullptr;
        if (entry != nullptr) {
            __atomic_store_n(&entries[i], entry, __ATOMIC_RELEASE);
        }
    }
}

}  // namespace

void resolve(Where where)
{
    static bool found[std::size(probes)];
    const Lock lock;
    for (std::size_t i = 0; i < std::size(probes); ++i) {
        if (found[i] || (where == Where::Linked && dlsym(RTLD_DEFAULT, probes[i]) == nullptr)) {
            continue;
        }
        const Scope scope = find_scope(probes[i]);
        if (scope.found && resolve_conversions(scope.handle)) {
            found[i] = true;
            resolve_constants(scope.handle);
            resolve_entries(scope.handle);
        }
    }
}

void* look_up(Index index)
{
    resolve(Where::Anywhere);
    void* entry = __atomic_load_n(&entries[index], __ATOMIC_ACQUIRE);
    if (entry != nullptr) {
        return entry;
    }
    // Something that only looks like MPI, such as the stubs of a library that was made to run without it.
    return dlsym(RTLD_NEXT, names[index] + 1);
}

void report_missing(functions::FunctionId function, MPI_Fint* ierror)
{
    say(Text() << "cpcollect: " << functions::info(function).name
               << ": the MPI library does not have this function for Fortran; "
               << "check which MPI library the application uses");
    if (ierror != nullptr) {
        *ierror = MPI_ERR_OTHER;
    }
}

}  // namespace critpath::preload::fortran
