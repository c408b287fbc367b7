// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/perf_event.hpp"

#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/processor.hpp"
#include "collector/sampling/thread_timer.hpp"
#include "formats/spool/stack_image.hpp"
#include "formats/support/mixed.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include <asm/perf_regs.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace critpath::sampling
{
namespace
{

/// Five hundred switches, or a sixth of a second of samples at the default rate, until the helper thread wakes: it
/// shall soon see that a thread switches too often. But not for less than so many samples, if they are large, or half
/// of the ring.
constexpr std::uint32_t most_unread = 16'384;
constexpr std::uint32_t fewest_samples = 16;

constexpr std::uint64_t trial_period = 100'003;  // cycles

/// How precise samples may be. Not at all where they have callers: the processor says the very instruction, but
/// registers and stack are of the interrupt, which comes later, and by them its callers would be sought. Elsewhere than
/// on x86, whoever asks is not told that it cannot be had. 3 takes the only counter that can.
std::uint32_t most_precise(const EventChoice& choice)
{
#if defined(__x86_64__)
    constexpr std::uint32_t most = 2;
#else
    constexpr std::uint32_t most = 0;
#endif
    return choice.call_graph == spool::CallGraph::None ? most : 0;
}

perf_event_mmap_page* control_page(const PerfEvent& event)
{
    return reinterpret_cast<perf_event_mmap_page*>(event.control);
}

const char* ring_data(const PerfEvent& event)
{
    return event.control + page_size();
}

/// What all events of a group have in common.
perf_event_attr attributes(const EventChoice& choice, std::uint32_t type, std::uint64_t config)
{
    perf_event_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.exclude_kernel = choice.kernel ? 0 : 1;
    attr.exclude_hv = 1;
    attr.use_clockid = 1;
    attr.clockid = choice.clock_id;
    return attr;
}

int open_descriptor(perf_event_attr attr, int leader)
{
    return static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

int open_leader(const EventChoice& choice, std::size_t wakeup_bytes)
{
    perf_event_attr attr = attributes(choice, choice.type, choice.config);
    attr.sample_period = choice.first_period != 0 ? choice.first_period : choice.period;
    attr.sample_type =
        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
    attr.sample_type |= choice.call_graph == spool::CallGraph::FramePointers ? PERF_SAMPLE_CALLCHAIN : 0;
    attr.sample_type |= choice.registers != 0 ? PERF_SAMPLE_REGS_USER : 0;
    attr.sample_type |= choice.stack_bytes != 0 ? PERF_SAMPLE_STACK_USER : 0;
    attr.sample_regs_user = choice.registers;
    attr.sample_stack_user = choice.stack_bytes;
    attr.precise_ip = choice.precise_ip & 3;
    attr.disabled = 1;
    attr.exclude_callchain_kernel = 1;
    attr.sample_id_all = 1;
    attr.context_switch = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = static_cast<std::uint32_t>(wakeup_bytes);
    return open_descriptor(attr, -1);
}

std::uint64_t id_of(int fd)
{
    std::uint64_t id = 0;
    return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 ? id : 0;
}

bool is_event(int fd, std::uint64_t id)
{
    return fd >= 0 && id != 0 && id_of(fd) == id;
}

void close_descriptors(const PerfEvent& event)
{
    for (std::uint32_t i = 0; i < event.followers; ++i) {
        if (is_event(event.follower_fd[i], event.follower_id[i])) {
            close(event.follower_fd[i]);
        }
    }
    if (is_event(event.fd, event.id)) {
        close(event.fd);
    }
}

/// Follows its leader: counts while that counts.
int open_follower(const EventChoice& choice, const EventName& name, int leader)
{
    if (name.only_in_kernel && !choice.kernel) {
        errno = EACCES;
        return -1;
    }
    return open_descriptor(attributes(choice, name.type, name.config), leader);
}

/// None may take one of the last two descriptors, which the helper's eventfd and the file of samples need more.
void open_followers(const EventChoice& choice, PerfEvent& event)
{
    const int for_helper = fcntl(event.fd, F_DUPFD_CLOEXEC, 0);
    const int for_file = fcntl(event.fd, F_DUPFD_CLOEXEC, 0);
    for (std::uint32_t i = 0; for_file >= 0 && i < choice.followers; ++i) {
        const int fd = open_follower(choice, event_names[choice.follower[i]], event.fd);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            break;
        }
        event.follower_fd[i] = move_descriptor_up(fd);
        event.follower_id[i] = id_of(event.follower_fd[i]);
        event.followers = i + 1;
    }
    for (const int reserved : {for_helper, for_file}) {
        if (reserved >= 0) {
            close(reserved);
        }
    }
}

int open_with_ring(const EventChoice& choice, std::size_t pages, PerfEvent& event)
{
    const std::size_t page = page_size();
    const int fd = open_leader(choice, pages * page / 2 < choice.wakeup_bytes ? pages * page / 2 : choice.wakeup_bytes);
    if (fd < 0) {
        return errno;
    }
    void* memory = mmap(nullptr, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        close(fd);
        return ENOBUFS;
    }
    event.id = id_of(fd);
    event.fd = move_descriptor_up(fd);
    open_followers(choice, event);
    event.control = static_cast<char*>(memory);
    event.ring_size = pages * page;
    event.first_end = choice.first_period != 0 ? PerfEvent::in_first_period : 0;
    return 0;
}

std::uint64_t thread_time()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * ns_per_second + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Virtual machines may accept an event that then never counts, or counts without ever interrupting. Only a
/// sample that came proves that there will be samples.
bool delivers_samples(const EventChoice& choice)
{
    constexpr std::uint64_t patience = 2'000'000;  // ns; the trial period takes well under 0.1 ms
    PerfEvent event = no_event;
    if (open_with_ring(choice, choice.fewest_pages, event) != 0) {
        return false;
    }
    enable_event(event);
    const std::uint64_t begin = thread_time();
    bool seen = false;
    while (!seen && thread_time() - begin < patience) {
        seen = peek_records(event).samples > 0;
    }
    disable_event(event);
    close_event(event);
    return seen;
}

/// 0 if the calling thread can be sampled so, with or without the kernel.
int try_event(EventChoice& choice)
{
    for (const bool kernel : {true, false}) {
        choice.kernel = kernel;
        const int fd = open_leader(choice, page_size());
        if (fd >= 0) {
            close(fd);
            return 0;
        }
        if (errno != EACCES && errno != EPERM) {
            break;
        }
    }
    return errno;
}

/// The next word of a list with commas between them, which is then behind it; 0: there is none.
std::size_t next_word(const char*& list, const char*& word)
{
    list += *list == ',' ? 1 : 0;
    word = list;
    while (*list != '\0' && *list != ',') {
        ++list;
    }
    return static_cast<std::size_t>(list - word);
}

bool has_follower(const EventChoice& choice, std::uint32_t name)
{
    bool found = false;
    for (std::uint32_t i = 0; i < choice.followers; ++i) {
        found = found || choice.follower[i] == name;
    }
    return found;
}

/// Adds the event if the calling thread can have it in a group with those before.
void try_follower(std::uint32_t name, EventChoice& choice)
{
    const bool is_leader = event_names[name].type == choice.type && event_names[name].config == choice.config;
    if (is_leader || has_follower(choice, name) || choice.followers == spool::max_events) {
        return;
    }
    const int leader = open_leader(choice, page_size());
    if (leader < 0) {
        return;  // why, is said by who opens it next
    }
    PerfEvent group = no_event;
    group.fd = leader;
    group.id = id_of(leader);
    open_followers(choice, group);
    const int fd = open_follower(choice, event_names[name], leader);
    const int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    close_descriptors(group);
    // Of descriptors there may be more when it matters.
    if (error == 0 || error == EMFILE || error == ENFILE) {
        choice.follower[choice.followers++] = name;
    } else {
        choice.refused[name] = error;
    }
}

/// The last hardware event of the group; `followers` if there is none.
std::uint32_t last_counter(const EventChoice& choice)
{
    std::uint32_t i = choice.followers;
    while (i > 0 && event_names[choice.follower[i - 1]].type != PERF_TYPE_HARDWARE) {
        --i;
    }
    return i == 0 ? choice.followers : i - 1;
}

void drop_follower(std::uint32_t place, EventChoice& choice)
{
    choice.refused[choice.follower[place]] = EBUSY;
    --choice.followers;
    for (std::uint32_t i = place; i < choice.followers; ++i) {
        choice.follower[i] = choice.follower[i + 1];
    }
}

void choose_group(const char* list, EventChoice& choice)
{
    choice.followers = 0;
    choice.follower[choice.followers++] = 0;  // tried by each thread
    const bool samples_cycles = !choice.timer && choice.type == PERF_TYPE_HARDWARE;
    const char* rest = list != nullptr && *list != '\0' ? list : samples_cycles ? "instructions,cache-misses" : "";
    const char* word = nullptr;
    while (const std::size_t size = next_word(rest, word)) {
        const std::uint32_t name = find_event_name(word, size);
        if (choice.timer && name > 0 && name < event_name_count) {
            choice.refused[name] = ENXIO;  // its handler asks for page faults, and nothing else
        } else if (name < event_name_count) {
            try_follower(name, choice);
        }
    }
    // A group that needs more counters than there are opens, and never counts.
    EventChoice trial = choice;
    trial.period = samples_cycles ? trial_period : ns_per_second / 10'000;
    for (std::uint32_t last = last_counter(choice); last < choice.followers && !delivers_samples(trial);
         last = last_counter(choice)) {
        drop_follower(last, choice);
        drop_follower(last, trial);
    }
}

/// True if a hardware event was asked for that is not in the group.
bool lacks_counter(const EventChoice& choice)
{
    bool lacks = false;
    for (std::uint32_t i = 0; i < event_name_count; ++i) {
        lacks = lacks || (choice.refused[i] != 0 && event_names[i].type == PERF_TYPE_HARDWARE);
    }
    return lacks;
}

// Bits by the kernel's numbers of registers: what unwinding begins with, and all that it may come to need. Other
// processors have the kernel's walk alone.
#if defined(__x86_64__)
constexpr std::uint64_t instruction_pointer = 1ULL << PERF_REG_X86_IP;
constexpr std::uint64_t frame_registers = instruction_pointer | 1ULL << PERF_REG_X86_SP | 1ULL << PERF_REG_X86_BP;
constexpr std::uint64_t all_registers = 0xff'01ff;  // the general ones and the instruction pointer
#elif defined(__aarch64__)
constexpr std::uint64_t instruction_pointer = 1ULL << PERF_REG_ARM64_PC;
constexpr std::uint64_t frame_registers =
    instruction_pointer | 1ULL << PERF_REG_ARM64_SP | 1ULL << PERF_REG_ARM64_X29 | 1ULL << PERF_REG_ARM64_LR;
constexpr std::uint64_t all_registers = (1ULL << PERF_REG_ARM64_MAX) - 1;
#else
constexpr std::uint64_t instruction_pointer = 0;
constexpr std::uint64_t frame_registers = 0;
constexpr std::uint64_t all_registers = 0;
#endif

constexpr std::uint32_t slice_bytes = 256;  // reaches the first return address, unless a leaf has much on its stack
static_assert(frame_registers == 0 || (frame_registers >> spool::stack_pointer_number & 1) != 0);

std::uint32_t pages_for(std::uint64_t bytes)
{
    std::uint32_t pages = 1;
    while (pages < 512 && pages * page_size() < bytes) {
        pages *= 2;
    }
    return pages;
}

/// The value at `position` of the ring: records are multiples of 8 bytes, so that no such value wraps.
std::uint64_t word_at(const PerfEvent& event, std::uint64_t position)
{
    std::uint64_t word;
    std::memcpy(&word, ring_data(event) + position % event.ring_size, sizeof word);
    return word;
}

}  // namespace

std::uint64_t uneven(std::uint64_t period)
{
    constexpr std::uint64_t shift = 331;  // parts of the period: 0.3 %
    return (period % 1000 == 0 ? period + period / shift : period) | 1;
}

std::uint64_t varied(std::uint64_t period, std::uint64_t random)
{
    const std::uint64_t most = period / 10;
    return (period - most + random_bits(random) % (2 * most + 1)) | 1;
}

std::uint64_t any_part(std::uint64_t period, std::uint64_t random)
{
    constexpr std::uint64_t fewest = 256;  // parts: else the first samples may come without a pause
    const std::uint64_t least = period / fewest + 1;
    const std::uint64_t part = 1 + random_bits(random) % period;
    return part < least ? least : part;
}

namespace
{

bool may_lock_much()
{
    rlimit limit{};
    return geteuid() == 0 || (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY);
}

}  // namespace

void choose_contents(std::uint32_t frequency, const Callers& callers, EventChoice& choice)
{
    constexpr std::uint64_t bytes_of_switches = 120'000;
    std::uint32_t bytes_a_sample = 128;  // usually
    std::uint32_t visits = 2;            // of the helper thread a second, at least
    const bool has_no_registers = callers.call_graph == spool::CallGraph::Dwarf && all_registers == 0;
    choice.call_graph = has_no_registers ? spool::CallGraph::FramePointers : callers.call_graph;
    choice.stack_bytes = 0;
    switch (choice.call_graph) {
    case spool::CallGraph::None:
        choice.registers = instruction_pointer;  // a sample in the kernel counts for the function that called it
        break;
    case spool::CallGraph::FramePointers:
        choice.registers = frame_registers;
        choice.stack_bytes = frame_registers != 0 ? slice_bytes : 0;
        bytes_a_sample += 128 + slice_bytes;
        break;
    case spool::CallGraph::Dwarf:
        choice.registers = all_registers;
        choice.stack_bytes = callers.stack_bytes;
        bytes_a_sample += 256 + callers.stack_bytes;
        visits = may_lock_much() ? 16 : 20;  // 512 KiB, or 256: more than that few threads of a user may have
        break;
    }
    // The samples between two visits, and more than a thousand switches, which are many where ranks share a processor,
    // and then the helper comes late.
    choice.ring_pages = pages_for(frequency * std::uint64_t{bytes_a_sample} / visits + bytes_of_switches);
    choice.fewest_pages = pages_for(std::uint64_t{3} * bytes_a_sample);
    const std::uint32_t of_samples = fewest_samples * bytes_a_sample;
    choice.wakeup_bytes = of_samples > most_unread ? of_samples : most_unread;
}

int choose_event(std::uint32_t frequency, int clock_id, const Callers& callers, EventChoice& choice)
{
    choice = {};
    choice.name = "cycles";
    choice.type = PERF_TYPE_HARDWARE;
    choice.config = PERF_COUNT_HW_CPU_CYCLES;
    choice.period = trial_period;
    choice.kernel = true;
    choice.clock_id = clock_id;
    choose_contents(frequency, callers, choice);
    const std::uint32_t most = most_precise(choice);
    for (std::uint32_t less = 0; less <= most; ++less) {
        choice.precise_ip = most - less;
        const int error = try_event(choice);
        if (error == 0 && delivers_samples(choice)) {
            choice.period = uneven(nominal_frequency() / frequency);
            choice.no_cycles = 0;
            return 0;
        }
        choice.no_cycles = error != 0 ? error : ENODEV;
    }
    choice.name = "cpu-clock";
    choice.type = PERF_TYPE_SOFTWARE;
    choice.config = PERF_COUNT_SW_CPU_CLOCK;
    choice.period = uneven(ns_per_second / frequency);
    return try_event(choice);
}

void choose_followers(const char* list, EventChoice& choice)
{
    EventChoice rough = choice;
    choose_group(list, choice);
    if (choice.precise_ip == 0 || !lacks_counter(choice)) {
        return;
    }
    // Where precise samples come from a unit of its own (AMD), no counter can be in their group. To know what a sample
    // has counted is worth more than the very instruction.
    rough.precise_ip = 0;
    choose_group(list, rough);
    if (rough.followers > choice.followers) {
        choice = rough;
    }
}

int open_event(const EventChoice& choice, PerfEvent& event)
{
    event = no_event;
    if (choice.timer) {
        return open_timer(choice, event);
    }
    int error = ENOBUFS;
    for (std::size_t pages = choice.ring_pages; pages >= choice.fewest_pages && error == ENOBUFS; pages /= 2) {
        error = open_with_ring(choice, pages, event);
    }
    return error;
}

void close_event(PerfEvent& event)
{
    if (event.is_timer) {
        close_timer(event);
        return;
    }
    const PerfEvent old = event;
    event = no_event;  // first, so that the child of a fork() in between closes nothing that is not ours
    if (old.control != nullptr) {
        munmap(old.control, old.ring_size + page_size());
    }
    close_descriptors(old);
}

void drop_event(PerfEvent& event)
{
    close_descriptors(event);
    event = no_event;
}

bool is_ours(const PerfEvent& event)
{
    return event.is_timer || is_event(event.fd, event.id);
}

std::uint64_t counted_events(const PerfEvent& event)
{
    std::uint64_t counted = event.is_timer ? 1 : 0;
    for (std::uint32_t i = 0; i < event.followers; ++i) {
        counted |= event.follower_id[i] != 0 ? std::uint64_t{1} << i : 0;
    }
    return counted;
}

void end_first_period(PerfEvent& event, std::uint64_t period)
{
    if (is_ours(event)) {
        ioctl(event.fd, PERF_EVENT_IOC_PERIOD, &period);
    }
    event.first_end = __atomic_load_n(&control_page(event)->data_head, __ATOMIC_ACQUIRE);
}

void enable_event(const PerfEvent& event)
{
    if (event.is_timer) {
        arm_timer(event);
    } else if (is_ours(event)) {
        ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
    }
}

void disable_event(const PerfEvent& event)
{
    if (event.is_timer) {
        disarm_timer(event);
    } else if (is_ours(event)) {
        ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
    }
}

std::size_t unread_bytes(const PerfEvent& event)
{
    perf_event_mmap_page* control = control_page(event);
    return __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE) - control->data_tail;
}

Unread peek_records(const PerfEvent& event)
{
    perf_event_mmap_page* control = control_page(event);
    const std::uint64_t tail = control->data_tail;
    Unread unread{};
    unread.head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    if (unread.head - tail > event.ring_size) {
        return unread;  // cannot be, unless the application has written there: nothing of it makes sense
    }
    for (std::uint64_t position = tail; position < unread.head;) {
        perf_event_header header;
        const std::uint64_t word = word_at(event, position);
        std::memcpy(&header, &word, sizeof header);
        if (header.size < sizeof header) {
            unread.head = position;  // cannot be; nothing behind it could be read either
            break;
        }
        ++unread.records;
        if (header.type == PERF_RECORD_SAMPLE) {
            ++unread.samples;
            unread.first_samples += position < event.first_end ? 1 : 0;
        }
        if (header.type == PERF_RECORD_LOST) {  // where there was room again
            (position <= event.first_end ? unread.lost_first : unread.lost) += word_at(event, position + 16);
        }
        if (header.type == PERF_RECORD_SWITCH) {
            constexpr std::size_t time_and_processor = 16;  // what it ends in
            unread.last_switch = word_at(event, position + header.size - time_and_processor);
        }
        position += header.size;
    }
    const std::size_t size = unread.head - tail;
    const std::size_t begin = tail % event.ring_size;
    const std::size_t to_end = event.ring_size - begin;
    unread.piece[0] = ring_data(event) + begin;
    unread.size[0] = size < to_end ? size : to_end;
    unread.piece[1] = ring_data(event);
    unread.size[1] = size - unread.size[0];
    return unread;
}

void release_records(const PerfEvent& event, const Unread& unread)
{
    __atomic_store_n(&control_page(event)->data_tail, unread.head, __ATOMIC_RELEASE);
}

Out last_out(const PerfEvent& event)
{
    struct Switch {
        perf_event_header header;
        std::uint64_t ids, time, processor;
    };
    const std::uint64_t head = __atomic_load_n(&control_page(event)->data_head, __ATOMIC_ACQUIRE);
    if (event.is_timer || head < sizeof(Switch)) {
        return {0, head};
    }
    const std::uint64_t begin = head - sizeof(Switch);
    const std::uint64_t word = word_at(event, begin);  // may be the middle of another record, which seldom looks so
    perf_event_header header;
    std::memcpy(&header, &word, sizeof header);
    constexpr auto kinds = PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    const bool is_blocked = header.type == PERF_RECORD_SWITCH && header.size == sizeof(Switch) &&
                            (header.misc & kinds) == PERF_RECORD_MISC_SWITCH_OUT;
    return {is_blocked ? word_at(event, begin + offsetof(Switch, time)) : 0, head};
}

Count read_count(const PerfEvent& event)
{
    if (event.is_timer) {
        return read_timer(event);
    }
    struct {
        std::uint64_t events, time_enabled, time_running, value[1 + spool::max_events];
    } group{};
    const ssize_t size = is_ours(event) ? read(event.fd, &group, sizeof group) : 0;
    if (size < static_cast<ssize_t>(offsetof(decltype(group), value) + sizeof group.value[0])) {
        return {};
    }
    const bool counts_faults = event.followers > 0 && event.follower_id[0] != 0;
    return {group.value[0], group.time_running, counts_faults ? group.value[1] : 0};
}

}  // namespace critpath::sampling
