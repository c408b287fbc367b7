// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/counters.hpp"

#include "collector/mpi/papi_library.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/spool_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

#if __has_include(<papi.h>)
#include <papi.h>
#define CRITPATH_HAS_PAPI 1
#else
#define CRITPATH_HAS_PAPI 0
#endif

namespace critpath::preload
{

namespace
{

constexpr int most_counters = spool::max_counters;
constexpr std::size_t name_size = sizeof spool::SpoolHeader::counters[0];

// Cut at their commas: no more than fit, as the launcher sees to.
struct Names {
    char text[most_counters][name_size];
    int count;
};

Names split(const char* list)
{
    Names names = {};
    while (*list != '\0' && names.count < most_counters) {
        const std::size_t length = std::strcspn(list, ",");
        if (length > 0) {
            std::memcpy(names.text[names.count++], list, std::min(length, name_size - 1));
        }
        list += length + (list[length] == ',' ? 1 : 0);
    }
    return names;
}

}  // namespace

#if CRITPATH_HAS_PAPI

namespace
{

struct Papi {
#define CRITPATH_PAPI_FUNCTIONS(X)                                                                                     \
    X(library_init)                                                                                                    \
    X(thread_init)                                                                                                     \
    X(create_eventset)                                                                                                 \
    X(add_named_event)                                                                                                 \
    X(start)                                                                                                           \
    X(stop)                                                                                                            \
    X(read)                                                                                                            \
    X(cleanup_eventset)                                                                                                \
    X(destroy_eventset)                                                                                                \
    X(unregister_thread)                                                                                               \
    X(strerror)
#define CRITPATH_PAPI_POINTER(name) decltype(&PAPI_##name) name;  // NOLINT(bugprone-macro-parentheses)
    CRITPATH_PAPI_FUNCTIONS(CRITPATH_PAPI_POINTER)
#undef CRITPATH_PAPI_POINTER
};
Papi papi = {};

// Why nothing, or not everything, can be counted; the smaller of two is told. Others are error codes of PAPI.
enum Refusal : int {
    counts = PAPI_OK,
    no_library = -1001,
    other_version = -1002,
    used_by_application = -1003,
};

// What was asked for, in order; and what every rank has of it.
Names wanted = {};
Names counted = {};

unsigned long thread_id()
{
    return static_cast<unsigned long>(gettid());
}

int open_library()
{
    // One event set of a component may run in a thread, so ours would keep the application's own from starting.
    for (const char* name : papi_libraries) {
        if (void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
            dlclose(library);
            return used_by_application;
        }
    }
    void* library = nullptr;
    for (std::size_t i = 0; library == nullptr && i < std::size(papi_libraries); ++i) {
        library = dlopen(papi_libraries[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) {
        return no_library;
    }
#define CRITPATH_PAPI_FIND(name)                                                                                       \
    papi.name = reinterpret_cast<decltype(papi.name)>(dlsym(library, "PAPI_" #name));                                  \
    if (papi.name == nullptr) {                                                                                        \
        return no_library;                                                                                             \
    }
    CRITPATH_PAPI_FUNCTIONS(CRITPATH_PAPI_FIND)
#undef CRITPATH_PAPI_FIND
    const int version = papi.library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT) {
        return version > 0 || version == PAPI_EINVAL ? other_version : version;
    }
    return std::min(papi.thread_init(thread_id), int{counts});
}

// These happen in the kernel only, where PAPI does not count unless told to.
bool happens_in_kernel(const char* name)
{
    return std::strstr(name, "CONTEXT") != nullptr || std::strstr(name, "MIGRATION") != nullptr ||
           std::strcmp(name, "perf::CS") == 0;
}

int add_event(int event_set, const char* name)
{
    if (std::strncmp(name, "perf::", 6) == 0 && happens_in_kernel(name)) {
        const Text spelled = Text() << name << ":u=1:k=1";
        return papi.add_named_event(event_set, spelled.c_str());
    }
    return papi.add_named_event(event_set, name);
}

void remove_event_set(int& event_set)
{
    if (event_set != PAPI_NULL) {
        papi.cleanup_eventset(event_set);
        papi.destroy_eventset(&event_set);
    }
}

// Makes and starts the event set of a thread. Returns the first error; then there is none.
int start_events(const Names& names, int& event_set)
{
    event_set = PAPI_NULL;
    int error = papi.create_eventset(&event_set);
    for (int i = 0; error == PAPI_OK && i < names.count; ++i) {
        error = add_event(event_set, names.text[i]);
    }
    if (error == PAPI_OK) {
        error = papi.start(event_set);
    }
    if (error != PAPI_OK) {
        remove_event_set(event_set);
    }
    return error;
}

void stop_events(int& event_set)
{
    long long values[spool::max_counters];
    papi.stop(event_set, values);
    remove_event_set(event_set);
}

int try_events(const Names& names)
{
    int event_set;
    const int error = start_events(names, event_set);
    if (error == PAPI_OK) {
        stop_events(event_set);
    }
    return error;
}

void append(Names& names, const char* name)
{
    std::memcpy(names.text[names.count++], name, name_size);
}

// Events may be known and still not countable, or not together: only starting them tells. The first ones win.
void try_each(int* refusals)
{
    Names together = {};
    for (int i = 0; i < wanted.count; ++i) {
        Names alone = {};
        append(alone, wanted.text[i]);
        refusals[i] = try_events(alone);
        if (refusals[i] == counts) {
            append(together, wanted.text[i]);
            if (together.count > 1 && try_events(together) != PAPI_OK) {
                refusals[i] = PAPI_ECNFLCT;
                --together.count;
            }
        }
    }
}

const char* reason(int refusal)
{
    switch (refusal) {
    case no_library:
        return "the PAPI library cannot be opened; install libpapi";
    case other_version:
        return "the PAPI library is of another version than critpath was built with; rebuild critpath";
    case used_by_application:
        return "the application uses PAPI itself, which cannot count for two; record without --counters";
    case PAPI_ENOEVNT:
    case PAPI_ENOSUPP:
    case PAPI_ECMP:  // of an unknown name on some machines
        return "PAPI does not know this event on this machine; papi_avail and papi_native_avail list what there is";
    case PAPI_ECMP_DISABLED:
        return "PAPI has found nothing on this machine that counts it";
    case PAPI_EPERM:
        return "the kernel does not permit it; lower /proc/sys/kernel/perf_event_paranoid to 2 or less";
    case PAPI_ECNFLCT:
        return "it cannot be counted together with those before it; ask for fewer";
    default:
        return nullptr;
    }
}

void say_refused(const char* name, int refusal)
{
    Text line;
    line << "cpcollect: counter " << name << ": ";
    if (const char* known = reason(refusal)) {
        say(line << known << " (recorded without it)");
    } else {
        const char* text = papi.strerror != nullptr ? papi.strerror(refusal) : nullptr;
        say(line << (text != nullptr ? text : "PAPI refused") << "; try another event (recorded without it)");
    }
}

spool::Refusal refusal_of(int error)
{
    switch (error) {
    case counts:
        return spool::Refusal::None;
    case no_library:
    case other_version:
        return spool::Refusal::NoPapi;
    case used_by_application:
        return spool::Refusal::InUse;
    case PAPI_ENOEVNT:
    case PAPI_ENOSUPP:
    case PAPI_ECMP:
    case PAPI_ECMP_DISABLED:
        return spool::Refusal::NotSupported;
    case PAPI_EPERM:
        return spool::Refusal::NotPermitted;
    case PAPI_ECNFLCT:
        return spool::Refusal::TooMany;
    default:
        return spool::Refusal::Failed;
    }
}

}  // namespace

void negotiate_counters(spool::SpoolHeader& header)
{
    wanted = split(process.settings.counters);
    if (wanted.count == 0) {
        return;
    }
    int mine[most_counters] = {};
    int all[most_counters] = {};
    const int saved_errno = errno;
    const int library = open_library();
    if (library == counts) {
        try_each(mine);
    } else {
        std::fill_n(mine, wanted.count, library);
    }
    errno = saved_errno;
    if (pmpi.Allreduce(mine, all, most_counters, handles.type_int, handles.op_min, process.comm) != MPI_SUCCESS) {
        return;
    }
    for (int i = 0; i < wanted.count; ++i) {
        if (all[i] == counts) {
            std::memcpy(header.counters[counted.count], wanted.text[i], name_size);
            append(counted, wanted.text[i]);
        } else if (process.rank == 0) {
            say_refused(wanted.text[i], all[i]);
        }
    }
    header.counter_count = static_cast<std::uint32_t>(counted.count);
    // Those that only other ranks were refused are missing here without a reason.
    for (int i = 0, last = counted.count; i < wanted.count; ++i) {
        if (mine[i] != counts) {
            std::memcpy(header.counters[last], wanted.text[i], name_size);
            header.counter_refusal[last++] = refusal_of(mine[i]);
        }
    }
}

void Counters::start()
{
    if (counted.count == 0) {
        return;
    }
    const int saved_errno = errno;
    are_on_ = start_events(counted, event_set_) == PAPI_OK;
    errno = saved_errno;
}

void Counters::stop()
{
    if (are_on_) {
        const int saved_errno = errno;
        are_on_ = false;
        stop_events(event_set_);
        papi.unregister_thread();
        errno = saved_errno;
    }
}

bool Counters::read(Values& values) const
{
    const int saved_errno = errno;
    const bool good = papi.read(event_set_, values) == PAPI_OK;
    errno = saved_errno;
    return good;
}

void Counters::write(SpoolWriter& spool)
{
    const auto append = [&](const Values& values, bool at_leave) {
        spool::CountersRecord record{};
        record.kind = spool::RecordKind::Counters;
        record.count = static_cast<std::uint8_t>(counted.count);
        record.at_leave = at_leave ? 1 : 0;
        std::copy_n(values, counted.count, record.value);
        spool.append(record);
    };
    if (has_enter_) {
        append(at_enter_, false);
    }
    if (has_leave_) {
        append(at_leave_, true);
    }
    drop();
}

#else

void negotiate_counters(spool::SpoolHeader& header)
{
    const Names wanted = split(process.settings.counters);
    for (int i = 0; i < wanted.count; ++i) {
        std::memcpy(header.counters[i], wanted.text[i], name_size);
        header.counter_refusal[i] = spool::Refusal::NoPapi;
    }
    if (wanted.count > 0 && process.rank == 0) {
        say(Text() << "cpcollect: --counters: critpath was built without PAPI, nothing is counted; "
                   << "install libpapi-dev and rebuild");
    }
}
void Counters::start() {}
void Counters::stop() {}
bool Counters::read(Values&) const
{
    return false;
}
void Counters::write(SpoolWriter&)
{
    drop();
}

#endif

}  // namespace critpath::preload
