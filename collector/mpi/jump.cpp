// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/jump.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/control.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/table_lock.hpp"
#include "collector/sampling/sampling.hpp"

#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

bool is_on_own_stack(std::uintptr_t address)
{
    return address > local.stack_begin && address <= local.stack_end;
}

// The kernel reads the set of signals before it finds that `how` is none. Nothing else looks at memory without risk.
bool is_readable(std::uintptr_t address)
{
    constexpr int no_such_how = -1;
    constexpr std::size_t kernel_set = 8;  // bytes
    const int saved_errno = errno;
    const long result = syscall(SYS_rt_sigprocmask, no_such_how, address, nullptr, kernel_set);
    const bool readable = !(result != 0 && errno == EFAULT);
    errno = saved_errno;
    return readable;
}

// Where the call instruction put the return address (x86-64).
bool return_address_is_there()
{
    const std::uintptr_t place = local.frame - sizeof(std::uintptr_t);
    if (!is_on_own_stack(local.frame) && !is_readable(place)) {
        return false;
    }
    return *reinterpret_cast<const volatile std::uintptr_t*>(place) == local.site;
}

}  // namespace

bool outermost_is_gone(const Caller& caller)
{
    const auto stack = reinterpret_cast<std::uintptr_t>(caller.stack);
    if (local.frame == 0) {  // not in a wrapper, but in work of ours
        return false;
    }
    const bool both_own = is_on_own_stack(stack) && is_on_own_stack(local.frame);
    return stack == local.frame || (both_own && stack > local.frame) || !return_address_is_there();
}

namespace
{

void record_left_call(Thread& thread)
{
    thread.counters.drop();
    std::uint16_t number = 0;
    std::uint64_t enter = 0;
    thread.spool.entered(number, enter);
    // Else the place of the next record still has what an earlier call left there, or a record that is of no call.
    const bool is_left = enter > thread.last_leave && enter > thread.dropped_leave &&
                         number < static_cast<std::uint16_t>(functions::FunctionId::count);
    const auto function = static_cast<functions::FunctionId>(number);
    if (is_left && control.includes(group_bit(function))) {
        append_span(thread, spool::RecordKind::Call, enter, now(), function, spool::flag_failed);
    }
}

}  // namespace

void end_left_call()
{
    TableLock::leave();
    sampling::wait_ends();
    if (local.thread != nullptr && process.phase.load(std::memory_order_relaxed) == Phase::Recording) {
        record_left_call(*local.thread);
    }
    local.depth = 0;  // last: a signal handler that comes before is not to record anything in between
}

void notice_jump(const Caller& caller)
{
    if (outermost_is_gone(caller)) {
        end_left_call();
    }
}

}  // namespace critpath::preload
