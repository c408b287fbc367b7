// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/environment.hpp"

#include "collector/mpi/process.hpp"

#include <cstring>
#include <iterator>

#include <sys/types.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

// What the launcher sets; other variables with this prefix are the user's own.
constexpr const char* own_variables[] = {
    "CRITPATH_TRACE=",    "CRITPATH_TRACE_OWNER=",   "CRITPATH_FREQUENCY=",       "CRITPATH_BUFFER_KB=",
    "CRITPATH_QUIET=",    "CRITPATH_LAUNCHER_RANK=", "CRITPATH_ARCHIVE_LIBRARY=", "CRITPATH_ORIGINAL_LD_PRELOAD=",
    "CRITPATH_CALLPATH=", "CRITPATH_CALL_GRAPH=",    "CRITPATH_COUNTERS=",        "CRITPATH_GROUPS=",
    "CRITPATH_RANGE=",    "CRITPATH_CLOCK_PERIOD=",  "CRITPATH_PATIENCE=",        "CRITPATH_TIMER=",
    "CRITPATH_SAMPLER=",  "CRITPATH_EVENTS="};
constexpr char original_preload[] = "CRITPATH_ORIGINAL_LD_PRELOAD=";
constexpr char preload[] = "LD_PRELOAD=";

char* removed[std::size(own_variables) + 1];  // and LD_PRELOAD
std::size_t removed_size = 0;
pid_t removed_in = 0;  // this process

bool begins_with(const char* text, const char* beginning)
{
    return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

bool is_own(const char* variable)
{
    for (const char* own : own_variables) {
        if (begins_with(variable, own)) {
            return true;
        }
    }
    return false;
}

void remove(char* variable)
{
    removed_in = process.pid;
    if (removed_size < std::size(removed)) {
        removed[removed_size++] = variable;
    }
}

std::size_t count(char* const* variables)
{
    std::size_t size = 0;
    while (variables != nullptr && variables[size] != nullptr) {
        ++size;
    }
    return size;
}

/// What begins like that, from there on; nullptr: there is none.
const char* value_behind(const char* beginning, char* const* variables, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i) {
        if (begins_with(variables[i], beginning)) {
            return variables[i] + std::strlen(beginning);
        }
    }
    return nullptr;
}

bool is_recorded(char* const* environment)
{
    if (removed_size == 0 || process.phase != Phase::Loaded || getpid() != removed_in) {
        return false;
    }
    const char* chosen = value_behind(preload, environment, count(environment));
    const char* original = value_behind(original_preload, removed, removed_size);
    return chosen == nullptr || (original != nullptr && std::strcmp(chosen, original) == 0);
}

}  // namespace

void restore_environment()
{
    if (removed_size > 0) {
        return;
    }
    // CRITPATH_ORIGINAL_LD_PRELOAD=x ends in LD_PRELOAD=x, which takes the place of our LD_PRELOAD: nothing is
    // allocated.
    char* original = nullptr;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        if (begins_with(*variable, original_preload)) {
            original = *variable + std::strlen(original_preload) - std::strlen(preload);
        }
    }
    char** kept = environ;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        if (is_own(*variable)) {
            remove(*variable);
            continue;
        }
        if (begins_with(*variable, preload)) {
            remove(*variable);
            if (original != nullptr) {
                *kept++ = original;
            }
            continue;
        }
        *kept++ = *variable;
    }
    if (kept != nullptr) {
        *kept = nullptr;
    }
}

std::size_t room_for_successor(char* const* environment)
{
    return count(environment) + std::size(removed) + 1;
}

char* const* for_successor(char* const* environment, char** room)
{
    if (!is_recorded(environment)) {
        return environment;
    }
    char** end = room;
    for (std::size_t i = 0; i < count(environment); ++i) {
        if (!begins_with(environment[i], preload)) {
            *end++ = environment[i];
        }
    }
    for (std::size_t i = 0; i < removed_size; ++i) {
        *end++ = removed[i];
    }
    *end = nullptr;
    return room;
}

}  // namespace critpath::preload
