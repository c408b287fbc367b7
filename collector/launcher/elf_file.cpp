// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/elf_file.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
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

template <class T>
std::vector<T> read_all(std::ifstream& file, std::uint64_t offset, std::uint64_t bytes)
{
    constexpr std::uint64_t most = std::uint64_t{64} << 20;
    std::vector<T> values(bytes > most ? 0 : bytes / sizeof(T));
    if (!read_at(file, offset, values.data(), values.size())) {
        values.clear();
    }
    return values;
}

/// Where the file has what lies at `address` in memory.
std::optional<std::uint64_t> file_offset(const std::vector<Segment>& segments, std::uint64_t address)
{
    for (const Segment& segment : segments) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
            return address - segment.p_vaddr + segment.p_offset;
        }
    }
    return std::nullopt;
}

/// Empty if the file is damaged.
std::vector<Segment> program_headers(std::ifstream& file, const Header& header)
{
    return read_all<Segment>(file, header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Segment));
}

/// DT_NEEDED, in its order.
std::vector<std::string> needed_libraries(std::ifstream& file, const Header& header)
{
    const auto segments = program_headers(file, header);
    const auto dynamic = std::find_if(segments.begin(), segments.end(),
                                      [](const Segment& segment) { return segment.p_type == PT_DYNAMIC; });
    if (dynamic == segments.end()) {
        return {};
    }
    const auto entries = read_all<Dynamic>(file, dynamic->p_offset, dynamic->p_filesz);
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    for (const Dynamic& entry : entries) {
        address = entry.d_tag == DT_STRTAB ? entry.d_un.d_ptr : address;
        size = entry.d_tag == DT_STRSZ ? entry.d_un.d_val : size;
    }
    const auto offset = file_offset(segments, address);
    auto strings = offset ? read_all<char>(file, *offset, size) : std::vector<char>{};
    strings.push_back('\0');
    std::vector<std::string> names;
    for (const Dynamic& entry : entries) {
        if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < strings.size()) {
            names.emplace_back(&strings[entry.d_un.d_val]);
        }
    }
    return names;
}

/// What runs a script, by its first line; empty if the file is none.
std::string interpreter(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string line(256, '\0');
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<std::size_t>(file.gcount()));
    if (!line.starts_with("#!")) {
        return {};
    }
    const std::size_t begin = line.find_first_not_of(" \t", 2);
    return begin == std::string::npos ? std::string() : line.substr(begin, line.find_first_of(" \t\n", begin) - begin);
}

/// A position-independent static program has a dynamic section, which says so, but nobody loads libraries for it.
bool is_static_pie(std::ifstream& file, const Segment& segment)
{
    const auto entries = read_all<Dynamic>(file, segment.p_offset, segment.p_filesz);
    return std::any_of(entries.begin(), entries.end(), [](const Dynamic& entry) {
        return entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0;
    });
}

bool is_static(std::ifstream& file, const Header& header)
{
    if (header.e_phentsize != sizeof(Segment)) {
        return false;
    }
    const auto segments = program_headers(file, header);
    if (segments.empty()) {
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

bool is_first_library(const std::string& name)
{
    const std::string base = name.substr(name.find_last_of('/') + 1);
    return base.starts_with("libasan.so") || base.starts_with("libclang_rt.asan");
}

std::string first_library(const std::string& path)
{
    constexpr int most_interpreters = 4;  // as in the kernel
    std::string program = path;
    for (int i = 0; i < most_interpreters; ++i) {
        const std::string next = interpreter(program);
        if (next.empty()) {
            break;
        }
        program = next;
    }
    if (inspect_elf(program).kind != ElfKind::Dynamic) {
        return {};
    }
    std::ifstream file(program, std::ios::binary);
    Header header{};
    if (!read_at(file, 0, &header, 1)) {
        return {};
    }
    const std::vector<std::string> names = needed_libraries(file, header);
    const auto first = std::find_if(names.begin(), names.end(), is_first_library);
    return first == names.end() ? std::string() : *first;
}

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
