// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/thread_timer.hpp"

#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/text.hpp"
#include "collector/sampling/user_stack.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
// How a handler returns. As glibc has it, byte for byte: unwinders know a signal's frame by it.
asm(R"(
    .pushsection .text
    .p2align 4
    nop
    .type critpath_return_from_handler, @function
critpath_return_from_handler:
    mov $15, %rax
    syscall
    .size critpath_return_from_handler, . - critpath_return_from_handler
    .popsection
)");
extern "C" __attribute__((visibility("hidden"))) void critpath_return_from_handler();
#endif

namespace critpath::sampling
{
namespace
{

constexpr int reserved_signal = 32;

/// First page of the ring, before its data: what the kernel has there, as far as perf_event.cpp reads it, and what the
/// handler needs.
struct TimerPage {
    perf_event_mmap_page ring;
    std::uint64_t ring_size;
    std::uint64_t period;        // ns
    std::uint64_t most_periods;  // of a sample
    std::uint64_t time_offset;   // as State::time_offset
    std::uint64_t registers;
    std::uint32_t stack_bytes;
    spool::CallGraph call_graph;
    int clock_id;
    std::uint32_t pid, tid;
    int timer;
    StackBounds stack;
    std::atomic<bool> armed;
    std::atomic<bool> left;         // by its thread: no handler will look at this again
    std::atomic<bool> has_no_room;  // for the handler
    std::uint64_t remaining;        // ns of the period when it was disarmed, under the pass lock
    // Of the handler:
    std::uint64_t lost;  // since there was room last
    std::atomic<std::uint64_t> counted;
    std::atomic<std::uint64_t> page_faults;
    std::uint64_t faults_before;  // the timer was opened
};
static_assert(sizeof(TimerPage) <= 4096);

__thread TimerPage* own_page __attribute__((tls_model("initial-exec"))) = nullptr;

TimerPage* page_of(const PerfEvent& event)
{
    return reinterpret_cast<TimerPage*>(event.control);
}

// ---- The handler and what it calls: async-signal-safe, on whatever stack the application has left it.

/// Of a record, from where the ring has its end. All is in words of 8 bytes, so that none wraps.
class Writer
{
public:
    Writer(TimerPage& page, char* data) : data_(data), size_(page.ring_size), begin_(page.ring.data_head), at_(begin_)
    {
    }

    void put(std::uint64_t word)
    {
        put_at(at_, word);
        at_ += sizeof word;
    }
    void put(std::uint32_t low, std::uint32_t high) { put(low | std::uint64_t{high} << 32); }
    void put_at(std::uint64_t position, std::uint64_t word)
    {
        std::memcpy(data_ + position % size_, &word, sizeof word);
    }

    [[nodiscard]] std::uint64_t position() const { return at_; }

    /// The record has got its size.
    void end(TimerPage& page, std::uint32_t type, std::uint16_t misc)
    {
        const perf_event_header header = {type, misc, static_cast<std::uint16_t>(at_ - begin_)};
        std::uint64_t word;
        std::memcpy(&word, &header, sizeof word);
        put_at(begin_, word);
        __atomic_store_n(&page.ring.data_head, at_, __ATOMIC_RELEASE);
    }

private:
    char* data_;
    std::uint64_t size_, begin_, at_;
};

constexpr std::uint64_t most_callers = PERF_MAX_STACK_DEPTH - 1;

std::uint64_t room(const TimerPage& page)
{
    return page.ring_size - (page.ring.data_head - __atomic_load_n(&page.ring.data_tail, __ATOMIC_ACQUIRE));
}

/// Of the longest record.
std::uint64_t most_bytes(const TimerPage& page)
{
    constexpr std::uint64_t fixed = 512;  // all but what follows, with all registers
    return fixed + (most_callers + 4) * sizeof(std::uint64_t) + page.stack_bytes;
}

std::uint64_t kernel_time(const TimerPage& page)
{
    timespec time;
    clock_gettime(page.clock_id, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * ns_per_second + static_cast<std::uint64_t>(time.tv_nsec) -
           page.time_offset;
}

std::uint64_t page_faults()
{
    rusage usage;
    return syscall(SYS_getrusage, RUSAGE_THREAD, &usage) == 0
               ? static_cast<std::uint64_t>(usage.ru_minflt) + static_cast<std::uint64_t>(usage.ru_majflt)
               : 0;
}

void write_lost(TimerPage& page, char* data)
{
    Writer record(page, data);
    record.put(0);  // header
    record.put(0);  // id
    record.put(page.lost);
    record.put(page.pid, page.tid);
    record.put(kernel_time(page));
    record.put(static_cast<std::uint32_t>(sched_getcpu()), 0);
    record.end(page, PERF_RECORD_LOST, 0);
    page.lost = 0;
}

void write_chain(const TimerPage& page, const ucontext_t& context, Writer& record)
{
    const std::uint64_t count_at = record.position();
    record.put(0);
    record.put(PERF_CONTEXT_USER);
    record.put(instruction_of(context));
    std::uint64_t count = 2;
    FrameWalk walk(page.stack, context);
    for (std::uint64_t caller = walk.next(); caller != 0 && count < most_callers; caller = walk.next()) {
        record.put(caller);
        ++count;
    }
    record.put_at(count_at, count);
}

void write_registers(const TimerPage& page, const ucontext_t& context, Writer& record)
{
    record.put(PERF_SAMPLE_REGS_ABI_64);
    for (std::uint64_t rest = page.registers; rest != 0; rest &= rest - 1) {
        record.put(register_of(context, static_cast<unsigned>(__builtin_ctzll(rest))));
    }
}

void write_stack(const TimerPage& page, const ucontext_t& context, Writer& record)
{
    const std::uint64_t begin = stack_pointer_of(context);
    const std::uint64_t size = readable_bytes(page.stack, begin, page.stack_bytes);
    record.put(size);
    for (std::uint64_t offset = 0; offset < size; offset += sizeof offset) {
        record.put(stack_word(begin + offset));
    }
    if (size > 0) {
        record.put(size);
    }
}

void write_sample(TimerPage& page, char* data, const ucontext_t& context, std::uint64_t periods)
{
    const std::uint64_t counted = page.counted.load(std::memory_order_relaxed);
    const std::uint64_t faults = page_faults() - page.faults_before;
    page.page_faults.store(faults, std::memory_order_relaxed);
    Writer record(page, data);
    record.put(0);  // header
    record.put(instruction_of(context));
    record.put(page.pid, page.tid);
    record.put(kernel_time(page));
    record.put(static_cast<std::uint32_t>(sched_getcpu()), 0);
    record.put(periods * page.period);
    record.put(2);        // values
    record.put(counted);  // time enabled
    record.put(counted);  // time running
    record.put(counted);
    record.put(faults);
    if (page.call_graph == spool::CallGraph::FramePointers) {
        write_chain(page, context, record);
    }
    if (page.registers != 0) {
        write_registers(page, context, record);
    }
    if (page.stack_bytes != 0) {
        write_stack(page, context, record);
    }
    record.end(page, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
}

void take_sample(TimerPage& page, const ucontext_t& context, std::uint64_t periods)
{
    // More than a tick explains are of short runs that no tick met, such as those of a thread that waits and gives way
    // again and again: they were not here.
    page.counted.store(page.counted.load(std::memory_order_relaxed) + periods * page.period, std::memory_order_relaxed);
    char* data = reinterpret_cast<char*>(&page) + page_size();
    constexpr std::uint64_t of_lost = 64;
    if (room(page) < most_bytes(page) + of_lost) {
        ++page.lost;
        return;
    }
    if (page.lost > 0) {
        write_lost(page, data);
    }
    write_sample(page, data, context, periods <= page.most_periods ? periods : 1);
}

void handle(int /*signal*/, siginfo_t* info, void* context)
{
    TimerPage* page = own_page;
    if (page == nullptr || info->si_code != SI_TIMER || info->si_value.sival_ptr != page ||
        !page->armed.load(std::memory_order_relaxed)) {
        return;
    }
    const int saved_errno = errno;
    const std::uint64_t overruns = info->si_overrun > 0 ? static_cast<std::uint64_t>(info->si_overrun) : 0;
    take_sample(*page, *static_cast<const ucontext_t*>(context), 1 + overruns);
    errno = saved_errno;
}

// ---- The rest runs on threads that know of it.

/// As the kernel has it.
struct KernelAction {
    std::uintptr_t handler;
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
};

int set_action(const KernelAction* action, KernelAction* old)
{
    return syscall(SYS_rt_sigaction, reserved_signal, action, old, sizeof action->mask) == 0 ? 0 : errno;
}

int install_handler()
{
    KernelAction old{};
    if (const int error = set_action(nullptr, &old); error != 0) {
        return error;
    }
    const auto is = [&old](void (*handler)(int)) { return old.handler == reinterpret_cast<std::uintptr_t>(handler); };
    // Who was started by posix_spawn of glibc ignores it.
    if (!is(SIG_DFL) && !is(SIG_IGN)) {
        return EBUSY;
    }
    // On another stack, if there is one: the application's own may be small.
    KernelAction action = {reinterpret_cast<std::uintptr_t>(handle), SA_SIGINFO | SA_RESTART | SA_ONSTACK, nullptr,
                           ~std::uint64_t{0}};
#if defined(__x86_64__)
    constexpr unsigned long has_restorer = 0x04000000;
    action.flags |= has_restorer;
    action.restorer = critpath_return_from_handler;
#endif
    return set_action(&action, nullptr);
}

/// Timers of processor time expire outside of the interrupt since Linux 5.11 (CONFIG_POSIX_CPU_TIMERS_TASK_WORK).
bool expires_outside_of_interrupts()
{
#if defined(__x86_64__)
    utsname name;
    if (uname(&name) != 0) {
        return false;
    }
    char* end = nullptr;
    const unsigned long major = std::strtoul(name.release, &end, 10);
    const unsigned long minor = *end == '.' ? std::strtoul(end + 1, nullptr, 10) : 0;
    return major > 5 || (major == 5 && minor >= 11);
#else
    return false;
#endif
}

std::uint64_t tick()
{
    timespec resolution{};
    return clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) == 0 && resolution.tv_sec == 0
               ? static_cast<std::uint64_t>(resolution.tv_nsec)
               : 0;
}

itimerspec every(std::uint64_t first, std::uint64_t period)
{
    const auto time = [](std::uint64_t ns) {
        return timespec{static_cast<time_t>(ns / ns_per_second), static_cast<long>(ns % ns_per_second)};
    };
    return {time(period), time(first)};
}

/// What the kernel puts there and what the handler needs.
bool is_too_small(const stack_t& stack)
{
    constexpr std::size_t of_handler = 4096;
    const std::size_t of_kernel = getauxval(AT_MINSIGSTKSZ);  // 0 before Linux 5.14
    constexpr std::size_t usual = 4096;                       // with AVX-512
    return (stack.ss_flags & SS_DISABLE) == 0 && stack.ss_size < of_handler + (of_kernel > 0 ? of_kernel : usual);
}

int create_timer(TimerPage& page)
{
    struct sigevent event;
    std::memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = reserved_signal;
    event.sigev_value.sival_ptr = &page;
    event._sigev_un._tid = static_cast<pid_t>(page.tid);
    return syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &page.timer) == 0 ? 0 : errno;
}

std::uint64_t pages_for(std::uint64_t bytes, std::uint32_t fewest)
{
    std::uint64_t pages = fewest;
    while (pages * page_size() < bytes) {
        pages *= 2;
    }
    return pages;
}

}  // namespace

int choose_timer(std::uint32_t frequency, int clock_id, std::uint64_t time_offset, const Callers& callers,
                 bool asked_for, EventChoice& choice)
{
    if (!can_read_registers() || SIGRTMIN <= reserved_signal || (!asked_for && !expires_outside_of_interrupts())) {
        return ENXIO;
    }
    if (const int error = install_handler(); error != 0) {
        return error;
    }
    const std::uint64_t finest = tick();
    const std::uint64_t wanted = ns_per_second / frequency;
    choice = {};
    choose_contents(frequency, callers, choice);
    choice.name = "cpu-timer";
    choice.timer = true;
    choice.period = uneven(wanted > finest ? wanted : finest);
    choice.kernel = true;  // that time counts where the thread comes back to its own code
    choice.clock_id = clock_id;
    choice.time_offset = time_offset;
    return 0;
}

int open_timer(const EventChoice& choice, PerfEvent& event)
{
    if (!is_signal_ours()) {
        return EBUSY;
    }
    // Nobody wakes the helper; it comes four times a second, and finds the ring a quarter full at most.
    constexpr std::uint64_t most_samples = 300;  // that do not fit if they are long
    const std::uint64_t samples = ns_per_second / choice.period + 1;
    const std::uint64_t sample_bytes = 1024 + choice.stack_bytes;
    const std::uint64_t size =
        pages_for((samples < most_samples ? samples : most_samples) * sample_bytes, choice.fewest_pages) * page_size();
    void* memory =
        mmap(nullptr, size + page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return ENOMEM;
    }
    madvise(memory, size + page_size(), MADV_DONTFORK);
    auto& page = *static_cast<TimerPage*>(memory);
    page.ring_size = size;
    page.period = choice.period;
    page.most_periods = 2 + tick() / choice.period;
    page.time_offset = choice.time_offset;
    page.registers = choice.registers;
    page.stack_bytes = choice.stack_bytes;
    page.call_graph = choice.call_graph;
    page.clock_id = choice.clock_id;
    page.pid = static_cast<std::uint32_t>(getpid());
    page.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    page.stack = own_stack();
    page.remaining = choice.first_period != 0 ? choice.first_period : page.period;
    page.faults_before = page_faults();
    stack_t alternate{};
    page.has_no_room = sigaltstack(nullptr, &alternate) == 0 && is_too_small(alternate);
    if (const int error = create_timer(page); error != 0) {
        munmap(memory, size + page_size());
        return error;
    }
    event.control = static_cast<char*>(memory);
    event.ring_size = size;
    event.is_timer = true;
    own_page = &page;
    return 0;
}

void close_timer(PerfEvent& event)
{
    TimerPage* page = page_of(event);
    const std::size_t size = event.ring_size + page_size();
    event = no_event;
    page->armed = false;
    syscall(SYS_timer_delete, page->timer);
    if (own_page == page) {
        own_page = nullptr;
        page->left = true;
    }
    // The handler of a thread that lives on may be at work there; that is so at the end of a recording.
    if (page->left) {
        munmap(page, size);
    }
}

void arm_timer(const PerfEvent& event)
{
    TimerPage& page = *page_of(event);
    if (page.has_no_room) {
        return;
    }
    page.armed = true;
    const itimerspec times = every(page.remaining, page.period);
    syscall(SYS_timer_settime, page.timer, 0, &times, nullptr);
    if (page.has_no_room) {  // since just now: its thread may have switched it off before we switched it on
        disarm_timer(event);
    }
}

void disarm_timer(const PerfEvent& event)
{
    TimerPage& page = *page_of(event);
    page.armed = false;
    const itimerspec never{};
    itimerspec before{};
    syscall(SYS_timer_settime, page.timer, 0, &never, &before);
    const std::uint64_t remaining = static_cast<std::uint64_t>(before.it_value.tv_sec) * ns_per_second +
                                    static_cast<std::uint64_t>(before.it_value.tv_nsec);
    page.remaining = remaining > 0 ? remaining : page.remaining;
}

Count read_timer(const PerfEvent& event)
{
    const TimerPage& page = *page_of(event);
    const std::uint64_t counted = page.counted;
    return {counted, counted, page.page_faults};
}

void leave_timer()
{
    TimerPage* page = own_page;
    own_page = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (page != nullptr) {
        page->left = true;
    }
}

void handlers_run_on(const stack_t& stack)
{
    TimerPage* page = own_page;
    if (page == nullptr || !is_too_small(stack)) {
        return;
    }
    const int saved_errno = errno;
    page->has_no_room = true;
    page->armed = false;
    const itimerspec never{};
    syscall(SYS_timer_settime, page->timer, 0, &never, nullptr);  // on the way back from it, the last one comes
    errno = saved_errno;
}

void forget_timer()
{
    own_page = nullptr;
}

bool has_thread(const PerfEvent& event)
{
    TimerPage& page = *page_of(event);
    bool lives = syscall(SYS_tgkill, page.pid, page.tid, 0) == 0 || errno != ESRCH;
    if (lives && page.pid == page.tid) {
        char text[512];
        const Text path = Text() << "/proc/self/task/" << std::uint64_t{page.tid} << "/stat";
        read_text(path.path(), text, sizeof text);
        const char* name_end = std::strrchr(text, ')');
        lives = name_end == nullptr || std::strncmp(name_end, ") Z", 3) != 0;
    }
    if (!lives) {
        page.left = true;
    }
    return lives;
}

bool has_stopped(const PerfEvent& event)
{
    return page_of(event)->has_no_room || !is_signal_ours();
}

bool is_signal_ours()
{
    KernelAction action{};
    return set_action(nullptr, &action) == 0 && action.handler == reinterpret_cast<std::uintptr_t>(handle);
}

}  // namespace critpath::sampling
