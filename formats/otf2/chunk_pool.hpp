// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the memory in which libotf2 collects records. By default libotf2 keeps up to 128 MiB a writer before it
// writes anything, and it still reads a buffer after it has freed it when a write fails (seen with 3.0.2 on a full
// disk). Here a buffer is a few chunks, and no memory goes back to the system while the pool lives.
#pragma once

#include <otf2/otf2.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace critpath::otf2
{

/// For several threads. Must outlive the archive that uses it.
class ChunkPool
{
public:
    static const OTF2_MemoryCallbacks callbacks;  // user data: the pool

    void* allocate(void** buffer, std::size_t size);
    void release(void** buffer, bool final);

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    using Memory = std::unique_ptr<std::byte, Free>;
    struct Chunk {
        Memory memory;
        std::size_t size;
    };
    struct Buffer {
        std::vector<Chunk> chunks;
        std::size_t used = 0;
    };

    std::mutex mutex_;
    std::vector<std::unique_ptr<Buffer>> buffers_;
    std::vector<Chunk> idle_;
};

}  // namespace critpath::otf2
