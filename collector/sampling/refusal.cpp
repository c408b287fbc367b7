// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/sampling.hpp"
#include "collector/sampling/text.hpp"

#include <cerrno>
#include <cstring>

namespace critpath::sampling
{
namespace
{

void add_permission(Text& text)
{
    char value[16];
    const std::size_t length = read_text("/proc/sys/kernel/perf_event_paranoid", value, sizeof value);
    if (length > 0 && value[length - 1] == '\n') {
        value[length - 1] = '\0';
    }
    const bool strict = length == 0 || value[0] > '2';  // 2 and below let a user sample its own code
    text << "the kernel does not let this user sample (kernel.perf_event_paranoid = "
         << (length > 0 ? value : "unknown") << "); allow it with: ";
    if (strict) {
        text << "sysctl kernel.perf_event_paranoid=2 (as root), or ";
    }
    text << "in a container --cap-add=PERFMON or a seccomp profile that has perf_event_open";
}

}  // namespace

void explain_refusal(Text& text, int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        add_permission(text);
        break;
    case ENOBUFS:
        text << "the limit of locked memory leaves no room for a ring of samples; raise it with: sysctl "
                "kernel.perf_event_mlock_kb=8192 (as root), or ulimit -l unlimited";
        break;
    case EAGAIN:
        text << "no helper thread could be started; raise the limit of processes (ulimit -u)";
        break;
    case ENXIO:
        text << "on this machine the timers that --sampler=timer asks for cannot sample; record with --sampler=auto";
        break;
    case EBUSY:
        text << "the signal that timers would sample by is taken (glibc before 2.34, or the application cancels "
                "threads)";
        break;
    case EMFILE:
    case ENFILE:
        text << "too many open files; raise the limit (ulimit -n)";
        break;
    case ENOSYS:
    case ENOENT:
    case EOPNOTSUPP:
        text << "this kernel has no perf_event for user programs; use one with CONFIG_PERF_EVENTS, or record without "
                "samples (cpcollect --no-samples)";
        break;
    default: {
        const char* words = strerrordesc_np(error);
        text << "perf_event_open: " << (words != nullptr ? words : "unknown error")
             << "; record without samples (cpcollect --no-samples), or ask your administrator";
    }
    }
}

}  // namespace critpath::sampling
