// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: sample_cost [HZ]
//
// Owns what a sample costs the thread that is sampled: the same work without samples, with samples that record nothing
// but an address, and with those of the collector, in turn; medians of the differences, divided by the number of
// samples.
#include "collector/sampling/perf_event.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

using namespace critpath::sampling;

namespace
{

constexpr int rounds = 15;

double seconds(int depth)
{
    if (depth > 0) {
        const double result = seconds(depth - 1);
        asm volatile("" ::: "memory");  // a frame of its own
        return result;
    }
    static std::vector<double> values(1 << 16, 1.0);
    const auto begin = std::chrono::steady_clock::now();
    double sum = 0;
    for (std::size_t i = 0; i < std::size_t{200} << 20; ++i) {
        sum += values[(i * 7919) % values.size()];
    }
    volatile double keep = sum;
    static_cast<void>(keep);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

constexpr int callers = 10;

double with_addresses(std::uint64_t period)
{
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = period;
    attr.sample_type = PERF_SAMPLE_IP;
    attr.exclude_hv = 1;
    attr.disabled = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = 1U << 30;
    const int fd = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) * ((1U << 8) + 1);
    void* ring = fd < 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) {
        fmt::print(stderr, "sample_cost: perf_event_open: {}\n", std::strerror(errno));
        std::exit(1);
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    const double result = seconds(callers);
    munmap(ring, size);
    close(fd);
    return result;
}

double with_ours(std::uint64_t period, std::uint64_t& samples)
{
    const EventChoice choice = {
        "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, period, true, CLOCK_MONOTONIC_RAW, 1U << 8};
    PerfEvent event = no_event;
    if (const int error = open_event(choice, event); error != 0) {
        fmt::print(stderr, "sample_cost: perf_event_open: {}\n", std::strerror(error));
        std::exit(1);
    }
    enable_event(event);
    const double result = seconds(callers);
    disable_event(event);
    samples = peek_records(event).samples;
    constexpr std::size_t largest_record = 4096;
    const bool is_full = unread_bytes(event) + largest_record > event.ring_size;
    close_event(event);
    if (is_full) {
        fmt::print(stderr, "sample_cost: the ring is too small for so many samples; give fewer HZ\n");
        std::exit(1);
    }
    return result;
}

void print_cost(const char* what, std::vector<double> seconds_more, double samples)
{
    std::ranges::sort(seconds_more);
    const auto quartile = [&](std::size_t n) {
        return 1e6 * seconds_more[n * (seconds_more.size() - 1) / 4] / samples;
    };
    fmt::print("{:<12} {:6.2f} us a sample [{:.2f}, {:.2f}]\n", what, quartile(2), quartile(1), quartile(3));
}

}  // namespace

int main(int argc, char** argv)
{
    const int hz = argc > 1 ? std::atoi(argv[1]) : 1000;
    if (hz <= 0 || hz > 20000) {
        fmt::print(stderr, "usage: sample_cost [HZ]   from 1 to 20000\n");
        return 2;
    }
    const std::uint64_t period = 1'000'000'000U / static_cast<unsigned>(hz);
    std::array<std::vector<double>, 2> more;
    std::uint64_t samples = 0;
    for (int i = 0; i <= rounds; ++i) {
        const double plain = seconds(callers);
        const double bare = with_addresses(period);
        const double ours = with_ours(period, samples);
        if (i > 0) {
            more[0].push_back(bare - plain);
            more[1].push_back(ours - plain);
        }
    }
    print_cost("an address", more[0], static_cast<double>(samples));
    print_cost("as recorded", more[1], static_cast<double>(samples));
    fmt::print("{} samples a run, at {} Hz\n", samples, hz);
    return 0;
}
