// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns text without the C++ runtime, stdio or allocation: paths and messages that are cut where they do not fit. Longer
// ones are mapped, because the stack that they would lie on is that of a thread of the application.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sys/mman.h>

namespace critpath::sampling
{

class Text
{
public:
    Text() = default;
    ~Text()
    {
        if (buffer_ != small_) {
            munmap(buffer_, mapped);
        }
    }
    Text(const Text& other) : Text()
    {
        cut_ = other.cut_;
        *this << other.buffer_;
    }
    Text& operator=(const Text&) = delete;

    Text& operator<<(const char* text)
    {
        const std::size_t length = std::strlen(text);
        if (length > capacity_ - 1 - size_) {
            map();
        }
        const std::size_t room = capacity_ - 1 - size_;
        const std::size_t used = length < room ? length : room;
        cut_ = cut_ || used < length;
        std::memcpy(buffer_ + size_, text, used);
        size_ += used;
        buffer_[size_] = '\0';
        return *this;
    }

    Text& operator<<(std::uint64_t number)
    {
        char digits[24];
        std::size_t first = sizeof digits - 1;
        digits[first] = '\0';
        do {
            digits[--first] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        return *this << &digits[first];
    }

    Text& operator<<(int number)
    {
        if (number < 0) {
            *this << "-";
        }
        return *this << static_cast<std::uint64_t>(number < 0 ? -static_cast<std::int64_t>(number) : number);
    }

    [[nodiscard]] const char* c_str() const { return buffer_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// To be given to the kernel: no file has the empty path that stands for one that was cut.
    [[nodiscard]] const char* path() const { return cut_ ? "" : buffer_; }

private:
    static constexpr std::size_t mapped = 8192;  // a path of PATH_MAX and a sentence around it

    void map()
    {
        const int saved_errno = errno;
        void* memory = buffer_ != small_
                           ? MAP_FAILED
                           : mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) {
            buffer_ = static_cast<char*>(memory);
            capacity_ = mapped;
            std::memcpy(buffer_, small_, size_ + 1);
        }
        errno = saved_errno;
    }

    char small_[128] = {};
    char* buffer_ = small_;
    std::size_t capacity_ = sizeof small_;
    std::size_t size_ = 0;
    bool cut_ = false;
};

}  // namespace critpath::sampling
