// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/embedded_symbols.hpp"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <lzma.h>

namespace critpath::binary
{

namespace
{

// This is memory of the application's. Those of large libraries are a few MiB.
constexpr std::size_t largest = std::size_t{64} << 20;

std::span<const std::uint8_t> section(Elf* elf, const char* wanted)
{
    std::size_t names = 0;
    if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) {
        return {};
    }
    for (Elf_Scn* at = elf_nextscn(elf, nullptr); at != nullptr; at = elf_nextscn(elf, at)) {
        const Elf64_Shdr* header = elf64_getshdr(at);
        const char* name = header == nullptr ? nullptr : elf_strptr(elf, names, header->sh_name);
        if (name != nullptr && std::strcmp(name, wanted) == 0 && header->sh_type != SHT_NOBITS) {
            const Elf_Data* data = elf_rawdata(at, nullptr);
            return data == nullptr ? std::span<const std::uint8_t>()
                                   : std::span(static_cast<const std::uint8_t*>(data->d_buf), data->d_size);
        }
    }
    return {};
}

// Empty if it is damaged or too large.
std::vector<std::byte> unpack(std::span<const std::uint8_t> packed)
{
    std::vector<std::byte> unpacked;
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, largest, 0) != LZMA_OK) {
        return unpacked;
    }
    stream.next_in = packed.data();
    stream.avail_in = packed.size();
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK && unpacked.size() < largest) {
        const std::size_t done = unpacked.size();
        unpacked.resize(done + std::max(done, packed.size()));
        stream.next_out = reinterpret_cast<std::uint8_t*>(unpacked.data() + done);
        stream.avail_out = unpacked.size() - done;
        result = lzma_code(&stream, LZMA_FINISH);
    }
    unpacked.resize(result == LZMA_STREAM_END ? stream.total_out : 0);
    lzma_end(&stream);
    return unpacked;
}

}  // namespace

std::unique_ptr<ElfFile> embedded_symbols(const ElfFile& binary)
{
    const std::span<const std::uint8_t> packed = section(binary.elf(), ".gnu_debugdata");
    if (packed.empty()) {
        return nullptr;
    }
    auto file = std::make_unique<ElfFile>(unpack(packed));
    return *file ? std::move(file) : nullptr;
}

}  // namespace critpath::binary
