// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns standard output: buffered, checked, and quiet when the reader has gone.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace critpath::report
{

/// Thrown when the reader of a pipe has closed it (`cpreport path | head`): no failure, nothing left to do.
struct ReaderGone {
};

class Output
{
public:
    /// Writes to the file descriptor `fd`, which it does not close. The process must ignore SIGPIPE.
    explicit Output(int fd) : fd_(fd) {}
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void write(std::string_view text)
    {
        buffer_.append(text.data(), text.data() + text.size());
        if (buffer_.size() >= flush_size)
            flush();
    }

    /// Must be called at the end: there is no destructor that could report a full disk.
    void flush();

private:
    static constexpr std::size_t flush_size = 1 << 16;
    fmt::memory_buffer buffer_;
    int fd_;
};

}  // namespace critpath::report
