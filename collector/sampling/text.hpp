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

/// To be said as one word of a POSIX shell.
struct ShellWord {
    const char* word;
};

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

    Text& operator<<(ShellWord quoted)
    {
        constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%=";
        const char* word = quoted.word;
        if (*word != '\0' && word[std::strspn(word, plain)] == '\0') {
            return *this << word;
        }
        *this << "'";
        for (; *word != '\0'; ++word) {
            const char one[] = {*word, '\0'};
            *this << (*word == '\'' ? "'\\''" : one);
        }
        return *this << "'";
    }

    /// So that no name can steer the terminal. Some controls are characters of more bytes in UTF-8.
    void replace_controls()
    {
        const auto is = [this](std::size_t at, unsigned first, unsigned last) {
            const auto byte = static_cast<unsigned char>(buffer_[at]);  // there is one behind the last
            return byte >= first && byte <= last;
        };
        for (std::size_t i = 0; i < size_; ++i) {
            std::size_t bytes = is(i, 1, 0x1f) || is(i, 0x7f, 0x7f) ? 1 : 0;
            if (is(i, 0xc2, 0xc2) && is(i + 1, 0x80, 0x9f)) {
                bytes = 2;
            } else if (is(i, 0xe2, 0xe2) && ((is(i + 1, 0x80, 0x80) && is(i + 2, 0xaa, 0xae)) ||
                                             (is(i + 1, 0x81, 0x81) && is(i + 2, 0xa6, 0xa9)))) {
                bytes = 3;
            }
            std::memset(buffer_ + i, '?', bytes);
        }
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
