// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/callpath.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/handle_table.hpp"

#include <cstring>

#include <dlfcn.h>
#include <unwind.h>

namespace critpath::preload
{

namespace
{

// libgcc's unwinder, which C++ applications have loaded already. Private to us, and not libunwind: its symbols would
// come before those that the application throws its exceptions with.
struct Unwinder {
    decltype(&_Unwind_Backtrace) backtrace;
    decltype(&_Unwind_GetIP) address;
    decltype(&_Unwind_GetCFA) stack;
};
Unwinder unwinder = {};

constexpr std::uint32_t most_ways = 32;  // that are compared before the stack is unwound again
constexpr std::size_t chunk_bytes = std::size_t{256} << 10;

// Unwinding may take this much of a thread's time, and some more at its start: of its own processor time, since to be
// preempted meanwhile costs the application nothing.
constexpr std::uint64_t start_allowance = 20'000'000;  // ns
constexpr std::uint64_t allowed_part = 50;

}  // namespace

bool find_unwinder()
{
    void* library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
        unwinder.address = reinterpret_cast<decltype(unwinder.address)>(dlsym(library, "_Unwind_GetIP"));
        unwinder.stack = reinterpret_cast<decltype(unwinder.stack)>(dlsym(library, "_Unwind_GetCFA"));
        unwinder.backtrace = reinterpret_cast<decltype(unwinder.backtrace)>(dlsym(library, "_Unwind_Backtrace"));
    }
    if (unwinder.address == nullptr || unwinder.stack == nullptr) {
        unwinder.backtrace = nullptr;
    }
    return unwinder.backtrace != nullptr;
}

// What unwinding finds: addresses[0] is the site, the others lie in places[].
struct CallPaths::Frames {
    Frames(const Place& place, std::uintptr_t end) : from(place), stack_end(end) {}

    Place from;
    std::uintptr_t stack_end;
    std::uintptr_t stack = 0;  // of the last frame
    std::uint32_t count = 0;
    std::uint64_t addresses[deepest];
    const std::uint64_t* places[deepest];

    // A frame outside of the ones before whose return address is where calls put it; else nothing is certain any more.
    bool take(std::uint64_t address, std::uintptr_t frame)
    {
        if (frame < from.stack) {
            return true;  // ours
        }
        const bool is_first = count == 0;
        if (is_first ? frame != from.stack || address != from.site : frame <= stack) {
            return false;
        }
        const auto* place = reinterpret_cast<const std::uint64_t*>(frame) - 1;
        if (frame > stack_end || frame % sizeof *place != 0 || address == 0 || *place != address) {
            return false;
        }
        stack = frame;
        addresses[count] = address;
        places[count] = place;
        return ++count < deepest;
    }

    static _Unwind_Reason_Code step(_Unwind_Context* context, void* frames)
    {
        const bool more = static_cast<Frames*>(frames)->take(unwinder.address(context), unwinder.stack(context));
        return more ? _URC_NO_REASON : _URC_END_OF_STACK;
    }
};

void CallPaths::start(CallPathMode mode, std::uintptr_t stack_begin, std::uintptr_t stack_end)
{
    if (mode == CallPathMode::None) {
        return;
    }
    constexpr std::size_t bytes = sizeof(void*) << bucket_bits;
    buckets_ = static_cast<Way**>(map_memory(bytes));
    paths_ = static_cast<Path**>(map_memory(bytes));
    if (buckets_ == nullptr || paths_ == nullptr) {
        release();
        return;
    }
    started_ = now();
    unloads_ = unload_count.load(std::memory_order_relaxed);
    if (mode == CallPathMode::Full && unwinder.backtrace != nullptr) {
        stack_begin_ = stack_begin;
        stack_end_ = stack_end;
        stack_mask_ = ~std::uintptr_t{0};
    }
}

void CallPaths::release()
{
    constexpr std::size_t bytes = sizeof(void*) << bucket_bits;
    if (buckets_ != nullptr) {
        munmap(buckets_, bytes);
    }
    if (paths_ != nullptr) {
        munmap(paths_, bytes);
    }
    free_chunks();
    buckets_ = nullptr;
    paths_ = nullptr;
}

void CallPaths::free_chunks()
{
    while (chunks_ != nullptr) {
        void* next = *static_cast<void**>(chunks_);
        munmap(chunks_, chunk_bytes);
        chunks_ = next;
    }
    free_ = nullptr;
    free_bytes_ = 0;
    memory_ = 0;
}

// Ids go on, so that the same addresses may mean something else from now on.
void CallPaths::forget(std::uint32_t unloads)
{
    constexpr std::size_t bytes = sizeof(void*) << bucket_bits;
    std::memset(buckets_, 0, bytes);
    std::memset(paths_, 0, bytes);
    free_chunks();
    unloads_ = unloads;
}

void* CallPaths::allocate(std::size_t bytes)
{
    if (bytes > free_bytes_) {
        void* chunk = memory_ + chunk_bytes > most_memory ? nullptr : map_memory(chunk_bytes);
        if (chunk == nullptr) {
            return nullptr;
        }
        memory_ += chunk_bytes;
        *static_cast<void**>(chunk) = chunks_;
        chunks_ = chunk;
        free_ = static_cast<std::byte*>(chunk) + sizeof(Path);
        free_bytes_ = chunk_bytes - sizeof(Path);
    }
    void* memory = free_;
    free_ += bytes;
    free_bytes_ -= bytes;
    return memory;
}

// The way that was found moves to the front of its bucket.
CallPaths::Way* CallPaths::look_up(const Place& from)
{
    Way** const first = &buckets_[bucket(from)];
    std::uint32_t compared = 0;
    for (Way** link = first; *link != nullptr && compared < most_ways; link = &(*link)->next, ++compared) {
        Way* const way = *link;
        if (way->leads(from)) {
            *link = way->next;
            way->next = *first;
            *first = way;
            return way;
        }
    }
    return nullptr;
}

std::uint32_t CallPaths::search(const Place& from, SpoolWriter& spool)
{
    const bool is_ours = from.stack >= stack_begin_ && from.stack < stack_end_;
    if (!is_ours) {
        return site_only(from, spool);
    }
    if (const Way* way = look_up(from)) {
        return way->path;
    }
    const std::uint64_t begin = now();
    if (!may_unwind(begin)) {
        ++incomplete_;
        return site_only(from, spool);
    }
    const std::uint64_t processor_begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    const std::uint32_t path = unwound(from, spool);
    unwinding_ += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - processor_begin;
    spool.add_pause(begin, now());
    return path;
}

bool CallPaths::may_unwind(std::uint64_t time) const
{
    return unwinding_ < start_allowance + (time - started_) / allowed_part;
}

std::uint32_t CallPaths::unwound(const Place& from, SpoolWriter& spool)
{
    Frames frames(from, stack_end_);
    unwinder.backtrace(Frames::step, &frames);
    const std::uint32_t path = frames.count == 0 ? 0 : add(from, frames, spool);
    if (path != 0) {
        return path;
    }
    ++incomplete_;
    return site_only(from, spool);
}

std::uint32_t CallPaths::site_only(const Place& from, SpoolWriter& spool)
{
    const Place site = {from.site, 0};
    if (const Way* way = look_up(site)) {
        return way->path;
    }
    Frames frames(site, 0);
    frames.addresses[0] = site.site;
    frames.count = 1;
    return add(site, frames, spool);
}

std::uint32_t CallPaths::add(const Place& from, const Frames& frames, SpoolWriter& spool)
{
    const std::uint32_t path = path_of(frames.addresses, frames.count, spool);
    const std::uint32_t slots = frames.count - 1;
    auto* way = path == 0 ? nullptr : static_cast<Way*>(allocate(sizeof(Way) + slots * sizeof(Slot)));
    if (way == nullptr) {
        return path;
    }
    Way*& first = buckets_[bucket(from)];
    *way = {from, first, path, slots};
    for (std::uint32_t i = 0; i < slots; ++i) {
        way->slots()[i] = {frames.places[i + 1], frames.addresses[i + 1]};
    }
    first = way;
    return path;
}

namespace
{

void write_path(std::uint32_t id, const std::uint64_t* addresses, std::uint32_t count, SpoolWriter& spool)
{
    for (std::uint32_t first = 0; first < count;) {
        spool::CallPathRecord record{};
        record.kind = spool::RecordKind::CallPath;
        record.id = id;
        for (; record.count < sizeof record.address / sizeof *record.address && first < count; ++first) {
            record.address[record.count++] = addresses[first];
        }
        spool.append(record);
    }
}

}  // namespace

// Equal paths from different stack pointers have one id.
std::uint32_t CallPaths::path_of(const std::uint64_t* addresses, std::uint32_t count, SpoolWriter& spool)
{
    std::uint64_t hash = count;
    for (std::uint32_t i = 0; i < count; ++i) {
        hash = (hash ^ addresses[i]) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    Path*& first = paths_[hash >> (64 - bucket_bits)];
    const std::size_t bytes = count * sizeof *addresses;
    for (Path* path = first; path != nullptr; path = path->next) {
        if (path->hash == hash && path->count == count && std::memcmp(path->addresses(), addresses, bytes) == 0) {
            return path->id;
        }
    }
    auto* path = static_cast<Path*>(allocate(sizeof(Path) + bytes));
    if (path == nullptr) {
        return 0;
    }
    *path = {first, hash, ++last_path_, count};
    std::memcpy(path->addresses(), addresses, bytes);
    first = path;
    write_path(path->id, addresses, count, spool);
    return path->id;
}

}  // namespace critpath::preload
