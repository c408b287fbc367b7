// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The program that the tests of sampling sample: `sampling_subject SCENARIO DIRECTORY [timer]` plays one scenario,
// leaves sample files in DIRECTORY and prints what it knows about itself as JSON.
#include "tests/sampling/subject.hpp"

#include "collector/sampling/perf_event.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef CRITPATH_SANITIZED
// To look for leaks it needs a descriptor, and some tests leave none; nothing here allocates.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options()
{
    return "detect_leaks=0";
}
#endif

extern "C" {
// The linker gives the bounds of sections whose names are C identifiers.
extern const char __start_burning_code[], __stop_burning_code[], __start_calling_code[], __stop_calling_code[];
extern const char __start_other_code[], __stop_other_code[];
}

namespace
{

namespace sampling = critpath::sampling;
using namespace critpath::test;

volatile std::uint64_t sink;

__attribute__((noinline, section("burning_code"))) void burn_a_little()
{
    std::uint64_t x = sink + 1;
    for (int i = 0; i < 2'000'000; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
}

__attribute__((noinline)) std::uint64_t burn_for(double seconds)
{
    const std::uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    std::uint64_t used = 0;
    while (used < static_cast<std::uint64_t>(seconds * 1e9)) {
        burn_a_little();
        used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    return used;
}

/// Some 10 us.
__attribute__((noinline, section("burning_code"))) void burn_shortly()
{
    std::uint64_t x = sink + 1;
    for (int i = 0; i < 5'000; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
}

__attribute__((noinline, section("other_code"))) void burn_shortly_elsewhere()
{
    std::uint64_t x = sink;
    for (int i = 0; i < 8'000; ++i) {
        x = x * 6364136223846793005 + 1442695040888963407;
    }
    sink = x;
}

/// Until the thread has used `time` of processor time.
void burn_until(double time, void (*work)())
{
    while (static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID)) < time) {
        work();
    }
}

}  // namespace

__attribute__((noinline, section("other_code"))) std::uint64_t critpath::test::burn_elsewhere(double seconds)
{
    const std::uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    std::uint64_t x = sink;
    std::uint64_t used = 0;
    while (used < static_cast<std::uint64_t>(seconds * 1e9)) {
        for (int i = 0; i < 1'000'000; ++i) {
            x = x * 6364136223846793005 + 1442695040888963407;
        }
        used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    sink = x;
    return used;
}

/// Burns `seconds` of processor time in burn_a_little; returns what it took. Two calls above it, because the kernel's
/// walk over frame pointers leaves out the direct caller of a leaf that has no frame.
__attribute__((noinline, section("calling_code"))) std::uint64_t critpath::test::burn(double seconds)
{
    const std::uint64_t used = burn_for(seconds);
    sink = sink + 1;
    return used;
}

long critpath::test::sleeps_of_helper()
{
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (task.path().filename() != std::to_string(getpid())) {
            std::ifstream status(task.path() / "status");
            for (std::string word; status >> word;) {
                if (long count = 0; word == "voluntary_ctxt_switches:" && status >> count) {
                    return count;
                }
            }
        }
    }
    return 0;
}

namespace
{

void play_main_thread(Subject& subject)
{
    subject.start();
    subject.open();
    subject.facts["cpu"] = burn(0.5);
    subject.finish();
}

void play_before_files(Subject& subject)
{
    subject.start();
    subject.facts["cpu"] = burn(0.5);
    subject.open();
    subject.finish();
}

std::ptrdiff_t tasks()
{
    const std::filesystem::directory_iterator all("/proc/self/task");
    return std::distance(begin(all), end(all));
}

void play_never_opened(Subject& subject)
{
    subject.start();
    burn(0.1);
    subject.finish();
}

/// Three threads with different work; the third ends before the files are open.
void play_threads(Subject& subject)
{
    subject.start();
    const auto work = [&subject](int thread, double seconds) {
        sampling::start_thread(thread);
        subject.facts["cpu_of"][static_cast<std::size_t>(thread)] = burn(seconds);
        pthread_setname_np(pthread_self(), ("thread " + std::to_string(thread)).c_str());
        sampling::stop_thread();
    };
    subject.facts["cpu_of"] = {0, 0, 0, 0};
    std::thread(work, 3, 0.2).join();
    subject.open();
    std::thread(work, 1, 0.1).join();
    std::thread(work, 2, 0.4).join();
    subject.facts["cpu_of"][0] = burn(0.05);
    subject.finish();
}

/// Threads that repeat themselves with the period of their samples, 0.3 of it in one function and 0.7 in another.
void play_in_step(Subject& subject)
{
    subject.start();
    subject.open();
    const auto period = static_cast<double>(sampling::uneven(1'000'000'000 / frequency));
    for (int thread = 1; thread <= 8; ++thread) {
        std::thread([=] {
            sampling::start_thread(thread);
            const auto begin = static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID));
            for (int i = 0; i < 150; ++i) {
                if (i == 30 || i == 60 || i == 90) {
                    usleep(50'000);  // for the helper, which may not get a processor otherwise, to end the first period
                }
                burn_until(begin + (i + 0.3) * period, burn_shortly);
                burn_until(begin + (i + 1.0) * period, burn_shortly_elsewhere);
            }
            sampling::stop_thread();
        }).join();
    }
    subject.finish();
}

/// More than fits into the ring, before the helper comes.
void play_alone(Subject& subject)
{
    subject.start_alone();
    subject.facts["tasks"] = tasks();
    for (int thread = 1; thread <= 4; ++thread) {
        std::thread([&subject, thread] {
            sampling::start_thread(thread);
            subject.facts["cpu_of"].push_back(burn(0.4));
            sampling::stop_thread();
        }).join();
    }
    subject.facts["cpu"] = burn(2);
    sampling::start_helper();
    subject.open();
    subject.facts["tasks_helped"] = tasks();
    usleep(50'000);  // so that it has made room, and the next record says what was lost
    burn(0.1);
    subject.finish();
}

void play_many_threads(Subject& subject)
{
    subject.start();
    subject.open();
    for (int thread = 1; thread <= 200; ++thread) {
        std::thread([thread] {
            sampling::start_thread(thread);
            sampling::stop_thread();
        }).join();
    }
    subject.finish();
}

/// Threads that are still running when the recording ends, and one that begins afterwards.
void play_unstopped_threads(Subject& subject)
{
    subject.start();
    subject.open();
    std::atomic<bool> end{false};
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    for (int thread = 1; thread <= 3; ++thread) {
        threads.emplace_back([thread, &end, &started] {
            sampling::start_thread(thread);
            ++started;
            while (!end) {
                burn(0.01);
            }
            sampling::stop_thread();
        });
    }
    while (started < 3) {
        burn(0.01);
    }
    subject.finish();
    end = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::thread([] {
        sampling::start_thread(4);
        sampling::stop_thread();
    }).join();
}

std::atomic<int> profiling_signals{0};

/// An application that blocks all signals, then uses SIGPROF itself.
void play_signals(Subject& subject)
{
    sigset_t all, before, mask;
    sigfillset(&all);
    sigdelset(&all, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_sigmask(SIG_BLOCK, nullptr, &before);
    errno = ERANGE;
    subject.start();
    subject.open();
    subject.facts["errno"] = errno;
    subject.facts["cpu"] = burn(0.2);
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    sigset_t pending;
    sigpending(&pending);
    subject.facts["mask_kept"] = true;
    subject.facts["pending"] = false;
    for (int signal = 1; signal < SIGRTMAX; ++signal) {
        if (sigismember(&mask, signal) != sigismember(&before, signal)) {
            subject.facts["mask_kept"] = false;
        }
        if (sigismember(&pending, signal) == 1) {
            subject.facts["pending"] = true;
        }
    }
    struct sigaction action {
    };
    action.sa_handler = [](int) { ++profiling_signals; };
    sigaction(SIGPROF, &action, nullptr);
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    const itimerval each_10_ms = {{0, 10'000}, {0, 10'000}};
    setitimer(ITIMER_PROF, &each_10_ms, nullptr);
    // A machine that stands still meanwhile makes many into one.
    std::uint64_t cpu = subject.facts["cpu"];
    for (int rounds = 0; rounds < 100 && (rounds < 3 || profiling_signals < 10); ++rounds) {
        cpu += burn(0.1);
    }
    subject.facts["cpu"] = cpu;
    subject.finish();
    subject.facts["profiling_signals"] = profiling_signals.load();
}

void play_twice(Subject& subject)
{
    subject.start();
    sampling::start_thread(1);  // the thread has a number already
    subject.open();
    subject.open();
    subject.facts["cpu"] = burn(0.1);
    subject.finish();
    sampling::stop_thread();
    subject.finish();
    subject.open();
}

void play_wakes(Subject& subject)
{
    subject.start();
    subject.open();
    subject.facts["cpu"] = burn(2.0);
    subject.facts["wakes"] = sleeps_of_helper();
    subject.finish();
}

}  // namespace

int main(int argc, char** argv)  // NOLINT(bugprone-exception-escape): a failed test may end so
{
    Scenarios scenarios = {
        {"main_thread", play_main_thread},
        {"before_files", play_before_files},
        {"never_opened", play_never_opened},
        {"threads", play_threads},
        {"in_step", play_in_step},
        {"many_threads", play_many_threads},
        {"alone", play_alone},
        {"unstopped_threads", play_unstopped_threads},
        {"signals", play_signals},
        {"twice", play_twice},
        {"wakes", play_wakes},
    };
    scenarios.merge(counter_scenarios());
    scenarios.merge(switch_scenarios());
    scenarios.merge(trouble_scenarios());
    scenarios.merge(timer_scenarios());
    const auto scenario = argc == 3 || argc == 4 ? scenarios.find(argv[1]) : scenarios.end();
    if (scenario == scenarios.end()) {
        std::cerr << "usage: sampling_subject SCENARIO DIRECTORY [timer]\n";
        return 2;
    }
    Subject subject(argv[2]);
    subject.sampler = argc == 4 ? sampling::Sampler::Timer : sampling::Sampler::Perf;
    subject.facts["burning"] = {reinterpret_cast<std::uint64_t>(__start_burning_code),
                                reinterpret_cast<std::uint64_t>(__stop_burning_code)};
    subject.facts["calling"] = {reinterpret_cast<std::uint64_t>(__start_calling_code),
                                reinterpret_cast<std::uint64_t>(__stop_calling_code)};
    subject.facts["other"] = {reinterpret_cast<std::uint64_t>(__start_other_code),
                              reinterpret_cast<std::uint64_t>(__stop_other_code)};
    scenario->second(subject);
    std::cout << subject.facts << std::endl;
    return 0;
}
