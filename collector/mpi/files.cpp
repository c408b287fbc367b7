// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/files.hpp"

#include "collector/mpi/handle_table.hpp"
#include "collector/mpi/maps.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/sampling/descriptors.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace critpath::preload
{

int copy_maps()
{
    const Text path = Text() << process.spool << "/" << process.rank << ".maps";
    constexpr std::size_t capacity = std::size_t{64} << 10;
    auto* const text = static_cast<char*>(map_memory(capacity));
    const int to = text == nullptr ? -1 : open(path.path(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    int error = to < 0 ? errno : 0;
    std::uint64_t done = 0;
    if (to >= 0) {
        std::size_t filled = 0;
        MapsReader maps;
        MapsReader::Line line;
        for (bool more = true; more;) {
            more = maps.next(line);
            if (filled > 0 && (!more || line.size > capacity - filled)) {
                error = sampling::write_at(to, done, text, filled);
                more = error == 0 && more;
                done += filled;
                filled = 0;
            }
            if (more) {
                std::memcpy(text + filled, line.text, line.size);
                filled += line.size;
            }
        }
        // Not made empty at first: file systems take that for a reason to write the new content to the disk at once.
        if (error == 0 && ftruncate(to, static_cast<off_t>(done)) != 0) {
            error = errno;
        }
        if (error != 0) {
            unlink(path.path());  // a part of it, or what is behind it now, says the wrong thing
        }
        close(to);
    }
    if (text != nullptr) {
        munmap(text, capacity);
    }
    return error;
}

void remove_spool_files()
{
    for (int thread = 0; thread < numbered_threads(); ++thread) {
        for (const char* kind : {".calls", ".samples"}) {
            unlink((Text() << process.spool << "/" << process.rank << "." << thread << kind).path());
        }
    }
    for (const char* kind : {".maps", ".unloads", ".files"}) {
        unlink((Text() << process.spool << "/" << process.rank << kind).path());
    }
}

void remove_spool_directory()
{
    rmdir(process.spool);
}

const char* error_text(int error)
{
    const char* text = strerrordesc_np(error);
    return text == nullptr ? "unknown error" : text;
}

const char* remedy(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "give more room, or record less";
    case EFBIG:
        return "raise the limit on the size of files (ulimit -f), or record less";
    case EMFILE:
    case ENFILE:
        return "allow more open files (ulimit -n)";
    case ENOMEM:
        return "allow more memory (ulimit -v)";
    case ENOENT:
    case EACCES:
    case EPERM:
        return "leave the directory of the trace in the application's reach, and as it is, until MPI_Finalize";
    default:
        return "choose another directory with --output";
    }
}

}  // namespace critpath::preload
