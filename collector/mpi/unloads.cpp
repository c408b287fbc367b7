// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/unloads.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/files.hpp"
#include "collector/mpi/maps.hpp"
#include "collector/mpi/process.hpp"
#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/quiet.hpp"

#include <cstddef>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace critpath::preload
{

std::atomic<std::uint32_t> unload_count = 0;

namespace
{

using Close = int (*)(void*);
using Iterate = decltype(&dl_iterate_phdr);

std::atomic<Close> next_close = nullptr;
std::atomic<Iterate> next_iterate = nullptr;
std::atomic<bool> is_on = false;

/// How many libraries were ever loaded, and unloaded, in this process.
struct Counts {
    unsigned long long loads, unloads;
};

int take_counts(dl_phdr_info* info, std::size_t size, void* counts)
{
    if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
        *static_cast<Counts*>(counts) = {info->dlpi_adds, info->dlpi_subs};
    }
    return 1;  // it is the same for all
}

/// Locks what the loader has locked itself while it changes them: not to be called under the lock below.
Counts count_libraries()
{
    Counts counts = {};
    if (const Iterate iterate = next_iterate.load(std::memory_order_relaxed); iterate != nullptr) {
        iterate(take_counts, &counts);
    }
    return counts;
}

constexpr std::size_t digits = 20;
constexpr std::size_t head_size = 2 + digits + 1 + digits + 1;
constexpr std::size_t most_memory = std::size_t{16} << 20;  // reserved; mostly some pages are used
// A note takes about a millisecond, more on a slow machine, where those of one MPI_Finalize took 50. Who unloads all
// the time gets no more of them than twice that, and then no more than take a fiftieth of the time.
constexpr std::uint64_t free_ns = 100'000'000;
constexpr std::uint64_t part_of_time = 50;

/// The parts of the file that are not written yet, then the last part, which may not be needed.
struct Notes {
    char* memory;
    std::size_t kept;       // bytes of whole parts
    std::size_t last_size;  // of the last part, behind them, with its head
    bool is_last_kept;      // it is one of those, or in the file
    std::uint64_t last;     // place of its head in the file,
    std::uint64_t gone;     // and what stands there
    std::uint64_t in_file;  // bytes
    bool is_open;           // there may be a file
    bool is_full;           // nothing more can be kept,
    std::uint64_t unnoted;  // of so many libraries
    unsigned long long unloads;
    std::uint64_t since;  // ns of the clock
    std::uint64_t spent;  // ns of processor time
};
Notes notes;  // under the lock
pthread_mutex_t unloads_lock = PTHREAD_MUTEX_INITIALIZER;
std::atomic<unsigned long long> noted_loads = ~0ULL;  // when the last part was read
std::atomic<int> closing = 0;                         // threads in dlclose()

/// For a moment, on a thread without signals.
class Turn
{
public:
    Turn() { pthread_mutex_lock(&unloads_lock); }
    ~Turn() { pthread_mutex_unlock(&unloads_lock); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    const sampling::Quiet quiet_;
};

/// What it takes to note something: processor time, since where many ranks share a core, the rest is not lost by it.
/// Within a Turn.
class Expense
{
public:
    Expense() = default;
    ~Expense() { notes.spent += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin_; }
    Expense(const Expense&) = delete;
    Expense& operator=(const Expense&) = delete;

    [[nodiscard]] bool is_too_much() const
    {
        return notes.spent > free_ns && notes.spent > (nanoseconds(clock_id) - notes.since) / part_of_time;
    }

private:
    const std::uint64_t begin_ = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
};

void write_number(char* text, std::uint64_t number)
{
    for (std::size_t i = digits; i-- > 0; number /= 10) {
        text[i] = static_cast<char>('0' + number % 10);
    }
}

void write_head(char* text, std::uint64_t until, std::uint64_t gone)
{
    std::memcpy(text, "= ", 2);
    write_number(text + 2, until);
    text[2 + digits] = ' ';
    write_number(text + 3 + digits, gone);
    text[head_size - 1] = '\n';
}

bool write_file(std::uint64_t offset, const char* bytes, std::size_t size)
{
    const Text path = Text() << process.spool << "/" << process.rank << ".unloads";
    const int fd = open(path.path(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const bool is_written = fd >= 0 && sampling::write_at(fd, offset, bytes, size) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return is_written;
}

void flush()
{
    if (!notes.is_open || notes.kept == 0) {
        return;
    }
    notes.is_full = notes.is_full || !write_file(notes.in_file, notes.memory, notes.kept);
    notes.in_file += notes.kept;
    notes.kept = 0;
}

/// The last part was true until now, when something was unloaded.
void keep_last(std::uint64_t gone)
{
    const std::uint64_t now = nanoseconds(clock_id);
    if (notes.is_full || notes.last_size == 0) {
        notes.unnoted += gone;
        return;
    }
    if (!notes.is_last_kept) {
        notes.is_last_kept = true;
        notes.last = notes.in_file + notes.kept;
        notes.gone = gone;
        write_head(notes.memory + notes.kept, now, gone);
        notes.kept += notes.last_size;
        flush();
        return;
    }
    notes.gone += gone;
    if (notes.last >= notes.in_file) {
        write_head(notes.memory + (notes.last - notes.in_file), now, notes.gone);
    } else {
        char head[head_size];
        write_head(head, now, notes.gone);
        write_file(notes.last, head, sizeof head);
    }
}

void add_line(const char* line, std::size_t size)
{
    const std::size_t used = notes.kept + notes.last_size;
    if (size > most_memory - used) {
        notes.is_full = true;
        return;
    }
    std::memcpy(notes.memory + used, line, size);
    notes.last_size += size;
}

void read_last()
{
    notes.is_last_kept = false;
    notes.last_size = 0;
    if (notes.is_full || most_memory - notes.kept < head_size) {
        notes.is_full = true;
        return;
    }
    notes.last_size = head_size;
    MapsReader maps;
    for (MapsReader::Line line; maps.next(line);) {
        if (line.is_code) {
            add_line(line.text, line.size);
        }
    }
}

void before_close(const Counts& counts)
{
    ++closing;
    if (noted_loads.load() == counts.loads) {
        return;
    }
    const Turn turn;
    if (!is_on) {
        return;
    }
    const Expense expense;
    // Another thread may have unloaded something that the new part has not got, and has not said so yet.
    if (closing > 1 && !notes.is_last_kept) {
        keep_last(0);
    }
    if (expense.is_too_much()) {
        notes.is_last_kept = false;  // it lacks what was loaded since
        notes.last_size = 0;
        return;
    }
    read_last();
    noted_loads = counts.loads;
}

void after_close(const Counts& before, const Counts& after)
{
    --closing;
    if (after.unloads == before.unloads) {
        return;
    }
    const Turn turn;
    if (!is_on || after.unloads <= notes.unloads) {
        return;
    }
    const Expense expense;
    const unsigned long long known = notes.unloads > before.unloads ? notes.unloads : before.unloads;
    notes.unloads = after.unloads;
    keep_last(after.unloads - known);
    ++unload_count;
    if (notes.is_open && !expense.is_too_much()) {
        copy_maps();  // if the process dies, it is what holds from now on
    }
}

}  // namespace

void find_unload()
{
    next_close = reinterpret_cast<Close>(dlsym(RTLD_NEXT, "dlclose"));
    next_iterate = reinterpret_cast<Iterate>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
}

void start_unloads()
{
    if (is_on || next_close == nullptr) {
        return;
    }
    void* memory =
        mmap(nullptr, most_memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
        notes.memory = static_cast<char*>(memory);
        notes.since = nanoseconds(clock_id);
        is_on = true;
    }
}

void open_unloads()
{
    start_unloads();
    const Turn turn;
    const std::size_t last = notes.is_last_kept ? 0 : notes.last_size;
    const std::size_t kept = notes.kept;
    notes.is_open = is_on;
    flush();
    if (last > 0 && kept > 0) {
        std::memmove(notes.memory, notes.memory + kept, last);
    }
}

void stop_unloads()
{
    const Turn turn;
    if (is_on && notes.is_open && !notes.is_full && notes.unnoted > 0) {
        char line[2 + digits + 1] = "? ";
        write_number(line + 2, notes.unnoted);
        line[sizeof line - 1] = '\n';
        notes.is_full = !write_file(notes.in_file, line, sizeof line);
    }
    is_on = false;
}

void abandon_unloads()
{
    if (notes.memory != nullptr) {
        munmap(notes.memory, most_memory);
    }
    notes = {};
    unloads_lock = PTHREAD_MUTEX_INITIALIZER;
    noted_loads = ~0ULL;
    closing = 0;
    is_on = false;
}

std::uint64_t unnoted_unloads()
{
    return notes.unnoted;
}

}  // namespace critpath::preload

// The loader asks nothing about who calls dlclose(), unlike dlopen().
extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) noexcept
{
    using namespace critpath::preload;  // NOLINT(google-build-using-namespace)
    if (next_close == nullptr) {
        find_unload();
    }
    const Close next = next_close;
    if (!is_on.load(std::memory_order_relaxed)) {
        return next(handle);
    }
    const Counts before = count_libraries();
    before_close(before);
    const int result = next(handle);
    after_close(before, count_libraries());
    return result;
}
