// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scenarios in which threads lose their processors, fault pages, move, and are not recorded for a while.
#include "tests/sampling/subject.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace
{

namespace sampling = critpath::sampling;
using namespace critpath::test;

void pin(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(processor), &set);
    sched_setaffinity(0, sizeof set, &set);
}

std::vector<int> allowed_processors()
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    std::vector<int> processors;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(static_cast<std::size_t>(i), &set)) {
            processors.push_back(i);
        }
    }
    return processors;
}

/// [before, after] of each of twenty sleeps.
void play_sleeps(Subject& subject)
{
    subject.start();
    subject.open();
    subject.facts["sleeps"] = Json::array();
    for (int i = 0; i < 20; ++i) {
        burn(0.002);
        const std::uint64_t before = clock_ns(CLOCK_MONOTONIC_RAW);
        usleep(3000);
        subject.facts["sleeps"].push_back({before, clock_ns(CLOCK_MONOTONIC_RAW)});
    }
    subject.finish();
}

/// Two threads on one processor. What one thread knows of itself: a window of time, and its processor time within.
void play_shared_processor(Subject& subject)
{
    pin(allowed_processors().front());
    subject.start();
    subject.open();
    std::atomic<bool> end{false};
    std::thread other([&end] {
        sampling::start_thread(1);
        while (!end) {
            burn(0.005);
        }
        sampling::stop_thread();
    });
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
    subject.facts["cpu"] = burn(0.4);
    subject.facts["window"] = {begin, clock_ns(CLOCK_MONOTONIC_RAW)};
    end = true;
    other.join();
    subject.finish();
}

/// A yielding thread leaves the processor although it could run on.
void play_yields(Subject& subject)
{
    pin(allowed_processors().front());
    subject.start();
    subject.open();
    std::atomic<bool> end{false};
    std::thread other([&end] {
        while (!end) {
            sched_yield();
        }
    });
    for (int i = 0; i < 200; ++i) {
        sched_yield();
    }
    end = true;
    other.join();
    subject.finish();
}

/// Two threads of one processor yield to each other as fast as they can; then one of them works alone.
void play_storm(Subject& subject)
{
    pin(allowed_processors().front());
    subject.start();
    subject.open();
    std::atomic<bool> end{false};
    std::thread other([&end] {
        sampling::start_thread(1);
        while (!end) {
            sched_yield();
        }
        sampling::stop_thread();
    });
    std::uint64_t yields = 0;
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
    for (; clock_ns(CLOCK_MONOTONIC_RAW) < begin + 1'000'000'000; ++yields) {
        sched_yield();
    }
    subject.facts["storm"] = {begin, clock_ns(CLOCK_MONOTONIC_RAW)};
    subject.facts["yields"] = yields;
    end = true;
    other.join();
    for (int i = 0; i < 3; ++i) {  // the helper may be at work in the same moment
        sampling::work_begins();
        usleep(200);
    }
    subject.facts["begun"] = clock_ns(CLOCK_MONOTONIC_RAW);
    burn(0.7);  // longer than a respite
    const std::uint64_t work = clock_ns(CLOCK_MONOTONIC_RAW);
    subject.facts["cpu"] = burn(0.4);
    subject.facts["work"] = {work, clock_ns(CLOCK_MONOTONIC_RAW)};
    subject.finish();
}

/// Two threads of one processor go from one wait to the next, and give way once in each.
void play_short_waits(Subject& subject)
{
    pin(allowed_processors().front());
    subject.start();
    subject.open();
    const auto wait_and_yield = [] {
        sampling::wait_begins();
        sampling::gives_way();
        sched_yield();
        sampling::wait_ends();
    };
    std::atomic<bool> end{false};
    std::thread other([&] {
        sampling::start_thread(1);
        while (!end) {
            wait_and_yield();
        }
        sampling::stop_thread();
    });
    std::uint64_t yields = 0;
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
    for (; clock_ns(CLOCK_MONOTONIC_RAW) < begin + 1'000'000'000; ++yields) {
        wait_and_yield();
    }
    subject.facts["storm"] = {begin, clock_ns(CLOCK_MONOTONIC_RAW)};
    subject.facts["yields"] = yields;
    end = true;
    other.join();
    subject.finish();
}

/// Two threads of one processor: one works, then waits, in turn; the other one only waits. Who waits yields, and has
/// announced it.
void play_waits(Subject& subject)
{
    pin(allowed_processors().front());
    subject.start();
    subject.open();
    std::atomic<bool> end{false};
    std::thread other([&end] {
        sampling::start_thread(1);
        sampling::wait_begins();
        while (!end) {
            sampling::gives_way();
            sched_yield();
        }
        sampling::wait_ends();
        sampling::stop_thread();
    });
    std::uint64_t yields = 0;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t work = clock_ns(CLOCK_MONOTONIC_RAW);
        const std::uint64_t cpu = burn(0.005);
        const std::uint64_t wait = clock_ns(CLOCK_MONOTONIC_RAW);
        sampling::wait_begins();
        for (; clock_ns(CLOCK_MONOTONIC_RAW) < wait + 5'000'000; ++yields) {
            sampling::gives_way();
            sched_yield();
        }
        sampling::wait_ends();
        subject.facts["work"].push_back({work, wait, cpu});
        subject.facts["waits"].push_back({wait, clock_ns(CLOCK_MONOTONIC_RAW)});
    }
    subject.facts["yields"] = yields;
    end = true;
    other.join();
    subject.finish();
}

/// Two threads of one processor: one asks in vain again and again, gives that up without a word, and works.
void play_given_up(Subject& subject)
{
    pin(allowed_processors().front());
    subject.start();
    subject.open();
    std::atomic<bool> end{false};
    std::thread other([&end] {
        while (!end) {
            sched_yield();
        }
    });
    std::uint64_t yields = 0;
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
        for (; clock_ns(CLOCK_MONOTONIC_RAW) < begin + 50'000'000; ++yields) {
            sampling::wait_goes_on();
            sampling::gives_way();
            sched_yield();
        }
        const std::uint64_t work = clock_ns(CLOCK_MONOTONIC_RAW);
        const std::uint64_t cpu = burn(0.1);
        subject.facts["work"].push_back({work, clock_ns(CLOCK_MONOTONIC_RAW), cpu});
        sampling::wait_ends();
    }
    subject.facts["yields"] = yields;
    end = true;
    other.join();
    subject.finish();
}

long faults_of_thread()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

void play_page_faults(Subject& subject)
{
    constexpr std::size_t page = 4096, pages = 3000;
    subject.start();
    subject.open();
    const long before = faults_of_thread();
    for (int round = 0; round < 3; ++round) {
        auto* memory = static_cast<volatile char*>(
            mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        madvise(const_cast<char*>(memory), pages * page, MADV_NOHUGEPAGE);
        for (std::size_t i = 0; i < pages; ++i) {
            memory[i * page] = 1;
        }
        munmap(const_cast<char*>(memory), pages * page);
        burn(0.02);
    }
    subject.facts["faults"] = faults_of_thread() - before;
    subject.finish();
}

void play_migrations(Subject& subject)
{
    const std::vector<int> processors = allowed_processors();
    if (processors.size() < 2) {
        not_possible("this process has one processor only");
    }
    pin(processors[0]);
    subject.start();
    subject.open();
    constexpr int moves = 30;
    for (int i = 1; i <= moves; ++i) {
        pin(processors[static_cast<std::size_t>(i % 2)]);
        burn(0.001);
    }
    subject.facts["moves"] = moves;
    subject.finish();
}

/// A pause in which an old and a new thread work; both go on working afterwards.
void play_pause(Subject& subject)
{
    subject.start();
    subject.open();
    subject.facts["cpu"] = burn(0.2);
    sampling::pause();
    sampling::pause();
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
    std::atomic<int> stage{0};
    std::thread other([&] {
        sampling::start_thread(1);
        burn(0.1);
        stage = 1;
        while (stage == 1) {
            usleep(1000);
        }
        subject.facts["cpu_of_other"] = burn(0.2);
        sampling::stop_thread();
    });
    burn(0.2);
    while (stage == 0) {
        usleep(1000);
    }
    subject.facts["pause"] = {begin, clock_ns(CLOCK_MONOTONIC_RAW)};
    sampling::resume();
    stage = 2;
    other.join();
    subject.facts["cpu"] = subject.facts["cpu"].get<std::uint64_t>() + burn(0.2);
    subject.finish();
}

}  // namespace

critpath::test::Scenarios critpath::test::switch_scenarios()
{
    return {
        {"sleeps", play_sleeps},
        {"shared_processor", play_shared_processor},
        {"yields", play_yields},
        {"page_faults", play_page_faults},
        {"migrations", play_migrations},
        {"pause", play_pause},
        {"storm", play_storm},
        {"waits", play_waits},
        {"short_waits", play_short_waits},
        {"given_up", play_given_up},
    };
}
