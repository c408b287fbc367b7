// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the memory of a replay comes from the system. A page anew costs more than what is done with its content,
// tens of microseconds in some virtual machines: so what one phase gives back the next one takes, and where the system
// has huge pages for those who ask (transparent_hugepage/enabled: madvise), it is asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace critpath::replayer
{

/// At the beginning of a program.
void keep_memory();

/// For an array that malloc has made, and for what the heap has grown by. Does nothing before keep_memory(), and where
/// there are no huge pages.
void ask_for_huge_pages(void* array, std::size_t bytes);

/// Until where in the heap huge pages have been asked for.
extern std::atomic<std::uintptr_t> asked_for_huge_pages;

/// Whether it is time to, for an array of any size: the many small arrays of a trace of many ranks also fill a heap.
inline bool lies_in_new_heap(const void* array)
{
    return reinterpret_cast<std::uintptr_t>(array) >= asked_for_huge_pages.load(std::memory_order_relaxed);
}

}  // namespace critpath::replayer
