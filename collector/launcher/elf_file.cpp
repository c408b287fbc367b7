// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/elf_file.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include <link.h>

namespace critpath::launcher
{
namespace
{

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Dynamic = ElfW(Dyn);

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T* values, std::size_t count)
{
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(
        file.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(count * sizeof(T))));
}

/// What this program itself is built for.
bool is_of_this_machine(const Header& header)
{
    std::ifstream self("/proc/self/exe", std::ios::binary);
    Header own{};
    if (!read_at(self, 0, &own, 1)) {
        return true;
    }
    return own.e_ident[EI_CLASS] == header.e_ident[EI_CLASS] && own.e_ident[EI_DATA] == header.e_ident[EI_DATA] &&
           own.e_machine == header.e_machine;
}

std::string machine_in_words(const Header& header)
{
    const int bits = header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
    switch (header.e_machine) {
    case EM_386:
        return "x86, 32 bit";
    case EM_X86_64:
        return fmt::format("x86_64, {} bit", bits);
    case EM_ARM:
        return "Arm, 32 bit";
    case EM_AARCH64:
        return "Arm, 64 bit";
    case EM_PPC64:
        return "POWER, 64 bit";
    case EM_RISCV:
        return fmt::format("RISC-V, {} bit", bits);
    default:
        return fmt::format("ELF machine {}, {} bit", header.e_machine, bits);
    }
}

/// A position-independent static program has a dynamic section, which says so, but nobody loads libraries for it.
bool is_static_pie(std::ifstream& file, const Segment& segment)
{
    std::vector<Dynamic> entries(segment.p_filesz / sizeof(Dynamic));
    if (!read_at(file, segment.p_offset, entries.data(), entries.size())) {
        return false;
    }
    for (const Dynamic& entry : entries) {
        if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) {
            return true;
        }
    }
    return false;
}

bool is_static(std::ifstream& file, const Header& header)
{
    std::vector<Segment> segments(header.e_phnum);
    if (segments.empty() || header.e_phentsize != sizeof(Segment) ||
        !read_at(file, header.e_phoff, segments.data(), segments.size())) {
        return false;
    }
    const Segment* dynamic = nullptr;
    for (const Segment& segment : segments) {
        if (segment.p_type == PT_INTERP) {
            return false;
        }
        if (segment.p_type == PT_DYNAMIC) {
            dynamic = &segment;
        }
    }
    return dynamic == nullptr || is_static_pie(file, *dynamic);
}

}  // namespace

ElfFile inspect_elf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    Header header{};
    if (!read_at(file, 0, header.e_ident, EI_NIDENT) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return {};
    }
    // The machine stands at the same place in files of 32 and 64 bit.
    if (!read_at(file, offsetof(Header, e_machine), &header.e_machine, 1)) {
        return {};
    }
    if (!is_of_this_machine(header)) {
        return {ElfKind::Foreign, machine_in_words(header)};
    }
    if (!read_at(file, 0, &header, 1)) {
        return {};
    }
    return {is_static(file, header) ? ElfKind::Static : ElfKind::Dynamic, {}};
}

}  // namespace critpath::launcher
