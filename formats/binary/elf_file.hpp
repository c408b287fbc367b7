// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns an ELF binary that is open for reading, and what it says of its identity: its build-id, and the name of the file
// with its debug information.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct Elf;

namespace critpath::binary
{

/// The section .gnu_debuglink.
struct DebugLink {
    std::string name;       // of a file, without a directory
    std::uint32_t crc = 0;  // of that file, as crc32() counts
};

/// Two digits a byte.
std::string hex(std::span<const std::byte> bytes);

/// Of 64 bits. What is missing, or no such file, is an empty one: nothing here throws for what a file holds.
class ElfFile
{
public:
    explicit ElfFile(const std::filesystem::path& path);
    /// A binary as it lies in memory.
    explicit ElfFile(std::vector<std::byte> image = {});
    ~ElfFile();
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;

    explicit operator bool() const { return elf_ != nullptr; }
    /// There is a file and it may be read, whatever it holds.
    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    /// nullptr if it is empty.
    [[nodiscard]] Elf* elf() const { return elf_; }
    /// All of the file.
    [[nodiscard]] std::span<const std::byte> bytes() const;

    /// As hex(); empty if there is none.
    [[nodiscard]] const std::string& build_id() const { return build_id_; }
    /// Tells this binary from others that may be found at its path: the build-id, or else "-" and a hash of all bytes.
    /// Reads all of a file without a build-id.
    [[nodiscard]] std::string identity() const;
    [[nodiscard]] std::optional<DebugLink> debug_link() const;

private:
    void read_build_id();

    int fd_ = -1;
    std::vector<std::byte> image_;
    Elf* elf_ = nullptr;
    std::string build_id_;
};

}  // namespace critpath::binary
