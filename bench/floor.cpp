// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the floor of the cost of a recorded call: two reads of the collector's clock and one 64-byte store into a mapped
// file, of which a small piece is used again and again. Beside it the same with pages that are new, as they are for a
// recorder that only ever appends.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace
{

constexpr std::size_t record_size = 64;

std::uint64_t now()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

/// A file of `size` bytes, mapped shared; unmapped and gone at the end.
class MappedFile
{
public:
    explicit MappedFile(std::size_t size) : size_(size)
    {
        char name[] = "floor.XXXXXX";
        const int file = mkstemp(name);
        if (file < 0)
            throw std::runtime_error("floor: cannot make a file in the current directory");
        unlink(name);
        const bool sized = ftruncate(file, static_cast<off_t>(size)) == 0;
        void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (!sized || address == MAP_FAILED)
            throw std::runtime_error("floor: cannot map a file in the current directory");
        begin_ = static_cast<char*>(address);
    }
    ~MappedFile() { munmap(begin_, size_); }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    [[nodiscard]] char* begin() const { return begin_; }

private:
    std::size_t size_;
    char* begin_ = nullptr;
};

void two_clock_reads(benchmark::State& state)
{
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(now());
        benchmark::DoNotOptimize(now());
    }
}

void store_records(benchmark::State& state, std::size_t bytes)
{
    const MappedFile file(bytes);
    char* const end = file.begin() + bytes;
    char* next = file.begin();
    for ([[maybe_unused]] auto _ : state) {
        std::array<std::uint64_t, record_size / sizeof(std::uint64_t)> record{};
        record[1] = now();
        record[2] = now();
        std::memcpy(next, record.data(), record_size);
        next += record_size;
        next = next == end ? file.begin() : next;
        benchmark::ClobberMemory();
    }
}

void clock_reads_and_store(benchmark::State& state)
{
    store_records(state, std::size_t{128} << 10);
}

void clock_reads_and_store_in_new_pages(benchmark::State& state)
{
    store_records(state, static_cast<std::size_t>(state.max_iterations) * record_size);
}

// As many records as calls.c makes calls.
BENCHMARK(two_clock_reads)->Iterations(200'000);
BENCHMARK(clock_reads_and_store)->Iterations(200'000);
BENCHMARK(clock_reads_and_store_in_new_pages)->Iterations(200'000);

}  // namespace

BENCHMARK_MAIN();
