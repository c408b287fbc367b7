// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: sample_cost [HZ]
//
// Owns what a sample costs the thread that is sampled: the same work without samples, with samples that record nothing
// but an address, and with those of the collector in each of its modes, in turn; medians of the differences, divided by
// the number of samples.
#include "bench/sampled.hpp"

#include <cerrno>
#include <chrono>
#include <iterator>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace critpath;

namespace
{

constexpr int rounds = 15;
constexpr int callers = 10;
constexpr unsigned usual_hz = 1000;
constexpr unsigned highest_hz = 20000;

/// With more on the stack than any sample copies.
[[gnu::noinline]] double seconds(int depth = callers)
{
    char many[2 * spool::StackImage::largest_copy / callers];
    std::memset(many, depth, sizeof many);  // the kernel copies only pages that are there
    asm volatile("" : : "r"(many) : "memory");
    if (depth > 0) {
        const double result = seconds(depth - 1);
        asm volatile("" : : "r"(many) : "memory");  // a frame of its own
        return result;
    }
    static std::vector<double> values(1 << 16, 1.0);
    const auto begin = std::chrono::steady_clock::now();
    double sum = 0;
    for (std::size_t i = 0; i < std::size_t{200} << 20; ++i) {
        sum += values[(i * 7919) % values.size()];
    }
    asm volatile("" : : "x"(sum));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double with_addresses(unsigned hz)
{
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = bench::period_of(hz);
    attr.sample_type = PERF_SAMPLE_IP;
    attr.exclude_hv = 1;
    attr.disabled = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = 1U << 30;
    const int fd = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) * ((1U << 8) + 1);
    void* ring = fd < 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) {
        fmt::print(stderr, "perf_event_open: {}\n", std::strerror(errno));
        std::exit(1);
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    const double result = seconds();
    munmap(ring, size);
    close(fd);
    return result;
}

struct Sampled {
    double seconds;
    std::uint64_t samples;
};

struct Mode {
    const char* name;
    sampling::Callers callers;
};

using spool::CallGraph;
constexpr Mode modes[] = {{"none", {CallGraph::None}},
                          {"fp", {CallGraph::FramePointers}},
                          {"dwarf,8192", {CallGraph::Dwarf, 8192}},
                          {"dwarf", {CallGraph::Dwarf}},
                          {"dwarf,32768", {CallGraph::Dwarf, 32768}}};

/// Most bytes of the stack that a sample has: its last word. From the begin of the ring, so that nothing wraps.
std::uint64_t copied(const sampling::Unread& unread)
{
    std::uint64_t most = 0;
    for (std::size_t position = 0; position < unread.size[0];) {
        perf_event_header header;
        std::memcpy(&header, unread.piece[0] + position, sizeof header);
        position += header.size;
        if (header.type == PERF_RECORD_SAMPLE) {
            std::uint64_t bytes = 0;
            std::memcpy(&bytes, unread.piece[0] + position - sizeof bytes, sizeof bytes);
            most = std::max(most, bytes);
        }
    }
    return most;
}

Sampled as_recorded(unsigned hz, const sampling::Callers& of_samples)
{
    constexpr std::size_t largest_record = spool::StackImage::largest_copy + 4096;
    sampling::PerfEvent event = bench::sample_this_thread(hz, of_samples);
    const double elapsed = seconds();
    sampling::disable_event(event);
    const sampling::Unread unread = sampling::peek_records(event);
    const std::uint64_t of_stack = of_samples.call_graph == CallGraph::Dwarf ? copied(unread) : of_samples.stack_bytes;
    const bool is_full = sampling::unread_bytes(event) + largest_record > event.ring_size;
    sampling::close_event(event);
    if (is_full) {
        fmt::print(stderr, "sample_cost: the ring is too small for so many samples; give fewer HZ\n");
        std::exit(1);
    }
    if (of_stack != of_samples.stack_bytes) {
        fmt::print(stderr, "sample_cost: {} bytes of the stack were copied, not {}\n", of_stack,
                   of_samples.stack_bytes);
        std::exit(1);
    }
    return {elapsed, unread.samples};
}

}  // namespace

int main(int argc, char** argv)
{
    const unsigned long hz = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : usual_hz;
    if (hz == 0 || hz > highest_hz) {
        fmt::print(stderr, "usage: sample_cost [HZ]   from 1 to {}\n", highest_hz);
        return 2;
    }
    std::vector<double> of_address;  // us a sample
    std::vector<double> of_ours[std::size(modes)];
    seconds();
    for (int i = 0; i < rounds; ++i) {
        const double plain = seconds();
        const double with_address = with_addresses(static_cast<unsigned>(hz));
        std::uint64_t samples = 0;
        for (std::size_t mode = 0; mode < std::size(of_ours); ++mode) {
            const Sampled ours = as_recorded(static_cast<unsigned>(hz), modes[mode].callers);
            samples = ours.samples;
            of_ours[mode].push_back(1e6 * (ours.seconds - plain) / static_cast<double>(samples));
        }
        of_address.push_back(1e6 * (with_address - plain) / static_cast<double>(samples));
    }
    bench::print_quartiles("an address", of_address, "us a sample");
    for (std::size_t mode = 0; mode < std::size(of_ours); ++mode) {
        bench::print_quartiles(modes[mode].name, of_ours[mode], "us a sample");
    }
    return 0;
}
