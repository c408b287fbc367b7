// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where the large arrays of a replay live if they are not to fill the memory: in a file without a name, whose
// pages the system writes and reads again as it likes. This replaces the operators new and delete of the program, so
// that no phase has to know.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

namespace critpath::replayer
{

inline constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

/// While it exists, arrays of 64 KiB and more that are made go to a file in `directory`; there is one at a time. What
/// is still alive after that stays valid. A timer interrupts the thread that makes it, which is the one that works on
/// the arrays, so that system calls of that may end with EINTR where SA_RESTART does not help.
class PagedMemory
{
public:
    /// Of the arrays, `resident` bytes at most, or 24 MiB, are in memory at a time. The first one of a program
    /// chooses the directory. Throws Failure if there can be no such file.
    PagedMemory(const std::filesystem::path& directory, std::uint64_t resident);
    PagedMemory(const PagedMemory&) = delete;
    PagedMemory& operator=(const PagedMemory&) = delete;
    ~PagedMemory();

    /// Whether an array found no room in the file, so that it is in memory after all.
    [[nodiscard]] static bool had_no_room();

    /// False under sanitizers, which have operators of their own: then nothing is paged.
    static bool is_possible();

private:
    class Keeper;
    std::unique_ptr<Keeper> keeper_;
};

}  // namespace critpath::replayer
