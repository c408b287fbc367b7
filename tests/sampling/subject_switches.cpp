// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scenarios in which threads lose their processors, fault pages, move, and are not recorded for a while.
#include "tests/sampling/subject.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <poll.h>
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

/// Another thread of the process, which does something again and again until it is told to end; as thread 1 if it is
/// sampled.
class Companion
{
public:
    enum class Is { Sampled, NotSampled };

    template <class Function>
    Companion(Is sampled, Function something)
        : thread_([this, sampled, something] {
              if (sampled == Is::Sampled) {
                  sampling::start_thread(1);
              }
              while (!end_) {
                  something();
              }
              sampling::stop_thread();
          })
    {
    }

    void end()
    {
        end_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> end_{false};
    std::thread thread_;  // last: it looks at the other
};

/// How often `something` can be done in so many ns.
template <class Function>
std::uint64_t repeat_for(std::uint64_t ns, Function something)
{
    std::uint64_t times = 0;
    for (const std::uint64_t end = clock_ns(CLOCK_MONOTONIC_RAW) + ns; clock_ns(CLOCK_MONOTONIC_RAW) < end; ++times) {
        something();
    }
    return times;
}

/// For scenarios whose threads compete.
void begin_on_one_processor(Subject& subject)
{
    pin(allowed_processors().front());
    subject.start();
    subject.open();
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

/// What the kernel has counted of the waits of this thread for a processor, ns.
std::uint64_t run_delay()
{
    std::ifstream file("/proc/thread-self/schedstat");
    std::uint64_t ran = 0, waited = 0;
    file >> ran >> waited;
    return waited;
}

/// Of one processor; [before, after] of each sleep. What the kernel counts of all that is sampled, and of less of it.
void play_sleeps_beside_others(Subject& subject)
{
    pin(allowed_processors().front());
    const std::uint64_t before_all = run_delay();
    subject.start();
    subject.open();
    const std::uint64_t before = run_delay();
    Companion one(Companion::Is::NotSampled, [] { burn(0.005); });
    Companion two(Companion::Is::NotSampled, [] { burn(0.005); });
    for (int i = 0; i < 60; ++i) {
        burn(0.002);
        const std::uint64_t sleep = clock_ns(CLOCK_MONOTONIC_RAW);
        usleep(10'000);
        subject.facts["sleeps"].push_back({sleep, clock_ns(CLOCK_MONOTONIC_RAW)});
    }
    one.end();
    two.end();
    const std::uint64_t after = run_delay();
    subject.finish();
    subject.facts["run_delay"] = {after - before, run_delay() - before_all};
}

/// Sleeps in a function of its own, and in between works. First for longer than the helper lets pass between two looks
/// where nobody was blocked; from then on it looks more often than the sleeps are long.
void play_blocked(Subject& subject)
{
    subject.start();
    subject.open();
    const auto sleep_for = [&](useconds_t us) {
        const std::uint64_t before = clock_ns(CLOCK_MONOTONIC_RAW);
        usleep(us);
        subject.facts["sleeps"].push_back({before, clock_ns(CLOCK_MONOTONIC_RAW)});
    };
    sleep_for(600'000);
    for (int i = 0; i < 10; ++i) {
        burn(0.02);
        sleep_for(100'000);
    }
    subject.finish();
}

/// Six threads, one after the other, which do the same: nothing but to be blocked once.
void play_blocked_in_turn(Subject& subject)
{
    subject.start();
    subject.open();
    for (int thread = 1; thread <= 6; ++thread) {
        std::thread([=] {
            sampling::start_thread(thread);
            usleep(500'000);
            sampling::stop_thread();
        }).join();
    }
    subject.finish();
}

/// One thread after the other is blocked for half a second: until somebody writes to a pipe, for a while, until either,
/// until a condition holds, and until that or for a while.
void play_blocked_for_something(Subject& subject)
{
    subject.start();
    subject.open();
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) {
        std::abort();
    }
    constexpr std::chrono::milliseconds time{500};
    std::mutex mutex;
    std::condition_variable condition;
    const auto until = [&](int thread, auto waits, auto end) {
        std::thread waiter([&] {
            sampling::start_thread(thread);
            waits();
            sampling::stop_thread();
        });
        std::this_thread::sleep_for(time);
        end();
        waiter.join();
    };
    char byte = 0;
    pollfd poll_for{pipe_ends[0], POLLIN, 0};
    const auto read_byte = [&] { return read(pipe_ends[0], &byte, 1); };
    const auto write_byte = [&] { return write(pipe_ends[1], &byte, 1); };
    until(1, read_byte, write_byte);
    until(
        2, [&] { poll(&poll_for, 1, -1); }, write_byte);
    read_byte();
    until(
        3, [&] { poll(&poll_for, 1, 400); }, [] {});
    bool is_true = false;
    const auto holds = [&] { return is_true; };
    const auto make_true = [&] {
        const std::lock_guard lock(mutex);
        is_true = true;
        condition.notify_all();
    };
    const auto waits = [&] {
        std::unique_lock lock(mutex);
        condition.wait(lock, holds);
    };
    until(4, waits, make_true);
    is_true = false;
    const auto waits_for_a_while = [&] {
        std::unique_lock lock(mutex);
        condition.wait_for(lock, 10 * time, holds);
    };
    until(5, waits_for_a_while, make_true);
    subject.finish();
}

/// Two threads on one processor. What one thread knows of itself: a window of time, and its processor time within.
void play_shared_processor(Subject& subject)
{
    begin_on_one_processor(subject);
    Companion other(Companion::Is::Sampled, [] { burn(0.005); });
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
    subject.facts["cpu"] = burn(0.4);
    subject.facts["window"] = {begin, clock_ns(CLOCK_MONOTONIC_RAW)};
    other.end();
    subject.finish();
}

/// A yielding thread leaves the processor although it could run on.
void play_yields(Subject& subject)
{
    begin_on_one_processor(subject);
    Companion other(Companion::Is::NotSampled, sched_yield);
    for (int i = 0; i < 200; ++i) {
        sched_yield();
    }
    other.end();
    subject.finish();
}

/// This thread and a companion do the same for a second.
template <class Function>
void play_storm_of(Subject& subject, Function something)
{
    begin_on_one_processor(subject);
    Companion other(Companion::Is::Sampled, something);
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
    subject.facts["yields"] = repeat_for(1'000'000'000, something);
    subject.facts["storm"] = {begin, clock_ns(CLOCK_MONOTONIC_RAW)};
    other.end();
}

/// Two threads of one processor yield to each other as fast as they can; then one of them works alone.
void play_storm(Subject& subject)
{
    play_storm_of(subject, sched_yield);
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

/// This thread and another one yield to each other, and more often than the ring has room for, before the helper comes.
void play_storm_alone(Subject& subject)
{
    pin(allowed_processors().front());
    subject.start_alone();
    const std::uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    Companion other(Companion::Is::NotSampled, sched_yield);
    subject.facts["yields"] = repeat_for(400'000'000, sched_yield);
    other.end();
    sampling::start_helper();
    subject.open();
    usleep(50'000);  // so that it has made room, and the next record says what was lost
    burn(0.1);
    subject.facts["cpu"] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    subject.finish();
}

/// Two threads of one processor go from one wait to the next, and give way once in each.
void play_short_waits(Subject& subject)
{
    play_storm_of(subject, [] {
        sampling::wait_begins();
        sampling::gives_way();
        sched_yield();
        sampling::wait_ends();
    });
    subject.finish();
}

/// As in short waits, but now and then one of the threads works while the other one waits, which then says that it goes
/// on after a long wait.
void play_uneven_waits(Subject& subject)
{
    constexpr std::uint64_t long_wait = 100'000;
    constexpr int short_waits = 20;
    begin_on_one_processor(subject);
    Companion other(Companion::Is::Sampled, [] {
        for (int i = 0; i < short_waits; ++i) {
            sched_yield();
        }
        repeat_for(2 * long_wait, [] {});
    });
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
    subject.facts["yields"] = repeat_for(1'000'000'000, [] {
        const std::uint64_t since = clock_ns(CLOCK_MONOTONIC_RAW);
        sampling::wait_begins();
        sampling::gives_way();
        sched_yield();
        sampling::wait_ends();
        if (clock_ns(CLOCK_MONOTONIC_RAW) - since > long_wait) {
            sampling::work_begins();
        }
    });
    subject.facts["storm"] = {begin, clock_ns(CLOCK_MONOTONIC_RAW)};
    other.end();
    subject.finish();
}

/// Waits for 5 ms; how often it gave way meanwhile.
std::uint64_t wait_5_ms()
{
    sampling::wait_begins();
    const std::uint64_t yields = repeat_for(5'000'000, [] {
        sampling::gives_way();
        sched_yield();
    });
    sampling::wait_ends();
    return yields;
}

/// Two threads of one processor: one works, then waits, in turn; the other one only waits.
void play_waits(Subject& subject)
{
    begin_on_one_processor(subject);
    Companion other(Companion::Is::Sampled, wait_5_ms);
    std::uint64_t yields = 0;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t work = clock_ns(CLOCK_MONOTONIC_RAW);
        const std::uint64_t cpu = burn(0.005);
        const std::uint64_t wait = clock_ns(CLOCK_MONOTONIC_RAW);
        yields += wait_5_ms();
        subject.facts["work"].push_back({work, wait, cpu});
        subject.facts["waits"].push_back({wait, clock_ns(CLOCK_MONOTONIC_RAW)});
    }
    subject.facts["yields"] = yields;
    other.end();
    subject.finish();
}

/// Two threads of one processor: one asks in vain again and again, gives that up without a word, and works.
void play_given_up(Subject& subject)
{
    begin_on_one_processor(subject);
    Companion other(Companion::Is::NotSampled, sched_yield);
    std::uint64_t yields = 0;
    for (int i = 0; i < 6; ++i) {
        yields += repeat_for(50'000'000, [] {
            sampling::wait_goes_on();
            sampling::gives_way();
            sched_yield();
        });
        const std::uint64_t work = clock_ns(CLOCK_MONOTONIC_RAW);
        const std::uint64_t cpu = burn(0.1);
        subject.facts["work"].push_back({work, clock_ns(CLOCK_MONOTONIC_RAW), cpu});
        sampling::wait_ends();
    }
    subject.facts["yields"] = yields;
    other.end();
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
        {"sleeps_beside_others", play_sleeps_beside_others},
        {"blocked", play_blocked},
        {"blocked_in_turn", play_blocked_in_turn},
        {"blocked_for_something", play_blocked_for_something},
        {"shared_processor", play_shared_processor},
        {"yields", play_yields},
        {"page_faults", play_page_faults},
        {"migrations", play_migrations},
        {"pause", play_pause},
        {"storm", play_storm},
        {"storm_alone", play_storm_alone},
        {"waits", play_waits},
        {"short_waits", play_short_waits},
        {"uneven_waits", play_uneven_waits},
        {"given_up", play_given_up},
    };
}
