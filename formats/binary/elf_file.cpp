// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/elf_file.hpp"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::binary
{

namespace
{

// -1 if it is no regular file: whatever else has that name must not make us wait.
int open_regular(const std::filesystem::path& path)
{
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status = {};
    if (fd >= 0 && (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        ::close(fd);
        return -1;
    }
    return fd;
}

Elf* only_64_bits(Elf* elf)
{
    if (elf != nullptr && (elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64)) {
        elf_end(elf);
        return nullptr;
    }
    return elf;
}

// By words, since it is done while an application waits for its end. Multiplication mixes upwards, the shift down.
std::uint64_t hash(std::span<const std::byte> bytes)
{
    constexpr std::uint64_t multiplier = 0x9e37'79b9'7f4a'7c15;  // 2^64 by the golden ratio
    std::uint64_t result = bytes.size();
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        const std::size_t length = std::min(sizeof word, bytes.size());
        std::memcpy(&word, bytes.data(), length);
        result = (result ^ word) * multiplier;
        result ^= result >> 32;
        bytes = bytes.subspan(length);
    }
    return result;
}

}  // namespace

std::string hex(std::span<const std::byte> bytes)
{
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += digits[static_cast<unsigned>(byte) >> 4];
        text += digits[static_cast<unsigned>(byte) & 0xf];
    }
    return text;
}

ElfFile::ElfFile(const std::filesystem::path& path) : fd_(open_regular(path))
{
    if (fd_ >= 0) {
        elf_version(EV_CURRENT);
        elf_ = only_64_bits(elf_begin(fd_, ELF_C_READ_MMAP, nullptr));
        read_build_id();
    }
}

ElfFile::ElfFile(std::vector<std::byte> image) : image_(std::move(image))
{
    elf_version(EV_CURRENT);
    elf_ = only_64_bits(elf_memory(reinterpret_cast<char*>(image_.data()), image_.size()));
    read_build_id();
}

ElfFile::~ElfFile()
{
    if (elf_ != nullptr) {
        elf_end(elf_);
    }
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

std::span<const std::byte> ElfFile::bytes() const
{
    std::size_t size = 0;
    const char* data = elf_ == nullptr ? nullptr : elf_rawfile(elf_, &size);
    return {reinterpret_cast<const std::byte*>(data), data == nullptr ? 0 : size};
}

void ElfFile::read_build_id()
{
    const void* id = nullptr;
    const ssize_t size = elf_ == nullptr ? 0 : dwelf_elf_gnu_build_id(elf_, &id);
    if (size > 0) {
        build_id_ = hex({static_cast<const std::byte*>(id), static_cast<std::size_t>(size)});
    }
}

std::string ElfFile::identity() const
{
    return build_id_.empty() ? fmt::format("-{:016x}", hash(bytes())) : build_id_;
}

std::optional<DebugLink> ElfFile::debug_link() const
{
    GElf_Word crc = 0;
    const char* name = elf_ == nullptr ? nullptr : dwelf_elf_gnu_debuglink(elf_, &crc);
    const std::string text = name == nullptr ? "" : name;
    return text.empty() || text.find('/') != std::string::npos ? std::nullopt : std::optional(DebugLink{text, crc});
}

}  // namespace critpath::binary
