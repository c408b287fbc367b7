// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/counters.hpp"

#include "collector/mpi/papi_library.hpp"
#include "formats/support/error.hpp"

#include <fmt/core.h>

#include <sstream>
#include <string_view>

#include <dlfcn.h>

#if __has_include(<papi.h>)
#include <papi.h>
#endif

namespace critpath::launcher
{

#ifdef PAPI_VER_CURRENT

namespace
{

struct Papi {
    decltype(&PAPI_library_init) library_init = nullptr;
    decltype(&PAPI_event_name_to_code) event_name_to_code = nullptr;
    decltype(&PAPI_query_event) query_event = nullptr;
    decltype(&PAPI_num_components) num_components = nullptr;
    decltype(&PAPI_get_component_info) get_component_info = nullptr;
};

/// As the preload library will open it; stays open.
Papi open_papi()
{
    Papi papi;
    for (const char* name : papi_libraries) {
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
            papi.library_init = reinterpret_cast<decltype(papi.library_init)>(dlsym(library, "PAPI_library_init"));
            papi.event_name_to_code =
                reinterpret_cast<decltype(papi.event_name_to_code)>(dlsym(library, "PAPI_event_name_to_code"));
            papi.query_event = reinterpret_cast<decltype(papi.query_event)>(dlsym(library, "PAPI_query_event"));
            papi.num_components =
                reinterpret_cast<decltype(papi.num_components)>(dlsym(library, "PAPI_num_components"));
            papi.get_component_info =
                reinterpret_cast<decltype(papi.get_component_info)>(dlsym(library, "PAPI_get_component_info"));
            break;
        }
    }
    return papi;
}

/// Why it knows no event of the processor or the kernel, which is so where the processor is newer than the library; or
/// nothing.
std::string why_so_few(const Papi& papi)
{
    if (papi.num_components == nullptr || papi.get_component_info == nullptr) {
        return "";
    }
    for (int i = 0; i < papi.num_components(); ++i) {
        const PAPI_component_info_t* component = papi.get_component_info(i);
        if (component != nullptr && std::string_view(component->name) == "perf_event" && component->disabled != 0) {
            return fmt::format(" (its component perf_event is disabled: {})", component->disabled_reason);
        }
    }
    return "";
}

}  // namespace

std::vector<std::string> unavailable_counters(const std::string& list)
{
    std::vector<std::string> unavailable;
    if (list.empty()) {
        return unavailable;
    }
    const Papi papi = open_papi();
    if (papi.library_init == nullptr || papi.event_name_to_code == nullptr || papi.query_event == nullptr) {
        fail(ExitCode::Failed, "--counters: the PAPI library cannot be opened; install libpapi");
    }
    if (papi.library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) {
        fail(ExitCode::Failed, "--counters: the PAPI library is of another version; rebuild critpath with it");
    }
    std::istringstream names(list);
    for (std::string name; std::getline(names, name, ',');) {
        int code = 0;
        if (papi.event_name_to_code(name.c_str(), &code) != PAPI_OK) {
            fail(ExitCode::Usage, "--counters: {}: PAPI knows no such event{}; see papi_avail and papi_native_avail",
                 name, why_so_few(papi));
        }
        if (papi.query_event(code) != PAPI_OK) {
            unavailable.push_back(name);
        }
    }
    return unavailable;
}

#else

std::vector<std::string> unavailable_counters(const std::string& list)
{
    if (!list.empty()) {
        fail(ExitCode::Failed, "--counters: critpath was built without PAPI; install libpapi-dev and rebuild");
    }
    return {};
}

#endif

}  // namespace critpath::launcher
