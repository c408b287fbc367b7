// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scenarios in which the machine, or the application, makes sampling hard.
#include "tests/sampling/subject.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

namespace sampling = critpath::sampling;
using namespace critpath::test;

/// Where the helper stands that has no processor just when poll has returned.
enum class Late : int { Never, Wanted, Polling, ThreadEnded, Held, Released };
std::atomic<Late> late{Late::Never};
constexpr nfds_t with_ending_thread = 3;  // behind the eventfd and the first thread
std::atomic<bool> has_heard_of_end{false};

/// False if it takes too long.
bool wait_until(const std::function<bool()>& is_so)
{
    constexpr int patience = 100'000;
    for (int i = 0; i < patience; ++i) {
        if (is_so()) {
            return true;
        }
        usleep(100);
    }
    return false;
}

bool wait_until(Late wanted)
{
    return wait_until([wanted] { return late.load() >= wanted; });
}

}  // namespace

extern "C" {
// By the linker, in place of poll; with checks where the compiler adds them.
int __real_poll(pollfd* descriptors, nfds_t count, int patience);
int __wrap_poll(pollfd* descriptors, nfds_t count, int patience);
int __wrap___poll_chk(pollfd* descriptors, nfds_t count, int patience, std::size_t size);

int __wrap_poll(pollfd* descriptors, nfds_t count, int patience)
{
    // Held from here on: what woke it before the thread's end would let it look at the slots without that thread.
    Late wanted = Late::Wanted;
    if (count != with_ending_thread || !late.compare_exchange_strong(wanted, Late::Polling)) {
        return __real_poll(descriptors, count, patience);
    }
    int result = 0;
    wait_until(Late::ThreadEnded);
    has_heard_of_end = wait_until([&] {
        result = __real_poll(descriptors, count, 0);
        return (descriptors[count - 1].revents & POLLHUP) != 0;
    });
    late = Late::Held;
    wait_until(Late::Released);
    return result;
}

int __wrap___poll_chk(pollfd* descriptors, nfds_t count, int patience, std::size_t)
{
    return __wrap_poll(descriptors, count, patience);
}
}

namespace
{

/// What the helper was told of a thread that has ended, it looks at when another has its place.
void play_late_helper(Subject& subject)
{
    subject.start();
    if (sampling::refused() != 0) {
        subject.finish();
        return;
    }
    std::thread([] {
        late = Late::Wanted;
        sampling::start_thread(1);
        wait_until(Late::Polling);
        sampling::stop_thread();
    }).join();
    late = Late::ThreadEnded;
    wait_until(Late::Held);
    subject.open();
    std::thread([&subject] {
        sampling::start_thread(2);
        late = Late::Released;
        subject.facts["cpu"] = burn(0.3);
        sampling::stop_thread();
    }).join();
    subject.finish();
    subject.facts["has_heard_of_end"] = has_heard_of_end.load();
    subject.facts["lost_events"] = sampling::lost_events();
}

void play_refused(Subject& subject)
{
    refuse_perf_event_open(EACCES);
    subject.start();
    std::thread([] {
        sampling::start_thread(1);
        sampling::stop_thread();
    }).join();
    subject.open();
    std::thread([] {
        sampling::start_thread(2);
        sampling::stop_thread();
    }).join();
    subject.finish();
}

/// The first thread is sampled, then no more events may be opened.
void play_refused_later(Subject& subject)
{
    subject.start();
    subject.open();
    refuse_perf_event_open(EMFILE);
    std::thread([] {
        sampling::start_thread(1);
        burn(0.05);
        sampling::stop_thread();
    }).join();
    subject.facts["cpu"] = burn(0.2);
    subject.finish();
}

/// The child of a fork neither samples nor disturbs; it and its own later calls leave nothing behind.
void play_fork(Subject& subject)
{
    subject.start();
    subject.open();
    burn(0.1);
    const pid_t child = fork();
    if (child == 0) {
        sampling::abandon_in_child();
        burn(0.1);
        sampling::start_thread(5);
        sampling::stop_thread();
        sampling::finish();
        _exit(23);
    }
    int status = 0;
    waitpid(child, &status, 0);
    subject.facts["child"] = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    subject.facts["cpu"] = burn(0.2);
    subject.finish();
}

/// No more than 16 KiB fit into a file: as a full disk, but with a signal that must not arrive.
void play_full_disk(Subject& subject)
{
    subject.start();
    subject.open();
    burn(0.1);
    const rlimit limit = {16384, 16384};
    setrlimit(RLIMIT_FSIZE, &limit);
    subject.facts["cpu"] = burn(0.6);
    subject.finish();
    subject.facts["unwritten"] = sampling::unwritten();
}

void play_bad_directory(Subject& subject)
{
    subject.start();
    sampling::open_files("/dev/null/nowhere", critpath::spool::SpoolHeader{});
    burn(0.1);
    subject.finish();
    subject.facts["unwritten"] = sampling::unwritten();
}

std::vector<int> open_descriptors()
{
    std::vector<int> open;
    for (int fd = 3; fd < 4096; ++fd) {
        if (fcntl(fd, F_GETFD) != -1) {
            open.push_back(fd);
        }
    }
    return open;
}

/// Daemons close every descriptor that they did not open.
void play_closed_descriptors(Subject& subject)
{
    subject.start();
    subject.open();
    const std::uint64_t before = burn(0.1);
    close_range(3, ~0U, 0);
    subject.facts["cpu"] = before + burn(0.3);
    subject.facts["before"] = before;
    subject.finish();
    subject.facts["lost_events"] = sampling::lost_events();
}

/// As before, and the application's own stand in their place: nothing is written to them, and they stay open.
void play_taken_descriptors(Subject& subject)
{
    const int theirs = memfd_create("theirs", 0);
    const std::vector<int> before = open_descriptors();
    subject.start();
    subject.open();
    burn(0.1);
    std::vector<int> taken;
    for (const int fd : open_descriptors()) {
        if (std::find(before.begin(), before.end(), fd) == before.end() && dup2(theirs, fd) == fd) {
            taken.push_back(fd);
        }
    }
    sampling::pause();
    sampling::resume();
    std::thread([] {
        sampling::start_thread(1);
        burn(0.2);
        sampling::stop_thread();
    }).join();
    subject.finish();
    subject.facts["lost_events"] = sampling::lost_events();
    struct stat status;
    subject.facts["taken"] = taken.size();
    subject.facts["still_open"] =
        std::count_if(taken.begin(), taken.end(), [](int fd) { return fcntl(fd, F_GETFD) != -1; });
    subject.facts["written"] = fstat(theirs, &status) == 0 ? status.st_size : -1;
}

/// Of what is sampled.
std::vector<int> event_descriptors()
{
    std::vector<int> events;
    for (const int fd : open_descriptors()) {
        std::error_code error;
        if (std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error) == "anon_inode:[perf_event]") {
            events.push_back(fd);
        }
    }
    return events;
}

bool is_closed(const std::string& file)
{
    critpath::spool::SpoolHeader header{};
    std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
    return header.closed == 1;
}

/// The helper ends a thread whose descriptors are gone; another takes its place before it ends by itself.
void play_ended_early(Subject& subject)
{
    subject.start();
    subject.open();
    std::atomic<int> step{0};
    const auto wait_for = [&step](int value) {
        while (step < value) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    const std::vector<int> before = event_descriptors();
    std::thread first([&] {
        sampling::start_thread(1);
        step = 1;
        wait_for(2);
        sampling::stop_thread();
        step = 3;
    });
    wait_for(1);
    for (const int fd : event_descriptors()) {
        if (std::find(before.begin(), before.end(), fd) == before.end()) {
            close(fd);
        }
    }
    for (int tries = 0; tries < 500 && !is_closed(subject.directory() + "/7.1.samples"); ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::thread([&] {
        sampling::start_thread(2);
        step = 2;
        wait_for(3);
        subject.facts["cpu_of_other"] = burn(0.3);
        sampling::stop_thread();
    }).join();
    first.join();
    subject.finish();
}

/// As many descriptors are polled as the process may not open any more.
void play_lower_limit(Subject& subject)
{
    subject.start();
    subject.open();
    rlimit before = {};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit lower = {1, before.rlim_max};
    const long sleeps = sleeps_of_helper();
    setrlimit(RLIMIT_NOFILE, &lower);
    std::this_thread::sleep_for(std::chrono::seconds(4));  // it may be in a poll() of a second that began before
    setrlimit(RLIMIT_NOFILE, &before);
    subject.facts["sleeps"] = sleeps_of_helper() - sleeps;
    subject.finish();
}

/// The main thread ends before the process; the helper must not keep it alive.
[[noreturn]] void play_main_thread_ends(Subject& subject)
{
    subject.start();
    subject.open();
    burn(0.1);
    subject.tell_refusal();
    std::cout << subject.facts << std::endl;
    pthread_exit(nullptr);
}

/// As many descriptors as leave room for the sampled event and its file, but not for the count of page faults.
void play_few_descriptors(Subject& subject, rlim_t more)
{
    int highest = 0;
    DIR* directory = opendir("/proc/self/fd");
    while (const dirent* entry = readdir(directory)) {
        highest = std::max(highest, std::atoi(entry->d_name));
    }
    closedir(directory);
    while (dup(0) < highest) {  // whoever started us may have left gaps
    }
    const rlimit limit = {static_cast<rlim_t>(open("/dev/null", O_RDONLY)) + 1 + more, 4096};
    setrlimit(RLIMIT_NOFILE, &limit);
    subject.start();
    subject.open();
    subject.facts["cpu"] = burn(0.2);
    subject.finish();
}

/// Sixty threads at the same time of a user who may lock little memory.
void play_little_locked_memory(Subject& subject)
{
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_MEMLOCK, &none);
    // The kernel counts locked memory by user, on the whole machine: one that nobody else is likely to be.
    const auto user = static_cast<uid_t>(20'000 + getpid() % 40'000);
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(user) != 0)) {
        not_possible("this user cannot become another one");
    }
    subject.start();
    subject.open();
    std::atomic<bool> end{false};
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    for (int thread = 1; thread <= 60; ++thread) {
        threads.emplace_back([thread, &end, &started] {
            sampling::start_thread(thread);
            ++started;
            end.wait(false);  // and switches no processor, which would bring a respite
            sampling::stop_thread();
        });
    }
    std::uint64_t cpu = 0;
    while (started < 60) {
        cpu += burn(0.01);
    }
    subject.facts["cpu"] = cpu + burn(0.1);
    end = true;
    end.notify_all();
    for (std::thread& thread : threads) {
        thread.join();
    }
    subject.finish();
}

/// A thousand short threads, twenty at a time.
void play_thread_storm(Subject& subject)
{
    subject.start();
    subject.open();
    for (int round = 0; round < 50; ++round) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 20; ++i) {
            threads.emplace_back([thread = 1 + round * 20 + i] {
                sampling::start_thread(thread);
                sampling::stop_thread();
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }
    subject.finish();
}

/// The descriptors that another program finds when it starts.
Json descriptors_of_child(const std::string& list)
{
    char program[] = "/bin/sh";
    char option[] = "-c";
    std::string command = "exec ls /proc/self/fd >" + list;
    char* arguments[] = {program, option, command.data(), nullptr};
    pid_t child = 0;
    int status = -1;
    if (posix_spawn(&child, program, nullptr, nullptr, arguments, environ) == 0) {
        waitpid(child, &status, 0);
    }
    std::ifstream stream(list);
    Json descriptors = Json::array();
    for (int fd; stream >> fd;) {
        descriptors.push_back(fd);
    }
    std::remove(list.c_str());
    return descriptors;
}

void play_spawn(Subject& subject)
{
    const std::string list = subject.directory() + "/descriptors";
    subject.facts["before"] = descriptors_of_child(list);
    subject.start();
    subject.open();
    subject.facts["while_sampled"] = descriptors_of_child(list);
    subject.facts["cpu"] = burn(0.2);
    subject.finish();
}

/// The process becomes another program: what it leaves can still be read.
[[noreturn]] void play_exec(Subject& subject)
{
    subject.start();
    subject.open();
    subject.facts["cpu"] = burn(0.3);
    subject.tell_refusal();
    std::cout << subject.facts << std::endl;
    execl("/bin/true", "true", nullptr);
    std::exit(1);
}

}  // namespace

void critpath::test::refuse_perf_event_open(int error)
{
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        not_possible("seccomp filters are refused on this machine");
    }
}

critpath::test::Scenarios critpath::test::trouble_scenarios()
{
    return {
        {"late_helper", play_late_helper},
        {"refused", play_refused},
        {"refused_later", play_refused_later},
        {"fork", play_fork},
        {"full_disk", play_full_disk},
        {"bad_directory", play_bad_directory},
        {"closed_descriptors", play_closed_descriptors},
        {"taken_descriptors", play_taken_descriptors},
        {"ended_early", play_ended_early},
        {"lower_limit", play_lower_limit},
        {"main_thread_ends", play_main_thread_ends},
        {"no_descriptor", [](Subject& subject) { play_few_descriptors(subject, 0); }},
        {"few_descriptors", [](Subject& subject) { play_few_descriptors(subject, 3); }},
        {"little_locked_memory", play_little_locked_memory},
        {"thread_storm", play_thread_storm},
        {"spawn", play_spawn},
        {"exec", play_exec},
    };
}
