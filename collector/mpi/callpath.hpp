// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the call paths of one thread: by which calls the application came to a wrapper.
//
// Unwinding costs microseconds, and an application comes to its MPI calls by few ways, again and again. So a path is
// remembered under the return address of the wrapper and the stack pointer there, together with the stack slots in
// which the return addresses of the outer frames lay. The next time that a wrapper is called with this return address
// and stack pointer, only the slots are compared: if all hold the same addresses, it is the same path. Nothing is
// unwound, and nothing outside of those slots is read.
//
// Why that is sound: if the frames between have the sizes that they had, the slots are those of the return addresses,
// and the comparison is exact. Sizes depend on the code alone, that is on the return addresses, except in functions
// that use alloca() or arrays of variable length. For those to deceive us, two ways to the same place must give the
// same stack pointer with frames of different sizes, and each slot that now lies inside a frame must still hold the
// address that it held the other time. Then the path found is the older one of two that end in the same functions. A
// function that was left by a tail call has no frame: it is on no path, however that is found.
//
// All of this holds while the code stays what it is. So whenever a library was unloaded, all paths are forgotten: at
// the same addresses there may be another one.
//
// Slots are read only in the stack of the thread as the system describes it. A call from another stack (makecontext(),
// sigaltstack()) has only its return address as path, as has every call of CallPathMode::Site.
#pragma once

#include "collector/mpi/process.hpp"
#include "collector/mpi/spool_writer.hpp"
#include "collector/mpi/unloads.hpp"

#include <cstddef>
#include <cstdint>

namespace critpath::preload
{

/// Where a wrapper was called from, as the wrapper itself sees it.
struct Caller {
    const void* site;   // its return address
    const void* stack;  // the stack pointer before the call (the wrapper's canonical frame address)
};

/// As a default argument it is evaluated in the function that makes the call.
#define CRITPATH_CALLER                                                                                                \
    ::critpath::preload::Caller                                                                                        \
    {                                                                                                                  \
        __builtin_return_address(0), __builtin_dwarf_cfa()                                                             \
    }

/// Finds the unwinder. Call once, before any CallPaths::start. False, after a line on stderr, if there is none: then
/// paths are those of CallPathMode::Site.
bool find_unwinder();

/// Used by its own thread only, except for `incomplete`.
class CallPaths
{
public:
    /// The stack is that of the thread; 0, 0: not known. Without memory nothing is recorded.
    void start(CallPathMode mode, std::uintptr_t stack_begin, std::uintptr_t stack_end);

    /// Gives the memory back; all paths are 0 from now on.
    void release();

    /// Id of the path to `caller`, whose records are written to `spool` if it is new. 0: none.
    std::uint32_t find(const Caller& caller, SpoolWriter& spool)
    {
        if (buckets_ == nullptr) {
            return 0;
        }
        if (const std::uint32_t unloads = unload_count.load(std::memory_order_relaxed); unloads != unloads_)
            [[unlikely]] {
            forget(unloads);
        }
        const Place from = {reinterpret_cast<std::uintptr_t>(caller.site),
                            reinterpret_cast<std::uintptr_t>(caller.stack) & stack_mask_};
        const Way* way = buckets_[bucket(from)];
        if (way != nullptr && way->leads(from)) [[likely]] {
            return way->path;
        }
        return search(from, spool);
    }

    /// Calls whose path was cut to its first address, because there were too many paths or unwinding took too long.
    [[nodiscard]] std::uint64_t incomplete() const { return incomplete_; }

private:
    static constexpr std::uint32_t deepest = spool::deepest_path;
    static constexpr std::uint32_t bucket_bits = 12;
    static constexpr std::size_t most_memory = std::size_t{32} << 20;

    // Return address and stack pointer; stack pointer 0: the return address is all that is known.
    struct Place {
        std::uintptr_t site, stack;
        bool operator==(const Place&) const = default;
    };
    struct Slot {
        const std::uint64_t* place;
        std::uint64_t address;
    };
    struct Way {
        Place from;
        Way* next;  // in its bucket
        std::uint32_t path;
        std::uint32_t count;  // slots, behind this, from the inside outwards

        [[nodiscard]] Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
        [[nodiscard]] const Slot* slots() const { return reinterpret_cast<const Slot*>(this + 1); }
        [[nodiscard]] bool leads(const Place& to) const
        {
            if (!(from == to)) {
                return false;
            }
            for (const Slot *slot = slots(), *end = slot + count; slot != end; ++slot) {
                if (*slot->place != slot->address) {
                    return false;
                }
            }
            return true;
        }
    };
    struct Path {
        Path* next;  // in its bucket
        std::uint64_t hash;
        std::uint32_t id;
        std::uint32_t count;  // addresses, behind this

        [[nodiscard]] std::uint64_t* addresses() { return reinterpret_cast<std::uint64_t*>(this + 1); }
    };
    struct Frames;

    static std::uint32_t bucket(const Place& from)
    {
        const std::uint64_t key = (from.site * 0x9e3779b97f4a7c15U) ^ (from.stack * 0xd6e8feb86659fd93U);
        return static_cast<std::uint32_t>(key >> (64 - bucket_bits));
    }

    std::uint32_t search(const Place& from, SpoolWriter& spool);
    Way* look_up(const Place& from);
    std::uint32_t unwound(const Place& from, SpoolWriter& spool);
    std::uint32_t site_only(const Place& from, SpoolWriter& spool);
    std::uint32_t path_of(const std::uint64_t* addresses, std::uint32_t count, SpoolWriter& spool);
    std::uint32_t add(const Place& from, const Frames& frames, SpoolWriter& spool);
    [[nodiscard]] bool may_unwind(std::uint64_t time) const;
    void* allocate(std::size_t bytes);
    void forget(std::uint32_t unloads);
    void free_chunks();

    Way** buckets_ = nullptr;
    Path** paths_ = nullptr;
    std::uintptr_t stack_mask_ = 0;  // 0: CallPathMode::Site
    std::uintptr_t stack_begin_ = 0;
    std::uintptr_t stack_end_ = 0;
    std::uint32_t last_path_ = 0;
    std::uint64_t started_ = 0;    // ns
    std::uint64_t unwinding_ = 0;  // ns spent so far
    std::uint64_t incomplete_ = 0;
    std::uint32_t unloads_ = 0;  // that were when the first of the paths was found
    std::byte* free_ = nullptr;  // rest of the last chunk of memory
    std::size_t free_bytes_ = 0;
    std::size_t memory_ = 0;
    void* chunks_ = nullptr;  // list
};

}  // namespace critpath::preload
