// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scenarios of an application that is sampled by timers, and would notice signals that are not its own.
#include "collector/sampling/thread_timer.hpp"
#include "tests/sampling/subject.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

namespace sampling = critpath::sampling;
using namespace critpath::test;

/// The kernel refuses events, and nobody has asked for timers.
void play_refused_but_timers(Subject& subject)
{
    refuse_perf_event_open(EACCES);
    subject.sampler = sampling::Sampler::Auto;
    subject.start();
    subject.open();
    subject.facts["cpu"] = burn(0.3);
    subject.facts["replaced"] = sampling::replaced();
    subject.finish();
}

void play_shares(Subject& subject)
{
    subject.start();
    subject.open();
    std::uint64_t here = 0;
    std::uint64_t there = 0;
    for (int round = 0; round < 10; ++round) {
        here += burn(0.075);
        there += burn_elsewhere(0.025);
    }
    subject.facts["here"] = here;
    subject.facts["there"] = there;
    subject.finish();
}

void play_with(Subject& subject, critpath::spool::CallGraph call_graph)
{
    subject.call_graph = call_graph;
    subject.start();
    subject.open();
    subject.facts["cpu"] = burn(0.3);
    subject.finish();
}

std::atomic<int> own_signals{0};
std::atomic<int> strange_signals{0};

/// Handles every real-time signal that there is for it itself, and waits for them, too.
void play_own_signals(Subject& subject)
{
    subject.start();
    subject.open();
    struct sigaction action {
    };
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
        info->si_code == SI_QUEUE && info->si_value.sival_int == 7 ? ++own_signals : ++strange_signals;
    };
    int handled = 0;
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
        struct sigaction before {
        };
        sigaction(signal, &action, &before);
        handled += before.sa_handler != SIG_DFL ? 1 : 0;
    }
    std::uint64_t cpu = 0;
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
        sigqueue(getpid(), signal, {.sival_int = 7});
        cpu += burn(0.01);
    }
    subject.facts["sent"] = SIGRTMAX - SIGRTMIN + 1;
    subject.facts["handled_before"] = handled;
    subject.facts["own"] = own_signals.load();
    subject.facts["strange"] = strange_signals.load();
    sigset_t all, pending;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    cpu += burn(0.2);
    const timespec at_once{};
    subject.facts["waited_for"] = sigtimedwait(&all, nullptr, &at_once);
    subject.facts["errno"] = errno;
    sigpending(&pending);
    bool any = false;
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        any = any || sigismember(&pending, signal) == 1;
    }
    subject.facts["pending"] = any;
    subject.facts["cpu"] = cpu;
    subject.finish();
}

/// All signals are held back by the system call itself, which C libraries do for a moment.
void play_held_back(Subject& subject)
{
    subject.start();
    subject.open();
    std::uint64_t cpu = burn(0.1);
    std::uint64_t all = ~std::uint64_t{0};
    std::uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    cpu += burn_elsewhere(0.4);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof all);
    subject.facts["cpu"] = cpu + burn(0.1);
    subject.finish();
}

/// Calls that end early when a signal is handled, in between much work.
void play_sleeper(Subject& subject)
{
    subject.start();
    subject.open();
    int interrupted = 0;
    std::uint64_t cpu = 0;
    for (int round = 0; round < 40; ++round) {
        cpu += burn(0.005);
        const timespec some{0, 2'000'000};
        interrupted += nanosleep(&some, nullptr) != 0 ? 1 : 0;
        interrupted += poll(nullptr, 0, 2) < 0 ? 1 : 0;
    }
    // Short ones in a row: the tick comes while they begin and end.
    const std::uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < 200'000'000) {
        const timespec short_time{0, 1};
        interrupted += nanosleep(&short_time, nullptr) != 0 ? 1 : 0;
        interrupted += ppoll(nullptr, 0, &short_time, nullptr) < 0 ? 1 : 0;
    }
    subject.facts["interrupted"] = interrupted;
    subject.facts["cpu"] = cpu;
    subject.finish();
}

/// Threads whose stack for signals has room for a small handler of their own, since before they are sampled or later. A
/// kernel that knows that it is too small refuses it.
void play_small_stacks(Subject& subject)
{
    subject.start();
    subject.open();
    const auto take = [](char* memory, std::size_t size) {
        const stack_t stack = {memory, 0, size};
        sampling::handlers_run_on(stack);  // as the preload library says it
        return sigaltstack(&stack, nullptr) == 0;
    };
    subject.facts["taken"] = true;
    for (int thread = 1; thread <= 2; ++thread) {
        std::thread([&, thread] {
            char memory[2048];
            bool taken = thread != 1 || take(memory, sizeof memory);
            sampling::start_thread(thread);
            taken = taken && (thread != 2 || take(memory, sizeof memory));
            burn(0.1);
            sampling::stop_thread();
            const stack_t none = {nullptr, SS_DISABLE, 0};
            sigaltstack(&none, nullptr);
            subject.facts["taken"] = subject.facts["taken"].get<bool>() && taken;
        }).join();
    }
    subject.facts["cpu"] = burn(0.2);
    subject.finish();
}

/// Threads on stacks of their own making, with and without one for signals.
void play_stacks(Subject& subject)
{
    subject.start();
    subject.open();
    std::vector<std::thread> threads;
    subject.facts["cpu_of"] = {0, 0, 0};
    for (int thread = 1; thread <= 2; ++thread) {
        threads.emplace_back([thread, &subject] {
            const std::size_t size = 65536;
            const auto memory = std::make_unique<char[]>(size);
            if (thread == 2) {
                const stack_t stack = {memory.get(), 0, size};
                sigaltstack(&stack, nullptr);
            }
            sampling::start_thread(thread);
            subject.facts["cpu_of"][static_cast<std::size_t>(thread)] = burn(0.2);
            sampling::stop_thread();
            const stack_t none = {nullptr, SS_DISABLE, 0};
            sigaltstack(&none, nullptr);
        });
        threads.back().join();
    }
    subject.finish();
}

/// errno is what it was, however many samples come in between.
void play_errno(Subject& subject)
{
    subject.start();
    subject.open();
    errno = ERANGE;
    std::uint64_t x = 1;
    int changed = 0;
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    while (clock_ns(CLOCK_MONOTONIC) - begin < 300'000'000) {
        x = x * 6364136223846793005 + 1442695040888963407;
        changed += errno != ERANGE ? 1 : 0;
    }
    subject.facts["x"] = x % 2;
    subject.facts["changed"] = changed;
    subject.finish();
}

/// A thread is cancelled, for which glibc takes the signal: cancelling works, and the samples end.
void play_cancel(Subject& subject)
{
    subject.start();
    subject.open();
    subject.facts["cpu"] = burn(0.2);
    pthread_t thread;
    const auto wait = [](void*) -> void* {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
        for (;;) {
            pause();
        }
    };
    pthread_create(&thread, nullptr, wait, nullptr);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    subject.facts["cancelled"] = result == PTHREAD_CANCELED;
    burn(0.3);
    std::thread([] {
        sampling::start_thread(1);
        burn(0.1);
        sampling::stop_thread();
    }).join();
    subject.finish();
}

void play_taken_before(Subject& subject)
{
    pthread_t thread;
    const auto wait = [](void*) -> void* {
        for (;;) {
            pause();
        }
    };
    pthread_create(&thread, nullptr, wait, nullptr);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    subject.start();
    subject.open();
    burn(0.05);
    subject.finish();
}

/// Nothing of it reaches other programs: they would die of it.
void play_starts_others(Subject& subject)
{
    subject.start();
    subject.open();
    int failed = 0;
    std::uint64_t cpu = 0;
    char program[] = "/bin/true";
    char* arguments[] = {program, nullptr};
    for (int round = 0; round < 20; ++round) {
        cpu += burn(0.01);
        pid_t child = -1;
        if (round % 2 == 0) {
            posix_spawn(&child, program, nullptr, nullptr, arguments, environ);  // as vfork
        } else {
            child = fork();
        }
        if (child == 0) {
            execv(program, arguments);
            _exit(1);
        }
        int status = -1;
        failed += waitpid(child, &status, 0) != child || status != 0 ? 1 : 0;
    }
    subject.facts["failed"] = failed;
    subject.facts["cpu"] = cpu;
    subject.finish();
}

/// The recording pauses and goes on. Not often: periods that no tick has met yet are forgotten at each pause.
void play_pauses(Subject& subject)
{
    subject.start();
    subject.open();
    std::uint64_t cpu = 0;
    for (int round = 0; round < 3; ++round) {
        cpu += burn(0.15);
        sampling::pause();
        burn_elsewhere(0.05);
        sampling::resume();
    }
    subject.facts["cpu"] = cpu;
    subject.finish();
}

}  // namespace

critpath::test::Scenarios critpath::test::timer_scenarios()
{
    using critpath::spool::CallGraph;
    return {
        {"refused_but_timers", play_refused_but_timers},
        {"shares", play_shares},
        {"without_callers", [](Subject& subject) { play_with(subject, CallGraph::None); }},
        {"stack_copies", [](Subject& subject) { play_with(subject, CallGraph::Dwarf); }},
        {"own_signals", play_own_signals},
        {"held_back", play_held_back},
        {"sleeper", play_sleeper},
        {"stacks", play_stacks},
        {"small_stacks", play_small_stacks},
        {"errno", play_errno},
        {"cancel", play_cancel},
        {"taken_before", play_taken_before},
        {"starts_others", play_starts_others},
        {"pauses", play_pauses},
    };
}
