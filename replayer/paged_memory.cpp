// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/paged_memory.hpp"

#include "formats/support/error.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
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
    std::byte* base = nullptr;
    std::atomic<std::size_t> used{0};  // addresses are never used again
    std::atomic<bool> is_open{false};  // for new arrays
    std::atomic<bool> had_no_room{false};
};
constinit File file;

/// In front of each array.
struct alignas(64) Header {
    std::size_t bytes;  // of the block, with this
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
    reinterpret_cast<Header*>(address)->bytes = block;
    return address + sizeof(Header);
}

void free_paged(void* array)
{
    std::byte* address = static_cast<std::byte*>(array) - sizeof(Header);
    const std::size_t block = reinterpret_cast<Header*>(address)->bytes;
    const auto begin = static_cast<off_t>(address - file.base);
    mmap(address, block, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    [[maybe_unused]] const int hole =
        fallocate(file.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, static_cast<off_t>(block));
}

[[maybe_unused]] void* allocate(std::size_t bytes)
{
    if (bytes >= least && file.is_open.load(std::memory_order_relaxed))
        if (void* array = make(bytes))
            return array;
    return std::malloc(bytes == 0 ? 1 : bytes);
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
        file.base = static_cast<std::byte*>(base);
        std::signal(SIGXFSZ, SIG_IGN);  // there is no room then, and nothing else
    }
    file.is_open = true;
}

/// Bytes of files that are in the memory of this process.
std::uint64_t resident_bytes()
{
    unsigned long long all = 0;
    unsigned long long resident = 0;
    unsigned long long shared = 0;
    std::FILE* statm = std::fopen("/proc/self/statm", "re");
    if (statm == nullptr)
        return 0;
    const int found = std::fscanf(statm, "%llu %llu %llu", &all, &resident, &shared);
    std::fclose(statm);
    return found == 3 ? shared * page : 0;
}

}  // namespace

/// Looks again and again whether too much is in memory, and gives it back: it is in the file all the same.
class PagedMemory::Keeper
{
public:
    explicit Keeper(std::uint64_t resident) : limit_(resident_bytes() + resident), thread_([this] { run(); }) {}
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    ~Keeper()
    {
        {
            const std::lock_guard lock(mutex_);
            stops_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

private:
    void run()
    {
        constexpr std::chrono::milliseconds period{5};  // in which a process fills some 10 MiB
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, period, [&] { return stops_; }))
            if (resident_bytes() > limit_)
                madvise(file.base, file.used, MADV_DONTNEED);
    }

    std::uint64_t limit_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stops_ = false;
    std::thread thread_;
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
