// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/support/error.hpp"
#include "replayer/growing_list.hpp"
#include "replayer/huge_pages.hpp"
#include "replayer/paged_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace critpath::replayer
{
namespace
{

/// Bytes of memory of this process.
std::size_t resident()
{
    std::size_t all = 0;
    std::size_t pages = 0;
    std::FILE* statm = std::fopen("/proc/self/statm", "re");
    EXPECT_EQ(std::fscanf(statm, "%zu %zu", &all, &pages), 2);
    std::fclose(statm);
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Bytes of memory of this process that are of no file.
std::size_t anonymous()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word && word != "RssAnon:") {
    }
    std::size_t kibi = 0;
    EXPECT_TRUE(status >> kibi);
    return kibi << 10;
}

std::vector<std::uint64_t> numbers(std::size_t bytes)
{
    std::vector<std::uint64_t> result(bytes / sizeof(std::uint64_t));
    std::iota(result.begin(), result.end(), 0);
    return result;
}

bool are_numbers(const std::vector<std::uint64_t>& values)
{
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] != i)
            return false;
    return true;
}

/// Whether the memory of the process falls below a bound, for which it has all the time that it may need.
bool falls_below(std::size_t bytes)
{
    for (int i = 0; i < 1000 && resident() >= bytes; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return resident() < bytes;
}

/// Whether the memory at `address` is to lie in huge pages, by proc(5), /proc/pid/smaps.
bool is_for_huge_pages(const void* address)
{
    std::ifstream smaps("/proc/self/smaps");
    bool is_there = false;
    for (std::string line; std::getline(smaps, line);) {
        unsigned long begin = 0;
        unsigned long end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
            is_there =
                begin <= reinterpret_cast<std::uintptr_t>(address) && reinterpret_cast<std::uintptr_t>(address) < end;
        else if (is_there && line.starts_with("VmFlags:"))
            return line.find(" hg") != std::string::npos;
    }
    return false;
}

/// Wherever the heap lies: above mappings, where the stack has no limit.
TEST(HugePages, AreForLargeArraysOnly)
{
    keep_memory();
    const bool exist = std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled");
    constexpr std::size_t size = 16 * mebi;
    void* other = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(other, MAP_FAILED);
    std::vector<std::vector<std::uint64_t>> mapped;
    for (int i = 0; i < 3; ++i)
        mapped.push_back(numbers(128 * mebi));
    std::vector<std::vector<std::uint64_t>> in_heap;
    for (int i = 0; i < 200; ++i)  // more than the heap grows by at a time
        in_heap.push_back(numbers(mebi));
    for (const auto& array : mapped)
        EXPECT_EQ(is_for_huge_pages(array.data() + array.size() / 2), exist);
    for (std::size_t i = 2; i < in_heap.size(); ++i)  // before there is a whole huge page
        EXPECT_EQ(is_for_huge_pages(in_heap[i].data() + in_heap[i].size() / 2), exist) << i;
    EXPECT_FALSE(is_for_huge_pages(static_cast<char*>(other) + size / 2));
    EXPECT_FALSE(is_for_huge_pages(&exist));
    EXPECT_TRUE(are_numbers(mapped.back()));
    EXPECT_TRUE(are_numbers(in_heap.back()));
    munmap(other, size);
}

/// A trace of many ranks has nothing else.
TEST(HugePages, AreForSmallArraysThatFillTheHeap)
{
    keep_memory();
    const bool exist = std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled");
    constexpr std::size_t number = 192 * 64;  // several times what the heap grows by
    std::vector<std::vector<std::uint64_t>> arrays;
    arrays.reserve(number);  // which is large
    while (arrays.size() < number)
        arrays.push_back(numbers(mebi / 64));
    for (std::size_t i = 256; i < arrays.size(); i += 64)  // from where there is a whole huge page
        EXPECT_EQ(is_for_huge_pages(arrays[i].data()), exist) << i;
    EXPECT_TRUE(are_numbers(arrays.back()));
}

class Paged : public testing::Test
{
protected:
    const std::filesystem::path directory = std::filesystem::temp_directory_path();
};

// The first one: a program makes one file.
TEST_F(Paged, NoDirectoryIsAFailure)
{
    EXPECT_THROW(PagedMemory("/nowhere/at/all", mebi), Failure);
}

TEST_F(Paged, ArraysAreNotAllInMemory)
{
    const std::size_t before = resident();
    const PagedMemory memory(directory, 4 * mebi);
    const auto first = numbers(64 * mebi);
    const auto second = numbers(32 * mebi);
    EXPECT_TRUE(falls_below(before + 32 * mebi));
    EXPECT_TRUE(are_numbers(first));
    EXPECT_TRUE(are_numbers(second));
    EXPECT_TRUE(falls_below(before + 32 * mebi));
    EXPECT_FALSE(PagedMemory::had_no_room());
}

/// What is in the system's cache comes into memory at 100 GB/s if little is looked at in much: that has to be noticed
/// before some milliseconds are over, whether or not there is a processor for who notices.
TEST_F(Paged, TheBoundHoldsHoweverFastArraysAreTouched)
{
    const PagedMemory memory(directory, 32 * mebi);
    const auto values = numbers(512 * mebi);
    const std::size_t at_rest = resident();
    std::size_t most = 0;
    std::size_t sum = 0;
    constexpr std::size_t stride = (std::size_t{1} << 16) / sizeof(std::uint64_t);
    for (int round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < values.size(); i += stride) {
            sum += values[i];
            if (i / stride % 64 == 0)
                most = std::max(most, resident());
        }
    EXPECT_EQ(sum, 3 * (values.size() / stride) * (values.size() - stride) / 2);
    EXPECT_LT(most, at_rest + 128 * mebi);
}

TEST_F(Paged, ALongListThatGrowsIsPaged)
{
    const PagedMemory memory(directory, 32 * mebi);
    GrowingList<std::uint64_t> list;
    const std::size_t before = anonymous();
    constexpr std::uint64_t size = 8 * mebi;  // 64 MiB
    for (std::uint64_t i = 0; i < size; ++i)
        list.push_back(i);
    EXPECT_LT(anonymous(), before + 4 * mebi);
    std::uint64_t next = 0;
    for (GrowingList<std::uint64_t>::Reader reader(list); const std::uint64_t* item = reader.peek(); reader.next())
        next += *item == next ? 1 : 0;
    EXPECT_EQ(next, size);
}

TEST_F(Paged, ArraysGrowAndOutliveIt)
{
    std::vector<std::uint64_t> grown;
    {
        const PagedMemory memory(directory, mebi);
        for (std::uint64_t i = 0; i < 2 * mebi; ++i)
            grown.push_back(i);
    }
    EXPECT_TRUE(are_numbers(grown));
    grown.push_back(grown.size());  // moves to ordinary memory
    EXPECT_TRUE(are_numbers(grown));
}

TEST_F(Paged, WhatIsFreedLeavesTheFile)
{
    const PagedMemory memory(directory, mebi);
    for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(are_numbers(numbers(16 * mebi)));
    EXPECT_FALSE(PagedMemory::had_no_room());
}

/// As a full disk: what finds no room is in memory.
TEST_F(Paged, NoRoomIsNoLoss)
{
    const PagedMemory memory(directory, mebi);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = mebi;
    setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_TRUE(are_numbers(numbers(16 * mebi)));
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_TRUE(PagedMemory::had_no_room());
}

}  // namespace
}  // namespace critpath::replayer
