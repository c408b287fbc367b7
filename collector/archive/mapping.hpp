// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a file that is mapped for reading.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace critpath::archive
{

class Mapping
{
public:
    /// Nothing if the file does not exist; throws Failure for every other error.
    static std::optional<Mapping> open(const std::string& path);

    ~Mapping();
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

private:
    Mapping(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace critpath::archive
