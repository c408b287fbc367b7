// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how copies of one thread's stack are written behind each other: most of the stack is as it was at the sample
// before. Writer and reader keep an image of it and exchange those lines only that differ. Header-only and free of the
// C++ runtime, because the preload library uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace critpath::spool
{

/// The kernel's number of the stack pointer (asm/perf_regs.h), which is where copies begin.
#if defined(__aarch64__)
inline constexpr unsigned stack_pointer_number = 31;
#else
inline constexpr unsigned stack_pointer_number = 7;  // x86
#endif

/// Begins as zeros on both sides, which must see the same copies in the same order.
class StackImage
{
public:
    static constexpr std::size_t usual_copy = 16384;
    static constexpr std::size_t largest_copy = 32768;  // a record of perf_event has less than 64 KiB

    /// What pack() writes at most for a copy of `bytes`.
    static constexpr std::size_t most(std::size_t bytes)
    {
        const std::size_t lines = bytes / line + 2;
        return word + words_for(lines) * word + bytes;
    }

    /// Writes to `out`: the number of bytes; a bit for each line of memory that the copy has a part of; these parts of
    /// lines where they differ from the image. `copy` is of memory from `address` on. It is cut to whole words and to
    /// largest_copy; of an address that is none of a word nothing is kept. Returns how much was written, a multiple of
    /// 8.
    std::size_t pack(std::uint64_t address, const char* copy, std::size_t bytes, char* out)
    {
        const std::size_t size = address % word != 0 ? 0 : (bytes < largest_copy ? bytes : largest_copy) / word * word;
        const std::size_t lines = lines_of(address, size);
        const std::size_t bitmap = word;
        std::size_t written = bitmap + words_for(lines) * word;
        std::memset(out, 0, written);
        const std::uint64_t total = size;
        std::memcpy(out, &total, word);
        for (std::size_t i = 0; i < lines; ++i) {
            const Part part(address, size, i);
            if (std::memcmp(at(part.address), copy + part.offset, part.size) != 0) {
                std::memcpy(at(part.address), copy + part.offset, part.size);
                std::memcpy(out + written, copy + part.offset, part.size);
                written += part.size;
                out[bitmap + i / 8] = static_cast<char>(out[bitmap + i / 8] | 1 << i % 8);
            }
        }
        return written;
    }

    /// The inverse: writes to `copy` (with room for largest_copy) what pack() was given, and its size to `bytes`.
    /// Returns how much of the `available` bytes at `in` that was; 0 if they are nothing that pack() writes, upon which
    /// no later copy can be read either.
    std::size_t unpack(std::uint64_t address, const char* in, std::size_t available, char* copy, std::size_t& bytes)
    {
        std::uint64_t size = 0;
        if (available < word) {
            return 0;
        }
        std::memcpy(&size, in, word);
        if (size > largest_copy || size % word != 0 || (size != 0 && address % word != 0)) {
            return 0;
        }
        const std::size_t lines = lines_of(address, size);
        const std::size_t bitmap = word;
        std::size_t read = bitmap + words_for(lines) * word;
        if (available < read) {
            return 0;
        }
        for (std::size_t i = 0; i < lines; ++i) {
            const Part part(address, size, i);
            if ((in[bitmap + i / 8] >> i % 8 & 1) != 0) {
                if (available - read < part.size) {
                    return 0;
                }
                std::memcpy(at(part.address), in + read, part.size);
                read += part.size;
            }
            std::memcpy(copy + part.offset, at(part.address), part.size);
        }
        bytes = size;
        return read;
    }

private:
    static constexpr std::size_t word = sizeof(std::uint64_t);
    static constexpr std::size_t line = 64;
    static constexpr std::size_t image_size = 2 * largest_copy;  // stacks grow and shrink between two samples

    /// Of line i, what the copy has.
    struct Part {
        Part(std::uint64_t begin, std::size_t bytes, std::size_t i)
        {
            const std::size_t skipped = begin % line;
            offset = i == 0 ? 0 : i * line - skipped;
            const std::size_t end = (i + 1) * line - skipped;
            size = (end < bytes ? end : bytes) - offset;
            address = begin + offset;
        }
        std::uint64_t address;
        std::size_t offset;  // in the copy
        std::size_t size;
    };

    static std::size_t lines_of(std::uint64_t address, std::size_t bytes)
    {
        return bytes == 0 ? 0 : (address % line + bytes + line - 1) / line;
    }
    static constexpr std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

    /// Where a part of a line is. Which memory it was of before does not matter, as long as both sides agree.
    char* at(std::uint64_t address) { return bytes_ + address % image_size; }

    char bytes_[image_size] = {};
};

}  // namespace critpath::spool
