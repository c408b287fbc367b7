// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a signal handler may know of the code that it interrupted: its registers, by the kernel's numbers
// (asm/perf_regs.h), and its stack, as far as that is surely memory. All but own_stack() is async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ucontext.h>

namespace critpath::sampling
{

/// Addresses in [low, high) are of the thread's stack, and those of them that are above its stack pointer can be read.
struct StackBounds {
    std::uint64_t low, high;
};

/// Of the calling thread; empty where that is not known.
StackBounds own_stack();

/// False on processors that are not known here.
bool can_read_registers();

std::uint64_t register_of(const ucontext_t& context, unsigned number);
std::uint64_t instruction_of(const ucontext_t& context);
std::uint64_t stack_pointer_of(const ucontext_t& context);

/// How many bytes from `begin`, a stack pointer, can be read, in whole words and at most `most`. 0 if it is no place
/// of this stack: of one that the application has made itself nothing is known.
std::uint64_t readable_bytes(const StackBounds& stack, std::uint64_t begin, std::uint64_t most);

/// Copies what can be read from `address` on, at most `most` bytes, whole words. Of another thread, and not as memory
/// of ours: it may end meanwhile, and its stack with it.
std::size_t copy_stack(std::uint64_t address, void* out, std::size_t most);

/// At an address that can be read.
std::uint64_t stack_word(std::uint64_t address);

/// The way outwards over frame pointers. Each must be further out than the one before, so that the walk ends.
class FrameWalk
{
public:
    FrameWalk(const StackBounds& stack, const ucontext_t& context);

    /// The next return address; 0 behind the last.
    std::uint64_t next();

private:
    std::uint64_t low_, high_, frame_;
};

}  // namespace critpath::sampling
