// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/user_stack.hpp"

#include <cstddef>

#include <asm/perf_regs.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace critpath::sampling
{
namespace
{

/// What a frame begins with where its pointer points to.
struct Frame {
    std::uint64_t next, return_address;
};

#if defined(__x86_64__)
std::uint64_t frame_pointer_of(const ucontext_t& context)
{
    return register_of(context, PERF_REG_X86_BP);
}
#elif defined(__aarch64__)
std::uint64_t frame_pointer_of(const ucontext_t& context)
{
    return register_of(context, PERF_REG_ARM64_X29);
}
#else
std::uint64_t frame_pointer_of(const ucontext_t& /*context*/)
{
    return 0;
}
#endif

}  // namespace

StackBounds own_stack()
{
    if (getpid() == syscall(SYS_gettid)) {
        // The kernel keeps so much below the first stack free of all else, and puts the name of the program on top.
        constexpr std::uint64_t least_gap = std::uint64_t{128} << 20;
        const std::uint64_t top = getauxval(AT_EXECFN) & ~std::uint64_t{7};
        return top > least_gap ? StackBounds{top - least_gap, top} : StackBounds{};
    }
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return {};
    }
    const bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
    pthread_attr_destroy(&attributes);
    const auto begin = reinterpret_cast<std::uint64_t>(low);
    return known ? StackBounds{begin, (begin + size) & ~std::uint64_t{7}} : StackBounds{};
}

#if defined(__x86_64__)

bool can_read_registers()
{
    return true;
}

std::uint64_t register_of(const ucontext_t& context, unsigned number)
{
    static constexpr int places[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP};
    static_assert(PERF_REG_X86_AX == 0 && PERF_REG_X86_IP == 8 && PERF_REG_X86_R15 == PERF_REG_X86_R8 + 7);
    static_assert(REG_R15 == REG_R8 + 7);
    int place = REG_RIP;
    if (number <= PERF_REG_X86_IP) {
        place = places[number];
    } else if (number >= PERF_REG_X86_R8 && number <= PERF_REG_X86_R15) {
        place = REG_R8 + static_cast<int>(number - PERF_REG_X86_R8);
    } else {
        return 0;
    }
    return static_cast<std::uint64_t>(context.uc_mcontext.gregs[place]);
}

std::uint64_t instruction_of(const ucontext_t& context)
{
    return register_of(context, PERF_REG_X86_IP);
}

std::uint64_t stack_pointer_of(const ucontext_t& context)
{
    return register_of(context, PERF_REG_X86_SP);
}

#elif defined(__aarch64__)

bool can_read_registers()
{
    return true;
}

std::uint64_t register_of(const ucontext_t& context, unsigned number)
{
    const mcontext_t& machine = context.uc_mcontext;
    if (number == PERF_REG_ARM64_SP) {
        return machine.sp;
    }
    if (number == PERF_REG_ARM64_PC) {
        return machine.pc;
    }
    return number <= PERF_REG_ARM64_LR ? machine.regs[number] : 0;
}

std::uint64_t instruction_of(const ucontext_t& context)
{
    return context.uc_mcontext.pc;
}

std::uint64_t stack_pointer_of(const ucontext_t& context)
{
    return context.uc_mcontext.sp;
}

#else

bool can_read_registers()
{
    return false;
}

std::uint64_t register_of(const ucontext_t& /*context*/, unsigned /*number*/)
{
    return 0;
}

std::uint64_t instruction_of(const ucontext_t& /*context*/)
{
    return 0;
}

std::uint64_t stack_pointer_of(const ucontext_t& /*context*/)
{
    return 0;
}

#endif

std::uint64_t readable_bytes(const StackBounds& stack, std::uint64_t begin, std::uint64_t most)
{
    if (begin < stack.low || begin >= stack.high || begin % sizeof(std::uint64_t) != 0) {
        return 0;
    }
    const std::uint64_t size = stack.high - begin < most ? stack.high - begin : most;
    return size - size % sizeof(std::uint64_t);
}

std::size_t copy_stack(std::uint64_t address, void* out, std::size_t most)
{
    const iovec to{out, most};
    const iovec from{reinterpret_cast<void*>(address), most};  // NOLINT(performance-no-int-to-ptr): a register
    const ssize_t copied = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return copied < 0 ? 0 : static_cast<std::size_t>(copied) / sizeof address * sizeof address;
}

// Sanitizers know of the words between variables, and would say so.
__attribute__((noinline, no_sanitize("address"))) std::uint64_t stack_word(std::uint64_t address)
{
    return *reinterpret_cast<const volatile std::uint64_t*>(address);  // NOLINT(performance-no-int-to-ptr): a register
}

FrameWalk::FrameWalk(const StackBounds& stack, const ucontext_t& context)
    : low_(stack_pointer_of(context)), high_(stack.high), frame_(frame_pointer_of(context))
{
    if (low_ < stack.low || low_ >= stack.high) {
        high_ = 0;
    }
}

std::uint64_t FrameWalk::next()
{
    if (frame_ < low_ || frame_ >= high_ || high_ - frame_ < sizeof(Frame) || frame_ % sizeof(std::uint64_t) != 0) {
        return 0;
    }
    const std::uint64_t caller = stack_word(frame_ + offsetof(Frame, return_address));
    low_ = frame_ + sizeof(Frame);
    frame_ = stack_word(frame_);
    return caller >> 63 == 0 ? caller : 0;  // else it is no code, and might be taken for a marker
}

}  // namespace critpath::sampling
