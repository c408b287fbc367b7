// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/plt_stubs.hpp"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace critpath::binary
{

namespace
{

/// Calls `take` with each section's header and the section itself.
template <class Take>
void for_each_section(Elf* elf, const Take& take)
{
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
        if (const Elf64_Shdr* header = elf64_getshdr(section)) {
            take(*header, section);
        }
    }
}

template <class Item>
std::span<const Item> items_of(Elf_Scn* section)
{
    const Elf_Data* data = section == nullptr ? nullptr : elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) {
        return {};
    }
    return {static_cast<const Item*>(data->d_buf), data->d_size / sizeof(Item)};
}

/// By the address of the pointer that the loader fills: the function that it leads to.
using Pointers = std::unordered_map<std::uint64_t, const char*>;

void add_pointers(Elf* elf, const Elf64_Shdr& header, Elf_Scn* section, Pointers& pointers)
{
    Elf_Scn* const symbol_section = elf_getscn(elf, header.sh_link);
    const Elf64_Shdr* const symbol_header = symbol_section == nullptr ? nullptr : elf64_getshdr(symbol_section);
    const auto symbols = items_of<Elf64_Sym>(symbol_section);
    for (const Elf64_Rela& relocation : items_of<Elf64_Rela>(section)) {
        const auto type = ELF64_R_TYPE(relocation.r_info);
        const auto symbol = ELF64_R_SYM(relocation.r_info);
        if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || symbol >= symbols.size()) {
            continue;
        }
        const char* const name = elf_strptr(elf, symbol_header->sh_link, symbols[symbol].st_name);
        if (name != nullptr && *name != '\0') {
            pointers.emplace(relocation.r_offset, name);
        }
    }
}

/// The address of the pointer by which `stub`, at `address`, jumps.
std::optional<std::uint64_t> pointer_of(std::span<const std::uint8_t> stub, std::uint64_t address)
{
    constexpr std::uint8_t jump[] = {0xff, 0x25};  // jmp *distance(%rip)
    constexpr std::size_t size = sizeof jump + sizeof(std::int32_t);
    for (std::size_t at = 0; at + size <= stub.size(); ++at) {
        if (std::memcmp(&stub[at], jump, sizeof jump) == 0) {
            std::int32_t distance = 0;
            std::memcpy(&distance, &stub[at + sizeof jump], sizeof distance);
            return address + at + size + static_cast<std::uint64_t>(std::int64_t{distance});
        }
    }
    return std::nullopt;
}

/// GNU's .plt.got has stubs of 8 bytes, all others have 16; lld does not say so.
std::uint64_t size_of_stubs(const Elf64_Shdr& header)
{
    constexpr std::uint64_t small = 8;
    constexpr std::uint64_t usual = 16;
    return header.sh_entsize == small ? small : usual;
}

}  // namespace

PltStubs::PltStubs(const ElfFile& file)
{
    Elf* const elf = file.elf();
    const Elf64_Ehdr* const head = elf == nullptr ? nullptr : elf64_getehdr(elf);
    std::size_t names = 0;
    if (head == nullptr || head->e_machine != EM_X86_64 || elf_getshdrstrndx(elf, &names) != 0) {
        return;
    }
    Pointers pointers;
    for_each_section(elf, [&](const Elf64_Shdr& header, Elf_Scn* section) {
        if (header.sh_type == SHT_RELA) {
            add_pointers(elf, header, section, pointers);
        }
    });
    for_each_section(elf, [&](const Elf64_Shdr& header, Elf_Scn* section) {
        const char* const name = elf_strptr(elf, names, header.sh_name);
        if (header.sh_type != SHT_PROGBITS || name == nullptr || !std::string_view(name).starts_with(".plt")) {
            return;
        }
        const std::uint64_t each = size_of_stubs(header);
        const auto code = items_of<std::uint8_t>(section);
        for (std::uint64_t at = 0; at + each <= code.size(); at += each) {
            const std::uint64_t address = header.sh_addr + at;
            const auto pointer = pointer_of(code.subspan(at, each), address);
            const auto found = pointer ? pointers.find(*pointer) : pointers.end();
            if (found != pointers.end()) {
                stubs_.push_back({address, address + each, found->second});
            }
        }
    });
    std::ranges::sort(stubs_, {}, &Stub::start);
}

const PltStubs::Stub* PltStubs::find(std::uint64_t address) const
{
    const auto behind = std::ranges::upper_bound(stubs_, address, {}, &Stub::start);
    return behind != stubs_.begin() && address < (behind - 1)->end ? &*(behind - 1) : nullptr;
}

}  // namespace critpath::binary
