// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/remedy.hpp"

#include "analysis/report/explain/misses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace critpath::report
{

namespace
{

/// What functions of the C library are blocked for; the names are those that the samples have, which may have more
/// around them (__libc_read, __futex_abstimed_wait_common).
struct BlockedFor {
    const char* part_of_name;
    const char* what;
};
constexpr BlockedFor blocked_for[] = {
    {"sleep", "time that it lets pass"},
    {"wait4", "a process that it has started"},
    {"waitid", "a process that it has started"},
    {"waitpid", "a process that it has started"},
    {"futex", "a lock, or another thread"},
    {"lll_lock", "a lock"},
    {"pthread_", "a lock, or another thread"},
    {"sem_", "a semaphore"},
    {"poll", "files, pipes and sockets, or time"},
    {"select", "files, pipes and sockets, or time"},
    {"sync", "files that reach the disk"},
    {"flock", "a lock on a file"},
    {"fcntl", "a lock on a file"},
    {"read", "a file, a pipe or a socket"},
    {"recv", "a socket"},
    {"accept", "a socket"},
    {"write", "a file, a pipe or a socket"},
    {"send", "a socket"},
    {"open", "a file"},
};

}  // namespace

std::string waited_for(const Explanation& e)
{
    const BlockedAt& at = e.blocked_to_mend();
    const std::string where = at.in ? fmt::format("in {}", at.in->shown.name) : std::string("outside of MPI");
    const std::string& by = at.by;
    const auto known = std::ranges::find_if(
        blocked_for, [&](const BlockedFor& f) { return by.find(f.part_of_name) != std::string::npos; });
    if (known != std::end(blocked_for))
        return fmt::format("{}: {} ({})", where, known->what, by);
    // Whom a signal stops is blocked wherever it was.
    return fmt::format("{}: files, locks, memory{}, or a stop (SIGSTOP, a debugger)", where,
                       e.has_threads ? ", threads of its own" : "");
}

bool may_be_faults(Factor cause, const Explanation& e)
{
    const bool may_be_kernels = cause == Factor::Time || cause == Factor::Processor || cause == Factor::Cycles ||
                                cause == Factor::InstructionTime || cause == Factor::AllCycles;
    return may_be_kernels && e.has_more_faults() && !e.code.longer_without_faults;
}

namespace
{

Remedy remedy_without_faults(Factor cause, const Explanation& e)
{
    if (cause == Factor::Threads) {
        const std::string work =
            e.code.of_threads ? fmt::format("the work of {}", e.code.of_threads->shown.name) : "work";
        return {
            fmt::format("share {} out evenly among its threads, outside of critical sections, or make it faster", work),
            fmt::format("share {} out evenly among the threads of the slow ones, outside of critical sections, or make "
                        "it faster",
                        work)};
    }
    if (cause == Factor::Time)
        return {"move work from there to the others, if it is work: whether it had a processor is not known",
                "move work from the others to these, if it is work: whether they had processors is not known"};
    const Remedy remedies[] = {
        {"move work from there to the others", "move work from the others to these, or make faster what all do"},
        {misses_remedy(e, false), misses_remedy(e, true)},
        {"look at what slows its processor down: heat, power, what else runs there",
         "look at what slows the processors of the slow ones down: heat, power, what else runs there"},
        {misses_remedy(e, false) + "; and at what slows its processor down: heat, power, what else runs there",
         misses_remedy(e, true) + "; and at what slows their processors down"},
        {"move work from there to the others, or look at its memory accesses",
         "move work from the others to these, or look at the memory accesses of the slow ones"},
        {"move work from there to the others; or, if it is no more work, look at its memory accesses and at what "
         "slows its processor down",
         "move work from the others to these, or make faster what all do"},
        {"find out who else uses its processor: more ranks or threads than processors, other programs",
         "find out who else uses the processors of the slow ones: more ranks or threads than processors, other "
         "programs"},
        {fmt::format("find out what it waits for {}", waited_for(e)),
         fmt::format("find out what the slow ones wait for {}", waited_for(e))},
        {"avoid its page faults: keep memory that is used again instead of giving it back, use larger pages",
         "avoid the page faults of the slow ones: keep memory that is used again instead of giving it back, use larger "
         "pages"},
    };
    return remedies[static_cast<std::size_t>(cause)];
}

}  // namespace

Remedy remedy_of(Factor cause, const Explanation& e)
{
    Remedy remedy = remedy_without_faults(cause, e);
    if (may_be_faults(cause, e)) {
        constexpr std::string_view which = " (cpcollect --events major-faults counts those that read a file)";
        remedy.one += fmt::format("; or avoid its page faults, if they take the time{}", which);
        remedy.many += fmt::format("; or avoid the page faults of the slow ones, if they take the time{}", which);
    }
    return remedy;
}

}  // namespace critpath::report
