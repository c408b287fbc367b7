// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/huge_pages.hpp"

#include <atomic>
#include <cstdint>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace critpath::replayer
{
namespace
{

constexpr int huge_page = 2 << 20;  // bytes, where pages have 4 KiB

constexpr int own_mapping = 2 * huge_page;  // larger arrays, if the heap has to grow for them: they would leave holes
constexpr int most_free = 512 * huge_page;  // at the end of the heap, which stay there
// Of the heap, at a time: addresses. An array that has room there lies in huge pages, while one with a mapping of its
// own has an end in small ones: with 4 or 16 MiB, a replay takes a tenth to a third longer than with 64.
constexpr int growth = 32 * huge_page;

std::uintptr_t heap_begin = 0;  // none is known

std::uintptr_t heap_end()
{
    return reinterpret_cast<std::uintptr_t>(sbrk(0));
}

std::uintptr_t rounded_down(std::uintptr_t address)
{
    return address / huge_page * huge_page;
}

void ask(std::uintptr_t begin, std::uintptr_t end)
{
    begin = rounded_down(begin + huge_page - 1);
    end = rounded_down(end);
    if (begin < end)
        madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

std::atomic<std::uintptr_t> asked_for_huge_pages{UINTPTR_MAX};

void keep_memory()
{
    constexpr long page = 4096;  // where they are larger, a huge page has hundreds of MiB
    mallopt(M_MMAP_THRESHOLD, own_mapping);
    mallopt(M_TRIM_THRESHOLD, most_free);
    mallopt(M_TOP_PAD, growth);
    if (sysconf(_SC_PAGESIZE) == page) {
        heap_begin = heap_end();
        asked_for_huge_pages = heap_begin;
    }
}

void ask_for_huge_pages(void* array, std::size_t bytes)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(array);
    if (heap_begin == 0)
        return;
    const std::uintptr_t end = heap_end();
    if (begin < heap_begin || begin >= end)
        ask(begin, begin + bytes);
    else if (const std::uintptr_t asked = asked_for_huge_pages.exchange(rounded_down(end)); asked < end)
        ask(asked, end);
}

}  // namespace critpath::replayer
