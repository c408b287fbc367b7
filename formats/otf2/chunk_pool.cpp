// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/chunk_pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

namespace critpath::otf2
{

namespace
{

// A buffer that has used them all is written out.
constexpr std::size_t chunks_per_buffer = 4;

void* allocate_chunk(void* pool, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void** buffer,
                     std::uint64_t size)
{
    return static_cast<ChunkPool*>(pool)->allocate(buffer, size);
}

void free_all_chunks(void* pool, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void** buffer, bool final)
{
    static_cast<ChunkPool*>(pool)->release(buffer, final);
}

}  // namespace

const OTF2_MemoryCallbacks ChunkPool::callbacks = {allocate_chunk, free_all_chunks};

void* ChunkPool::allocate(void** handle, std::size_t size)
try {
    const std::lock_guard lock(mutex_);
    if (*handle == nullptr) {
        // What ended buffers left behind is safe to reuse now: libotf2 is done with their writers.
        *handle = buffers_.emplace_back(std::make_unique<Buffer>()).get();
    }
    auto& buffer = *static_cast<Buffer*>(*handle);
    if (buffer.used == chunks_per_buffer) {
        return nullptr;  // asks libotf2 to write the buffer out
    }
    if (buffer.used == buffer.chunks.size()) {
        const auto fits = std::find_if(idle_.begin(), idle_.end(), [&](const Chunk& c) { return c.size == size; });
        if (fits != idle_.end()) {
            buffer.chunks.push_back(std::move(*fits));
            idle_.erase(fits);
        } else {
            // What is behind the last record of a chunk goes into the file, too: nothing of the process shall be there
            // but records, and memory that the system has just given is zero without being touched.
            Memory memory(static_cast<std::byte*>(std::calloc(1, size)));
            if (memory == nullptr) {
                return nullptr;
            }
            buffer.chunks.push_back({std::move(memory), size});
        }
    }
    return buffer.chunks[buffer.used++].memory.get();
} catch (const std::bad_alloc&) {
    return nullptr;
}

void ChunkPool::release(void** handle, bool final)
{
    if (*handle == nullptr) {
        return;
    }
    const std::lock_guard lock(mutex_);
    auto& buffer = *static_cast<Buffer*>(*handle);
    buffer.used = 0;
    if (final) {
        std::move(buffer.chunks.begin(), buffer.chunks.end(), std::back_inserter(idle_));
        std::erase_if(buffers_, [&](const auto& b) { return b.get() == &buffer; });
        *handle = nullptr;
    }
}

}  // namespace critpath::otf2
