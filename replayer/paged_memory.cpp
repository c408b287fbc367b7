// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/paged_memory.hpp"

#include "formats/support/error.hpp"
#include "replayer/huge_pages.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::replayer
{

namespace
{

constexpr std::size_t least = std::size_t{1} << 16;     // bytes of an array that is worth it
constexpr std::size_t reserved = std::size_t{1} << 42;  // addresses, and so bytes of the file, which is mostly holes
const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));  // before main() nothing is paged

/// The file, and the addresses at which its blocks appear. Lives as long as the program: arrays may outlive who made
/// them.
struct File {
    int descriptor = -1;
    int statm = -1;  // /proc/self/statm
    std::byte* base = nullptr;
    std::atomic<std::size_t> used{0};  // addresses are never used again
    std::atomic<bool> is_open{false};  // for new arrays
    std::atomic<bool> had_no_room{false};
};
constinit File file;

/// Libraries that use a real-time signal take one of the first.
int keeper_signal()
{
    return SIGRTMAX - 4;
}

/// In front of each array.
struct alignas(64) Header {
    std::size_t bytes;  // of the block, with this
};

/// While it exists, the keeper does not interrupt this thread: a file system may give up what a signal interrupts.
class Uninterrupted
{
public:
    Uninterrupted()
    {
        sigset_t keeper;
        sigemptyset(&keeper);
        sigaddset(&keeper, keeper_signal());
        pthread_sigmask(SIG_BLOCK, &keeper, &before_);
    }
    Uninterrupted(const Uninterrupted&) = delete;
    Uninterrupted& operator=(const Uninterrupted&) = delete;
    ~Uninterrupted() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
};

bool is_paged(const void* array)
{
    const auto* address = static_cast<const std::byte*>(array);
    return file.base != nullptr && address >= file.base && address < file.base + reserved;
}

/// Null if there is no room. The room is taken from the file system at once: a page that found none when it is written
/// would end the program.
void* make(std::size_t bytes)
{
    const Uninterrupted uninterrupted;
    const std::size_t block = (bytes + sizeof(Header) + page - 1) / page * page;
    const std::size_t begin = file.used.fetch_add(block);
    if (begin + block > reserved ||
        fallocate(file.descriptor, 0, static_cast<off_t>(begin), static_cast<off_t>(block)) != 0) {
        file.had_no_room = true;
        return nullptr;
    }
    std::byte* address = file.base + begin;
    if (mmap(address, block, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.descriptor,
             static_cast<off_t>(begin)) == MAP_FAILED) {
        file.had_no_room = true;
        return nullptr;
    }
    madvise(address, block, MADV_NOHUGEPAGE);  // one touch would bring in 2 MiB
    reinterpret_cast<Header*>(address)->bytes = block;
    return address + sizeof(Header);
}

void free_paged(void* array)
{
    const Uninterrupted uninterrupted;
    std::byte* address = static_cast<std::byte*>(array) - sizeof(Header);
    const std::size_t block = reinterpret_cast<Header*>(address)->bytes;
    const auto begin = static_cast<off_t>(address - file.base);
    mmap(address, block, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    [[maybe_unused]] const int hole =
        fallocate(file.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, static_cast<off_t>(block));
}

[[maybe_unused]] void* allocate(std::size_t bytes)
{
    const bool is_large = bytes >= least;
    if (is_large && file.is_open.load(std::memory_order_relaxed))
        if (void* array = make(bytes))
            return array;
    void* array = std::malloc(bytes == 0 ? 1 : bytes);
    if (array != nullptr && (is_large || lies_in_new_heap(array)))
        ask_for_huge_pages(array, bytes);
    return array;
}

[[maybe_unused]] void deallocate(void* array)
{
    if (is_paged(array))
        free_paged(array);
    else
        std::free(array);
}

int open_unnamed(const std::filesystem::path& directory)
{
    const int descriptor = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return descriptor;
    std::string name = (directory / "memory-XXXXXX").string();
    const int named = mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0)
        unlink(name.c_str());
    return named;
}

void open_file(const std::filesystem::path& directory)
{
    if (file.base == nullptr) {
        void* base = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            fail(ExitCode::Failed, "--memory: no address space for {} TiB ({}); raise ulimit -v or replay without it",
                 reserved >> 40, std::strerror(errno));
        const int descriptor = open_unnamed(directory);
        if (descriptor < 0) {
            const int error = errno;
            munmap(base, reserved);
            fail(ExitCode::Failed, "{}: --memory can make no file there ({}); make room or replay without it",
                 directory.string(), std::strerror(error));
        }
        file.descriptor = descriptor;
        file.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        file.base = static_cast<std::byte*>(base);
        std::signal(SIGXFSZ, SIG_IGN);  // there is no room then, and nothing else
    }
    file.is_open = true;
}

/// Bytes of files that are in the memory of this process. In a signal handler, where there is no stdio.
std::uint64_t resident_bytes()
{
    char text[128];
    const ssize_t size = pread(file.statm, text, sizeof(text), 0);
    constexpr int shared = 2;  // numbers before it
    int number = 0;
    std::uint64_t pages = 0;
    for (ssize_t i = 0; i < size && number <= shared; ++i) {
        if (text[i] == ' ')
            ++number;
        else if (number == shared)
            pages = 10 * pages + static_cast<std::uint64_t>(text[i] - '0');
    }
    return pages * page;
}

/// What a thread brings into memory at most, if it does nothing else, bytes a ns: the system maps 64 KiB of a file that
/// it has in its cache in half a microsecond. Phases that look at few of many calls come near that.
constexpr std::uint64_t fastest = 128;
constexpr std::uint64_t least_room = 16 * mebi;  // with less, looking would cost more than what is given back
/// What may stay, however low the limit: between two looks, a slow machine brings in little more than one page, and
/// would have to do so for every access if that were given back.
constexpr std::uint64_t least_kept = 8 * mebi;

}  // namespace

/// Looks again and again whether too much is in memory, and gives it back: it is in the file all the same. This is done
/// by the thread that fills the memory, which a timer interrupts: another thread would have to wait for a processor
/// while the first one goes on, and give back what comes again meanwhile.
class PagedMemory::Keeper
{
public:
    explicit Keeper(std::uint64_t resident)
    {
        const std::uint64_t other = resident_bytes();
        limit = other + resident;
        kept = other + std::max(least_kept, resident - std::min(resident, least_room));
        struct sigaction action = {};
        action.sa_handler = [](int) { look(); };
        action.sa_flags = SA_RESTART;
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = keeper_signal();
        event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));  // glibc has no name for it
        if (sigaction(keeper_signal(), &action, nullptr) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
            fail(ExitCode::Failed, "--memory: no timer ({}); replay without it", std::strerror(errno));
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, keeper_signal());
        pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // whoever started the program may have blocked it
        watches = 1;
        look_again(resident);
    }
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    ~Keeper()
    {
        watches = 0;  // a signal may be on its way
        timer_delete(timer);
    }

private:
    static void look()
    {
        if (watches == 0)
            return;
        const int error = errno;
        std::uint64_t resident = resident_bytes();
        if (resident > kept) {
            madvise(file.base, file.used, MADV_DONTNEED);
            resident = resident_bytes();
        }
        look_again(limit - std::min(limit, resident));
        errno = error;
    }

    /// Before there can be `room` bytes more.
    static void look_again(std::uint64_t room)
    {
        constexpr std::uint64_t second = 1'000'000'000;
        itimerspec once{};
        once.it_value.tv_nsec = static_cast<long>(std::min(std::max(room, least_room) / fastest, second - 1));
        timer_settime(timer, 0, &once, nullptr);
    }

    // There is one at a time, and the handler has to find it.
    static inline std::uint64_t limit = 0;  // of resident_bytes()
    static inline std::uint64_t kept = 0;   // likewise: with more, all is given back
    static inline timer_t timer{};
    static inline volatile std::sig_atomic_t watches = 0;
};

PagedMemory::PagedMemory(const std::filesystem::path& directory, std::uint64_t resident)
{
    open_file(directory);
    keeper_ = std::make_unique<Keeper>(resident);
}

PagedMemory::~PagedMemory()
{
    file.is_open = false;
}

bool PagedMemory::had_no_room()
{
    return file.had_no_room;
}

#ifdef CRITPATH_SANITIZED

bool PagedMemory::is_possible()
{
    return false;
}

}  // namespace critpath::replayer

#else

bool PagedMemory::is_possible()
{
    return true;
}

}  // namespace critpath::replayer

// All forms that a program uses end in these; those with an alignment beyond that of malloc stay as they are.

void* operator new(std::size_t bytes)
{
    if (void* array = critpath::replayer::allocate(bytes))
        return array;
    throw std::bad_alloc();
}

void operator delete(void* array) noexcept
{
    critpath::replayer::deallocate(array);
}

void operator delete(void* array, std::size_t) noexcept
{
    critpath::replayer::deallocate(array);
}

#endif
