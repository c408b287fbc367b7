// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/symbol_ends.hpp"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <span>

namespace critpath::binary
{

namespace
{

bool has_place(const Elf64_Sym& symbol)
{
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    return symbol.st_shndx != SHN_UNDEF && symbol.st_size > 0 && type != STT_SECTION && type != STT_FILE &&
           type != STT_TLS;  // its address is an offset
}

}  // namespace

std::unordered_map<std::uint64_t, std::uint64_t> symbol_ends(const ElfFile& file)
{
    std::unordered_map<std::uint64_t, std::uint64_t> ends;
    Elf* elf = file.elf();
    for (Elf_Scn* section = elf == nullptr ? nullptr : elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
        const Elf64_Shdr* header = elf64_getshdr(section);
        if (header == nullptr || (header->sh_type != SHT_SYMTAB && header->sh_type != SHT_DYNSYM)) {
            continue;
        }
        const Elf_Data* data = elf_getdata(section, nullptr);
        if (data == nullptr) {
            continue;
        }
        for (const Elf64_Sym& symbol :
             std::span(static_cast<const Elf64_Sym*>(data->d_buf), data->d_size / sizeof(Elf64_Sym))) {
            if (has_place(symbol)) {
                std::uint64_t& end = ends[symbol.st_value];
                end = std::max(end, symbol.st_value + symbol.st_size);
            }
        }
    }
    return ends;
}

}  // namespace critpath::binary
